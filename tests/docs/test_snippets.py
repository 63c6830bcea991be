"""Every Python snippet of the docs is a file in docs_src/, and every one of them does what its page says."""

from __future__ import annotations

import asyncio
import builtins
import importlib.util
import itertools
import os
import random
import runpy
import secrets
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx2
import pytest
import uvicorn
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitRequestURLParams, ElicitResult, InputRequiredResult
from starlette.applications import Starlette

import midcall
from midcall import Cancelled, Declined
from midcall.testing import ERAS, Answers, Asked, Era, NotReplayable, Script, connect, replayed, run

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "docs_src"
WITH_URLS: tuple[Era, ...] = ("2025-11-25", "2026-07-28")
COVERED: set[str] = set()


def snippet(name: str) -> ModuleType:
    """The module of this snippet."""
    return import_module(f"docs_src.{name}")


def another(name: str) -> ModuleType:
    """The same snippet once more, as another process would have it."""
    spec = importlib.util.spec_from_file_location(f"{name}_{secrets.token_hex(4)}", SOURCES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shows(*names: str) -> Callable[[Any], Any]:
    """Marks a test as the one that runs these snippets."""
    COVERED.update(names)
    return lambda test: test


def refused(match: str | None = None) -> AbstractContextManager[Any]:
    """The server answers with a protocol error, which may come out of a task group of the client."""
    error = pytest.RaisesExc(MCPError, match=match)
    return pytest.RaisesGroup(error, allow_unwrapped=True, flatten_subgroups=True)


# --- tools that ask: the same on every version --------------------------------------------------


@dataclass(frozen=True)
class Case:
    file: str
    tool: str
    answers: Answers
    expected: str
    arguments: dict[str, Any] = field(default_factory=dict)
    eras: tuple[Era, ...] = ERAS

    def __str__(self) -> str:
        return f"{self.file}-{self.tool}"


def agree(asked: Asked) -> object:
    return True


DAYS, SEAT, SURE = "How many days will you stay?", "Where do you like to sit?", "Book 3 days in Oslo?"
OSLO = {"destination": "Oslo"}
STAY = "When will you stay with us?"
TICKET = {"summary": "No network", "contact": "ada@example.com", "urgent": True, "area": "net"}
PROJECT = "Please provide the project details."
TABLE = {"date": "2026-12-25"}

CASES = [
    Case(
        "quickstart",
        "book",
        {DAYS: 3, SEAT: "w", SURE: True},
        "Booked 3 days in Oslo, seat w. Reference: OSL-03",
        OSLO,
    ),
    Case("quickstart", "book", {DAYS: 3, SEAT: "w", SURE: False}, "Nothing was booked.", OSLO),
    Case(
        "asking_ask",
        "plan",
        {"When do you travel to Oslo?": {"leaving": "2026-12-01", "days": 4}},
        "4 days in Oslo, from 01 December.",
        OSLO,
    ),
    Case(
        "asking_ask",
        "plan",
        {"When do you travel to Oslo?": Declined()},
        "Then here is what the place looks like in every season.",
        OSLO,
    ),
    Case("asking_outcomes", "rate", [Declined()], "The user does not want to rate."),
    Case("asking_outcomes", "rate", [Cancelled()], "The user closed the question. Ask another time."),
    Case(
        "asking_choices",
        "order",
        lambda asked: {
            "How large?": "l",
            "Which base?": "thin",
            "What goes on it?": {"choice": extras(asked)},
        }.get(asked.message, True),
        "l thin o c",
    ),
    Case(
        "asking_together",
        "register",
        {
            "What is your name?": "Ada",
            "How old are you?": 36,
            "Where do you live?": "Oslo",
            "Do you want our newsletter?": True,
        },
        "Ada, 36, Oslo, True",
    ),
    Case(
        "asking_together",
        "two_at_once",
        {"Where do you live?": "Oslo", "Where do you work?": "Moss"},
        "Oslo to Moss",
    ),
    Case("asking_options", "buy", {"How many ABC?": 2, "Buy 2 for 206?": True}, "Bought.", {"share": "ABC"}),
    Case("asking_thread", "book", [3, True], "Booked 3 days in Oslo.", OSLO),
    Case("forms_fields", "open_ticket", {"What is wrong?": TICKET}, "No network (net), 1 affected"),
    Case("forms_raw", "create_project", {"What shall we create?": {"name": "Oak"}}, "Oak: 3"),
    Case(
        "forms_again",
        "reserve",
        {STAY: [{"arrive": "2026-05-02", "leave": "2026-05-01"}, {"arrive": "2026-05-01", "leave": "2026-05-03"}]},
        "2 nights",
    ),
    Case(
        "forms_again",
        "reserve",
        {STAY: {"arrive": "2026-05-02", "leave": "2026-05-01"}},
        "No reservation: You cannot leave before you arrive.",
    ),
    Case("forms_secret", "guess_word", {"What is the password?": "swordfish"}, "You said swordfish."),
    Case("forms_secret", "sign_in", (), "refused: password"),
    Case("replay_key", "convert", agree, "Converted.", {"amount": 5}),
    Case("between_good", "draw", [Declined()], "Thrown away."),
    Case("between_good", "sell", lambda asked: "Ada", "Ada has a ticket."),
    Case(
        "between_branches",
        "invite",
        lambda asked: asked.message.removeprefix("What does ").removesuffix(" eat?") + "'s dish",
        "Ada: Ada's dish, Bo: Bo's dish, Cem: Cem's dish",
    ),
    Case("once_results", "post", agree, "P-Bergen watched", {"to": "Bergen"}),
    Case("once_blocking", "report", agree, "Sent: report for May", {"month": "May"}),
    Case("channels_strong", "drop", agree, "Dropped users.", {"table": "users"}),
    Case("channels_look", "forecast", {"For which city?": "Oslo"}, "Sun over Oslo."),
    Case("adoption_mcpserver", "meet", {"At which hour?": {"hour": 9}}, "See you at 9."),
    Case("adoption_mcpserver", "meet", [Declined()], "No meeting."),
    Case("adoption_mcpserver", "connect", agree, "The user said: accept.", eras=WITH_URLS),
    Case("adoption_fastmcp", "rename", ["Oven"], "The kitchen is called Oven now."),
    Case("adoption_fastmcp", "rename", [Cancelled()], "The kitchen keeps its name."),
    Case("well_answers", "appointment", ["12 34"], "We will call 12 34."),
    Case(
        "well_answers",
        "appointment",
        [Declined()],
        "No number needed: it can be confirmed at the desk, too.",
    ),
    Case("well_answers", "appointment", [Cancelled()], "Nothing was arranged. The user can come back to this later."),
    Case("errors_catch", "lend", [2], "Emma is yours for 2 weeks.", {"title": "Emma"}),
    Case("errors_catch", "lend", [Declined()], "Nothing was lent.", {"title": "Emma"}),
    Case("errors_catch", "lend", [Cancelled()], "Not lent: UserCancelled.", {"title": "Emma"}),
    Case("ctx_elicit_after", "book_table", ["2026-12-27"], "Booked for 2026-12-27.", TABLE),
    Case("ctx_elicit_after", "book_table", [Declined()], "Not booked.", TABLE),
    Case("resolve_after", "delete", agree, "Deleted attic.", {"name": "attic"}),
    Case("resolve_after", "delete", (), "Deleted scratch-1.", {"name": "scratch-1"}),
    Case("rounds_after", "greet", {"Your name?": "Ada", "Your town?": "Oslo"}, "Hello Ada from Oslo!"),
    Case("rounds_after", "greet", {"Your name?": "Ada", "Your town?": Declined()}, "Hello!"),
    Case("csharp_guess", "guess_the_number", [False], "Maybe next time!"),
    Case(
        "go_project",
        "create_project",
        {PROJECT: {"project_name": "oak"}},
        "Created project 'oak' with framework none.",
    ),
    Case("go_project", "create_project", {PROJECT: Declined()}, "No project: the user declined."),
    Case("go_process", "process", agree, "Processed 200 characters", {"data": "x" * 200}),
    Case("go_process", "process", [Declined()], "The user chose not to proceed.", {"data": "x" * 200}),
    Case("go_process", "process", (), "Processed 3 characters", {"data": "abc"}),
    Case("go_auth", "auth_via_url", [Declined()], "The user declined to sign in.", eras=WITH_URLS),
]
COVERED.update(case.file for case in CASES)


def extras(asked: Asked) -> object:
    """Multiple choice, as this version shows it: a list, or a line of text."""
    kind = (asked.schema or {})["properties"].get("choice", {}).get("type")
    return ["o", "c"] if kind == "array" else "Olives, Capers"


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_tool_of_the_docs_does_what_its_page_says_on_every_version(case: Case) -> None:
    server = snippet(case.file).mcp
    for era in case.eras:
        done = await run(server, case.tool, case.arguments, case.answers, era=era)
        assert (done.text, done.failed) == (case.expected, False), era
    done = await run(server, case.tool, case.arguments, case.answers, one_by_one=True)
    assert (done.text, done.failed) == (case.expected, False), "one answer a round"


@shows("asking_outcomes")
@pytest.mark.parametrize("era", ERAS)
async def test_an_outcome_says_which_channel_carried_it(era: Era) -> None:
    done = await run(snippet("asking_outcomes").mcp, "rate", {}, [5], era=era)
    assert done.text == f"5 stars, asked by {'round' if era == '2026-07-28' else 'push'}."


@shows("asking_together")
@pytest.mark.parametrize(("tool", "rounds"), [("register", 2), ("two_at_once", 1)])
async def test_questions_that_are_asked_together_leave_in_one_round(tool: str, rounds: int) -> None:
    answers = {"How old are you?": 36, "Do you want our newsletter?": False}
    done = await run(snippet("asking_together").mcp, tool, {}, lambda asked: answers.get(asked.message, "x"))
    assert (done.rounds, done.failed) == (rounds, False)


@shows("asking_anywhere")
@pytest.mark.parametrize("era", ERAS)
async def test_prompts_and_resource_templates_ask_too(era: Era) -> None:
    answers = {"Which tone?": "friendly", "Which chapter of Emma?": 7}
    async with connect(snippet("asking_anywhere").mcp, answers, era=era) as client:
        prompt = await client.get_prompt("review", {"title": "Emma"})
        resource = await client.read_resource("book://Emma")
    assert prompt.messages[0].content.text == "Write a friendly review of Emma."
    assert resource.contents[0].text == "Emma, chapter 7"


# --- forms ----------------------------------------------------------------------------------------


@shows("forms_types")
@pytest.mark.parametrize("era", ERAS)
async def test_every_type_of_the_page_can_be_asked_for_and_comes_back(era: Era) -> None:
    types = snippet("forms_types")
    server = MCPServer[Any]("types")
    midcall.install(server)

    @server.tool()
    async def all_of_them() -> str:
        return repr(await midcall.ask_all(*types.QUESTIONS))

    answers = {
        "Who travels?": {"name": "Ada", "born": "1990-12-10"},
        "What do you take along?": {"pieces": 2},
        "Where do you sit?": {"row": 4},
        "How many nights?": 3,
        "Which cities?": {"answer": "Oslo, Narvik" if era == "2025-06-18" else ["Oslo", "Narvik"]},
    }
    done = await run(server, "all_of_them", {}, answers, era=era)
    assert done.text == (
        "(Traveller(name='Ada', born=datetime.date(1990, 12, 10), meal='none'), "
        "Luggage(pieces=2, insured=False), {'row': 4}, 3, ['Oslo', 'Narvik'])"
    )


@shows("forms_enums")
def test_the_five_shapes_of_an_enum_are_those_of_the_protocol(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(SOURCES / "forms_enums.py"))
    titled = [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]
    assert capsys.readouterr().out.splitlines() == [
        "plain {'type': 'string', 'enum': ['red', 'green']}",
        f"titled {{'type': 'string', 'oneOf': {titled}}}",
        "legacy {'type': 'string', 'enum': ['r', 'g'], 'enumNames': ['Red', 'Green']}",
        "many {'type': 'array', 'items': {'type': 'string', 'enum': ['red', 'green']}}",
        f"many_titled {{'type': 'array', 'items': {{'anyOf': {titled}}}}}",
    ]


@shows("forms_lowered")
def test_an_old_version_gets_the_form_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(SOURCES / "forms_lowered.py"))
    full, lowered = capsys.readouterr().out.splitlines()
    assert "'pattern': '^[A-Z]{3}$'" in full
    assert "'items': {'anyOf'" in full
    assert "pattern" not in lowered
    assert "If left empty: OSL." in lowered
    assert "Type at least 1 of these, separated by commas: sat (Saturday), sun (Sunday)." in lowered


