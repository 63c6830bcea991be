"""What a tool holds of its request follows the newest request of its call; what it holds of its connection stays."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import fastmcp
import pytest
from mcp import Client
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context
from mcp_types import LoggingMessageNotification, LoggingMessageNotificationParams, ProgressNotification

from midcall.testing import Script, connect
from tests.calling import WORD, Word, begin, finish, proceed
from tests.kinds import KINDS, Kind, bare_server, server_with
from tests.server.running.middleware import chain_of

ANSWERS = {"a?": "1", "b?": "2"}


Look = Callable[[Any], Any]


def looking(kind: Kind, look: Look) -> Callable[..., Any]:
    """A tool that looks at its context before its question and after it."""

    async def on_mcpserver(ctx: Context) -> str:
        before = await _awaited(look(ctx))
        await ctx.elicit("a?", Word)
        return f"{before} {await _awaited(look(ctx))}"

    async def on_lowlevel(ctx: ServerRequestContext[Any]) -> str:
        before = await _awaited(look(ctx))
        await ctx.session.elicit_form("a?", WORD, ctx.request_id)
        return f"{before} {await _awaited(look(ctx))}"

    async def on_fastmcp(ctx: fastmcp.Context) -> str:
        before = await _awaited(look(ctx))
        await ctx.elicit("a?", str)
        return f"{before} {await _awaited(look(ctx))}"

    tool: Any = {"mcpserver": on_mcpserver, "lowlevel": on_lowlevel, "fastmcp": on_fastmcp}[kind]
    tool.__name__ = "tool"
    return tool


async def _awaited(value: Any) -> Any:
    return await value if asyncio.iscoroutine(value) else value


@pytest.mark.parametrize("kind", KINDS)
async def test_the_request_id_is_that_of_the_newest_request(kind: Kind) -> None:
    ids: list[str] = []

    async def note(ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
        if ctx.method == "tools/call":
            ids.append(str(ctx.request_id))
        return await call_next(ctx)

    server = server_with(looking(kind, lambda ctx: ctx.request_id), kind=kind)
    chain_of(server).insert(0, note)
    async with connect(server) as client:
        shown = await finish(client, await begin(client, "tool"), ANSWERS)
    assert shown == " ".join(ids)
    assert len(set(ids)) == 2


@pytest.mark.parametrize("kind", KINDS)
async def test_progress_after_an_answer_goes_to_the_request_that_brought_it(kind: Kind) -> None:
    seen: list[tuple[str, float]] = []
    both = asyncio.Event()

    def hear(request: str) -> Any:
        async def heard(progress: float, total: float | None, message: str | None) -> None:
            seen.append((request, progress))
            if len(seen) == 2:
                both.set()

        return heard

    steps = iter((1.0, 2.0))

    async def report(ctx: Any) -> str:
        await (ctx.session if kind == "lowlevel" else ctx).report_progress(next(steps), 2)
        return "reported"

    async with asyncio.timeout(10), connect(server_with(looking(kind, report), kind=kind)) as client:
        first = await begin(client, "tool", progress_callback=hear("first"))
        await finish(client, first, ANSWERS, progress_callback=hear("second"))
        await both.wait()
    assert seen == [("first", 1), ("second", 2)]


@pytest.mark.parametrize("kind", ["mcpserver", "lowlevel"])
async def test_the_progress_token_is_that_of_the_newest_request(kind: Kind) -> None:
    def token(ctx: Any) -> Any:
        return ((ctx.request_context if kind == "mcpserver" else ctx).meta or {}).get("progress_token")

    async def heard(progress: float, total: float | None, message: str | None) -> None: ...

    async with connect(server_with(looking(kind, token), kind=kind)) as client:
        first = await begin(client, "tool", progress_callback=heard)
        before, after = (await finish(client, first, ANSWERS, progress_callback=heard)).split()
        assert before != after
        quiet = await begin(client, "tool", progress_callback=heard)
        assert (await finish(client, quiet, ANSWERS)).endswith("None")


@pytest.mark.filterwarnings("ignore:The logging capability is deprecated")
@pytest.mark.parametrize("kind", ["mcpserver", "lowlevel"])
async def test_a_log_message_after_an_answer_reaches_the_client(kind: Kind) -> None:
    seen: list[Any] = []
    both = asyncio.Event()

    async def note(params: LoggingMessageNotificationParams) -> None:
        seen.append(params.data)
        if len(seen) == 2:
            both.set()

    words = iter(("before", "after"))

    async def log(ctx: Any) -> str:
        await ctx.session.send_log_message("info", next(words))
        return "logged"

    server = server_with(looking(kind, log), kind=kind)
    async with asyncio.timeout(10), connect(server, logging_callback=note, log_level="debug") as client:
        await finish(client, await begin(client, "tool"), ANSWERS)
        await both.wait()
    assert seen == ["before", "after"]


def direct_client(server: Any, **options: Any) -> Client:
    """A client that calls the server without a transport, which would drop what comes too late."""
    server = getattr(server, "_mcp_server", server)
    return Client(server, mode="2026-07-28", elicitation_callback=Script(ANSWERS), **options)


# --- nobody to talk to -----------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:The logging capability is deprecated")
@pytest.mark.parametrize("direct", [False, True], ids=["by messages", "without a transport"])
@pytest.mark.parametrize("kind", KINDS)
async def test_notifications_between_two_rounds_are_dropped_and_not_raised(kind: Kind, direct: bool) -> None:
    go_on, sent = asyncio.Event(), asyncio.Event()
    failures: list[BaseException] = []
    seen: list[Any] = []

    async def note(message: Any) -> None:
        seen.append(message)

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        seen.append("progress")

    async def say(ctx: Any) -> None:
        try:
            await go_on.wait()
            await (ctx.session if kind == "lowlevel" else ctx).report_progress(1, 2)
            await ctx.session.report_progress(1, 2)
            await ctx.session.send_progress_notification("some token", 1, 2, related_request_id=ctx.request_id)
            await ctx.session.send_log_message("error", "between two rounds")
            await ctx.session.send_resource_updated("resource://it")
            await ctx.session.send_tool_list_changed()
        except BaseException as exc:
            failures.append(exc)
            raise
        finally:
            sent.set()

    tasks: list[asyncio.Task[None]] = []

    async def start(ctx: Any) -> str:
        if not tasks:
            tasks.append(asyncio.create_task(say(ctx)))
        return "started"

    server = server_with(looking(kind, start), kind=kind)
    options: dict[str, Any] = {"message_handler": note, "log_level": "debug"}
    connected = direct_client(server, **options) if direct else connect(server, **options)
    async with asyncio.timeout(10), connected as client:
        first = await begin(client, "tool", progress_callback=heard)
        go_on.set()
        await sent.wait()
        assert await finish(client, first, ANSWERS) == "started started"
    assert failures == []
    talk = (str, ProgressNotification, LoggingMessageNotification)
    assert [each for each in seen if isinstance(each, talk)] == []


async def test_a_session_can_send_requests_all_along_a_live_run() -> None:
    async with connect(server_with(looking("mcpserver", lambda ctx: ctx.session.can_send_request))) as client:
        assert await finish(client, await begin(client, "tool"), ANSWERS) == "True True"


@pytest.mark.parametrize("kind", ["mcpserver", "lowlevel"])
async def test_a_tool_that_reads_the_protocol_version_sees_the_clients(kind: Kind) -> None:
    def version(ctx: Any) -> str:
        return (ctx.request_context if kind == "mcpserver" else ctx).protocol_version

    async with connect(server_with(looking(kind, version), kind=kind)) as client:
        assert await finish(client, await begin(client, "tool"), ANSWERS) == "2026-07-28 2026-07-28"


# --- the connection stays --------------------------------------------------------------------


async def test_the_session_id_of_fastmcp_stays_for_the_whole_call() -> None:
    async with connect(server_with(looking("fastmcp", lambda ctx: ctx.session_id), kind="fastmcp")) as client:
        before, after = (await finish(client, await begin(client, "tool"), ANSWERS)).split()
    assert before == after


@pytest.mark.parametrize("serializable", [True, False])
async def test_what_a_tool_keeps_with_set_state_is_there_after_its_question(serializable: bool) -> None:
    async def tool(ctx: fastmcp.Context) -> str:
        await ctx.set_state("basket", ["apple"], serializable=serializable)
        answers: list[Any] = [await ctx.elicit("a?", str), await ctx.elicit("b?", str)]
        return f"{await ctx.get_state('basket')} {[each.data for each in answers]}"

    async with connect(server_with(tool, kind="fastmcp")) as client:
        second = await proceed(client, await begin(client, "tool"), ANSWERS)
        assert await finish(client, second, ANSWERS) == "['apple'] ['1', '2']"


async def test_what_the_client_can_do_is_what_the_first_request_said() -> None:
    def client_name(ctx: Any) -> str:
        params = ctx.session.client_params
        return params.client_info.name if params is not None else "nobody"

    async with connect(server_with(looking("mcpserver", client_name))) as client:
        assert await finish(client, await begin(client, "tool"), ANSWERS) == "mcp mcp"


# --- middleware of the author ----------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
async def test_middleware_before_ours_runs_per_request_and_middleware_after_ours_once_per_call(kind: Kind) -> None:
    import midcall

    seen: list[str] = []

    def noting(name: str) -> Any:
        async def middleware(ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
            if ctx.method == "tools/call":
                seen.append(name)
            return await call_next(ctx)

        return middleware

    server = bare_server(kind, looking(kind, lambda ctx: "seen"))
    chain_of(server).append(noting("before"))
    midcall.install(server)
    chain_of(server).append(noting("after"))
    async with connect(server) as client:
        assert await finish(client, await begin(client, "tool"), ANSWERS) == "seen seen"
    assert seen == ["before", "after", "before"]
