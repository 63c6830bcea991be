"""A tool that never asks, with midcall and without."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, Final

from mcp_types import TextContent

from bench.candidates import PUSH, ROUNDS, silent, silent_with_midcall
from bench.clients import Wrong, sdk_client
from bench.measure import best_of, cpu_clock
from bench.report import Target, milliseconds, row

_TEXT: Final = "nothing to ask"


async def compare(times: int) -> list[Target]:
    targets: list[Target] = []
    print("\nA tool that never asks, in memory, ms a call")
    for era in (ROUNDS, PUSH):
        async with AsyncExitStack() as stack:
            calls: dict[Callable[[], Any], Any] = {}
            for build in (silent, silent_with_midcall):
                client = await stack.enter_async_context(sdk_client(build(), era))
                calls[build] = partial(client.call_tool, "echo", {"text": _TEXT}), _check
            best, turns = await best_of(times, calls, cpu_clock())
        without, with_midcall = best[silent], best[silent_with_midcall]
        print(row(f"{era}, without midcall", [milliseconds(without)]))
        print(row(f"{era}, with midcall", [milliseconds(with_midcall), f"{with_midcall / without:.2f} x"]))
        print(row("best of", [str(turns)]), flush=True)
        targets.append(Target(f"never asks, with / without midcall, {era}", with_midcall / without, 1.05))
    return targets


def _check(result: Any) -> None:
    if result.is_error or [block.text for block in result.content if isinstance(block, TextContent)] != [_TEXT]:
        raise Wrong(f"the tool that never asks returned {result}")
