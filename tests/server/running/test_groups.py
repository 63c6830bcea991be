"""What becomes of our errors, or of a suspended call, when a task group or the tool raises another error instead.

A server wraps and logs what a tool raises. Ours must get through that from inside a group, and a tool that fails
because it is suspended has not failed. What an author raises stays what it was.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import fastmcp
import pytest
from fastmcp.tools import Tool
from mcp_types import MISSING_REQUIRED_CLIENT_CAPABILITY, URL_ELICITATION_REQUIRED
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import midcall
from midcall import (
    Declined,
    InvalidQuestion,
    Question,
    UrlElicitationRequired,
    UserDeclined,
    Visit,
    ask,
    from_thread,
    once,
)
from midcall.server.frameworks.errors import look_inside
from midcall.stores.memory import Memory
from midcall.testing import ERAS, Era, Script, connect, run
from tests import every_way
from tests.every_way import WAYS, Asks, End, Way, asking, bare, end_of, in_group, replaces
from tests.kinds import KINDS, Kind, server_with
from tests.rounds import text
from tests.serving import stdio

NEWEST: Era = "2026-07-28"
NO = [Declined()]


def in_asyncio(function: Asks) -> Asks:
    async def it() -> str:
        async with asyncio.TaskGroup() as group:
            branch = group.create_task(function())
        return branch.result()

    return it


def in_anyio(function: Asks) -> Asks:
    async def it() -> str:
        async with anyio.create_task_group() as group:
            group.start_soon(function)
        return "not reached"

    return it


def in_two(function: Asks) -> Asks:
    return in_asyncio(in_anyio(function))


async def days() -> str:
    return await ask("a?", str)


@pytest.fixture
def loud() -> Iterator[list[logging.LogRecord]]:
    """What was logged as an error."""
    found: list[logging.LogRecord] = []

    class Listening(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(record)

    handler = Listening(logging.ERROR)
    for name in ("", "fastmcp"):  # which does not propagate
        logging.getLogger(name).addHandler(handler)
    yield found
    for name in ("", "fastmcp"):
        logging.getLogger(name).removeHandler(handler)


def said(records: list[logging.LogRecord]) -> list[tuple[str, str, str]]:
    """What was logged, by whom, and about what."""
    about = [type(each.exc_info[1]).__name__ if each.exc_info else "" for each in records]
    return [(each.name, each.getMessage(), what) for each, what in zip(records, about, strict=True)]


# --- our errors, in a group --------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_decline_in_nested_task_groups_ends_the_call_as_it_does_outside(
    kind: Kind, era: Era, way: Way, loud: list[logging.LogRecord]
) -> None:
    end = await end_of(asking(kind, in_two(days)), way, NO, era=era)
    assert "declined" in end.text
    assert end == await end_of(asking(kind, days), way, NO, era=era)
    assert said(loud) == []


@pytest.mark.parametrize("grouped", [in_asyncio, in_anyio])
@pytest.mark.parametrize("kind", KINDS)
async def test_any_task_group_lets_a_decline_through(kind: Kind, grouped: Any, loud: list[logging.LogRecord]) -> None:
    assert "declined" in (await end_of(asking(kind, grouped(days)), "tool", NO)).text
    assert said(loud) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("both_modes")
async def test_a_decline_in_one_branch_ends_the_call_while_another_still_asks(
    kind: Kind, loud: list[logging.LogRecord]
) -> None:
    async def two() -> str:
        async with asyncio.TaskGroup() as group:
            branches = [group.create_task(ask(message, str)) for message in ("a?", "b?")]
        return " ".join(each.result() for each in branches)

    done = await run(server_with(two, kind=kind), "two", {}, {"a?": Declined()}, one_by_one=True)
    assert "declined" in done.text
    assert [each.message for each in done.asked] == ["a?"]
    assert said(loud) == []


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
async def test_the_error_for_a_client_that_cannot_be_asked_passes_a_task_group(
    kind: Kind, era: Era, way: Way, loud: list[logging.LogRecord]
) -> None:
    end = await end_of(asking(kind, in_asyncio(days)), way, era=era, modes=())
    assert end == await end_of(asking(kind, days), way, era=era, modes=())
    assert (end.code == MISSING_REQUIRED_CLIENT_CAPABILITY) == (era == NEWEST)
    assert said(loud) == []


async def requires() -> str:
    raise UrlElicitationRequired([Visit("Sign in", "https://id.example.com/in", id="in")])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_visit_that_is_required_in_a_task_group_is_the_protocols_error(
    kind: Kind, way: Way, loud: list[logging.LogRecord]
) -> None:
    end = await end_of(asking(kind, in_two(requires)), way, era="2025-11-25")
    assert end.code == URL_ELICITATION_REQUIRED
    assert end == await end_of(asking(kind, requires), way, era="2025-11-25")
    assert said(loud) == []


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_visit_that_is_required_in_a_task_group_is_a_round_on_the_newest_version(
    kind: Kind, way: Way, loud: list[logging.LogRecord]
) -> None:
    asked: list[str] = []

    def refuses(question: Any) -> Declined:
        asked.append(question.url)
        return Declined()

    end = await end_of(asking(kind, in_two(requires)), way, refuses)
    assert asked == ["https://id.example.com/in"]
    assert "declined" in end.text
    assert said(loud) == []


@pytest.mark.parametrize("kind", KINDS)
async def test_a_mistake_in_a_group_is_reported_before_a_decline(kind: Kind, loud: list[logging.LogRecord]) -> None:
    async def both() -> str:
        raise ExceptionGroup("both", [UserDeclined("no"), InvalidQuestion("it has no message")])

    end = await end_of(asking(kind, both), "tool")
    assert "problem in the server itself" in end.text
    [(logger, message, _)] = said(loud)
    assert logger == "midcall"
    assert "it has no message" in message


@pytest.mark.parametrize("kind", KINDS)
async def test_a_broken_question_is_reported_alike_by_every_server(kind: Kind, loud: list[logging.LogRecord]) -> None:
    async def tool() -> str:
        return str(Question("", str))

    end = await end_of(asking(kind, tool), "tool")
    assert "problem in the server itself" in end.text
    [(logger, _, _)] = said(loud)
    assert logger == "midcall"


# --- errors of the author's ---------------------------------------------------------------------


async def crashes() -> str:
    raise ExceptionGroup("of the tool", [LookupError("no such city"), ExceptionGroup("more", [OSError("disk")])])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_group_of_the_authors_errors_is_reported_and_logged_as_without_midcall(
    kind: Kind, way: Way, loud: list[logging.LogRecord]
) -> None:
    without = await end_of(bare(kind, crashes), way)
    logged = said(loud)
    loud.clear()
    assert await end_of(asking(kind, crashes), way) == without
    assert said(loud) == logged
    assert logged


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_group_that_also_holds_an_error_of_the_authors_is_the_authors(
    kind: Kind, era: Era, way: Way, loud: list[logging.LogRecord]
) -> None:
    async def mixed() -> str:
        try:
            await ask("a?", str)
        except UserDeclined as exc:
            raise ExceptionGroup("of the tool", [exc, ExceptionGroup("more", [LookupError("no such city")])]) from None
        return "not reached"

    without = await end_of(bare(kind, crashes), way, era=era)
    logged = said(loud)
    loud.clear()
    end = await end_of(asking(kind, mixed), way, NO, era=era)
    assert end == without
    assert said(loud) == logged


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
async def test_what_the_author_raises_after_a_decline_is_the_authors(
    kind: Kind, era: Era, way: Way, loud: list[logging.LogRecord]
) -> None:
    async def alone() -> str:
        raise RuntimeError("no answer")

    async def after() -> str:
        try:
            return await ask("a?", str)
        except UserDeclined as exc:
            raise RuntimeError("no answer") from exc

    without = await end_of(bare(kind, alone), way, era=era)
    logged = said(loud)
    loud.clear()
    assert await end_of(asking(kind, after), way, NO, era=era) == without
    assert said(loud) == logged


# --- a round that leaves ------------------------------------------------------------------------


async def cleans_up_badly() -> str:
    first = await ask("a?", str)
    try:
        return f"{first} {await ask('b?', str)}"
    finally:
        if midcall.suspending():
            raise OSError("the connection was closed already")


async def branch_replaces() -> str:
    async def branch(message: str) -> str:
        try:
            return await ask(message, str)
        except BaseException as exc:
            raise RuntimeError("cleaned up") from exc

    async with asyncio.TaskGroup() as group:
        branches = [group.create_task(branch(message)) for message in ("a?", "b?")]
    return " ".join(each.result() for each in branches)


async def gathers_and_replaces() -> str:
    try:
        return " ".join(await asyncio.gather(ask("a?", str), ask("b?", str)))
    except BaseException as exc:
        raise RuntimeError("cleaned up") from exc


async def returns_nonsense() -> str:
    try:
        return f"{await ask('a?', str)} {await ask('b?', str)}"
    except BaseException:
        return object()  # type: ignore[return-value]


@pytest.fixture(scope="module")
def exporter() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    yield exporter
    exporter.shutdown()


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> InMemorySpanExporter:
    exporter.clear()
    return exporter


def failed(spans: InMemorySpanExporter) -> list[str]:
    finished = spans.get_finished_spans()
    assert finished
    return [span.name for span in finished if span.status.status_code is trace.StatusCode.ERROR]


MESSY = [replaces, cleans_up_badly, branch_replaces, gathers_and_replaces]


@pytest.mark.parametrize("messy", MESSY, ids=lambda each: each.__name__)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("both_modes")
async def test_what_a_suspended_tool_raises_is_in_no_log_and_no_span(
    kind: Kind, way: Way, messy: Asks, loud: list[logging.LogRecord], spans: InMemorySpanExporter
) -> None:
    assert await end_of(asking(kind, messy), way, {"a?": "1", "b?": "2"}) == End("1 2")
    assert said(loud) == []
    assert failed(spans) == []


@pytest.mark.parametrize("kind", ["mcpserver", "fastmcp"])
@pytest.mark.usefixtures("both_modes")
async def test_what_a_suspended_tool_returns_need_not_fit(kind: Kind, loud: list[logging.LogRecord]) -> None:
    end = await end_of(asking(kind, returns_nonsense), "tool", {"a?": "1", "b?": "2"})
    assert end == End("1 2")
    assert said(loud) == []


@pytest.mark.parametrize("kind", ["mcpserver", "fastmcp"])
@pytest.mark.usefixtures("both_modes")
async def test_a_tool_in_a_thread_may_replace_what_suspends_it(kind: Kind, loud: list[logging.LogRecord]) -> None:
    def tool() -> str:
        try:
            return f"{from_thread.ask('a?', str)} {from_thread.ask('b?', str)}"
        except BaseException as exc:
            raise RuntimeError("cleaned up") from exc

    done = await run(server_with(tool, kind=kind), "tool", {}, ["1", "2"])
    assert (done.text, done.failed) == ("1 2", False)
    assert said(loud) == []


@pytest.mark.parametrize("kind", KINDS)
async def test_a_pushed_call_that_resumes_later_may_replace_what_unwinds_it(
    kind: Kind, loud: list[logging.LogRecord]
) -> None:
    async def goes_on() -> str:
        try:
            return await ask("a?", str, via=("relay",))
        except BaseException as exc:
            raise RuntimeError("cleaned up") from exc

    server = asking(kind, goes_on, store=Memory(), relay=True)
    end = await end_of(server, "tool", era="2025-11-25", modes=())
    assert "midcall_answer" in end.text
    assert said(loud) == []


@pytest.mark.parametrize("kind", ["mcpserver", "fastmcp"])
@pytest.mark.usefixtures("both_modes")
async def test_a_tool_called_by_a_branch_of_another_may_fail_while_a_round_leaves(
    kind: Kind, loud: list[logging.LogRecord]
) -> None:
    async def outer() -> str:
        async with asyncio.TaskGroup() as group:
            calls = [group.create_task(server.call_tool("inner", {"message": message})) for message in ("a?", "b?")]
        return " ".join(each.result().content[0].text for each in calls)

    async def inner(message: str) -> str:
        try:
            return await ask(message, str)
        except BaseException as exc:
            raise RuntimeError("cleaned up") from exc

    server = server_with(outer, inner, kind=kind)
    done = await run(server, "outer", {}, {"a?": "1", "b?": "2"})
    assert (done.text, done.failed) == ("1 2", False)
    assert said(loud) == []


@pytest.mark.usefixtures("both_modes")
async def test_an_effect_that_ran_before_the_failing_cleanup_ran_once() -> None:
    ran: list[str] = []

    async def effect() -> str:
        ran.append("")
        return "done"

    async def tool() -> str:
        try:
            return f"{await once('effect', effect)} {await ask('a?', str)}"
        except BaseException as exc:
            raise RuntimeError("cleaned up") from exc

    done = await run(server_with(tool), "tool", {}, ["1"])
    assert (done.text, len(ran)) == ("done 1", 1)


# --- FastMCP's own ways to a tool ---------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
async def test_a_mounted_server_is_looked_into_as_well(era: Era, loud: list[logging.LogRecord]) -> None:
    parent: fastmcp.FastMCP[Any] = fastmcp.FastMCP("parent")
    child: fastmcp.FastMCP[Any] = fastmcp.FastMCP("child")
    child.tool(in_group)
    child.tool(replaces)
    parent.mount(child, namespace="sub")
    midcall.install(parent)
    assert "declined" in (await run(parent, "sub_in_group", {}, NO, era=era)).text
    assert (await run(parent, "sub_replaces", {}, ["1", "2"], era=era)).text == "1 2"
    assert said(loud) == []


@pytest.mark.parametrize("era", ERAS)
async def test_a_transformed_tool_is_looked_into_as_well(era: Era, loud: list[logging.LogRecord]) -> None:
    async def it() -> str:
        return "not reached"

    server: fastmcp.FastMCP[Any] = fastmcp.FastMCP("test")
    server.add_tool(Tool.from_tool(Tool.from_function(it), transform_fn=replaces))
    midcall.install(server)
    assert (await run(server, "it", {}, ["1", "2"], era=era)).text == "1 2"
    assert said(loud) == []


# --- servers with other internals --------------------------------------------------------------


async def test_a_server_that_has_no_place_to_look_into_works_as_it_did(monkeypatch: pytest.MonkeyPatch) -> None:
    look_inside(object(), "call_tool")
    server = server_with(replaces)
    del server.call_tool
    assert (await run(server, "replaces", {}, ["1", "2"])).text == "1 2"
    fast = server_with(replaces, in_group, kind="fastmcp")
    monkeypatch.setattr(Tool, "_run", inspect.unwrap(Tool._run))
    assert (await run(fast, "replaces", {}, ["1", "2"])).text == "1 2"
    assert "declined" in (await run(fast, "in_group", {}, NO)).text


# --- over a real connection ---------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "era"), [*(("mcpserver", era) for era in ERAS), ("fastmcp", NEWEST)])
async def test_over_stdio_nothing_of_it_is_in_the_servers_log(kind: Kind, era: Era, tmp_path: Path) -> None:
    log, answers = tmp_path / "stderr", Script(NO)
    with log.open("w") as stderr:
        async with connect(stdio(Path(every_way.__file__), stderr, kind), answers, era=era) as client:
            assert "declined" in text(await client.call_tool("in_group"))
            answers.restart(["1", "2"])
            assert text(await client.call_tool("replaces")) == "1 2"
    assert [word for word in ("Traceback", "ERROR", "Suspend", "cleaned up") if word in log.read_text()] == []
