"""The snippets about clients and the command line do what their pages say, and print what they show."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from midcall import Declined, ask
from midcall.client import Asked, Script, VisitQuestion, connect
from midcall.client.answerer import Waiting, modes_of
from midcall.core.outcome import Accepted, Cancelled, Outcome
from midcall.testing import ERAS
from scripts.check_docs import FENCE
from tests.client.answerers import Answers, Watcher
from tests.client.raw import Raw, Refusal, told
from tests.docs.test_snippets import DAYS, OSLO, ROOT, SEAT, SOURCES, SURE, another, snippet
from tests.kinds import server_with
from tests.peer import GO_SDK, PUSH, failed
from tests.terminals import Desk, Hands
from tests.warm import on_path

BOOKED = "Booked 3 days in Oslo, seat w. Reference: OSL-03"
COVERED: set[str] = set()


def shows(*names: str) -> Callable[[Any], Any]:
    COVERED.update(names)
    return lambda test: test


# --- a person at a terminal -----------------------------------------------------------------------


async def says_three(hands: Hands) -> None:
    assert DAYS in hands.screen
    await hands.press("3", "ctrl+s")


async def takes_the_window(hands: Hands) -> None:
    assert SEAT in hands.screen
    await hands.press("space", "ctrl+s")


async def says_yes(hands: Hands) -> None:
    await hands.press("y", "ctrl+s")


def booking(module: Any) -> Desk:
    """Someone who books at this module's `Terminal`."""
    desk = Desk(says_three, takes_the_window, says_yes)
    module.Terminal = lambda: desk.terminal
    return desk


@shows("answering_connect")
async def test_a_trip_is_booked_in_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    module = another("answering_connect")
    desk = booking(module)
    await module.main(another("quickstart").mcp)
    assert capsys.readouterr().out == f"{BOOKED}\n"
    assert desk.hall.failures == []


@shows("answering_callback", "answering_fastmcp")
@pytest.mark.parametrize("name", ["answering_callback", "answering_fastmcp"])
async def test_both_kinds_of_client_accept_the_callback(name: str) -> None:
    module = another(name)
    booking(module)
    assert await module.book(in_fastmcp() if name == "answering_fastmcp" else another("quickstart").mcp) == BOOKED


def in_fastmcp() -> Any:
    """The quickstart's tool on a FastMCP server."""
    from fastmcp import FastMCP

    import midcall

    server = FastMCP("travel")
    midcall.install(server)
    server.tool(another("quickstart").book)
    return server


@shows("answering_attach")
async def test_an_existing_client_can_be_attached() -> None:
    module = another("answering_attach")
    booking(module)
    async with module.attached(Client(another("quickstart").mcp)) as client:
        assert (await client.call_tool("book", OSLO)).content[0].text == BOOKED


@shows("answering_older")
async def test_a_tool_that_can_ask_on_an_older_version_only_is_called_there(tmp_path: Path) -> None:
    """The peer plays its steps only if it gets them, so a server with one tool is put before it."""
    steps = [{"push": PUSH, "refusal": failed(GO_SDK)}]
    server = tmp_path / "pushes.py"
    server.write_text(
        f"import sys\nsys.path.insert(0, {str(Path(__file__).parents[2])!r})\n"
        "from tests import peer_server\n"
        f"peer_server._steps = lambda params: {steps!r}\n"
        "peer_server.Peer([peer_server.NEW, '2025-11-25']).run()\n"
    )
    said = await another("answering_older").call(
        f"{sys.executable} {server}", Script({"Your name?": {"name": "Ada"}}), "play"
    )
    assert json.loads(said)["versions"] == ["2025-11-25"]


