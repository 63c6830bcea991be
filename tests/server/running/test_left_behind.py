"""Tasks that a tool has started, and has not awaited yet when a round leaves. Each of these once hung, ran on past a
question that nobody had answered, was told as an error in the log, or took the connection along."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import anyio
import pytest

from midcall import Declined, UserDeclined, ask, once
from midcall.server.running import run as running
from midcall.testing import Asked, connect, run
from tests.kinds import KINDS, Kind, server_with
from tests.rounds import text

SECONDS = 20

pytestmark = pytest.mark.usefixtures("both_modes")
in_live_runs = pytest.mark.parametrize("both_modes", ["live"], indirect=True)
in_replays = pytest.mark.parametrize("both_modes", ["replay"], indirect=True)

KEPT: set[object] = set()
"""Tasks that are in no variable of the tool, not even in one of the function around it."""


def answer(asked: Asked) -> Any:
    return Declined() if asked.message.startswith("No") else asked.message[0]


async def plain() -> str:
    return "plain"


# --- cleanup that awaits a branch -----------------------------------------------------------


async def waits_for_a_branch_in_finally() -> str:
    task = asyncio.create_task(ask("a?", str))
    try:
        answer = await ask("b?", str)
    finally:
        await asyncio.wait([task])
    return answer + task.result()


async def awaits_a_branch_in_finally() -> str:
    task = asyncio.create_task(ask("a?", str))
    try:
        answer = await ask("b?", str)
    finally:
        other = await task
    return answer + other


async def asks_in_a_branch_in_finally() -> str:
    try:
        answer = await ask("b?", str)
    finally:
        [other] = await asyncio.gather(ask("a?", str))
    return answer + other


async def catches_all_in_the_body_of_a_group() -> str:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(ask("a?", str))
        try:
            answer = await ask("b?", str)
        except:
            answer = "nothing"
    return answer + task.result()


# --- tasks that are awaited later ------------------------------------------------------------


async def waits_for_an_event_that_comes_later() -> str:
    ready = asyncio.Event()

    async def waiter() -> str:
        await ready.wait()
        return "a"

    task = asyncio.create_task(waiter())
    answer = await ask("b?", str)
    ready.set()
    return answer + await task


async def gathers_and_awaits_it_later() -> str:
    ready = asyncio.Event()
    waiting = asyncio.gather(ready.wait(), ask("a?", str))
    answer = await ask("b?", str)
    ready.set()
    return answer + (await waiting)[1]


async def keeps_tasks_by_name() -> str:
    queue: asyncio.Queue[str] = asyncio.Queue()
    tasks = {"reader": asyncio.create_task(queue.get())}
    answer = await ask("b?", str)
    await queue.put(await ask("a?", str))
    return answer + await tasks["reader"]


async def looks_at_failures_later() -> str:
    async def fails() -> str:
        raise OSError("the disk is full")

    tasks = [asyncio.create_task(fails()), asyncio.create_task(ask("b?", str))]
    await asyncio.wait(tasks)
    return tasks[1].result() + ("a" if tasks[0].exception() else "")


async def has_a_failure_in_its_hands_when_it_asks() -> str:
    async def fails() -> str:
        raise OSError("the disk is full")

    task = asyncio.create_task(fails())
    await asyncio.sleep(0)
    answer = await ask("b?", str)
    return answer + ("a" if task.exception() else "")


async def looks_at_a_no_later() -> str:
    tasks = [asyncio.create_task(ask(message, str)) for message in ("No?", "b?")]
    await asyncio.wait(tasks)
    return tasks[1].result() + ("a" if isinstance(tasks[0].exception(), UserDeclined) else "")


async def looks_at_failures_later_in_a_branch() -> str:
    [answer, _] = await asyncio.gather(looks_at_failures_later(), ask("c?", str))
    return answer


async def looks_at_a_no_later_in_a_branch() -> str:
    [answer, _] = await asyncio.gather(asyncio.wait_for(looks_at_a_no_later(), SECONDS), ask("c?", str))
    return answer


async def takes_failures_as_they_come() -> str:
    async def fails() -> str:
        raise OSError("the disk is full")

    answers: list[str] = []
    for each in asyncio.as_completed([fails(), ask("b?", str), fails()]):
        try:
            answers.append(await each)
        except OSError:
            await asyncio.sleep(0)
    return "".join(answers) + await ask("a?", str)


async def waits_for_its_children_in_the_cleanup_of_a_branch() -> str:
    async def branch() -> str:
        tasks = [asyncio.create_task(ask("b?", str)), asyncio.create_task(ask("a?", str))]
        try:
            await asyncio.wait(tasks)
        finally:
            answers = await asyncio.gather(*tasks, return_exceptions=True)
        return "".join(map(str, answers))

    [answer, _] = await asyncio.gather(branch(), ask("c?", str))
    return answer


async def _a_failure_beside_some_work() -> str:
    """Nothing of it asks, or is at its question, when a round leaves."""

    async def works() -> str:
        for _ in range(40):
            await asyncio.sleep(0)
        return "a"

    async def fails() -> str:
        await asyncio.sleep(0)
        raise OSError("the disk is full")

    tasks = [asyncio.create_task(works()), asyncio.create_task(fails())]
    await asyncio.wait(tasks)
    return tasks[0].result() if tasks[1].exception() else "nothing failed"


async def has_a_failure_in_a_branch_that_asks_nothing() -> str:
    return "".join(await asyncio.gather(ask("b?", str), _a_failure_beside_some_work()))


async def has_a_failure_in_a_group() -> str:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(ask("b?", str)), group.create_task(_a_failure_beside_some_work())]
    return "".join(task.result() for task in tasks)


async def has_a_failure_behind_a_generator() -> str:
    async def generated() -> AsyncGenerator[str]:
        yield await _a_failure_beside_some_work()

    async def last() -> str:
        return "".join([each async for each in generated()])

    return "".join(await asyncio.gather(ask("b?", str), last()))


async def fails_behind_a_shield() -> str:
    async def fails() -> str:
        for _ in range(40):
            await asyncio.sleep(0)
        raise OSError("the disk is full")

    asked = asyncio.create_task(ask("b?", str))
    try:
        await asyncio.shield(fails())
    except OSError:
        return await asked + "a"
    return "nothing failed"


async def catches_all_in_a_branch_and_takes_others_as_they_come() -> str:
    """The branch survives one cancel and then awaits the others; midcall must notice that, or everything hangs."""

    async def branch() -> str:
        try:
            answer = await ask("b?", str)
        except:
            answer = ""
        return answer + "".join([await each for each in asyncio.as_completed([ask("a?", str)])])

    return await asyncio.wait_for(branch(), SECONDS)


async def catches_all_in_a_branch_and_looks_at_failures_later() -> str:
    """The branch survives one cancel, and much later its tasks fail beside a question."""

    async def fails() -> str:
        raise OSError("the disk is full")

    async def branch() -> str:
        try:
            answer = await ask("b?", str)
        except:
            answer = ""
        for _ in range(40):
            await asyncio.sleep(0)
        tasks = [asyncio.create_task(ask("a?", str)), asyncio.create_task(fails())]
        await asyncio.wait(tasks)
        return answer + "".join(task.result() for task in tasks if not task.exception())

    return await asyncio.shield(branch())


async def catches_all_and_looks_at_failures_later() -> str:
    """The tool survives the cancel, its tasks fail beside a question, and it swallows the end of that question, too."""

    async def fails() -> str:
        raise OSError("the disk is full")

    try:
        answer = await ask("b?", str)
    except:
        answer = ""
    try:
        tasks = [asyncio.create_task(ask("a?", str)), asyncio.create_task(fails())]
        await asyncio.wait(tasks)
        return answer + "".join(task.result() for task in tasks if not task.exception())
    except:
        return answer


@pytest.mark.parametrize("how", ["2025-11-25", "2026-07-28", "one by one"])
@pytest.mark.parametrize(
    "tool",
    [
        waits_for_a_branch_in_finally,
        awaits_a_branch_in_finally,
        asks_in_a_branch_in_finally,
        catches_all_in_the_body_of_a_group,
        waits_for_an_event_that_comes_later,
        gathers_and_awaits_it_later,
        keeps_tasks_by_name,
        looks_at_failures_later,
        has_a_failure_in_its_hands_when_it_asks,
        looks_at_a_no_later,
        looks_at_failures_later_in_a_branch,
        looks_at_a_no_later_in_a_branch,
        takes_failures_as_they_come,
        waits_for_its_children_in_the_cleanup_of_a_branch,
        has_a_failure_in_a_branch_that_asks_nothing,
        has_a_failure_in_a_group,
        has_a_failure_behind_a_generator,
        fails_behind_a_shield,
        catches_all_in_a_branch_and_takes_others_as_they_come,
        catches_all_in_a_branch_and_looks_at_failures_later,
        catches_all_and_looks_at_failures_later,
    ],
)
async def test_a_round_leaves_all_the_same_and_nothing_is_logged(
    tool: Callable[[], Awaitable[str]],
    how: Any,
    both_modes: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a replay, asyncio logs tasks whose result the tool had not retrieved when its run ended."""
    monkeypatch.setattr(running, "CLEANUP_SECONDS", 10 * SECONDS)  # nothing here has to be given up on
    options: dict[str, Any] = {"one_by_one": True} if how == "one by one" else {"era": how}
    with anyio.fail_after(SECONDS):
        done = await run(server_with(tool), tool.__name__, {}, answer, **options)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
    assert done.text == "ba"
    await _settled()
    told = {"asyncio"} if both_modes == "replay" else set[str]()
    loud = [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")]
    assert [record.getMessage() for record in loud if record.name not in told] == []


@in_replays
async def test_a_round_does_not_wait_for_a_branch_whose_cleanup_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "CLEANUP_SECONDS", 0.01)
    goes_on, cleaned = asyncio.Event(), asyncio.Event()

    async def branch() -> None:
        try:
            await ask("a?", str)
        finally:
            await goes_on.wait()
            cleaned.set()

    async def tool() -> str:
        KEPT.add(asyncio.create_task(branch()))
        return await ask("b?", str)

    async with connect(server_with(tool), answer) as client:
        with anyio.fail_after(SECONDS):
            await client.session.call_tool("tool", {}, allow_input_required=True)
            assert not cleaned.is_set()
            goes_on.set()
            await cleaned.wait()
    KEPT.clear()


