"""A server whose effect can be cut off in the middle: it doesn't end while the file GATE exists.

python tests/chaos/cut_off_server.py --port 8000 --store URL --files DIRECTORY
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from mcp.server import MCPServer

import midcall
from midcall import ask, once
from midcall.server.once import effects


def build(store: str, files: Path) -> MCPServer:
    mcp = MCPServer("till", log_level="ERROR")
    midcall.install(mcp, store=store)

    @mcp.tool()
    async def charge() -> str:
        """Charge, at most once."""
        card = await ask("Which card?", str, key="card")
        return await once("charge", effect, card)

    @mcp.tool()
    async def charge_again() -> str:
        """Charge with a function that is safe to repeat."""
        card = await ask("Which card?", str, key="card")
        return await once.retry("charge", effect, card)

    async def effect(card: str) -> str:
        with (files / "ledger").open("a") as ledger:
            ledger.write(f"{card}\n")
        while (files / "gate").exists():
            await asyncio.sleep(0.02)
        return f"charged {card}"

    return mcp


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    parser.add_argument("--store")
    parser.add_argument("--files", type=Path)
    args = parser.parse_args()
    assert "OTHER_EFFECT_SECONDS" in vars(effects)
    vars(effects)["OTHER_EFFECT_SECONDS"] = 0.5  # don't wait long for dead replicas
    build(args.store, args.files).run("streamable-http", port=args.port)
