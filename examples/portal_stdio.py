"""The tools of portal_server.py over stdio, for the user of this machine.

    python examples/portal_stdio.py

The portal starts on its own port when a user is first sent there.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from mcp.server import MCPServer
from portal_parts.options import add_options, keys_of, provider_of, store_of
from portal_parts.shop import Shop
from portal_parts.tools import add_tools
from portal_parts.tracker import Tracker
from starlette.applications import Starlette

import midcall
from midcall.portal import Portal


def build(args: argparse.Namespace) -> MCPServer:
    listening = socket.create_server(("127.0.0.1", 0))
    store, site = store_of(args), f"http://127.0.0.1:{listening.getsockname()[1]}"
    keys = keys_of(args, store)
    shop, tracker = Shop(f"{site}/shop", keys), Tracker(f"{site}/tracker", None, keys[0])
    provider, issues_url = provider_of(args, tracker)
    app = Starlette()
    app.mount("/shop", shop.app)
    app.mount("/tracker", tracker.app)

    @asynccontextmanager
    async def lifespan(server: MCPServer[Any]) -> AsyncIterator[None]:
        web = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=1))
        serving = asyncio.create_task(web.serve(sockets=[listening]))
        try:
            yield
        finally:
            web.should_exit = True
            await serving
            await installation.close()

    mcp = MCPServer("portal-example", title="Portal example", log_level="WARNING", lifespan=lifespan)
    installation = midcall.install(mcp, keys=keys, store=store, portal=Portal(providers=[provider]))
    add_tools(mcp, checkout=shop.checkout, issues_url=issues_url, ledger=args.ledger)
    return mcp


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    try:
        mcp = build(parser.parse_args())
    except midcall.MidcallError as exc:
        raise SystemExit(f"portal_stdio: {exc}") from None
    mcp.run()


if __name__ == "__main__":
    main()
