"""The ways in which `midcall.testing` calls a tool: pushed, live, replayed, one answer per round, in two processes."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from typing import Any

import pytest

from midcall import Cancelled, Declined, UserDeclined, ask, once, secret, testing
from midcall.portal import Portal
from midcall.testing import NotReplayable, replayed, run
from tests.kinds import KINDS, Kind, bare_server, server_with

NAMED = "tests.testing.replicas:mcp"


class Counting:
    """A tool with an effect before each question, without `once`."""

    def __init__(self) -> None:
        self.runs = 0

    async def book(self) -> str:
        self.runs += 1
        return f"{await ask('Where?', str)} {await ask('When?', str)}"


ANSWERS = {"Where?": "Oslo", "When?": "May"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("live", "runs"), [(True, 1), (False, 3), (None, 1)])
async def test_a_call_chooses_whether_the_run_stays_in_memory(kind: Kind, live: bool | None, runs: int) -> None:
    tool = Counting()
    done = await run(server_with(tool.book, kind=kind), "book", {}, ANSWERS, live=live)
    assert (done.text, tool.runs) == ("Oslo May", runs)


@pytest.mark.parametrize("installed", [True, False])
async def test_the_choice_of_one_call_does_not_affect_another(installed: bool) -> None:
    tool = Counting()
    server = server_with(tool.book, live=installed)
    chosen = run(server, "book", {}, ANSWERS, live=not installed)
    await asyncio.gather(chosen, run(server, "book", {}, ANSWERS))
    assert tool.runs == 4
    await run(server, "book", {}, ANSWERS)
    assert tool.runs == (5 if installed else 7)


async def test_the_call_chooses_with_a_store_too() -> None:
    for installed, live, runs in ((False, True, 1), (True, False, 3)):
        tool = Counting()
        server = server_with(
            tool.book, live=installed, keys=["k key of the tests: 0123456789abcdef"], store="memory://"
        )
        assert (await run(server, "book", {}, ANSWERS, live=live)).text == "Oslo May"
        assert tool.runs == runs


@pytest.mark.parametrize("server", ["http://127.0.0.1:9/mcp", "no-such-command", bare_server("mcpserver")])
@pytest.mark.parametrize("live", [True, False])
async def test_if_live_cannot_be_chosen_the_error_says_what_to_do(server: Any, live: bool) -> None:
    with pytest.raises(ValueError, match="Start a server that runs elsewhere with MIDCALL_LIVE"):
        await run(server, "book", live=live)


# --- which way differs -------------------------------------------------------------------------


async def test_a_tool_that_works_only_live_is_reported() -> None:
    numbers = itertools.count()

    async def draw() -> str:
        number = next(numbers) % 3
        await ask("Keep it?", str)
        return str(number)

    def begin_again() -> None:
        nonlocal numbers
        numbers = itertools.count()

    with pytest.raises(NotReplayable, match="ended differently in replayed rounds: '1' instead of '0'"):
        await replayed(server_with(draw), "draw", {}, {"Keep it?": "y"}, before=begin_again)


async def test_a_tool_that_works_only_replayed_is_reported() -> None:
    class Outside:
        runs = 0

    async def tool() -> str:
        Outside.runs += 1
        await ask("Well?", str)
        return "late" if Outside.runs == 1 and (await once("version", version)) == "live" else "done"

    ways = iter(["pushed", "live", "replayed", "one by one"])

    async def version() -> str:
        return now

    now = ""

    def before() -> None:
        nonlocal now
        Outside.runs, now = 0, next(ways)

    with pytest.raises(NotReplayable, match="in live rounds: 'late' instead of 'done'"):
        await replayed(server_with(tool), "tool", {}, ["x"], before=before)


async def test_concurrent_questions_are_also_answered_one_per_round() -> None:
    async def both() -> str:
        return " ".join(await asyncio.gather(ask("a?", str), ask("b?", str)))

    done = await run(server_with(both), "both", {}, ["1", "2"], one_by_one=True, live=False)
    assert (done.text, done.rounds) == ("1 2", 2)
    assert (await replayed(server_with(both), "both", {}, {"a?": "1", "b?": "2"})).text == "1 2"


# --- a decline in a group ------------------------------------------------------------------------


async def gathered() -> str:
    return " ".join(await asyncio.gather(*(ask(f"{name}?", str) for name in "abc")))


async def grouped() -> str:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_chain(name)) for name in "abc"]
    return " ".join(task.result() for task in tasks)


async def chained() -> str:
    try:
        return " ".join(await asyncio.gather(*(_chain(name) for name in "abc")))
    except UserDeclined:
        return await ask("And now?", str)


async def _chain(name: str) -> str:
    return "".join([await ask(f"{name}{n}?", str) for n in (1, 2, 3)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("no", [Declined(), Cancelled()])
@pytest.mark.parametrize("name", ["a?", "b?", "c?"])
async def test_a_correct_gather_passes_when_one_answer_is_a_decline(kind: Kind, no: Any, name: str) -> None:
    answers = {"a?": "1", "b?": "2", "c?": "3", name: no}
    done = await replayed(server_with(gathered, kind=kind), "gathered", {}, answers)
    assert done.failed


@pytest.mark.parametrize("tool", [grouped, chained])
@pytest.mark.parametrize("nos", [("a1?",), ("b2?",), ("c3?",), ("c1?",), ("b3?", "c1?"), ("a2?", "b1?")])
async def test_how_far_other_branches_get_before_a_decline_does_not_matter(tool: Any, nos: Sequence[str]) -> None:
    answers = {f"{name}{n}?": "x" for name in "abc" for n in (1, 2, 3)} | {"And now?": "y"}
    answers |= dict.fromkeys(nos, Declined())
    await replayed(server_with(tool), tool.__name__, {}, answers)


async def test_after_a_handled_decline_everything_else_is_compared() -> None:
    async def tool() -> str:
        found = await asyncio.gather(*(ask(f"{name}?", str) for name in "abc"), return_exceptions=True)
        return f"{sum(isinstance(each, str) for each in found)} of {await ask('How many?', str)}"

    answers = {"a?": "1", "b?": Declined(), "c?": "3", "How many?": "3"}
    assert (await replayed(server_with(tool), "tool", {}, answers)).text == "2 of 3"


# --- resume codes --------------------------------------------------------------------------------


async def long() -> str:
    return "".join([await ask(f"{n}?", str) for n in range(25)])


@pytest.mark.parametrize("store", [None, "memory://"])
async def test_a_call_with_more_questions_than_rounds_resumes_with_its_codes(store: str | None) -> None:
    done = await replayed(server_with(long, store=store), "long", {}, lambda asked: asked.message[0])
    assert done.text == "".join(str(n)[0] for n in range(25))


async def test_a_resume_code_for_a_pending_page_is_left_to_the_test() -> None:
    async def tool() -> str:
        return f"{len(await secret('github', 'A token'))} characters"

    server = server_with(tool, portal=Portal(), store="memory://")
    waits = await run(server, "tool", modes=("form",))
    assert waits.failed
    assert waits.code is not None
    [address] = [word for word in waits.text.split() if word.startswith("http://")]
    await testing.press(address, "accept", "ghp_1")
    done = await run(server, "midcall_continue", {"code": waits.code}, modes=("form",))
    assert (done.text, done.code) == ("5 characters", None)


# --- servers by name -----------------------------------------------------------------------------


async def test_a_server_can_be_given_by_name() -> None:
    done = await replayed(NAMED, "in_order", {}, lambda asked: asked.message)
    assert done.text == "alpha? beta? delta? epsilon? gamma? zeta?"


async def test_a_missing_name_is_reported() -> None:
    with pytest.raises(AssertionError, match=r"module 'tests\.testing\.replicas' has no 'server'"):
        await run("tests.testing.replicas:server", "in_order")


async def test_a_tool_that_asks_in_the_order_of_a_set_fails_with_two_hash_seeds() -> None:
    with pytest.raises(NotReplayable, match="in processes with the hash seeds 1, 2"):
        await replayed(NAMED, "in_any_order", {}, lambda asked: "x", hash_seeds=(1, 2))


async def test_a_tool_that_sorts_passes_with_two_hash_seeds() -> None:
    done = await replayed(NAMED, "in_order", {}, lambda asked: asked.message[0], hash_seeds=(1, 2))
    assert done.text == "a b d e g z"


async def test_hash_seeds_need_a_server_by_name() -> None:
    with pytest.raises(ValueError, match=r"package\.module:mcp"):
        await replayed(server_with(long), "long", hash_seeds=(0, 1))
