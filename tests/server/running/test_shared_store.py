"""Replicas that share a store: a call is continued where its run is, wherever its answers come in."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp_types import CallToolRequestParams

import midcall
from midcall.core.journal import VERSION
from midcall.stores.memory import Memory
from midcall.testing import connect
from tests.calling import MEANS, Elicit, Means, Round, asking, begin, finish, proceed
from tests.rounds import raw_call

ANSWERS = {"a?": "1", "b?": "2"}
KEYS = ["k key of the tests: 0123456789abcdef"]


@pytest.mark.parametrize("means", MEANS)
async def test_a_tool_runs_once_though_another_replica_gets_its_answers(means: Means) -> None:
    store, effects = Memory(), list[str]()

    async def charge(elicit: Elicit) -> str:
        effects.append("charged")
        return f"{await elicit('a?')} {await elicit('b?')}"

    async with (
        connect(asking(means, charge, keys=KEYS, store=store)) as here,
        connect(asking(means, charge, keys=KEYS, store=store)) as there,
    ):
        second = await proceed(there, await begin(here, "charge"), ANSWERS)
        assert second.asked == ["b?"]
        assert await finish(there, second, ANSWERS) == "1 2"
    assert effects == ["charged"]


async def test_the_same_retry_at_another_replica_joins_and_other_answers_are_refused_there() -> None:
    store, paid = Memory(), list[str]()

    async def pay(elicit: Elicit) -> str:
        paid.append(await elicit("a?"))
        return f"paid {paid[-1]}"

    async with (
        connect(asking("mcpserver", pay, keys=KEYS, store=store)) as here,
        connect(asking("mcpserver", pay, keys=KEYS, store=store)) as there,
    ):
        first = await begin(here, "pay")
        assert await finish(here, first, ANSWERS) == "paid 1"
        assert await finish(there, first, ANSWERS) == "paid 1"
        with pytest.raises(Exception, match="already continued with other answers"):
            await finish(there, first, {"a?": "1000"})
    assert paid == ["1"]


async def test_a_replica_that_has_stopped_leaves_its_calls_to_another_one() -> None:
    store, runs = Memory(), list[str]()

    async def tool(elicit: Elicit) -> str:
        runs.append("run")
        return f"{await elicit('a?')}"

    async with connect(asking("mcpserver", tool, keys=KEYS, store=store)) as there:
        async with connect(asking("mcpserver", tool, keys=KEYS, store=store)) as here:
            first = await begin(here, "tool")
        assert await finish(there, first, ANSWERS) == "1"
    assert len(runs) == 2


@pytest.mark.parametrize(
    "looks", [{"own": f"midcall/{VERSION} 0123456789abcdef0123456789abcdef0123 1 \n\n\n[0,[],{{}}]"}, {"x": 1}]
)
async def test_a_result_of_a_tool_never_becomes_a_midcall_state_on_its_way_to_another_replica(looks: Any) -> None:
    """A gateway passes on what another server has sent; the SDK leaves results of an extension as they are."""
    store = Memory()

    def gateway() -> Server[Any]:
        async def call_tool(ctx: ServerRequestContext[Any], params: CallToolRequestParams) -> Any:
            await midcall.ask("a?", str)
            return {"resultType": "example.com/result", "requestState": looks}

        server: Server[Any] = Server("test", on_call_tool=call_tool)
        midcall.install(server, keys=KEYS, store=store)
        return server

    async with connect(gateway()) as here, connect(gateway()) as there:
        first = await begin(here, "tool")
        alone = await raw_call(here, "tool", {}, answers=_wire(first), state=first.state)
        elsewhere = await raw_call(there, "tool", {}, answers=_wire(first), state=first.state)
    assert alone["requestState"] == looks
    assert elsewhere == alone


def _wire(round: Round) -> dict[str, Any]:
    return {key: answer.model_dump(mode="json") for key, answer in round.responses(ANSWERS).items()}