@shows("client_console", "csharp_guess")
async def test_the_game_is_played_at_the_console(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def guesses_seven(hands: Hands) -> None:
        await hands.press("7", "ctrl+s")

    monkeypatch.setattr(random, "randint", lambda low, high: 7)
    module, desk = another("client_console"), Desk(says_yes, guesses_seven)
    module.Terminal = lambda: desk.terminal
    await module.play(another("csharp_guess").mcp)
    assert capsys.readouterr().out == "Right! It was 7.\n"


@shows("terminal_settings")
async def test_a_kiosk_never_starts_a_browser_and_plain_prompts_need_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    module = snippet("terminal_settings")
    for answerer in (module.kiosk(), module.plain()):
        assert isinstance(await answerer.answer(Asked(VisitQuestion("Go", "https://example.com/"), "1")), Cancelled)
    assert "no terminal" in capsys.readouterr().err


# --- your own answerer ----------------------------------------------------------------------------


@shows("answering_own")
@pytest.mark.parametrize(
    ("replies", "end"),
    [
        (["3", "w", "yes"], BOOKED),
        (["three", "", "3", "w", "yes"], BOOKED),
        (["3", "w", "no"], "Nothing was booked."),
        (["/no"], "The user declined to answer"),
        ([None], "The user dismissed the question"),
    ],
)
@pytest.mark.parametrize("era", ERAS)
async def test_a_chat_answers_on_every_version(replies: list[str | None], end: str, era: Any) -> None:
    said: list[str] = []
    coming = iter(replies)

    async def say(text: str) -> str | None:
        said.append(text)
        return next(coming)

    chat = snippet("answering_own").Chat(say)
    assert modes_of(chat) == ("form",)
    async with snippet("answering_connect").connect(another("quickstart").mcp, chat, era=era) as client:
        result = await client.call_tool("book", OSLO)
    assert result.content[0].text.startswith(end)
    assert said[0] == f"travel asks: {DAYS}\nAnswer?"
    if end == BOOKED:
        assert f"travel asks: {SEAT}\nChoice?\n- w: At the window\n- a: On the aisle" in said


@pytest.mark.parametrize(("reply", "given"), [("2.5", 2.5), ("3", 3.0), ("-4", -4.0)])
async def test_a_chat_takes_any_number(reply: str, given: float) -> None:
    async def tool() -> float:
        return await ask("How much?", float)

    async def say(text: str) -> str | None:
        return next(coming)

    coming = iter([reply])
    async with connect(server_with(tool), snippet("answering_own").Chat(say)) as client:
        result = await client.call_tool("tool", {})
    assert result.structured_content == {"result": given}


# --- -32042 ---------------------------------------------------------------------------------------


def needing(*ids: str) -> Raw:
    """A server whose tool needs these visits first, and reports them as done on request."""
    needed = {"mode": "url", "message": "Connect", "url": "https://login.example.com/x"}

    async def handle(raw: Raw, call: dict[str, Any]) -> dict[str, Any]:
        if len(raw.calls()) > 1:
            return told("connected")
        raise Refusal(-32042, "first", {"elicitations": [needed | {"elicitationId": id} for id in ids]})

    return Raw(handle)


@shows("answering_required")
@pytest.mark.parametrize(
    ("agreed", "end"),
    [
        (Accepted(None), "connected"),
        (Declined(), "You did not want to open the page."),
        (Cancelled(), "Nothing was done. You can call it again later."),
    ],
)
async def test_a_call_that_needs_a_visit_is_repeated_unless_declined(agreed: Outcome[Any], end: str) -> None:
    raw = needing("a")

    async def answer(asked: Asked) -> Outcome[Any]:
        await raw.complete("a")
        return agreed

    async with asyncio.timeout(20):
        assert await snippet("answering_required").list_files(raw.transport(), "ada", Answers(answer)) == end


@shows("csharp_required")
async def test_on_2025_11_25_the_call_is_repeated_after_the_visit() -> None:
    third_party = another("csharp_required")

    async def connects_it(waiting: Waiting) -> bool:
        third_party.TOKENS["ada"] = "t"
        return True

    watcher = Watcher(connects_it)
    async with snippet("answering_required").connect(third_party.mcp, watcher, era="2025-11-25") as client:
        result = await client.call_tool("access_third_party_resource", {"user": "ada"})
    assert result.content[0].text == "Successfully accessed the resource!"
    assert [asked.via for asked in watcher.asked] == ["required"]


@shows("answering_wait")
async def test_a_kiosk_shows_the_progress_of_visits() -> None:
    raw, kiosk = needing("a", "b"), snippet("answering_wait").Kiosk("example.com")
    async with snippet("answering_required").connect(raw.transport(), kiosk) as client, asyncio.timeout(20):
        call = asyncio.create_task(client.call_tool("it"))
        for id in "ab":
            while len(kiosk.shown) < {"a": 1, "b": 3}[id]:
                await asyncio.sleep(0)
            await raw.complete(id)
        assert (await call).content[0].text == "connected"
    assert kiosk.shown == ["2 to go", "a is done", "1 to go", "b is done"]


async def test_a_kiosk_declines_other_sites() -> None:
    kiosk = snippet("answering_wait").Kiosk("example.com")
    for url in ("https://example.com.evil.net/", "https://example.com@evil.net/", "javascript:alert(1)"):
        assert await kiosk.answer(Asked(VisitQuestion("Go", url), "1")) == Declined()


# --- guards, scripts, and nobody ------------------------------------------------------------------


@shows("guard_guard")
async def test_a_guard_admits_only_listed_servers_and_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    guard = snippet("guard_guard").guarded(Script(lambda asked: True))

    def visit(server: str, url: str) -> Asked:
        return Asked(VisitQuestion("Go", url), "1", server)

    assert await guard.answer(visit("Mailbox", "https://www.example.com/")) == Accepted(None)
    assert await guard.answer(visit("Mailbox", "https://eu.login.example.org/")) == Accepted(None)
    assert await guard.answer(visit("Mailbox", "https://example.org/")) == Cancelled()
    assert await guard.answer(visit("Somebody", "https://example.com/")) == Cancelled()
    told = capsys.readouterr().out
    assert "Mailbox wanted to send you to example.org, which is not allowed here: it was cancelled." in told
    assert "Somebody may not ask questions here: they are cancelled." in told
    await guard.close()
    assert len((tmp_path / "questions.jsonl").read_text().splitlines()) == 4


@shows("guard_headless")
async def test_headless_cancels_a_question_without_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    end = await snippet("guard_headless").nightly(another("asking_outcomes").mcp)
    assert end == "The user closed the question. Ask another time."
    [said] = capsys.readouterr().out.splitlines()
    assert said.endswith("Nobody is here to answer: it was cancelled, because it has no default for answer.")


@shows("guard_script")
async def test_a_script_answers_and_remembers_what_was_asked() -> None:
    text, asked = await snippet("guard_script").book(another("quickstart").mcp)
    assert text == "Nothing was booked."
    assert asked == [DAYS, SEAT, SURE]


async def test_the_answers_file_on_the_page_can_be_read() -> None:
    script = Script.from_file(SOURCES / "guard_answers.yaml", strict=True)
    async with snippet("guard_script").connect(another("quickstart").mcp, script) as client:
        assert (await client.call_tool("book", OSLO)).content[0].text == "Nothing was booked."
        assert (await client.call_tool("book", OSLO)).content[0].text == BOOKED
    async with snippet("guard_script").connect(another("forms_again").mcp, script) as client:
        assert (await client.call_tool("reserve")).content[0].text == "3 nights"
    assert script.unused == []


# --- what the pages print -------------------------------------------------------------------------


@shows("consent_look")
def test_a_url_is_shown_as_on_the_page() -> None:
    page = (ROOT / "docs/consent.md").read_text()
    drawn = [match["code"].strip() for match in FENCE.finditer(page) if match[0].startswith("```text")]
    shown = snippet("consent_look").shown
    for url in (
        "https://accounts.example.co.uk/connect?state=1",
        "http://paypal.com@xn--pypal-4ve.example.net:8443/sign-in",
        "https://example.com\\@evil.example/",
    ):
        assert shown(url) in drawn


LEFT_OUT = "  ..."
COMMANDS = [
    (command, expected.strip("\n"))
    for page in ("docs/cli.md", "docs/doctor.md")
    for match in FENCE.finditer((ROOT / page).read_text())
    if match[0].startswith("```console")
    for command, expected in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", match["code"], re.MULTILINE)
]


@pytest.mark.skipif(shutil.which("bash") is None, reason="the page shows a shell")
@pytest.mark.parametrize(("command", "expected"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_the_command_line_prints_what_the_page_shows(command: str, expected: str, tmp_path: Path) -> None:
    shutil.copy(SOURCES / "quickstart.py", tmp_path / "server.py")
    shutil.copy(SOURCES / "cli_answers.yaml", tmp_path / "answers.yaml")
    installed = command == COMMANDS[0][0]  # the installed command; the others may use warm processes
    path = f"{Path(sys.executable).parent if installed else on_path(tmp_path / 'bin')}{os.pathsep}{os.environ['PATH']}"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MIDCALL_")}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        env={**environment, "PATH": path, "COLUMNS": "100", "PYTHONUTF8": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    shown = [line.rstrip() for line in done.stdout.strip("\n").splitlines()]
    lines = expected.splitlines()
    if LEFT_OUT not in lines:
        assert shown == lines
    pattern = "".join(r"(?:.*\n)*?" if line == LEFT_OUT else f"{re.escape(line)}\n" for line in lines)
    assert re.fullmatch(pattern, "".join(f"{line}\n" for line in shown)), done.stdout


def test_the_pages_show_every_command() -> None:
    assert len(COMMANDS) >= 10
