"""A replica with a typical existing tool: effects without `once` around two questions, and one with it.

Each effect is a line in a file that all replicas share: call, effect, replica, process, moment. So are the times when
the process couldn't run, because it was stopped or got no CPU.

python tests/chaos/order_server.py --port 8000 --store URL --ledger FILE --name a
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel

import midcall
from midcall import once
from midcall.server.once import effects

PAUSE = 0.05
"""How long the tool works after each effect: the window for hitting it after its claim."""
TICK = 0.1
BLOCKED = 1.0
"""Seconds without a tick after which the others may consider it gone."""


class Word(BaseModel):
    word: str


class Ledger:
    def __init__(self, path: Path, name: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._name = name

    def write(self, call: str, effect: str, since: float | None = None) -> None:
        """Write one line at once: a dying process leaves a whole line or none."""
        now = time.monotonic()
        line = f"{call} {effect} {self._name} {os.getpid()} {now if since is None else since:.4f} {now:.4f}\n"
        os.write(self._file, line.encode())

    async def watch(self) -> None:
        """Record when this process couldn't run."""
        while True:
            before = time.monotonic()
            await asyncio.sleep(TICK)
            if time.monotonic() - before > BLOCKED:
                self.write("-", "blocked", since=before)


def build(store: str, ledger: Ledger) -> MCPServer:
    @asynccontextmanager
    async def watched(_: Any) -> AsyncIterator[None]:
        watching = asyncio.create_task(ledger.watch())
        yield
        watching.cancel()

    mcp = MCPServer("orders", log_level="ERROR", lifespan=watched)
    midcall.install(mcp, store=store)

    async def effect(call: str, name: str) -> None:
        ledger.write(call, name)
        await asyncio.sleep(PAUSE)

    async def charge(call: str) -> str:
        await effect(call, "charged")
        return call

    @mcp.tool()
    async def order(call: str, ctx: Context) -> str:
        """Order something."""
        await effect(call, "before")
        what: Any = await ctx.elicit("What?", Word)
        await effect(call, "between")
        where: Any = await ctx.elicit("Where to?", Word)
        await effect(call, "after")
        return f"{what.data.word} to {where.data.word} for {await once('charge', charge, call)}"

    return mcp


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    parser.add_argument("--store")
    parser.add_argument("--ledger", type=Path)
    parser.add_argument("--name")
    args = parser.parse_args()
    assert "OTHER_EFFECT_SECONDS" in vars(effects)
    vars(effects)["OTHER_EFFECT_SECONDS"] = 0.5  # don't wait long for dead replicas
    app = build(args.store, Ledger(args.ledger, args.name)).streamable_http_app(stateless_http=True)
    uvicorn.run(app, port=args.port, log_level="error", timeout_graceful_shutdown=1)
