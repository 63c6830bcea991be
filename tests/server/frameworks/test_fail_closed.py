"""Tools that fail open stay closed: an author's mistake or a lost call ends the call, even if the tool catches it.

Real tools take an error from `ctx.elicit` to mean "this client can't ask", and proceed without asking.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count
from threading import Event
from typing import Any, TypeAlias

import pytest
from fastmcp import Context as FastContext
from fastmcp.exceptions import ToolError
from mcp import MCPError
from mcp.client._transport import TransportStreams
from mcp.server.mcpserver import Context
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_PARAMS, JSONRPCResponse
from pydantic import BaseModel

from midcall import Form, Text, ask, confirm, from_thread, once, visit
from midcall.client.transport.target import ConnectOptions, reach
from midcall.client.transport.wrapper import Around
from midcall.errors import StoreError
from midcall.portal import Portal
from midcall.stores.memory import Memory
from midcall.testing import Era, connect, run
from tests.kinds import KINDS, Kind, server_with
from tests.mistakes import BROKEN, logged_mistake, mistake_in
from tests.server.codes import shown
from tests.server.running.replicas import KEYS, Wire

Asks: TypeAlias = Callable[[], Awaitable[str]]
Catches: TypeAlias = Callable[[Asks, list[str]], Awaitable[str]]
Place: TypeAlias = Callable[[Asks], Awaitable[str]]

WAYS: list[tuple[Era, bool]] = [("2025-11-25", True), ("2026-07-28", True), ("2026-07-28", False)]
"""Pushed; in rounds, with the run kept alive; in rounds, replayed."""


HALF = "half \ud83d"
"""No transport can write it."""


class Sure(BaseModel):
    sure: bool


async def asks() -> str:
    """One question that is fine, and one that must not be asked."""
    name = await ask("Name?", str)
    return name + str(await ask("Sign in", Form(Text("password"))))


# --- how tools catch -------------------------------------------------------------------------


async def any_exception(body: Asks, went_ahead: list[str]) -> str:
    try:
        return await body()
    except Exception:
        went_ahead.append("any")
        return "approved"


async def errors_of_the_server(body: Asks, went_ahead: list[str]) -> str:
    try:
        return await body()
    except (ToolError, MCPError):
        went_ahead.append("server")
        return "approved"


async def everything(body: Asks, went_ahead: list[str]) -> str:
    try:
        return await body()
    except:
        return "approved"


async def every_base_exception(body: Asks, went_ahead: list[str]) -> str:
    try:
        return await body()
    except BaseException:
        return "approved"


CATCHES: tuple[Catches, ...] = (any_exception, errors_of_the_server, everything, every_base_exception)


# --- where they ask --------------------------------------------------------------------------


async def in_its_own_task(body: Asks) -> str:
    return await body()


async def beside() -> str:
    return await ask("Beside?", str)


async def in_gather(body: Asks) -> str:
    return "".join(await asyncio.gather(body(), beside()))


async def in_a_gather_that_returns_exceptions(body: Asks) -> str:
    first, _ = await asyncio.gather(body(), beside(), return_exceptions=True)
    return "approved" if isinstance(first, BaseException) else first


async def in_a_task_group(body: Asks) -> str:
    async with asyncio.TaskGroup() as group:
        branch = group.create_task(_told(body))
        group.create_task(beside())
    return branch.result()


async def in_a_task_that_it_waits_for(body: Asks) -> str:
    branch = asyncio.create_task(_told(body))
    await asyncio.wait([branch])
    return "approved" if branch.cancelled() or branch.exception() else branch.result()


async def _told(body: Asks) -> str:
    return await body()


PLACES: tuple[Place, ...] = (
    in_its_own_task,
    in_gather,
    in_a_gather_that_returns_exceptions,
    in_a_task_group,
    in_a_task_that_it_waits_for,
)


# --- and how their calls end -----------------------------------------------------------------


@pytest.mark.parametrize(("era", "live"), WAYS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("catches", CATCHES)
@pytest.mark.parametrize("inside", [True, False], ids=["caught inside", "caught around"])
async def test_a_mistake_ends_the_call_even_if_the_tool_catches_it(
    inside: bool, catches: Catches, place: Place, kind: Kind, era: Era, live: bool, caplog: pytest.LogCaptureFixture
) -> None:
    went_ahead: list[str] = []

    async def tool() -> str:
        if inside:
            return await place(lambda: catches(asks, went_ahead))
        return await catches(lambda: place(asks), went_ahead)

    answers = {"Name?": "Ada", "Beside?": "x"}
    done = await run(server_with(tool, kind=kind, live=live), "tool", {}, answers, era=era)
    assert (done.failed, done.text, went_ahead) == (True, BROKEN, [])
    assert logged_mistake(caplog).startswith("SecretInForm in 'tool': password: ")


def caught_in_thread(catch: tuple[type[BaseException], ...], went_ahead: list[str], ended: Event) -> str:
    try:
        name = from_thread.ask("Name?", str)
        return name + str(from_thread.ask("Sign in", Form(Text("password"))))
    except catch:
        went_ahead.append("thread")
        return "approved"
    finally:
        ended.set()


@pytest.mark.parametrize(("era", "live"), WAYS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("catch", [(Exception,), (ToolError, MCPError), (BaseException,)])
@pytest.mark.parametrize("own", [True, False], ids=["a def tool", "its own thread"])
async def test_so_does_a_mistake_in_a_thread(
    own: bool,
    catch: tuple[type[BaseException], ...],
    kind: Kind,
    era: Era,
    live: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    went_ahead: list[str] = []
    ended = Event()

    def tool() -> str:
        return caught_in_thread(catch, went_ahead, ended)

    async def starts_thread() -> str:
        return await asyncio.to_thread(tool)

    called: Callable[[], Any] = tool if own and kind != "lowlevel" else starts_thread
    server = server_with(called, kind=kind, live=live)
    done = await run(server, called.__name__, {}, {"Name?": "Ada"}, era=era)
    assert (done.failed, done.text) == (True, BROKEN)
    assert await asyncio.to_thread(ended.wait, 10)
    assert bool(went_ahead) is (catch == (BaseException,))
    assert logged_mistake(caplog).startswith(f"SecretInForm in {called.__name__!r}: password: ")


# --- any kind of mistake ---------------------------------------------------------------------


async def asks_twice_by_one_key() -> str:
    return await ask("Name?", str, key="k") + await ask("Age?", str, key="k")


async def forgets_to_await() -> str:
    return "approved" if confirm("Delete?") else "kept"  # type: ignore[truthy-bool]


async def asks_in_an_effect() -> str:
    return await once("delete", ask, "Delete?", str)


async def blocks_the_loop() -> str:
    return from_thread.ask("Delete?", str)


@pytest.mark.parametrize(("era", "live"), WAYS)
@pytest.mark.parametrize(
    ("mistaken", "error"),
    [
        (lambda: ask("", str), "InvalidQuestion"),
        (lambda: ask("?", list), "InvalidForm"),
        (lambda: ask("?", Form(Text("password"))), "SecretInForm"),
        (asks_twice_by_one_key, "DuplicateKey"),
        (forgets_to_await, "Misuse"),
        (asks_in_an_effect, "Misuse"),
        (blocks_the_loop, "Misuse"),
    ],
)
async def test_every_mistake_passes_a_tool_that_catches_exceptions(
    mistaken: Asks, error: str, era: Era, live: bool, caplog: pytest.LogCaptureFixture
) -> None:
    went_ahead: list[str] = []

    async def tool() -> str:
        return await any_exception(mistaken, went_ahead)

    done = await run(server_with(tool, live=live), "tool", {}, lambda asked: "x", era=era)
    assert (done.failed, done.text, went_ahead) == (True, BROKEN, [])
    assert logged_mistake(caplog).startswith(f"{error} in 'tool': ")


async def test_a_call_that_took_another_way_when_it_was_replayed_approves_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    went_ahead: list[str] = []
    runs = count()

    async def changes() -> str:
        return str(await confirm(f"Delete {next(runs)} files?"))

    async def tool() -> str:
        return await any_exception(changes, went_ahead)

    done = await run(server_with(tool, live=False), "tool", {}, lambda asked: True)
    assert (done.failed, went_ahead) == (True, [])
    assert logged_mistake(caplog).startswith("ReplayMismatch in 'tool': ")


class Nonsense(Around):
    """A client that answers what no client of the SDK would."""

    async def __aenter__(self) -> TransportStreams:
        read, write = await super().__aenter__()
        send = write.send

        async def spoilt(item: SessionMessage) -> None:
            if isinstance(item.message, JSONRPCResponse):
                item = SessionMessage(item.message.model_copy(update={"result": {"action": "maybe"}}))
            await send(item)

        write.send = spoilt  # type: ignore[method-assign]
        return read, write


@pytest.mark.parametrize("kind", KINDS)
async def test_a_nonsense_answer_is_not_an_approval(kind: Kind, caplog: pytest.LogCaptureFixture) -> None:
    went_ahead: list[str] = []

    async def tool() -> str:
        return await any_exception(lambda: ask("Delete?", str), went_ahead)

    transport = reach(server_with(tool, kind=kind), ConnectOptions()).transport
    async with connect(Nonsense(transport), ["yes"], era="2025-11-25") as client:
        with pytest.raises(MCPError) as refused:
            await client.call_tool("tool", {})
    assert (refused.value.code, went_ahead) == (INVALID_PARAMS, [])
    assert logged_mistake(caplog).startswith("MalformedAnswer in 'tool': ")


# --- and in tools that were written for the SDK ----------------------------------------------


async def of_mcpserver(ctx: Context) -> str:
    try:
        return str(await ctx.elicit(HALF, Sure))
    except (ToolError, MCPError):
        return "approved"


async def of_fastmcp(ctx: FastContext) -> str:
    try:
        return str(await ctx.elicit(HALF, Sure))
    except (ToolError, MCPError):
        return "approved"


async def of_lowlevel(ctx: Any) -> str:
    try:
        return str(await ctx.session.elicit_form(HALF, Sure.model_json_schema()))
    except (ToolError, MCPError):
        return "approved"


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(
    ("kind", "tool"), [("mcpserver", of_mcpserver), ("fastmcp", of_fastmcp), ("lowlevel", of_lowlevel)]
)
async def test_an_adopted_question_that_cannot_be_sent_is_not_an_approval(
    tool: Callable[..., Any], kind: Kind, era: Era, caplog: pytest.LogCaptureFixture
) -> None:
    assert "half a character" in await mistake_in(tool, caplog, kind=kind, era=era)


# --- a store that can't be reached ------------------------------------------------------------


async def confirms() -> str:
    return str(await confirm("Delete?"))


async def by_url() -> str:
    return str(await visit("Pay", "https://pay.example/1", wait=True))


async def checks() -> str:
    return str(await once("check", lambda: True))


@pytest.mark.parametrize(
    ("body", "era"),
    [
        (confirms, "2025-11-25"),
        (confirms, "2026-07-28"),
        (by_url, "2025-11-25"),
        (by_url, "2026-07-28"),
        (checks, "2026-07-28"),  # a call whose questions are pushed has its effects in memory
    ],
)
@pytest.mark.parametrize("kind", KINDS)
async def test_nobody_decides_anything_while_the_store_is_out_of_reach(
    body: Asks, kind: Kind, era: Era, caplog: pytest.LogCaptureFixture
) -> None:
    async def tool() -> str:
        try:
            return await body()
        except Exception:
            return "deleted"

    wire = Wire(Memory())
    server = server_with(tool, kind=kind, store=wire, keys=KEYS, portal=Portal("https://portal.example/ask"))
    async with connect(server, era=era, modes=()) as client:
        wire.is_cut = True
        result = await client.call_tool("tool", {})
        wire.is_cut = False
    assert result.is_error
    assert StoreError.for_model in shown(result)
    assert [record for record in caplog.records if record.exc_info or record.stack_info] == []
    caplog.clear()


# --- mistakes and later errors ---------------------------------------------------------------


@pytest.mark.parametrize(("era", "live"), WAYS)
async def test_an_error_of_the_cleanup_does_not_hide_the_mistake(
    era: Era, live: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def tool() -> str:
        try:
            return await asks()
        except BaseException as exc:
            raise RuntimeError("cleaned up") from exc

    done = await run(server_with(tool, live=live), "tool", {}, {"Name?": "Ada"}, era=era)
    assert (done.failed, done.text) == (True, BROKEN)
    assert logged_mistake(caplog).startswith("SecretInForm in 'tool': ")


@pytest.mark.parametrize(("era", "live"), WAYS)
async def test_after_a_mistake_nothing_is_asked_and_no_effect_begins(
    era: Era, live: bool, caplog: pytest.LogCaptureFixture
) -> None:
    deleted: list[str] = []

    async def tool() -> str:
        with suppress(BaseException):
            await asks()
        with suppress(BaseException):
            await ask("Really?", str)
        with suppress(BaseException):
            await once("delete", deleted.append, "all")
        return "approved"

    done = await run(server_with(tool, live=live), "tool", {}, {"Name?": "Ada"}, era=era)
    assert (done.text, [asked.message for asked in done.asked], deleted) == (BROKEN, ["Name?"], [])
    logged_mistake(caplog)