# --- past an unanswered question -------------------------------------------------------------


async def in_a_group() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(ask("No, delete?", str))


async def in_an_anyio_group() -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(_ask_delete)


async def in_a_wait() -> None:
    await asyncio.wait([asyncio.create_task(_ask_delete())])


async def in_a_gather() -> None:
    await asyncio.gather(_ask_delete(), return_exceptions=True)


async def _ask_delete() -> None:
    await ask("No, delete?", str)


@in_live_runs
@pytest.mark.parametrize("turns", [0, 1, 3, 10])
@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("asks", [in_a_group, in_an_anyio_group, in_a_wait, in_a_gather])
async def test_nothing_runs_past_a_question_that_has_no_answer(
    asks: Callable[[], Awaitable[None]], held: bool, turns: int
) -> None:
    past: list[str] = []

    async def delete() -> None:
        for _ in range(turns):
            await asyncio.sleep(0)
        await asks()
        past.append("continued")

    async def tool() -> str:
        task = asyncio.create_task(delete())
        if not held:  # by any variable of the tool, when the round leaves
            KEPT.add(task)
            del task
        return await ask("b?", str)

    server = server_with(tool, plain)
    async with connect(server, answer, max_rounds=1) as client:
        with anyio.fail_after(SECONDS):
            await client.session.call_tool("tool", {}, allow_input_required=True)
            await _settled()
            assert past == []
    KEPT.clear()


