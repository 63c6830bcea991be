"""A round without questions, from a server that is busy: the call is repeated, more slowly each time."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import anyio
import pytest
from mcp import Client
from mcp_types import TextContent, TextResourceContents

from midcall.client import Script, connect
from midcall.client.transport import intake
from tests.peer import COMMAND, busy, play

Call = Callable[[Client, str], Awaitable[str]]


async def prompt(client: Client, steps: str) -> str:
    content = (await client.get_prompt("story", {"steps": steps})).messages[0].content
    assert isinstance(content, TextContent)
    return content.text


async def resource(client: Client, steps: str) -> str:
    [content] = (await client.read_resource(f"play:{quote(steps)}")).contents
    assert isinstance(content, TextResourceContents)
    return content.text


@pytest.mark.parametrize(
    "more", [{}, {"inputRequests": {}}, {"inputRequests": None}, {"isError": False}, {"structuredContent": {}}]
)
async def test_a_tool_that_asks_for_nothing_but_time_is_called_again_with_its_state(more: dict[str, Any]) -> None:
    with anyio.fail_after(30):
        async with connect(COMMAND, Script({})) as client:
            seen = await play(client, busy("later", **more), busy("even later", **more))
    assert seen["calls"] == [{}, {"requestState": "later"}, {"requestState": "even later"}]


@pytest.mark.parametrize(("call", "part"), [(prompt, "messages"), (resource, "contents")])
@pytest.mark.parametrize("empty", [[], None])
async def test_so_are_prompts_and_resources(call: Call, part: str, empty: Any) -> None:
    with anyio.fail_after(30):
        async with connect(COMMAND, Script({})) as client:
            seen = json.loads(await call(client, json.dumps([busy("later", **{part: empty})])))
    assert seen["calls"] == [{}, {"requestState": "later"}]


@pytest.mark.parametrize("states", ["aaaa", "abcd"])
async def test_each_pause_is_longer_than_the_one_before(states: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "BUSY_SECONDS", 0.05)
    with anyio.fail_after(30):
        async with connect(COMMAND, Script({})) as client:
            seen = await play(client, *map(busy, states))
    pauses = [after - before for before, after in pairwise(seen["times"])]
    assert all(pause > least for pause, least in zip(pauses, (0.05, 0.1, 0.2, 0.4), strict=True))


async def test_the_callers_deadline_ends_the_pause_and_the_connection_stays_usable() -> None:
    async with connect(COMMAND, Script({})) as client:
        with pytest.raises(TimeoutError):
            with anyio.fail_after(1.0):
                await play(client, *[busy("later")] * 200)
        assert await play(client)


async def test_calls_at_the_same_time_do_not_wait_for_each_other() -> None:
    done: list[str] = []

    async def run(name: str, *steps: dict[str, Any]) -> None:
        await play(client, *steps)
        done.append(name)

    with anyio.fail_after(30):
        async with connect(COMMAND, Script({})) as client, anyio.create_task_group() as group:
            group.start_soon(run, "slow", *map(busy, "xyz"))
            group.start_soon(run, "quick", {"notify": ["notifications/message", {"level": "info", "data": 1}]})
    assert done == ["quick", "slow"]
