"""The memory that a waiting call takes in the server, on 2026-07-28.

Every call asks a different question, and its round is dropped. Run as a program, `python -m bench.waiting COUNT
live|replayed` prints the traced bytes per call, in a process that does nothing else.
"""

import asyncio
import gc
import subprocess
import sys
import tracemalloc

from mcp import Client
from mcp.server import MCPServer
from mcp_types import InputRequiredResult

import midcall
from bench.candidates import ROUNDS
from bench.clients import ROOT, Wrong, sdk_client
from midcall import ask

_WARM = 100


def bytes_per_call(count: int, kind: str) -> float:
    """The bytes that each of `count` calls takes, with `live` or `replayed` runs."""
    command = [sys.executable, "-m", "bench.waiting", str(count), kind]
    return float(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout)


def _server(count: int, kind: str) -> MCPServer:
    mcp = MCPServer("bench", log_level="WARNING")
    midcall.install(mcp, live=kind == "live", max_live=2 * count)

    @mcp.tool()
    async def hold(number: int) -> str:
        return await ask(f"What is the name of number {number}?", str)

    return mcp


async def _begin(client: Client, numbers: range) -> None:
    for number in numbers:
        result = await client.session.call_tool("hold", {"number": number}, allow_input_required=True)
        if not isinstance(result, InputRequiredResult) or len(result.input_requests or ()) != 1:
            raise Wrong(f"call {number} does not wait: {result}")


def _traced() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


async def _measure(count: int, kind: str) -> float:
    async with sdk_client(_server(count, kind), ROUNDS, _never_answers) as client:
        tracemalloc.start()
        await _begin(client, range(_WARM))
        before = _traced()
        await _begin(client, range(_WARM, _WARM + count))
        return (_traced() - before) / count


async def _never_answers(context: object, params: object) -> None:
    raise Wrong("a question was answered")


if __name__ == "__main__":
    print(asyncio.run(_measure(int(sys.argv[1]), sys.argv[2])))
