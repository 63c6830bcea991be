"""What choosing the channel costs: for a client that supports everything, and for one that supports nothing."""

import time
from collections.abc import Callable
from typing import Any, Final

from mcp.client.extension import advertise
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID
from mcp.server.mcpserver import MCPServer

import midcall
from bench.measure import cpu_clock
from bench.report import Target
from midcall import Question
from midcall.portal.app import Portal
from midcall.server.ask import channel_for
from midcall.server.call import running_call
from midcall.stores.memory import Memory
from midcall.testing import Era, connect

LIMIT: Final = 20.0
_QUESTION: Final[Question[Any]] = Question("Where to?", str, default="Oslo", via={"relay", *midcall.STRONG})
_CLIENTS: Final[tuple[tuple[str, Era, tuple[Any, ...] | None, str], ...]] = (
    ("pushes", "2025-11-25", None, "push"),
    ("rounds", "2026-07-28", None, "round"),
    ("URLs only", "2026-07-28", ("url",), "page"),
    ("Apps only", "2026-07-28", (), "app"),
    ("nothing", "2026-07-28", (), "link"),
)
_APPS: Final = advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]})


async def compare(turns: int) -> list[Target]:
    """The fastest of many runs for each kind of client."""
    targets: list[Target] = []
    for label, era, modes, expected in _CLIENTS:
        seconds = await _seconds(turns, era, modes, expected)
        targets.append(Target(f"choosing the channel: {label}, {expected}", seconds * 1e6, LIMIT, "µs"))
    return targets


async def _seconds(turns: int, era: Era, modes: tuple[Any, ...] | None, expected: str) -> float:
    found: list[float] = []

    async def tool() -> str:
        call = running_call("choosing")
        channel = channel_for(call, _QUESTION)
        found.append(_best(turns, lambda: channel_for(call, _QUESTION)))
        return channel.via

    server: MCPServer[Any] = MCPServer("choosing")
    server.add_tool(tool)
    installation = midcall.install(
        server, keys=["k key of the tests: 0123456789abcdef"], store=Memory(), portal=Portal(), relay=True
    )
    extensions = [_APPS] if expected == "app" else []
    async with connect(server, era=era, modes=modes, extensions=extensions) as client:
        result = await client.call_tool("tool", {})
    await installation.close()
    assert result.structured_content == {"result": expected}, result
    return found[0]


def _best(turns: int, choose: Callable[[], object], times: int = 1_000) -> float:
    """Seconds per question. One is too short for any clock, so time many together."""
    clock = cpu_clock()
    best = float("inf")
    until = time.monotonic() + 10
    for _ in range(turns):
        begun = clock()
        for _ in range(times):
            choose()
        best = min(best, (clock() - begun) / times)
        if time.monotonic() > until:
            break
    return best