@pytest.mark.parametrize("asks", [in_a_group, in_an_anyio_group, in_a_wait, in_a_gather])
async def test_nothing_that_the_tool_awaits_runs_past_a_question_that_has_no_answer(
    asks: Callable[[], Awaitable[None]],
) -> None:
    past: list[str] = []

    async def delete() -> None:
        await asks()
        past.append("continued")

    async def tool() -> str:
        async with asyncio.TaskGroup() as group:
            group.create_task(delete())
            return await ask("b?", str)

    async with connect(server_with(tool), answer) as client:
        with anyio.fail_after(SECONDS):
            await client.session.call_tool("tool", {}, allow_input_required=True)
            await _settled()
    assert past == []


# --- a client that gives up while a round leaves ---------------------------------------------


@in_replays
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["group", "anyio", "gather", "task", "line"])
async def test_a_client_that_gives_up_while_a_round_leaves_keeps_its_connection(how: str, kind: Kind) -> None:
    cleaning, goes_on = asyncio.Event(), asyncio.Event()

    async def branch() -> None:
        try:
            await ask("a?", str)
        finally:
            cleaning.set()
            await goes_on.wait()

    async def tool() -> str:
        if how == "group":
            async with asyncio.TaskGroup() as group:
                group.create_task(branch())
        elif how == "anyio":
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(branch)
        elif how == "gather":
            await asyncio.gather(branch(), branch())
        else:
            await (asyncio.create_task(branch()) if how == "task" else branch())
        return "done"

    async with connect(server_with(tool, plain, kind=kind), answer) as client:
        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "tool")
                await cleaning.wait()
                group.cancel_scope.cancel()
            assert text(await client.call_tool("plain", {})) == "plain"
            goes_on.set()
            assert text(await client.call_tool("plain", {})) == "plain"


