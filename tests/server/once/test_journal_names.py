"""What authors call their keys and effects never meets what midcall calls its own entries."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, MCPError

from midcall import ReplayMismatch, ask, once
from midcall.core.journal import (
    effect_name,
    key_name,
    mark_name,
    nth_name,
    question_name,
    required_name,
    wire_key,
)
from midcall.core.question import Question
from midcall.server.call import current_call
from midcall.server.once.effects import run_claimed
from midcall.stores.memory import Memory
from midcall.testing import connect, run
from tests.kinds import server_with
from tests.rounds import accept, raw_call, text
from tests.server.codes import shown
from tests.server.frames import Frame, host

MARKS = ("app", "unseen", "page", "link", "required", "retry", "relay", "visit", "visited", "visiting", "secret")
names = st.text(max_size=12) | st.sampled_from([*MARKS, "app.?x~1", "1.app", ".app", "!app", "#app", "?x", "x.1"])
keys = st.from_regex(r"\A[A-Za-z0-9_][A-Za-z0-9_.:-]{0,20}\Z")
digests = st.from_regex(r"\A[A-Za-z0-9_-]{12}\Z")
ordinals = st.integers(0, 12)
OURS = (
    st.builds(mark_name, st.sampled_from(MARKS), names, ordinals)
    | st.builds(nth_name, st.builds(question_name, digests), ordinals)
    | st.builds(required_name, ordinals, digests)
)


@given(st.builds(key_name, keys) | st.builds(effect_name, names, ordinals), OURS)
def test_a_name_of_an_author_never_equals_one_of_midcall(theirs: str, ours: str) -> None:
    assert theirs != ours


@given(keys, names, ordinals)
def test_a_key_is_not_an_effect(key: str, name: str, ordinal: int) -> None:
    assert key_name(key) != effect_name(name, ordinal)


@given(names, ordinals, names, ordinals)
def test_every_effect_has_its_own_name(name: str, ordinal: int, other: str, nth: int) -> None:
    assert (effect_name(name, ordinal) == effect_name(other, nth)) is ((name, ordinal) == (other, nth))


@given(st.sampled_from(MARKS), names, ordinals, st.sampled_from(MARKS), names, ordinals)
def test_every_mark_has_its_own_name(kind: str, about: str, ordinal: int, other: str, another: str, nth: int) -> None:
    same = (kind, about, ordinal) == (other, another, nth)
    assert (mark_name(kind, about, ordinal) == mark_name(other, another, nth)) is same


@given(keys)
def test_a_key_leaves_as_the_author_wrote_it(key: str) -> None:
    assert wire_key(key_name(key), 1) == key
    assert wire_key(key_name(key), 2) != key


# --- effects that are called like marks ----------------------------------------------------------


@pytest.mark.parametrize("name", [*MARKS, "#app.", "!app.", ".app"])
async def test_an_effect_of_any_name_may_come_before_a_question_in_an_app(name: str) -> None:
    async def tool() -> str:
        done = await once(name, lambda: "done")
        return f"{done} {await ask('First?', int)} {await once(name, lambda: 'again')} {await ask('Second?', int)}"

    async with host(server_with(tool, store=Memory())) as client:
        call = asyncio.create_task(client.call_tool("tool", {}))
        frame = Frame(client)
        await frame.finds({})
        await frame.answers(3)
        assert "Second?" in (await frame.looks_on())["html"]
        await frame.answers(4)
        assert shown(await call) == "done 3 again 4"


# --- arguments -----------------------------------------------------------------------------------

PAID: Counter[str] = Counter()


def pays(who: str) -> Callable[..., Any]:
    def pay(amount: int) -> int:
        PAID[who] += 1
        return amount

    async def buy() -> str:
        paid = await once("pay", pay, await ask("How much?", int))
        return f"{paid} {await ask('Anything else?', str)}"

    return buy


async def sent(client: Client, first: dict[str, Any], amount: int) -> bool:
    """Whether the call resumes from this state with this answer."""
    [key] = first["inputRequests"]
    try:
        result = await raw_call(client, "buy", {}, state=first["requestState"], answers={key: accept(answer=amount)})
    except MCPError:
        return False
    return "inputRequests" in result


@pytest.mark.parametrize("live", [True, False])
async def test_one_state_with_other_answers_pays_once_with_a_store(live: bool) -> None:
    who = f"stored {live}"
    async with connect(server_with(pays(who), store=Memory(), live=live)) as client:
        first = await raw_call(client, "buy", {})
        assert [await sent(client, first, amount) for amount in (10, 20, 30, 10)] == [True, False, False, True]
    assert PAID[who] == 1


@pytest.mark.parametrize("live", [True, False])
async def test_several_answers_to_one_state_at_once_pay_once(live: bool) -> None:
    who = f"at once {live}"
    async with connect(server_with(pays(who), store=Memory(), live=live)) as client:
        first = await raw_call(client, "buy", {})
        taken = await asyncio.gather(*(sent(client, first, amount) for amount in range(5)))
    assert (PAID[who], sum(taken)) == (1, 1)


async def test_a_claim_is_for_these_arguments_until_it_has_failed() -> None:
    ran: list[str] = []

    async def claim(arguments: str, *, fails: bool = False) -> object:
        async def run() -> str:
            ran.append(arguments)
            if fails:
                raise OSError(arguments)
            return arguments

        call = current_call.get()
        assert call is not None
        try:
            return await run_claimed(call, effect_name("pay", 0), "pay", arguments, False, run)
        except (OSError, ReplayMismatch) as exc:
            return type(exc).__name__

    async def tool() -> str:
        return f"{await claim('a', fails=True)} {await claim('b')} {await claim('c')} {await claim('b')}"

    done = await run(server_with(tool, store=Memory()), "tool", {})
    assert done.text == "OSError b ReplayMismatch b"
    assert ran == ["a", "b"]


@pytest.mark.parametrize("retry", [True, False])
async def test_a_claim_that_is_still_running_is_not_for_other_arguments(retry: bool) -> None:
    ran: list[str] = []
    go_on = asyncio.Event()

    async def claim(arguments: str, retry: bool) -> object:
        async def run() -> str:
            ran.append(arguments)
            await go_on.wait()
            return arguments

        call = current_call.get()
        assert call is not None
        return await run_claimed(call, effect_name("pay", 0), "pay", arguments, retry, run)

    async def tool() -> str:
        first = asyncio.create_task(claim("a", False))
        while not ran:
            await asyncio.sleep(0)
        with pytest.raises(ReplayMismatch):
            await claim("b", retry)
        go_on.set()
        return str(await first)

    done = await run(server_with(tool, store=Memory()), "tool", {})
    assert (done.text, ran) == ("a", ["a"])


@pytest.mark.parametrize("store", [None, "memory://"])
@pytest.mark.parametrize("live", [True, False])
async def test_a_tool_may_try_other_arguments_after_a_failure(live: bool, store: str | None) -> None:
    tried: list[str] = []

    async def pay(card: str) -> str:
        tried.append(card)
        if card == "old":
            raise OSError("expired")
        return card

    async def buy() -> str:
        try:
            card = await once("pay", pay, "old")
        except OSError:
            card = await once("pay", pay, "new")
        return f"{card} {await ask('a?', str)} {await ask('b?', str)}"

    done = await run(server_with(buy, store=store, live=live), "buy", {}, {"a?": "1", "b?": "2"})
    assert done.text == "new 1 2"
    assert tried.count("new") == 1


@pytest.mark.parametrize("store", [None, "memory://"])
@pytest.mark.parametrize("live", [True, False])
async def test_branches_may_come_to_effects_of_one_name_in_any_order(live: bool, store: str | None) -> None:
    done: Counter[str] = Counter()
    runs = Counter[str]()

    def effect(which: str) -> str:
        done[which] += 1
        return which

    async def tool() -> str:
        runs["tool"] += 1
        order = sorted("abcd", key=lambda name: (ord(name) * 7 + runs["tool"] * 3) % 5)

        async def branch(name: str) -> str:
            for _ in range(order.index(name)):
                await asyncio.sleep(0)
            answer = await ask(f"{name}?", str)
            return answer + await once("effect", effect, name)

        return " ".join(await asyncio.gather(*map(branch, "abcd")))

    answers = {f"{name}?": name for name in "abcd"}
    result = await run(server_with(tool, store=store, live=live, max_rounds=20), "tool", {}, answers, one_by_one=True)
    assert result.text == "aa bb cc dd"
    assert done == Counter("abcd")


async def test_the_tools_own_effect_with_other_arguments_is_a_mismatch(caplog: pytest.LogCaptureFixture) -> None:
    runs = iter(range(9))
    ran: list[int] = []

    async def tool() -> str:
        await once("pay", ran.append, next(runs))
        return await ask("a?", str)

    done = await run(server_with(tool, live=False), "tool", {}, ["1"])
    assert done.failed
    assert "its arguments differ" in caplog.text
    assert ran == [0]


async def test_a_question_has_the_same_name_for_every_way_to_look_it_up() -> None:
    question = Question("a?", str)
    assert question.base == question_name(question.digest)
    async with connect(server_with(asks_twice)) as client:
        first = await raw_call(client, "asks_twice", {})
        assert list(first["inputRequests"]) == [question.base]
        answers = {question.base: accept(answer="1")}
        second = await raw_call(client, "asks_twice", {}, state=first["requestState"], answers=answers)
        assert list(second["inputRequests"]) == [nth_name(question.base, 1)]
        answers = {nth_name(question.base, 1): accept(answer="2")}
        assert text(await raw_call(client, "asks_twice", {}, state=second["requestState"], answers=answers)) == "1 2"


async def asks_twice() -> str:
    return f"{await ask('a?', str)} {await ask('a?', str)}"
