"""With a store: claimed effects, journals of any size, and calls that resume later on any replica."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.client._input_required import DEFAULT_INPUT_REQUIRED_MAX_ROUNDS
from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

from midcall import Declined, ask, choose, complete, confirm, once, visit
from midcall.errors import InstallError, StoreError
from midcall.server.once import effects
from midcall.server.resuming import visits
from midcall.server.running.handover import Handover
from midcall.stores.memory import Memory
from midcall.testing import ERAS, Era, connect, run
from tests.kinds import KINDS, Kind, server_with
from tests.rounds import accept, raw_call, text
from tests.server.codes import KEYS, go_on, shown

# --- once ------------------------------------------------------------------------------------


class Till:
    """Counts what was charged."""

    def __init__(self) -> None:
        self.charged = 0

    async def charge(self) -> int:
        self.charged += 1
        return self.charged

    async def pay(self) -> str:
        await ask("Which card?", str, key="card")
        paid = await once("charge", self.charge)
        await ask("A receipt?", str, key="receipt")
        return f"paid {paid}"

    async def pay_again(self) -> str:
        await ask("Which card?", str, key="card")
        paid = await once.retry("charge", self.charge)
        await ask("A receipt?", str, key="receipt")
        return f"paid {paid}"


async def test_an_effect_runs_once_even_if_an_old_state_is_sent_again(either: str) -> None:
    till, store = Till(), Memory()
    async with connect(server_with(till.pay, keys=KEYS, store=store)) as client:
        first = await raw_call(client, "pay", {})
        for _ in range(3):
            answers = {"card": accept(answer="x")}
            second = await raw_call(client, "pay", {}, state=first["requestState"], answers=answers)
            answers = {"receipt": accept(answer="x")}
            third = await raw_call(client, "pay", {}, state=second["requestState"], answers=answers)
            assert text(third) == "paid 1"
    assert till.charged == 1


async def test_an_effect_runs_once_when_two_replicas_get_the_same_state(either: str) -> None:
    till, store = Till(), Memory()
    async with connect(server_with(till.pay, keys=KEYS, store=store)) as one:
        async with connect(server_with(till.pay, keys=KEYS, store=store)) as two:
            first = await raw_call(one, "pay", {})
            state, answers = first["requestState"], {"card": accept(answer="x")}
            async with asyncio.TaskGroup() as group:
                for client in (one, two):
                    group.create_task(raw_call(client, "pay", {}, state=state, answers=answers))
    assert till.charged == 1


async def cut_off(client: Client, tool: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, dict[str, Any]]:
    """A call whose effect was claimed, and whose process then died; its state, and what was answered."""

    async def dies(*_: Any) -> Any:
        raise StoreError("the lights went out")

    first = await raw_call(client, tool, {})
    state, answers = first["requestState"], {"card": accept(answer="x")}
    with monkeypatch.context() as patch:
        patch.setattr(effects, "_run_claim", dies)
        patch.setattr(Handover, "settle", dies)
        with pytest.raises(MCPError):
            await raw_call(client, tool, {}, state=state, answers=answers)
    monkeypatch.setattr(effects, "OTHER_EFFECT_SECONDS", 0.01)
    return state, answers


@pytest.mark.usefixtures("replaying")
async def test_an_effect_that_was_cut_off_is_not_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    till, store = Till(), Memory()
    async with connect(server_with(till.pay, keys=KEYS, store=store)) as client:
        state, answers = await cut_off(client, "pay", monkeypatch)
    async with connect(server_with(till.pay, keys=KEYS, store=store)) as client:
        again = await raw_call(client, "pay", {}, state=state, answers=answers)
    assert again["isError"]
    assert "nobody knows whether it finished" in text(again)
    assert till.charged == 0


@pytest.mark.usefixtures("replaying")
async def test_an_effect_that_is_safe_to_repeat_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    till, store = Till(), Memory()
    async with connect(server_with(till.pay_again, keys=KEYS, store=store)) as client:
        state, answers = await cut_off(client, "pay_again", monkeypatch)
    async with connect(server_with(till.pay_again, keys=KEYS, store=store)) as client:
        second = await raw_call(client, "pay_again", {}, state=state, answers=answers)
        assert list(second["inputRequests"]) == ["receipt"]
    assert till.charged == 1


async def test_an_effect_that_failed_runs_again() -> None:
    tries: list[int] = []

    async def flaky() -> int:
        tries.append(1)
        if len(tries) < 3:
            raise ValueError("not yet")
        return len(tries)

    async def tool() -> str:
        for _ in range(3):
            try:
                return f"{await once('flaky', flaky)} {await ask('Name?', str)}"
            except ValueError:
                continue
        return "never"

    store = Memory()
    done = await run(server_with(tool, store=store), "tool", {}, {"Name?": "Ada"})
    assert done.text == "3 Ada"
    assert len(tries) == 3


# --- journals of any size ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
async def test_a_journal_that_is_too_large_to_travel_goes_to_the_store(kind: Kind) -> None:
    async def much() -> str:
        return "x" * 300_000

    async def tool() -> str:
        data = await once("read", much)
        return f"{len(data)} {await ask('Name?', str)}"

    async with connect(server_with(tool, kind=kind, store=Memory())) as client:
        first = await raw_call(client, "tool", {})
        assert len(first["requestState"]) < 1000
        [key] = first["inputRequests"]
        last = await raw_call(client, "tool", {}, state=first["requestState"], answers={key: accept(answer="Ada")})
        assert text(last) == "300000 Ada"


async def test_a_kept_journal_that_is_gone_is_a_clear_error() -> None:
    async def much() -> str:
        return "x" * 100_000

    async def tool() -> str:
        return f"{len(await once('read', much))} {await ask('Name?', str)}"

    store = Memory()
    async with connect(server_with(tool, store=store)) as client:
        first = await raw_call(client, "tool", {})
        await store.sweep(1e12)
        with pytest.raises(MCPError, match="cannot be read"):
            await raw_call(client, "tool", {}, state=first["requestState"])


# --- resuming later ----------------------------------------------------------------------------


async def twelve() -> str:
    return " ".join([await ask(f"Question {n}?", str) for n in range(12)])


@pytest.mark.parametrize("kind", KINDS)
async def test_a_call_with_more_rounds_than_a_client_takes_resumes_with_a_code(kind: Kind) -> None:
    asked: list[str] = []

    def answer(question: Any) -> str:
        asked.append(question.message)
        return f"a{len(asked)}"

    server = server_with(twelve, kind=kind, store=Memory())
    async with connect(server, answer, max_rounds=DEFAULT_INPUT_REQUIRED_MAX_ROUNDS) as client:
        first = await client.call_tool("twelve", {})
        assert "NOT FINISHED YET" in shown(first)
        assert "Now call the tool midcall_continue" in shown(first), "nobody has anything to do first"
        last = await go_on(client, first)
        assert shown(last) == " ".join(f"a{n}" for n in range(1, 13))
    assert len(asked) == len(set(asked)) == 12


async def page(seconds: float = 0) -> str:
    id = await visit("Please sign in", "https://example.com/x", id="signing-in", wait=True)
    return f"done {id}"


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_person_who_takes_long_is_served_by_continuing(
    kind: Kind, era: Era, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visits, "HOLD_SECONDS", 0.01)
    server = server_with(page, kind=kind, store=Memory())
    asked: list[str] = []

    def answer(question: Any) -> str:
        asked.append(question.message)
        return "go"

    async with connect(server, answer, era=era, max_rounds=DEFAULT_INPUT_REQUIRED_MAX_ROUNDS) as client:
        result = await client.call_tool("page", {})
        assert "not finished on the web page" in shown(result)
        result = await go_on(client, result)
        await complete("signing-in")
        result = await go_on(client, result)
        assert shown(result) == "done signing-in"
    assert asked == ["Please sign in"]


async def test_a_visit_is_completed_from_another_replica() -> None:
    store = Memory()
    here, there = (server_with(page, keys=KEYS, store=store) for _ in range(2))
    [other] = [each for each in midcall_installations() if each.server is lowlevel(there)]
    async with connect(here, ["go"]) as client:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(client.call_tool("page", {}))
            while not store_has(store, "visit"):
                await asyncio.sleep(0)
            assert await other.complete("signing-in")
    assert shown(task.result()) == "done signing-in"


def midcall_installations() -> list[Any]:
    from midcall.server.installation import installations

    return list(installations)


def lowlevel(server: Any) -> Any:
    return server._lowlevel_server if isinstance(server, MCPServer) else server


def store_has(store: Memory, kind: str) -> bool:
    return any(record.kind == kind for record in store._records.values())  # pyright: ignore[reportPrivateUsage]


async def test_a_code_works_on_another_replica_after_the_first_is_gone() -> None:
    store = Memory()
    answers: Callable[..., str] = lambda asked: "x"  # noqa: E731
    async with connect(server_with(twelve, keys=KEYS, store=store), answers, max_rounds=10) as client:
        first = await client.call_tool("twelve", {})
    async with connect(server_with(twelve, keys=KEYS, store=store), answers, max_rounds=10) as client:
        assert shown(await go_on(client, first)) == " ".join(["x"] * 12)


async def test_a_code_again_gets_the_same_result_and_runs_nothing_again() -> None:
    asked: list[str] = []

    def answers(question: str) -> str:
        asked.append(question)
        return "x"

    async with connect(server_with(twelve, store=Memory()), answers, max_rounds=10) as client:
        first = await client.call_tool("twelve", {})
        done = await go_on(client, first)
        told = len(asked)
        again = await go_on(client, first)
        assert shown(again) == shown(done) == " ".join("x" * 12)
        assert not again.is_error
    assert told == 12


@pytest.mark.parametrize("code", ["", "nonsense", "x" * 10_000, 3, None])
@pytest.mark.parametrize("era", ERAS)
async def test_the_model_learns_that_a_code_is_unknown(code: Any, era: Era) -> None:
    async with connect(server_with(twelve, store=Memory()), era=era) as client:
        result = await client.call_tool("midcall_continue", {"code": code})
        assert result.is_error
        assert "make the original call again" in shown(result)


async def test_a_code_is_for_its_owner_alone() -> None:
    who = ["ada"]
    server = server_with(twelve, keys=KEYS, store=Memory(), principal=lambda ctx: who[0])
    async with connect(server, lambda asked: "x", max_rounds=10) as client:
        first = await client.call_tool("twelve", {})
        who[0] = "eve"
        assert "belongs to another user" in shown(await go_on(client, first))
        who[0] = "ada"
        assert shown(await go_on(client, first)) == " ".join(["x"] * 12)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
async def test_the_tool_that_resumes_is_listed_only_with_a_store(kind: Kind, era: Era) -> None:
    async with connect(server_with(twelve, kind=kind), era=era) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["twelve"]
    async with connect(server_with(twelve, kind=kind, store=Memory()), era=era) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["twelve", "midcall_continue"]


async def test_what_was_declined_stays_declined_when_a_call_resumes() -> None:
    async def tool() -> str:
        first = await confirm("Delete it?")
        rest = [await ask(f"Question {n}?", str) for n in range(11)]
        return f"{first} {len(rest)} {await choose('Seat?', ['a', 'b'])}"

    def answer(asked: Any) -> Any:
        return Declined() if asked.message == "Delete it?" else "a"

    async with connect(server_with(tool, store=Memory()), answer, max_rounds=10) as client:
        last = await go_on(client, await client.call_tool("tool", {}))
        assert shown(last) == "False 11 a"


async def test_a_resumed_call_has_the_arguments_of_the_first() -> None:
    async def tool(city: str, days: int = 3) -> str:
        for n in range(11):
            await ask(f"Question {n}?", str)
        return json.dumps([city, days])

    async with connect(server_with(tool, store=Memory()), lambda asked: "x", max_rounds=10) as client:
        last = await go_on(client, await client.call_tool("tool", {"city": "Oslo", "days": 7}))
        assert json.loads(shown(last)) == ["Oslo", 7]


async def test_midcall_continue_says_whose_calls_it_resumes_and_has_the_annotations_of_its_author() -> None:
    async def tool() -> str:
        return "x"

    server = server_with(tool, store=Memory(), continue_annotations=ToolAnnotations(open_world_hint=False))
    async with connect(server) as client:
        [found] = [each for each in (await client.list_tools()).tools if each.name == "midcall_continue"]
    assert f"a tool call of {server.name} " in (found.description or "")
    assert found.annotations == ToolAnnotations(open_world_hint=False)


async def test_annotations_of_another_type_are_refused() -> None:
    with pytest.raises(InstallError, match="ToolAnnotations"):
        server_with(store=Memory(), continue_annotations={"readOnlyHint": True})
