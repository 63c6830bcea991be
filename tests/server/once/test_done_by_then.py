"""What a call has done when it ends or runs again: it is told, never repeated, and never changed."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pytest

from midcall import (
    Cancelled,
    Choices,
    Declined,
    Form,
    NotRecordable,
    Question,
    Text,
    UrlElicitationRequired,
    ask,
    ask_all,
    choose,
    elicit,
    once,
)
from midcall.testing import ERAS, Era, connect, run
from tests.kinds import KINDS, Kind, server_with
from tests.mistakes import mistake_in

if TYPE_CHECKING:
    from decimal import Decimal


pytestmark = pytest.mark.usefixtures("both_modes")


async def charge() -> str:
    return "ref"


async def books() -> str:
    days = await ask("Days?", int)
    await once("charge", charge)
    return f"{days} {await ask('Seat?', str, attempts=1)}"


# --- what the model is told ------------------------------------------------------------------


@pytest.mark.parametrize("answer", [Declined(), Cancelled(), {}], ids=["declined", "cancelled", "invalid"])
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
async def test_the_model_learns_which_steps_were_done_before_the_user_declined(
    kind: Kind, era: Era, answer: Any
) -> None:
    done = await run(server_with(books, kind=kind), "books", {}, {"Days?": 3, "Seat?": answer}, era=era)
    assert done.failed
    assert "the tool stopped" in done.text
    assert "nothing was done" not in done.text
    assert "Steps already done: 'charge'." in done.text


@pytest.mark.parametrize("era", ERAS)
async def test_a_decline_before_any_step_names_none(era: Era) -> None:
    done = await run(server_with(books), "books", {}, [Declined()], era=era)
    assert "the tool stopped" in done.text
    assert "already done" not in done.text


# --- what has run and left no result ---------------------------------------------------------


@pytest.mark.parametrize("retry", [False, True])
@pytest.mark.parametrize("era", ERAS)
async def test_what_ran_and_could_not_be_recorded_is_not_run_again_by_a_tool_that_catches_it(
    era: Era, retry: bool, both_modes: str
) -> None:
    ran: list[int] = []

    def charges() -> Any:
        ran.append(1)
        return object()

    async def tool() -> str:
        told = []
        for name in ("charge", "mail"):
            try:
                await (once.retry if retry else once)(name, charges)
            except NotRecordable as error:
                told.append("has run" in str(error))
        return f"{told} {await ask('a?', str)} {await ask('b?', str)}"

    done = await run(server_with(tool), "tool", {}, ["1", "2"], era=era)
    assert done.text == "[True, True] 1 2"
    assert len(ran) == (6 if retry and era == "2026-07-28" and both_modes == "replay" else 2)


@pytest.mark.parametrize("era", ERAS)
async def test_a_return_type_that_does_not_exist_is_reported_before_the_function_runs(era: Era) -> None:
    ran: list[int] = []

    def price() -> Decimal:
        ran.append(1)
        raise AssertionError

    async def tool() -> str:
        with contextlib.suppress(AssertionError):
            try:
                await once("price", price)
            except NotRecordable as error:
                return str(error)
        return "recorded"

    told = (await run(server_with(tool), "tool", era=era)).text
    assert "'Decimal'" in told
    assert "TYPE_CHECKING" in told
    assert not ran


@pytest.mark.parametrize("era", ERAS)
async def test_a_return_type_of_the_enclosing_function_is_found(era: Era) -> None:
    @dataclass
    class Price:
        cents: int

    def price(given: NoSuchType = None) -> Price:  # type: ignore[name-defined]  # noqa: F821
        return Price(150)

    async def tool() -> str:
        found = await once("price", price)
        await ask("a?", str)
        return f"{type(found).__name__} {found.cents}"

    assert (await run(server_with(tool), "tool", {}, ["x"], era=era)).text == "Price 150"


# --- what a tool does with what it got -------------------------------------------------------

TAGS = Form(Text("name"), Choices("tags", ["u", "v"]))
ANSWERS = {"Tags?": {"name": "n", "tags": ["u"]}, "a?": "1", "b?": "2", "c?": "3"}
SCHEMA = {
    "type": "object",
    "properties": {"tags": {"type": "array", "items": {"type": "string", "enum": ["u", "v"]}}},
    "required": ["tags"],
}


async def of_once() -> Any:
    return await once("make", lambda: {"tags": ["u"], "deep": {"er": []}})


async def of_ask() -> Any:
    return await ask("Tags?", TAGS)


async def of_ask_with_options() -> Any:
    return await ask("Tags?", TAGS, attempts=2)


async def of_elicit() -> Any:
    outcome = await elicit("Tags?", TAGS)
    return outcome.value if outcome else None


async def of_ask_all() -> Any:
    [value] = await ask_all(Question("Tags?", TAGS))
    return value


async def of_a_schema() -> Any:
    return await ask("Tags?", SCHEMA)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("source", [of_once, of_ask, of_ask_with_options, of_elicit, of_ask_all, of_a_schema])
async def test_a_tool_that_changes_what_it_got_changes_nothing_that_was_recorded(source: Any, era: Era) -> None:
    async def tool() -> str:
        got = await source()
        for message in ("a?", "b?", "c?"):
            got["tags"].append(await ask(message, str))
            got.setdefault("deep", {"er": []})["er"].append(message)
        return f"{got['tags']} {got['deep']}"

    answers = {**ANSWERS, "Tags?": "u"} if era == "2025-06-18" else ANSWERS
    if era == "2025-06-18" and source is not of_a_schema:
        answers["Tags?"] = {"name": "n", "tags": "u"}
    elif source is of_a_schema and era != "2025-06-18":
        answers = {**ANSWERS, "Tags?": {"tags": ["u"]}}
    done = await run(server_with(tool), "tool", {}, answers, era=era)
    assert done.text == "['u', '1', '2', '3'] {'er': ['a?', 'b?', 'c?']}"


# --- small mistakes --------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
async def test_a_type_is_not_a_list_of_options(era: Era, caplog: pytest.LogCaptureFixture) -> None:
    async def tool() -> str:
        try:
            return await choose("Which?", Literal["a", "b"])  # type: ignore[call-overload]
        except Exception:
            return "caught"

    told = await mistake_in(tool, caplog, era=era)
    assert "choose() takes the options themselves, not the type Literal['a', 'b']" in told


async def test_only_visits_can_be_required() -> None:
    async def tool() -> str:
        try:
            raise UrlElicitationRequired([Question("Sign in", str)])  # type: ignore[list-item]
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    assert "InvalidQuestion: UrlElicitationRequired() takes visits" in (await run(server_with(tool), "tool")).text


@pytest.mark.parametrize("name", ["from_thread.ask", "client.connect", "testing.run"])
def test_modules_are_there_without_their_own_import(name: str) -> None:
    subprocess.run([sys.executable, "-c", f"import midcall; midcall.{name}"], check=True)


async def test_a_tool_that_only_yields_can_be_cancelled() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def spins() -> str:
        begun.set()
        try:
            while True:
                await asyncio.sleep(0)
        finally:
            ended.set()

    async with asyncio.timeout(20), connect(server_with(spins)) as client:
        calling = asyncio.create_task(client.call_tool("spins"))
        await begun.wait()
        calling.cancel()
        await ended.wait()
