"""A server by its name, `"package.module:mcp"`: imported here, or served by separate processes.

`python -m midcall.testing.serving package.module:mcp` serves it over stdio, and replays every call.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import re
import secrets
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from functools import reduce
from typing import Any, Final, cast

from mcp.client.stdio import StdioServerParameters
from mcp.server.lowlevel.server import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server

from midcall.server.running.runs import chosen_live

_NAME: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


def is_name(server: object) -> bool:
    """Whether this names a server as `"package.module:attribute"`."""
    return isinstance(server, str) and _NAME.fullmatch(server) is not None


def load_server(server: object) -> object:
    """Import the server of this name; return anything else unchanged.

    Raises:
        AssertionError: The module has no such attribute.
    """
    if not isinstance(server, str) or not is_name(server):
        return server
    module, _, name = server.partition(":")
    try:
        return reduce(getattr, name.split("."), importlib.import_module(module))
    except AttributeError:
        raise AssertionError(f"The module {module!r} has no {name!r}. Name the server's variable.") from None


def start_commands(name: str, hash_seeds: Sequence[int]) -> list[StdioServerParameters]:
    """One command per seed that serves this server over stdio. They share their keys."""
    shared = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "MIDCALL_KEYS": os.environ.get("MIDCALL_KEYS") or secrets.token_hex(32),
        "MIDCALL_MAX_ROUNDS": "1000",  # one answer per round needs more rounds than usual
    }
    return [
        StdioServerParameters(
            command=sys.executable,
            args=["-m", "midcall.testing.serving", name],
            env={**shared, "PYTHONHASHSEED": str(seed)},
        )
        for seed in hash_seeds
    ]


async def serve(name: str) -> None:
    """Serve until the client disconnects."""
    with redirect_stdout(sys.stderr):  # standard output belongs to the protocol
        server = load_server(name)
    chosen_live.set(False)
    if isinstance(server, Server):
        lowlevel = cast("Server[Any]", server)
        async with stdio_server() as (read, write):
            await lowlevel.run(read, write, lowlevel.create_initialization_options())
    elif isinstance(server, MCPServer):
        await server.run_stdio_async()
    else:
        await cast("Any", server).run_stdio_async(show_banner=False)


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
