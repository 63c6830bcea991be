"""What a retry at another replica costs, when the answer travels to the run.

Two servers share a store. Both are in this process, so the figure includes the work of both, and no network except the
store's.
"""

import statistics
import time
from typing import Final

from mcp import Client
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult, ElicitResult, InputRequiredResult
from pydantic import BaseModel

import midcall
from bench.clients import Wrong
from bench.report import Target, milliseconds, row
from bench.stores import opened, place
from midcall.stores import Store, StoreError

_MORE: Final = 10.0
_KEYS: Final = ["a key for the bench that is long enough"]


class Word(BaseModel):
    word: str


def replica(store: Store) -> MCPServer:
    server = MCPServer("bench", log_level="ERROR")

    @server.tool()
    async def tool(ctx: Context) -> str:
        """Ask once."""
        return str((await ctx.elicit("Which word?", Word)).action)

    midcall.install(server, keys=_KEYS, store=store)
    return server


async def compare(times: int) -> list[Target]:
    targets: list[Target] = []
    for kind in ("PostgreSQL", "Redis"):
        try:
            targets.append(await measure(kind, times))
        except (StoreError, OSError) as error:
            print(f"\n{kind}: skipped. {error}")
    return targets


async def measure(kind: str, times: int) -> Target:
    async with (
        place(kind) as there,
        opened(there.url) as one,
        opened(there.url) as other,
        Client(replica(one), mode="2026-07-28", elicitation_callback=_refuse) as right,
        Client(replica(other), mode="2026-07-28", elicitation_callback=_refuse) as wrong,
    ):
        took: dict[str, list[float]] = {"right": [], "wrong": []}
        for number in range(times + 5):
            for name, client in (("right", right), ("wrong", wrong)):
                seconds = await _retry(await _begin(right), client)
                if number >= 5:
                    took[name].append(seconds)
    medians = {name: statistics.median(seconds) for name, seconds in took.items()}
    print(f"\n{kind}", flush=True)
    print(row("retry at the replica with the run, median ms", [milliseconds(medians["right"])]))
    print(row("retry at another replica, median ms", [milliseconds(medians["wrong"])]), flush=True)
    return Target(f"{kind}: retry at the wrong replica, more", (medians["wrong"] - medians["right"]) * 1e3, _MORE, "ms")


async def _begin(client: Client) -> InputRequiredResult:
    result = await client.session.call_tool("tool", {}, allow_input_required=True)
    if not isinstance(result, InputRequiredResult):
        raise Wrong("the tool did not ask")
    return result


async def _retry(asked: InputRequiredResult, client: Client) -> float:
    answers = {key: ElicitResult(action="accept", content={"word": "tea"}) for key in asked.input_requests or {}}
    begun = time.perf_counter()
    result = await client.session.call_tool(
        "tool", {}, input_responses=answers, request_state=asked.request_state, allow_input_required=True
    )
    took = time.perf_counter() - begun
    if not isinstance(result, CallToolResult) or result.is_error:
        raise Wrong(f"the retry came to {result}")
    return took


async def _refuse(*_: object) -> ElicitResult:
    raise Wrong("retries are made by hand")
