"""A tool that never asks, with and without midcall."""

from contextlib import AsyncExitStack
from functools import partial
from itertools import product
from typing import Any, Final

from mcp_types import TextContent

from bench.candidates import PUSH, ROUNDS, SILENT, Candidate, Era
from bench.clients import Transport, Wrong, sdk_client, target_of
from bench.measure import WALL, Check, Step, best_of, cpu_clock
from bench.report import Target, milliseconds, row

_TEXT: Final = "nothing to ask"
_SERVERS: Final[dict[Transport, int]] = {"memory": 3, "http": 1}
"""Servers per candidate: the memory layout of a single one shifts results by as much as we want to detect."""
_WHERE: Final[dict[Transport, str]] = {"memory": "in memory", "http": "over HTTP"}
_LIMITS: Final[dict[Transport, float]] = {"memory": 1.12, "http": 1.02}


async def compare(transport: Transport, times: int) -> list[Target]:
    print(f"\nA tool that never asks, {_WHERE[transport]}, ms per call")
    return [await _compare(transport, era, times) for era in (ROUNDS, PUSH)]


async def _compare(transport: Transport, era: Era, times: int) -> Target:
    servers = _SERVERS[transport]
    async with AsyncExitStack() as stack:
        calls: dict[tuple[Candidate, int], tuple[Step, Check]] = {}
        for key in product(SILENT, range(servers)):
            target = await stack.enter_async_context(target_of(key[0], transport))
            client = await stack.enter_async_context(sdk_client(target, era))
            calls[key] = partial(client.call_tool, "echo", {"text": _TEXT}), _check
        found, turns = await best_of(times, calls, cpu_clock() if transport == "memory" else WALL)
    best = [min(found[each, i] for i in range(servers)) for each in SILENT]
    ratio = best[1] / best[0]
    for candidate, seconds in zip(SILENT, best, strict=True):
        cells = [milliseconds(seconds), *([f"{ratio:.2f} x"] if candidate is SILENT[1] else [])]
        print(row(f"{era}, {candidate.label}", cells))
    print(row("best of", [str(turns * servers)]), flush=True)
    return Target(f"never asks, with / without, {_WHERE[transport]}, {era}", ratio, _LIMITS[transport])


def _check(result: Any) -> None:
    if result.is_error or [block.text for block in result.content if isinstance(block, TextContent)] != [_TEXT]:
        raise Wrong(f"the tool that never asks returned {result}")
