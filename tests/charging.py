"""A server that charges before it asks. Run as a script, it serves over stdio, or with `--http PORT` over HTTP."""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

import uvicorn

from tests.calling import Elicit, asking
from tests.kinds import Kind

CHARGES: list[str] = []


async def charge(elicit: Elicit) -> str:
    CHARGES.append("charged")
    return f"{await elicit('a?')} {await elicit('b?')}"


async def charges(elicit: Elicit) -> str:
    return str(len(CHARGES))


def app_of(server: Any) -> Any:
    return server.http_app() if hasattr(server, "http_app") else server.streamable_http_app()


async def serve_stdio(server: Any) -> None:
    """A low-level server has no `run("stdio")`."""
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", type=int)
    parser.add_argument("--kind", default="mcpserver", choices=("mcpserver", "lowlevel", "fastmcp"))
    arguments = parser.parse_args()
    kind: Kind = arguments.kind
    server = asking(kind, charge, charges)
    if arguments.http is not None:
        uvicorn.run(app_of(server), port=arguments.http, log_level="warning")
    elif kind == "lowlevel":
        asyncio.run(serve_stdio(server))
    else:
        server.run("stdio")


if __name__ == "__main__":
    main()