async def test_a_branch_that_nobody_holds_ends_with_a_call_that_its_client_gives_up() -> None:
    begun, goes_on, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def effect() -> int:
        begun.set()
        await goes_on.wait()
        return 1

    async def branch() -> None:
        try:
            await ask("a?", str)
        finally:
            ended.set()

    async def tool() -> str:
        KEPT.add(asyncio.create_task(branch()))
        return str(await once("effect", effect))  # the round waits for it

    async with connect(server_with(tool, plain), answer) as client:
        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "tool")
                await begun.wait()
                await _settled()
                group.cancel_scope.cancel()
            assert text(await client.call_tool("plain", {})) == "plain"
            goes_on.set()
            await ended.wait()
    KEPT.clear()


# --- what is not the tool's own --------------------------------------------------------------


async def test_a_task_of_somebody_else_that_the_tool_holds_lives_on() -> None:
    ready = asyncio.Event()
    shared = asyncio.create_task(ready.wait())

    async def tool() -> str:
        task = shared
        answer = await ask("b?", str)
        return answer + str(task.cancelled())

    async with connect(server_with(tool), answer) as client:
        with anyio.fail_after(SECONDS):
            assert text(await client.call_tool("tool", {})) == "bFalse"
    assert not shared.done()
    ready.set()
    assert await shared


async def test_an_unrelated_failure_is_still_logged(caplog: pytest.LogCaptureFixture) -> None:
    ready = asyncio.Event()

    async def fails() -> None:
        await ready.wait()
        raise OSError("the disk is full")

    shared = [asyncio.create_task(fails())]

    async def tool() -> str:
        seen = shared
        async with asyncio.TaskGroup() as group:
            group.create_task(ask("a?", str))
        return f"{len(seen)}"

    assert (await run(server_with(tool), "tool", {}, answer)).text == "1"
    ready.set()
    await asyncio.wait(shared)
    shared.clear()
    await _settled()
    assert "never retrieved" in caplog.text


async def test_what_else_a_tool_holds_is_not_touched() -> None:
    class Touchy:
        @property
        def __class__(self) -> Any:
            raise RuntimeError("there is nothing here")

    class Lazy(list[Any]):
        def __iter__(self) -> Any:
            raise RuntimeError("not loaded")

    async def tool() -> str:
        touchy, lazy, rows = Touchy(), Lazy(), [Touchy()]
        answer = await ask("b?", str)
        return answer + str([type(each).__name__ for each in (touchy, lazy, rows)])

    with anyio.fail_after(SECONDS):
        assert (await run(server_with(tool), "tool", {}, answer)).text == "b['Touchy', 'Lazy', 'list']"


async def test_an_effect_that_starts_a_task_keeps_it() -> None:
    tasks: list[asyncio.Task[bool]] = []
    ready = asyncio.Event()

    async def start() -> int:
        tasks.append(asyncio.create_task(ready.wait()))
        return len(tasks)

    async def tool() -> str:
        started = await once("start", start)
        return await ask("b?", str) + str(started)

    async with connect(server_with(tool), answer) as client:
        with anyio.fail_after(SECONDS):
            assert text(await client.call_tool("tool", {})) == "b1"
    assert len(tasks) == 1
    assert not tasks[0].cancelling()
    ready.set()
    assert await tasks[0]


async def _settled() -> None:
    """Let go of what is left, and give it the chance to complain."""
    for _ in range(50):
        await asyncio.sleep(0)
    gc.collect()
    await asyncio.sleep(0)
