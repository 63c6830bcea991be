"""A tool that never asks, with midcall and without."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from itertools import product
from typing import Any, Final

from mcp.server import MCPServer
from mcp_types import TextContent

from bench.candidates import PUSH, ROUNDS, silent, silent_with_midcall
from bench.clients import Wrong, sdk_client
from bench.measure import Check, Step, best_of, cpu_clock
from bench.report import Target, milliseconds, row

Build = Callable[[], MCPServer]

_TEXT: Final = "nothing to ask"
_SERVERS: Final = 3
"""Of each kind: where objects happen to lie in memory moves single ones by as much as we look for."""


async def compare(times: int) -> list[Target]:
    targets: list[Target] = []
    print("\nA tool that never asks, in memory, ms a call")
    for era in (ROUNDS, PUSH):
        async with AsyncExitStack() as stack:
            calls: dict[tuple[Build, int], tuple[Step, Check]] = {}
            for key in product((silent, silent_with_midcall), range(_SERVERS)):
                client = await stack.enter_async_context(sdk_client(key[0](), era))
                calls[key] = partial(client.call_tool, "echo", {"text": _TEXT}), _check
            best, turns = await best_of(times, calls, cpu_clock())
        without, with_midcall = (
            min(best[build, i] for i in range(_SERVERS)) for build in (silent, silent_with_midcall)
        )
        print(row(f"{era}, without midcall", [milliseconds(without)]))
        print(row(f"{era}, with midcall", [milliseconds(with_midcall), f"{with_midcall / without:.2f} x"]))
        print(row("best of", [str(turns * _SERVERS)]), flush=True)
        targets.append(Target(f"never asks, with / without midcall, {era}", with_midcall / without, 1.12))
    return targets


def _check(result: Any) -> None:
    if result.is_error or [block.text for block in result.content if isinstance(block, TextContent)] != [_TEXT]:
        raise Wrong(f"the tool that never asks returned {result}")
