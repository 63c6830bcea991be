"""Every Python snippet in the docs is a file in docs_src/ that does what its page says."""

from __future__ import annotations

import asyncio
import importlib.util
import itertools
import json
import os
import random
import re
import runpy
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx2
import pytest
import uvicorn
from fastmcp import FastMCP
from fastmcp.server.middleware.caching import ResponseCachingMiddleware
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitRequestURLParams, ElicitResult, InputRequiredResult
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

import midcall
from midcall import Cancelled, Declined
from midcall.client.browser import views
from midcall.client.connection.connect import connect as client_connect
from midcall.portal import Caller
from midcall.server.installation import installation_on
from midcall.stores import StoreError
from midcall.testing import ERAS, Answers, Asked, Era, NotReplayable, Script, connect, fill_vault, replayed, run
from tests.auditing import exported
from tests.mistakes import BROKEN, logged_mistake
from tests.portal.oauth.authorization_server import CLIENT, authorization_server
from tests.portal.sites import Visitor as PageVisitor
from tests.server.codes import shown as shown_text
from tests.server.frames import Frame, host
from tests.server.people import Person, connects, fills, presses

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "docs_src"
WITH_URLS: tuple[Era, ...] = ("2025-11-25", "2026-07-28")
COVERED: set[str] = set()


def snippet(name: str) -> ModuleType:
    """The module of this snippet."""
    return import_module(f"docs_src.{name}")


def another(name: str) -> ModuleType:
    """A second copy of this snippet's module, as in another process."""
    spec = importlib.util.spec_from_file_location(f"{name}_{secrets.token_hex(4)}", SOURCES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shows(*names: str) -> Callable[[Any], Any]:
    """Mark a test as the one that runs these snippets."""
    COVERED.update(names)
    return lambda test: test


def refused(match: str | None = None) -> AbstractContextManager[Any]:
    """Expect a protocol error, possibly in an exception group from the client."""
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
            "Which toppings?": {"choice": extras(asked)},
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
    Case("asking_threads", "plan", [3], "3 days", OSLO),
    Case("asking_threads", "tour", lambda _: 2, "4 days", {"first": "Oslo", "second": "Bergen"}),
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
    Case("adoption_caching", "menu", [], "soup, pasta"),
    Case("adoption_caching", "order", ["soup"], "Ordered: soup."),
    Case("adoption_caching", "order", ["pasta"], "Ordered: pasta."),
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
    Case("go_deploy", "deploy", agree, "Deployed 1.2.", {"version": "1.2"}),
    Case("go_deploy", "deploy", [Declined()], "Nothing was deployed.", {"version": "1.2"}),
    Case("go_auth", "auth_via_url", [Declined()], "The user declined to sign in.", eras=WITH_URLS),
]
COVERED.update(case.file for case in CASES)


def extras(asked: Asked) -> object:
    """A multiple choice in this version's form: a list or a line of text."""
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


@shows("adoption_caching")
@pytest.mark.parametrize("era", ERAS)
async def test_a_cache_answers_for_the_user_unless_tools_that_ask_are_excluded(era: Era) -> None:
    page = another("adoption_caching")
    careless = FastMCP("canteen", middleware=[ResponseCachingMiddleware()])
    careless.tool(page.order)
    midcall.install(careless)
    for server, second in ((careless, "Ordered: soup."), (page.mcp, "Ordered: pasta.")):
        assert (await run(server, "order", {}, ["soup"], era=era)).text == "Ordered: soup."
        assert (await run(server, "order", {}, ["pasta"], era=era)).text == second


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


async def test_a_form_that_asks_for_a_secret_ends_the_call(caplog: pytest.LogCaptureFixture) -> None:
    done = await run(another("forms_secret").mcp, "sign_in")
    assert (done.failed, done.text, done.asked) == (True, BROKEN, [])
    assert logged_mistake(caplog).startswith("SecretInForm in 'sign_in': password: ")


# --- replay ---------------------------------------------------------------------------------------


