"""Verbs where they cannot work: outside a call, not awaited, in the wrong thread."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, Literal, cast

import pytest

import midcall
from midcall import (
    NoCall,
    Question,
    ask,
    ask_all,
    can_ask,
    choose,
    confirm,
    elicit,
    from_thread,
    once,
    visit,
)
from midcall.errors import InvalidQuestion
from midcall.server.running import threads
from midcall.testing import ERAS, Era, connect, run
from tests.kinds import KINDS, Kind, server_with
from tests.mistakes import BROKEN, logged_mistake, mistake_in
from tests.rounds import text
from tests.server.verbs.test_asking import Trip


@pytest.mark.parametrize(
    "verb",
    [
        lambda: ask("?", str),
        lambda: elicit("?", str),
        lambda: confirm("?"),
        lambda: choose("?", ["a"]),
        lambda: ask_all(Question("?", str)),
        lambda: midcall.visit("?", "https://example.com"),
        lambda: midcall.once("x", str),
    ],
)
async def test_outside_a_call_every_verb_raises_at_once(verb: Callable[[], Any]) -> None:
    with pytest.raises(NoCall, match="outside an MCP call"):
        await verb()
    with pytest.raises(NoCall):
        can_ask()


async def test_without_midcall_the_log_reports_it_too_even_if_the_error_is_caught(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(NoCall):
        await ask("?", str)
    assert "midcall.install(...)" in logged_mistake(caplog)


async def test_complete_alone_works_outside_a_call() -> None:
    server = server_with()
    id = f"of-nobody-{uuid.uuid4()}"
    assert await midcall.complete(id), "it is noted: the call may come later"
    assert not await midcall.complete(id), "it was done before"
    del server


@pytest.mark.parametrize("id", [3, None, "", b"id"])
async def test_an_invalid_id_of_a_visit_is_refused(id: Any) -> None:
    with pytest.raises(InvalidQuestion):
        await midcall.complete(id)


async def test_an_unknown_channel_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    async def tool() -> bool:
        return can_ask(via="pushed")  # type: ignore[arg-type]

    told = await mistake_in(tool, caplog)
    assert told.startswith("InvalidQuestion in 'tool'")
    assert "pushed" in told


FORGOTTEN: list[tuple[str, Callable[[], Any]]] = [
    ("confirm", lambda: "deleted" if confirm("Delete?") else "kept"),
    ("confirm", lambda: not confirm("Delete?")),
    ("choose", lambda: choose("Seat?", ["w", "a"]) == "w"),
    ("choose", lambda: choose("Seat?", ["w", "a"]) in ("w", "x")),
    ("ask", lambda: cast("Any", ask("Trip?", Trip)).days),
    ("ask", lambda: "Hello " + cast("Any", ask("Name?", str))),
    ("ask", lambda: cast("Any", ask("Days?", int)) + 1),
    ("ask", lambda: cast("Any", ask("Days?", int)) > 3),
    ("ask", lambda: list(cast("Any", ask("Towns?", list[Literal["Oslo"]])))),
    ("elicit", lambda: cast("Any", elicit("Days?", int)).value),
    ("ask_all", lambda: cast("Any", ask_all(Question("a?", int)))[0]),
    ("visit", lambda: str(visit("Go", "https://example.com/"))),
    ("once", lambda: f"{once('mail', len, 'x')}"),
]


@pytest.mark.parametrize(("verb", "forgot"), FORGOTTEN)
@pytest.mark.parametrize("era", ERAS)
async def test_a_verb_that_is_taken_for_its_answer_must_be_awaited(
    era: Era, verb: str, forgot: Callable[[], Any], caplog: pytest.LogCaptureFixture
) -> None:
    async def tool() -> str:
        return str(forgot())

    told = await mistake_in(tool, caplog, era=era)
    assert told.startswith("Misuse in 'tool'")
    assert f"write `await {verb}(...)`" in told


async def test_a_verb_that_is_dropped_is_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def tool() -> str:
        confirm("Delete?")
        return "deleted"

    await run(server_with(tool), "tool")
    assert "write `await confirm(...)`" in caplog.text


async def test_verbs_can_be_kept_compared_and_started_later(caplog: pytest.LogCaptureFixture) -> None:
    async def tool() -> str:
        first, later = ask("a?", str), ask("b?", str)
        assert first != later
        assert len({first, later, first}) == 2
        assert asyncio.iscoroutine(later)
        return await first + await asyncio.create_task(later)

    for way in ({"era": "2025-11-25"}, {}, {"one_by_one": True}):
        done = await run(server_with(tool), "tool", {}, lambda asked: asked.message[0], **way)  # type: ignore[arg-type]
        assert done.text == "ab"
    assert caplog.records == []


@pytest.mark.parametrize("kind", ["mcpserver", "fastmcp"])
async def test_the_async_verbs_in_a_sync_tool_name_from_thread(kind: Kind, caplog: pytest.LogCaptureFixture) -> None:
    def tool() -> str:
        return str(ask("?", str))

    assert "midcall.from_thread" in await mistake_in(tool, caplog, kind=kind)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", ["mcpserver", "fastmcp"])
async def test_a_new_event_loop_in_a_sync_tool_names_from_thread_and_does_not_hang(
    kind: Kind, era: Era, caplog: pytest.LogCaptureFixture
) -> None:
    async def asks() -> str:
        return await ask("?", str)

    def tool() -> str:
        return asyncio.run(asks())

    assert "midcall.from_thread" in await mistake_in(tool, caplog, kind=kind, era=era)


@pytest.mark.parametrize("kind", ["mcpserver", "fastmcp"])
@pytest.mark.parametrize("era", ERAS)
async def test_a_sync_tool_asks_from_its_thread(kind: Kind, era: Era) -> None:
    def tool() -> str:
        name = from_thread.ask("Name?", str)
        return f"{name} {from_thread.confirm('Sure?')} {from_thread.choose('Seat?', ['a', 'w'])}"

    answers = {"Name?": "Ada", "Sure?": True, "Seat?": "w"}
    assert (await run(server_with(tool, kind=kind), "tool", {}, answers, era=era)).text == "Ada True w"


async def test_a_blocking_effect_of_a_sync_tool_does_not_stop_the_server() -> None:
    import threading

    released = threading.Event()

    def block() -> str:
        assert released.wait(10)
        return "done"

    def slow() -> str:
        return from_thread.once("block", block) + from_thread.once.retry("again", str)

    def release() -> str:
        released.set()
        return "released"

    async with connect(server_with(slow, release)) as client:
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(client.call_tool("slow"))
            await asyncio.sleep(0)
            assert text(await client.call_tool("release")) == "released"
        assert text(waiting.result()) == "done"


async def test_the_blocking_verbs_refuse_to_block_the_event_loop(caplog: pytest.LogCaptureFixture) -> None:
    async def tool() -> str:
        return from_thread.ask("?", str)

    assert "await midcall.ask" in await mistake_in(tool, caplog)


async def _in_an_executor() -> int:
    return await asyncio.get_running_loop().run_in_executor(None, lambda: from_thread.ask("Days?", int))


def _in_a_pool() -> list[int]:
    with ThreadPoolExecutor() as pool:
        return list(pool.map(lambda day: from_thread.ask(f"{day}?", int), ["a", "b"]))


@pytest.mark.parametrize("tool", [_in_an_executor, _in_a_pool])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_thread_that_does_not_know_its_call_gets_advice_in_the_log(
    tool: Callable[[], Any], kind: Kind, caplog: pytest.LogCaptureFixture
) -> None:
    done = await run(server_with(tool, kind=kind), tool.__name__)
    assert (done.failed, done.text) == (True, BROKEN)
    (said,) = [each for record in caplog.records if f"NoCall in {tool.__name__!r}" in (each := record.getMessage())]
    assert "contextvars.copy_context().run" in said


@pytest.mark.parametrize("era", ERAS)
async def test_verbs_are_not_questions_for_ask_all(era: Era, caplog: pytest.LogCaptureFixture) -> None:
    async def tool() -> str:
        return str(await ask_all(ask("A?", int), Question("B?", int), ask("C?", int)))  # type: ignore[call-overload]

    assert (await run(server_with(tool), "tool", era=era)).failed
    assert "write Question(message, type)" in caplog.text
    assert "must be awaited" not in caplog.text


@pytest.mark.parametrize("given", ["B?", None, 3, Trip], ids=str)
async def test_an_argument_of_ask_all_that_is_not_a_question_is_named(
    given: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def tool() -> str:
        return str(await ask_all(Question("A?", int), given))

    assert (await run(server_with(tool), "tool")).failed
    assert f"takes Question(...) values, not {type(given).__name__}" in caplog.text


async def test_a_verb_that_is_dropped_where_no_call_is_running_is_named_in_a_warning() -> None:
    with pytest.warns(RuntimeWarning, match=r"ask\(...\) must be awaited"):
        ask("Days?", int)  # pyright: ignore[reportUnusedCoroutine]


@pytest.mark.timeout(40)  # a loop that is stopped keeps no time
@pytest.mark.parametrize("kind", ["mcpserver", "fastmcp"])
@pytest.mark.parametrize("era", ERAS)
async def test_an_async_tool_that_blocks_the_loop_for_a_thread_that_asks_is_logged(
    era: Era, kind: Kind, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "BLOCKED_SECONDS", 0.5)

    async def tool() -> str:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(copy_context().run, from_thread.ask, "a?", str).result()

    assert "event loop is blocked" in await mistake_in(tool, caplog, kind=kind, era=era)