# --- replay ---------------------------------------------------------------------------------------


@shows("replay_cleanup")
@pytest.mark.parametrize("era", ERAS)
async def test_cleanup_runs_at_every_suspension_and_can_tell_it_from_the_end(era: Era) -> None:
    archive = another("replay_cleanup")
    done = await run(archive.mcp, "archive", {}, {"Which name?": "Oak", "Which year?": 1990}, era=era)
    assert done.text == "Oak-1990"
    assert (["paused", "paused", "finished"] if era == "2026-07-28" else ["finished"]) == archive.TRAIL


@shows("between_bad")
@pytest.mark.parametrize(("file", "kept"), [("between_bad", 2), ("between_good", 1)])
async def test_a_number_that_is_drawn_again_is_not_the_one_that_the_user_kept(
    file: str, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = itertools.count(1)
    monkeypatch.setattr(random, "randrange", lambda limit: next(numbers))
    done = await run(another(file).mcp, "draw", {}, agree)
    assert done.text == f"Yours is {kept}."


async def test_a_clock_in_a_message_is_asked_for_ever_and_sells_in_every_run() -> None:
    lottery = another("between_bad")
    done = await run(lottery.mcp, "sell", {}, lambda asked: "Ada")
    assert done.failed
    assert "could not be continued" in done.text
    assert len(lottery.TICKETS) == done.rounds + 1 == 3


async def test_what_may_not_stand_between_two_asks_fails_in_the_authors_tests() -> None:
    with pytest.raises(NotReplayable):
        await replayed(another("between_bad").mcp, "sell", {}, lambda asked: "Ada")


@shows("between_good")
@pytest.mark.parametrize("era", ERAS)
async def test_one_ticket_is_sold_however_often_the_tool_runs(era: Era) -> None:
    lottery = another("between_good")
    await run(lottery.mcp, "sell", {}, lambda asked: "Ada", era=era)
    assert lottery.TICKETS == [1]


@shows("once_charge")
@pytest.mark.parametrize("era", ERAS)
async def test_a_card_is_charged_once_under_one_key(era: Era) -> None:
    shop = another("once_charge")
    done = await run(shop.mcp, "pay", {"amount": 20}, agree, era=era, one_by_one=True)
    assert done.text == "ref-1 with receipt"
    assert list(shop.CHARGED.values()) == [20]


# --- channels -------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_cannot_be_asked_is_told_to_name_a_city(era: Era) -> None:
    done = await run(snippet("channels_look").mcp, "forecast", {}, era=era, modes=())
    assert done.text == "Call again with a city: this client cannot ask its user."


@pytest.mark.parametrize("era", ERAS)
async def test_a_book_is_lent_for_four_weeks_where_nobody_can_be_asked(era: Era) -> None:
    done = await run(snippet("errors_catch").mcp, "lend", {"title": "Emma"}, era=era, modes=())
    assert done.text == "Emma is yours for 4 weeks."


@pytest.mark.parametrize("era", ["2025-06-18", "2025-11-25"])
async def test_a_strong_question_takes_no_default_from_anywhere(era: Era) -> None:
    done = await run(snippet("channels_strong").mcp, "drop", {"table": "users"}, era=era, modes=())
    assert done.failed
    assert "no way to show the question" in done.text


# --- visits ---------------------------------------------------------------------------------------


@asynccontextmanager
async def serving(app: Starlette) -> AsyncIterator[str]:
    """The address of this app, served over HTTP in this process."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none", lifespan="on"))
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            async with asyncio.timeout(30):
                while not server.started:
                    await asyncio.sleep(0.01)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            await serving


class Visitor(Script):
    """Agrees to a visit, and finishes on the page a moment later."""

    def __init__(self, base: str) -> None:
        super().__init__(agree)
        self.base = base
        self.pages: list[asyncio.Task[None]] = []

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        assert isinstance(params, ElicitRequestURLParams)
        self.pages.append(asyncio.create_task(self.finish(params.url.rpartition("/")[2])))
        return await super().__call__(context, params)

    async def finish(self, id: str) -> None:
        async with httpx2.AsyncClient() as browser:
            answer = await browser.post(f"{self.base}/connected/{id}")
        assert answer.text == "Done. You can close this page."


@shows("visits_connect")
@pytest.mark.parametrize("era", WITH_URLS)
async def test_a_visit_ends_when_the_page_has_called_back(era: Era) -> None:
    async with serving(another("visits_connect").mcp.streamable_http_app()) as base:
        visitor = Visitor(base)
        done = None
        async with connect(f"{base}/mcp", visitor, era=era) as client, asyncio.timeout(30):
            done = await client.call_tool("connect_mailbox")
            await asyncio.gather(*visitor.pages)
    assert done.content[0].text == "The mailbox is connected."


@shows("visits_required")
async def test_a_required_visit_is_a_round_on_the_newest_version() -> None:
    files = another("visits_required")

    def agree_and_connect(asked: Asked) -> object:
        files.CONNECTED.add("ada")
        return True

    done = await run(files.mcp, "list_files", {"user": "ada"}, agree_and_connect)
    assert done.text == "The files of ada: a.txt, b.txt"
    assert [asked.mode for asked in done.asked] == ["url"]


@shows("client_required", "csharp_required")
@pytest.mark.parametrize(
    ("file", "tool", "store"),
    [
        ("visits_required", "list_files", lambda module: module.CONNECTED.add("ada")),
        ("csharp_required", "access_third_party_resource", lambda module: module.TOKENS.update(ada="t")),
    ],
)
async def test_a_client_that_knows_32042_shows_the_urls_and_calls_again(
    file: str, tool: str, store: Callable[[ModuleType], None]
) -> None:
    module, client_side = another(file), snippet("client_required")
    seen: list[ElicitRequestURLParams] = []

    async def show(visit: ElicitRequestURLParams) -> bool:
        seen.append(visit)
        store(module)
        return True

    async with connect(module.mcp, era="2025-11-25") as client:
        result = await client_side.call_tool(client, tool, {"user": "ada"}, show)
    assert not result.is_error
    [visit] = seen
    assert visit.elicitation_id
    assert visit.url.endswith(visit.elicitation_id)


async def test_a_user_who_says_no_to_a_required_url_ends_the_call() -> None:
    async def show(visit: ElicitRequestURLParams) -> bool:
        return False

    async with connect(another("visits_required").mcp, era="2025-11-25") as client:
        assert await snippet("client_required").call_tool(client, "list_files", {"user": "bo"}, show) is None


@shows("client_completed")
async def test_a_client_hears_that_a_visit_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    server = MCPServer[Any]("visits")

    @server.tool()
    async def finish(ctx: Context) -> str:
        await ctx.session.send_elicit_complete("visit-1")
        return "ok"

    async with snippet("client_completed").client_of(server) as client:
        await client.call_tool("finish")
    assert capsys.readouterr().out == "Visit visit-1 is done.\n"


@shows("go_auth")
@pytest.mark.parametrize("era", WITH_URLS)
async def test_a_visit_comes_back_with_its_id_at_consent(era: Era) -> None:
    done = await run(snippet("go_auth").mcp, "auth_via_url", {}, agree, era=era)
    [asked] = done.asked
    assert asked.url is not None
    assert done.text == f"Sign-in {asked.url.rpartition('/')[2][:4]} has begun. Complete it in your browser."


# --- clients --------------------------------------------------------------------------------------


@shows("quickstart_client")
async def test_a_stock_client_books_the_trip(capsys: pytest.CaptureFixture[str]) -> None:
    await another("quickstart_client").main()
    *_, last = capsys.readouterr().out.splitlines()
    assert last == "Booked 3 days in Oslo, seat w. Reference: OSL-03"


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What the user types, line after line."""
    lines: list[str] = []
    monkeypatch.setattr(builtins, "input", lambda prompt: lines.pop(0))
    yield lines
    assert lines == []


@shows("client_console", "csharp_guess")
async def test_the_game_is_played_at_the_console(
    typed: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game = another("csharp_guess")
    monkeypatch.setattr(game.random, "randint", lambda low, high: 7)
    typed.extend(["yes", "3", "7"])
    await snippet("client_console").play(game.mcp)
    assert capsys.readouterr().out.splitlines()[-1] == "Right! It was 7."


async def test_the_console_asks_before_it_opens_a_url(typed: list[str]) -> None:
    typed.append("no")
    params = ElicitRequestURLParams(message="Go", url="https://example.com/x", elicitation_id="x")
    assert (await snippet("client_console").answer(None, params)).action == "decline"


# --- migrating ------------------------------------------------------------------------------------


@shows("ctx_elicit_before")
@pytest.mark.parametrize("era", ERAS)
async def test_the_tool_before_works_on_every_version_after_one_line(era: Era) -> None:
    server = another("ctx_elicit_before").mcp
    midcall.install(server)
    answers = [{"accept": True, "date": "2026-12-28"}]
    assert (await run(server, "book_table", TABLE, answers, era=era)).text == "Booked for 2026-12-28."


async def test_the_tool_before_fails_on_the_newest_version_without_it() -> None:
    server = another("ctx_elicit_before").mcp
    with refused("elicitation/create"):
        await run(server, "book_table", TABLE, [{"accept": True}])


@shows("resolve_before")
@pytest.mark.parametrize("installed", [False, True])
@pytest.mark.parametrize("era", ERAS)
async def test_resolve_works_before_and_goes_on_working_under_midcall(era: Era, installed: bool) -> None:
    server = another("resolve_before").mcp
    if installed:
        midcall.install(server)
    answers = {"Delete attic?": {"sure": True}}
    assert (await run(server, "delete", {"name": "attic"}, answers, era=era)).text == "Deleted attic."


@shows("rounds_before")
@pytest.mark.parametrize("installed", [False, True])
async def test_a_handwritten_round_works_before_and_goes_on_working_under_midcall(installed: bool) -> None:
    server = another("rounds_before").mcp
    if installed:
        midcall.install(server)
    answers = {"Your name?": "Ada", "Your town?": "Oslo"}
    assert (await run(server, "greet", {}, answers)).text == "Hello Ada from Oslo!"


async def test_a_handwritten_round_cannot_ask_on_older_versions() -> None:
    with refused():
        await run(another("rounds_before").mcp, "greet", {}, era="2025-11-25")


# --- operations -----------------------------------------------------------------------------------


@shows("operations_keys")
async def test_a_replica_with_the_old_key_first_continues_a_call_and_one_without_it_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old, new = secrets.token_hex(32), secrets.token_hex(32)
    monkeypatch.setenv("NEW_KEY", new)
    monkeypatch.setenv("OLD_KEY", old)
    here = another("operations_keys").mcp
    monkeypatch.setenv("NEW_KEY", old)
    monkeypatch.setenv("OLD_KEY", new)
    there = another("operations_keys").mcp
    monkeypatch.setenv("NEW_KEY", secrets.token_hex(32))
    monkeypatch.setenv("OLD_KEY", secrets.token_hex(32))
    stranger = another("operations_keys").mcp

    asked = await begin(here, "days")
    assert await go_on(there, "days", asked, 4) == "4 days"
    with refused("requestState"):
        await go_on(stranger, "days", asked, 4)


async def begin(server: object, tool: str) -> InputRequiredResult:
    async with connect(server) as client:
        result = await client.session.call_tool(tool, {}, allow_input_required=True)
    assert isinstance(result, InputRequiredResult)
    return result


async def go_on(server: object, tool: str, asked: InputRequiredResult, answer: object) -> str:
    [key] = asked.input_requests or {}
    answers = {key: ElicitResult(action="accept", content={"answer": answer})}
    async with connect(server) as client:
        result = await client.session.call_tool(
            tool, {}, input_responses=answers, request_state=asked.request_state, allow_input_required=True
        )
    return result.content[0].text


@shows("operations_principal")
async def test_a_call_that_belongs_to_one_user_cannot_be_continued_by_another() -> None:
    async with serving(another("operations_principal").mcp.streamable_http_app()) as base:

        @asynccontextmanager
        async def signed_in(user: str) -> AsyncIterator[Any]:
            async with httpx2.AsyncClient(headers={"x-verified-user": user}) as http:
                async with streamable_http_client(f"{base}/mcp", http_client=http) as streams:
                    yield streams

        asked = await begin(signed_in("ada"), "note")
        with refused("belong to one user"):
            await go_on(signed_in("bo"), "note", asked, "milk")
        assert await go_on(signed_in("ada"), "note", asked, "milk") == "Noted: milk"


@shows("operations_logging")
async def test_the_log_of_questions_holds_no_word_of_them(caplog: pytest.LogCaptureFixture) -> None:
    snippet("operations_logging").configure()
    for era in ERAS:
        await run(snippet("well_answers").mcp, "appointment", {}, ["12 34"], era=era)
    told = [record.getMessage() for record in caplog.records if record.name == "midcall.questions"]
    assert len(told) == 3
    assert not any("phone" in line or "12 34" in line for line in told)


# --- tests as users write them --------------------------------------------------------------------

TESTS = (
    "quickstart_test",
    "testing_replayed",
    "testing_fixture",
    "testing_versions",
    "testing_script",
    "testing_random",
)


@shows(*TESTS)
def test_the_tests_that_the_docs_show_pass() -> None:
    files = [str(SOURCES / f"{name}.py") for name in TESTS]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
    done = subprocess.run(command, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "15 passed" in done.stdout


def test_every_snippet_has_a_test() -> None:
    assert {path.stem for path in SOURCES.glob("*.py")} == COVERED