@pytest.fixture
def every_round_replays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replay every call, as on replicas without a shared store."""
    monkeypatch.setenv("MIDCALL_LIVE", "0")


@shows("replay_cleanup")
@pytest.mark.parametrize("live", ["0", "1"])
@pytest.mark.parametrize("era", ERAS)
async def test_cleanup_runs_whenever_a_run_is_ended_and_can_tell_it_from_the_end(
    era: Era, live: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIDCALL_LIVE", live)
    archive = another("replay_cleanup")
    done = await run(archive.mcp, "archive", {}, {"Which name?": "Oak", "Which year?": 1990}, era=era)
    assert done.text == "Oak-1990"
    replays = era == "2026-07-28" and live == "0"
    assert (["paused", "paused", "finished"] if replays else ["finished"]) == archive.TRAIL


@shows("between_bad")
@pytest.mark.parametrize(
    ("file", "live", "kept"), [("between_bad", "0", 2), ("between_bad", "1", 1), ("between_good", "0", 1)]
)
async def test_a_number_that_is_drawn_again_is_not_the_one_that_the_user_kept(
    file: str, live: str, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIDCALL_LIVE", live)
    numbers = itertools.count(1)
    monkeypatch.setattr(random, "randrange", lambda limit: next(numbers))
    done = await run(another(file).mcp, "draw", {}, agree)
    assert done.text == f"Yours is {kept}."


@pytest.mark.usefixtures("every_round_replays")
async def test_a_clock_in_a_message_is_asked_forever_and_sells_in_every_run() -> None:
    lottery = another("between_bad")
    done = await run(lottery.mcp, "sell", {}, lambda asked: "Ada")
    assert done.failed
    assert "could not be resumed" in done.text
    assert len(lottery.TICKETS) == done.rounds + 1 == 3


@pytest.mark.usefixtures("every_round_replays")
async def test_unsafe_code_between_two_asks_fails_the_authors_tests() -> None:
    with pytest.raises(NotReplayable):
        await replayed(another("between_bad").mcp, "sell", {}, lambda asked: "Ada")


@shows("between_good")
@pytest.mark.usefixtures("every_round_replays")
@pytest.mark.parametrize("era", ERAS)
async def test_one_ticket_is_sold_however_often_the_tool_runs(era: Era) -> None:
    lottery = another("between_good")
    await run(lottery.mcp, "sell", {}, lambda asked: "Ada", era=era)
    assert lottery.TICKETS == [1]


@shows("once_charge")
@pytest.mark.usefixtures("every_round_replays")
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
async def test_a_book_is_lent_for_four_weeks_if_nobody_can_be_asked(era: Era) -> None:
    done = await run(snippet("errors_catch").mcp, "lend", {"title": "Emma"}, era=era, modes=())
    assert done.text == "Emma is yours for 4 weeks."


@pytest.mark.parametrize("era", ["2025-06-18", "2025-11-25"])
async def test_a_strong_question_takes_no_default_from_anywhere(era: Era) -> None:
    done = await run(snippet("channels_strong").mcp, "drop", {"table": "users"}, era=era, modes=())
    assert done.failed
    assert "cannot show questions" in done.text


# --- visits ---------------------------------------------------------------------------------------


@asynccontextmanager
async def serving(app: Starlette) -> AsyncIterator[str]:
    """The URL of this app, served over HTTP in this process."""
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
    """Agrees to a visit and finishes on the page a moment later."""

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


@shows("go_auth")
@pytest.mark.parametrize("era", WITH_URLS)
async def test_a_visit_comes_back_with_its_id_at_consent(era: Era) -> None:
    done = await run(snippet("go_auth").mcp, "auth_via_url", {}, agree, era=era)
    [asked] = done.asked
    assert asked.url is not None
    assert done.text == f"Sign-in {asked.url.rpartition('/')[2][:4]} has begun. Complete it in your browser."


# --- clients --------------------------------------------------------------------------------------


@shows("quickstart_client", "quickstart_test")
@pytest.mark.parametrize(
    ("command", "end"),
    [
        (["quickstart_client.py"], "Booked 3 days in Oslo, seat w. Reference: OSL-03"),
        (["-m", "pytest", "-q", "-p", "no:asyncio", "-p", "no:cacheprovider", "quickstart_test.py"], "1 passed"),
    ],
    ids=["client", "test"],
)
def test_the_quickstart_works_in_an_empty_folder(command: list[str], end: str, tmp_path: Path) -> None:
    for name in ("quickstart", "quickstart_client", "quickstart_test"):
        shutil.copy(SOURCES / f"{name}.py", tmp_path)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHONPATH", "PYTEST_"))}
    done = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=110
    )
    assert done.stdout.splitlines()[-1].startswith(end), done.stdout + done.stderr


# --- pending questions ----------------------------------------------------------------------------


@shows("pending_task")
async def test_another_task_books_the_trip(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(SOURCES)
    await another("pending_task").main()
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first == f"travel asks: {DAYS}"
    assert last == "Booked 3 days in Oslo, seat w. Reference: OSL-03"


@shows("pending_http")
async def test_another_process_books_the_trip_over_http() -> None:
    module, content = another("pending_http"), {DAYS: {"answer": 3}, SEAT: {"choice": "w"}, SURE: {"confirmed": True}}
    async with serving(module.app) as base, client_connect(another("quickstart").mcp, module.pending) as client:
        async with httpx2.AsyncClient(base_url=base) as http, http.stream("GET", "/changes") as changes:
            call = asyncio.create_task(client.call_tool("book", OSLO))
            async for line in changes.aiter_lines():
                change = json.loads(line.removeprefix("data: ")) if line else {}
                if change.get("change") != "opened":
                    continue
                asked, id = change["question"], change["id"]
                assert (await http.get("/questions")).json() == [asked]
                wrong = await http.post("/answers", json={"id": id, "action": "accept", "content": {}})
                assert (wrong.status_code, wrong.json()["problems"][0]["code"]) == (422, "required")
                assert (await http.post("/answers", content=b"?")).status_code == 400
                reply = {"id": id, "action": "accept", "content": content[asked["message"]]}
                assert (await http.post("/answers", json=reply)).status_code == 204
                assert (await http.post("/answers", json=reply)).status_code == 404
                if asked["message"] == SURE:
                    break
            module.pending.close()
        assert (await call).content[0].text == "Booked 3 days in Oslo, seat w. Reference: OSL-03"


FORM = re.compile(r'action="(?P<action>[^"]+)".*?name="token" value="(?P<token>[^"]+)"', re.DOTALL)


@shows("pending_browser")
async def test_a_page_in_the_browser_books_the_trip(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(SOURCES)
    monkeypatch.setattr(views, "PAGE_CONFIRM_SECONDS", 0)  # tests click faster than people
    module, told = another("pending_browser"), asyncio.Queue[str]()
    module.Browser = partial(module.Browser, open=None, tell=told.put_nowait)
    call = asyncio.create_task(module.main())
    address = (await told.get()).split()[-1]
    home = address.partition("/open/")[0]
    origin = home.rpartition("/")[0]
    async with httpx2.AsyncClient(headers={"origin": origin}) as http, asyncio.timeout(20):
        await http.get(address)
        for answer in ("3", "0", "yes"):
            while (form := FORM.search((await http.get(f"{home}/")).text)) is None:
                await asyncio.sleep(0)
            await http.post(origin + form["action"], data={"token": form["token"], "f0": answer, "do": "send"})
        await call
    assert capsys.readouterr().out == "Booked 3 days in Oslo, seat w. Reference: OSL-03\n"


# --- migrating ------------------------------------------------------------------------------------


@shows("ctx_elicit_before")
@pytest.mark.parametrize("era", ERAS)
async def test_the_old_tool_works_on_every_version_after_install(era: Era) -> None:
    server = another("ctx_elicit_before").mcp
    midcall.install(server)
    answers = [{"accept": True, "date": "2026-12-28"}]
    assert (await run(server, "book_table", TABLE, answers, era=era)).text == "Booked for 2026-12-28."


async def test_the_old_tool_fails_on_the_newest_version_without_install() -> None:
    server = another("ctx_elicit_before").mcp
    with refused("elicitation/create"):
        await run(server, "book_table", TABLE, [{"accept": True}])


@shows("resolve_before")
@pytest.mark.parametrize("installed", [False, True])
@pytest.mark.parametrize("era", ERAS)
async def test_resolve_works_with_and_without_midcall(era: Era, installed: bool) -> None:
    server = another("resolve_before").mcp
    if installed:
        midcall.install(server)
    answers = {"Delete attic?": {"sure": True}}
    assert (await run(server, "delete", {"name": "attic"}, answers, era=era)).text == "Deleted attic."


@shows("rounds_before")
@pytest.mark.parametrize("installed", [False, True])
async def test_a_handwritten_round_works_with_and_without_midcall(installed: bool) -> None:
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
async def test_a_call_that_belongs_to_one_user_cannot_be_continued_by_another(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with serving(another("operations_principal").mcp.streamable_http_app()) as base:

        @asynccontextmanager
        async def signed_in(user: str) -> AsyncIterator[Any]:
            async with httpx2.AsyncClient(headers={"x-verified-user": user}) as http:
                async with streamable_http_client(f"{base}/mcp", http_client=http) as streams:
                    yield streams

        asked = await begin(signed_in("ada"), "note")
        with refused("Invalid or expired requestState"):
            await go_on(signed_in("bo"), "note", asked, "milk")
        assert "belongs to another user" in caplog.text
        assert await go_on(signed_in("ada"), "note", asked, "milk") == "Noted: milk"


@shows("operations_logging")
async def test_the_log_of_questions_holds_no_word_of_them(caplog: pytest.LogCaptureFixture) -> None:
    snippet("operations_logging").configure()
    for era in ERAS:
        await run(snippet("well_answers").mcp, "appointment", {}, ["12 34"], era=era)
    told = [record.getMessage() for record in caplog.records if record.name == "midcall.questions"]
    assert len(told) == 3
    assert not any("phone" in line or "12 34" in line for line in told)


# --- the audit trail ------------------------------------------------------------------------------


async def close_account(module: ModuleType, era: Era) -> None:
    """Decline to close the account, with this snippet, and let its sinks take the events."""
    assert (await run(module.mcp, "close_account", {}, [Declined()], era=era)).text == "Nothing was done."
    await flushed(module)


async def flushed(module: ModuleType) -> None:
    installation = installation_on(module.mcp)
    assert installation is not None
    assert installation.audit is not None
    assert await installation.audit.flush()


@shows("audit_file")
@pytest.mark.parametrize("era", ERAS)
async def test_the_audit_trail_is_a_file_of_json_lines(
    era: Era, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    await close_account(another("audit_file"), era)
    events = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert [event["event"] for event in events] == ["question.asked", "question.declined"]
    page = next(json.loads(line) for line in (ROOT / "docs" / "audit.md").read_text().splitlines() if line[:1] == "{")
    shown = {name: value for name, value in page.items() if name != "user"}  # nobody is signed in here
    assert (events[1].keys(), events[1]["details"], events[1]["tool"]) == (shown.keys(), page["details"], page["tool"])


@shows("audit_siem")
async def test_refusals_and_approvals_are_forwarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    got: list[dict[str, Any]] = []

    async def siem(scope: Any, receive: Any, send: Any) -> None:
        got.append(await Request(scope, receive).json())
        await Response(status_code=201)(scope, receive, send)

    module = another("audit_siem")
    module.siem = httpx2.AsyncClient(transport=httpx2.ASGITransport(siem), base_url="https://siem.example.com")
    await close_account(module, "2026-07-28")
    async with connect(module.mcp) as client:
        with refused("Invalid or expired requestState"):
            await client.session.call_tool("close_account", {}, request_state="midcall.forged", input_responses={})
    await flushed(module)
    assert [(event["event"], event["outcome"]) for event in got] == [("state.refused", "changed")]
    assert len((tmp_path / "audit.jsonl").read_text().splitlines()) == 3


@shows("audit_otel")
@pytest.mark.parametrize("era", ERAS)
async def test_the_audit_trail_is_on_spans(era: Era) -> None:
    spans = exported()
    await close_account(another("audit_otel"), era)
    names = [event.name for span in spans.get_finished_spans() for event in span.events]
    assert {"midcall.question.asked", "midcall.question.declined"} <= set(names)


# --- the portal -----------------------------------------------------------------------------------


@pytest.fixture
def portal_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "MIDCALL_STORE": "memory://",
        "MIDCALL_KEYS": "k key of the tests: 0123456789abcdef",
        "PORTAL_CLIENT_SECRET": "hush",
    }.items():
        monkeypatch.setenv(name, value)


@shows("portal_stdio")
@pytest.mark.usefixtures("portal_settings")
@pytest.mark.parametrize("era", WITH_URLS)
async def test_a_secret_goes_through_a_page_on_this_machine(era: Era) -> None:
    module = another("portal_stdio")
    done = await run(module.mcp, "count_repositories", {}, Person(fills("ghp_12")), era=era)
    assert done.text == "Counted with a token of 6 characters."
    await module.portal.close()


@shows("portal_mounted")
@pytest.mark.usefixtures("portal_settings")
async def test_a_portal_is_mounted_next_to_the_server() -> None:
    module = another("portal_mounted")
    transport = httpx2.ASGITransport(module.app)
    async with httpx2.AsyncClient(transport=transport, base_url="https://mcp.example.com") as http:
        assert (await http.get("/midcall/health")).json() == {"status": "ok"}
        assert (await http.get("/midcall/i/nothing-of-this-kind-is-here")).status_code == 404
    assert module.portal.address("x") == "https://mcp.example.com/midcall/i/x"


@pytest.mark.usefixtures("portal_settings")
async def test_a_mounted_portal_has_a_page_for_the_access_tokens_user() -> None:
    module = another("portal_mounted")

    async def claims_of(token: str) -> dict[str, str] | None:
        return {"iss": module.ISSUER, "sub": token, "client_id": "chat"} if token == "ada" else None

    module.claims_of = claims_of
    arriving = {"host": "mcp.example.com", "authorization": "Bearer ada"}
    async with serving(module.app) as base, httpx2.AsyncClient(headers=arriving) as http:
        async with connect(streamable_http_client(f"{base}/mcp", http_client=http), modes=()) as client:
            told = shown_text(await client.call_tool("pay", {"to": "ACME", "euros": 40}))
        stranger = await http.post(f"{base}/mcp", json={}, headers={"authorization": "Bearer eve"})
    assert "https://mcp.example.com/midcall/i/" in told
    assert stranger.status_code == 401


@shows("portal_checks")
async def test_a_check_asks_the_api(monkeypatch: pytest.MonkeyPatch) -> None:
    def api(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200 if request.headers["authorization"] == "Bearer good" else 401)

    module = another("portal_checks")
    monkeypatch.setattr(httpx2, "AsyncClient", partial(httpx2.AsyncClient, transport=httpx2.MockTransport(api)))
    assert await module.github_takes_it("good") is None
    assert await module.github_takes_it("bad") == "was not accepted by GitHub"
    assert module.portal.provider("calendar").title == "Example Calendar"


CALLER = Caller("https://id.example.com", "ada", "a-client", {"email": "ada@example.com", "tid": "t", "oid": "o"})


@shows("identity_oidc", "identity_key", "identity_proxy", "identity_callable")
@pytest.mark.usefixtures("portal_settings")
@pytest.mark.parametrize(
    ("file", "key"),
    [
        ("identity_oidc", "https://id.example.com ada"),
        ("identity_key", "t o"),
        ("identity_proxy", "ada@example.com"),
        ("identity_callable", "https://id.example.com ada"),
    ],
)
async def test_each_identity_builds_the_key_of_a_caller(file: str, key: str) -> None:
    portal = another(file).portal
    assert portal.owner_of(CALLER) == key
    assert portal.owner_of(Caller()) == ""
    assert portal.why_not("secret", key) is None
    assert portal.why_not("secret", "") is not None


# --- secrets, accounts, approvals, and calls that resume later ------------------------------------


@shows("secrets_token")
@pytest.mark.usefixtures("portal_settings")
async def test_a_token_is_checked_on_the_page_and_can_be_declined() -> None:
    module = another("secrets_token")

    async def act(visitor: PageVisitor, id: str) -> None:
        wrong = await visitor.press(id, "accept", {"s0": "gho_1"})
        assert "github must begin with ghp_" in wrong.text
        await fills("ghp_12")(visitor, id)

    async with connect(module.mcp, Person(presses("decline"))) as client:
        assert told(await client.call_tool("list_repositories", {})) == "Then I can list only public ones."
    async with connect(module.mcp, Person(act)) as client:
        assert told(await client.call_tool("list_repositories", {})) == "Listed with a token of 6 characters."
    await module.portal.close()


@shows("secrets_fields")
@pytest.mark.usefixtures("portal_settings")
async def test_an_account_has_two_fields() -> None:
    module = another("secrets_fields")
    done = await run(module.mcp, "count_mails", {}, Person(fills("ada", "hidden")))
    assert done.text == "Signed in as ada, with 6 characters."
    await module.portal.close()


@shows("secrets_namespace")
@pytest.mark.usefixtures("portal_settings")
async def test_servers_with_one_namespace_share_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCALL_STORE", f"sqlite://{tmp_path}/store.db")
    module = another("secrets_namespace")
    await fill_vault(module.issues, secrets={"github": "ghp_12"})
    installations = [installation_on(server) for server in (module.issues, module.repositories)]
    portal: Any = installations[1].portal  # pyright: ignore[reportOptionalMemberAccess]
    assert await portal.vault.get(portal.owner_of(Caller()), "github") == {"value": "ghp_12"}
    for each in installations:
        await each.close()  # pyright: ignore[reportOptionalMemberAccess]


@shows("secrets_authorize")
@pytest.mark.usefixtures("portal_settings")
async def test_an_account_is_connected(monkeypatch: pytest.MonkeyPatch) -> None:
    async with authorization_server() as acme:
        monkeypatch.setenv("CALENDAR_ISSUER", acme.url)
        monkeypatch.setenv("CALENDAR_CLIENT_ID", CLIENT[0])
        monkeypatch.setenv("CALENDAR_CLIENT_SECRET", CLIENT[1])
        module = another("secrets_authorize")
        person = Person(connects(acme))
        async with connect(module.mcp, person) as client:
            assert told(await client.call_tool("next_event", {})) == "Looked it up: True."
        assert person.asked[0].message == "To look up your next event."
        await module.portal.close()


@shows("secrets_providers")
def test_providers_are_described_in_a_few_lines() -> None:
    portal = snippet("secrets_providers").portal
    assert [provider.name for provider in portal.providers] == ["github", "crm", "wiki"]
    assert [provider.uses_discovery for provider in portal.providers] == [False, True, False]


@shows("secrets_approve")
@pytest.mark.usefixtures("portal_settings")
@pytest.mark.parametrize("era", WITH_URLS)
async def test_only_what_was_approved_is_paid(era: Era) -> None:
    module = another("secrets_approve")
    for button, expected in (("decline", "Nothing was paid."), ("accept", "Paid 40 EUR to ACME.")):
        done = await run(module.mcp, "pay", {"euros": 40, "to": "ACME"}, Person(presses(button)), era=era)
        assert done.text == expected
    assert len(module.PAID) == 1
    await module.portal.close()


def quoted_on(page: str) -> str:
    """Return the block quote of this page, as one line."""
    lines = (ROOT / "docs" / f"{page}.md").read_text().splitlines()
    return " ".join(line.removeprefix("> ") for line in lines if line.startswith("> "))


@shows("later_signing")
@pytest.mark.usefixtures("portal_settings")
@pytest.mark.parametrize("era", WITH_URLS)
async def test_a_call_resumes_with_its_code(era: Era, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("midcall.server.resuming.visits.HOLD_SECONDS", 0.01)
    seen: list[str] = []

    def reads(asked: Asked) -> object:
        seen.append(str(asked.url))
        return "go"

    async with connect(another("later_signing").mcp, reads, era=era, max_rounds=10) as client:
        first = await client.call_tool("sign", {"contract": "lease"})
        assert first.is_error
        code = (first.meta or {})["midcall/code"]
        said = told(first).replace(code, "kzt9...").replace(seen[0], "https://sign.example.com/b3kq...")
        assert said.split() == quoted_on("later").split()
        await midcall.complete(seen[0].rpartition("/")[2])
        last = await client.call_tool("midcall_continue", {"code": code})
    assert told(last) == "Signed, and filed as F-5."
    assert len(seen) == 1


@shows("once_store")
@pytest.mark.usefixtures("portal_settings")
async def test_an_effect_that_was_cut_off_is_checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from midcall.server.once import effects
    from midcall.server.running.handover import Handover

    monkeypatch.setenv("MIDCALL_STORE", f"sqlite:///{tmp_path}/post.db")
    monkeypatch.setenv("MIDCALL_LIVE", "0")  # a dying process doesn't report its turn's outcome to other replicas
    module, replica = another("once_store"), another("once_store")
    monkeypatch.setattr(replica, "SENT", module.SENT)

    async def dies(call: Any, id: str, work: Any) -> Any:
        await work()
        raise StoreError("the lights went out")

    async def is_dead(*_: Any) -> bool:
        raise StoreError("the lights went out")

    async with connect(module.mcp) as client:
        asked = await client.session.call_tool("send_letter", {"to": "Ada"}, allow_input_required=True)
        [(key, request)] = asked.input_requests.items()
        [field] = request.params.requested_schema["properties"]
        retry = {
            "input_responses": {key: ElicitResult(action="accept", content={field: True})},
            "request_state": asked.request_state,
            "allow_input_required": True,
        }
        with monkeypatch.context() as patch:
            patch.setattr(effects, "_run_claim", dies)
            patch.setattr(Handover, "settle", is_dead)
            with pytest.raises(MCPError):
                await client.session.call_tool("send_letter", {"to": "Ada"}, **retry)
    monkeypatch.setattr(effects, "OTHER_EFFECT_SECONDS", 0.01)
    async with connect(replica.mcp) as client:
        last = await client.session.call_tool("send_letter", {"to": "Ada"}, **retry)
    assert told(last) == "Found: L-1."
    assert module.SENT == ["Ada"]


@shows("visits_webhook")
@pytest.mark.usefixtures("portal_settings")
async def test_a_webhook_counts_only_if_it_was_signed() -> None:
    module = another("visits_webhook")
    async with serving(module.mcp.streamable_http_app()) as base, httpx2.AsyncClient(base_url=base) as http:
        assert (await http.post("/paid?id=1&until=99999999999&signature=x")).status_code == 403

        calls: list[asyncio.Task[httpx2.Response]] = []

        def pays(asked: Asked) -> object:
            query = module.callback_for(str(asked.url).rpartition("/")[2]).partition("?")[2]
            calls.append(asyncio.get_running_loop().create_task(http.post(f"/paid?{query}")))
            return "go"

        done = await run(module.mcp, "order", {"article": "oak table"}, pays)
        assert (await calls[0]).status_code == 200
    assert done.text == "Paid: oak table."


@shows("operations_stop")
@pytest.mark.usefixtures("portal_settings")
async def test_the_store_is_closed_when_the_server_stops() -> None:
    module = another("operations_stop")
    async with serving(module.app) as base, httpx2.AsyncClient(base_url=base) as http:
        assert (await http.get("/midcall/health")).json() == {"status": "ok"}
        assert await answers_to_its_name(http)


async def answers_to_its_name(http: httpx2.AsyncClient) -> bool:
    """Whether the server accepts requests for its host and rejects others."""
    named, other = [
        (await http.post("/mcp", headers={"Host": host}, json={})).status_code
        for host in ("mcp.example.com", "evil.example.com")
    ]
    return named != 421 == other


def told(result: Any) -> str:
    return "\n".join(block.text for block in result.content)


# --- tests as users write them --------------------------------------------------------------------

TESTS = (
    "testing_replayed",
    "testing_fixture",
    "testing_versions",
    "testing_script",
    "testing_random",
    "testing_pages",
    "testing_live",
    "testing_seeds",
    "testing_vault",
)


@shows(*TESTS)
def test_the_tests_that_the_docs_show_pass() -> None:
    files = [str(SOURCES / f"{name}.py") for name in TESTS]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
    done = subprocess.run(command, cwd=SOURCES, env=dict(os.environ), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "23 passed" in done.stdout


# --- stores -------------------------------------------------------------------------------------


@shows("stores_choose")
def test_a_store_is_chosen_with_its_settings_and_connects_later() -> None:
    assert repr(another("stores_choose").store) == "<PostgreSQL at db.example.com/shop>"


@shows("stores_lifespan")
async def test_the_store_is_open_and_swept_while_the_server_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MIDCALL_STORE", f"sqlite://{tmp_path / 'shop.db'}")
    module = another("stores_lifespan")
    transport = httpx2.ASGITransport(module.app)
    async with (
        module.lifespan(module.app),
        httpx2.AsyncClient(transport=transport, base_url="https://mcp.example.com") as http,
    ):
        assert await answers_to_its_name(http)
        assert (tmp_path / "shop.db").exists()
        assert "midcall store: sweep" in {task.get_name() for task in asyncio.all_tasks()}
    with pytest.raises(StoreError, match="closed"):
        await module.store.read("an-id")


# --- Apps ---------------------------------------------------------------------------------------


@pytest.fixture
def own_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("midcall.stores.sqlite._data_directory", lambda: tmp_path)


@shows("apps_form")
@pytest.mark.usefixtures("own_directory")
async def test_a_trip_is_booked_in_an_app() -> None:
    async with host(another("apps_form").mcp) as client:
        call = asyncio.create_task(client.call_tool("book", {"destination": "Oslo"}))
        frame = Frame(client)
        await frame.finds({"destination": "Oslo"})
        await frame.answers(3)
        await frame.looks_on()
        await frame.answers("yes")
        assert shown_text(await call) == "Booked 3 days in Oslo."


@shows("apps_own")
@pytest.mark.usefixtures("own_directory")
async def test_a_tool_keeps_its_own_app_and_another_one_asks() -> None:
    async with host(another("apps_own").mcp) as client:
        tools = {tool.name: (tool.meta or {})["ui"]["resourceUri"] for tool in (await client.list_tools()).tools}
        assert (tools["cart"], tools["order"]) == ("ui://shop/cart", "ui://midcall/form")
        call = asyncio.create_task(client.call_tool("order", {}))
        frame = Frame(client)
        await frame.finds({}, tool="order")
        await frame.answers("yes")
        assert shown_text(await call) == "Ordered."


def test_every_snippet_has_a_test() -> None:
    elsewhere = import_module("tests.docs.test_answering_snippets").COVERED
    assert {path.stem for path in SOURCES.glob("*.py")} == COVERED | elsewhere
