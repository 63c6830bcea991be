from __future__ import annotations

import asyncio
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from anyio import to_thread

from midcall.cli import main
from tests.cli.shell import BARE, here, midcall, screen
from tests.portal.detached.stdio_hosts import Home, address_in, press
from tests.portal.sites import Visitor
from tests.server.reaching import posted
from tests.serving import serving
from tests.warm import command_of
from tests.web.other_user import linux

pty = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals need a POSIX system")
RUBBISH = command_of(Path(__file__).with_name("rubbish_server.py"))
BROKEN = Path(__file__).with_name("broken_server.py")
WITHOUT_TEXTUAL = "import sys; sys.modules['textual'] = None; from midcall.cli import main; sys.exit(main())"
ERAS = ["2025-06-18", "2025-11-25", "2026-07-28"]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("bare") / "log"
    with serving(Path(__file__).with_name("bare_server.py"), log) as url:
        yield url


@pytest.fixture
def answers(tmp_path: Path) -> str:
    path = tmp_path / "answers.yaml"
    path.write_text("Who are you?: {name: Ada}\nSign in: no\n")
    return str(path)


# --- arguments and results ---------------------------------------------------------------------


def test_arguments_are_typed_by_the_tools_own_schema() -> None:
    given = ["count=3", "share=2.5", "flag=yes", "board=full", "tags=a", "tags=b", "numbers=[1]", 'extra={"k": 1}']
    server = f"{sys.executable} {Path(__file__).with_name('bare_server.py')}"
    done = midcall("call", server, "typed", *given, "name=007", warm=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "(3, 2.5, True, 'full', ['a', 'b'], [1], {'k': 1}, '007')\n"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["typed"], "missing: count (a whole number)"),
        (["typed", "count=x"], "count: must be a whole number, not 'x'"),
        (["typed", "count=10"], "count: 10 is greater than the maximum of 9"),
        (["typed", "conut=1"], "conut: the tool has no such argument. Did you mean 'count'?"),
        (["typed", "count"], "'count': an argument is written as key=value, or key:=json"),
        (["typd", "count=1"], "there is no tool 'typd'. Did you mean 'typed'?"),
        (["zzz"], "there is no tool 'zzz'. `midcall tools` lists all"),
        (["typed", "count=1", "--answers", "/no/such.yaml"], "/no/such.yaml: the file cannot be read"),
        (["typed", "count=1", "--answers", "x.yaml", "--browser"], "use either --answers or --browser"),
        (["typed", "count=1", "--audit", "/no/such/dir/x"], "--audit /no/such/dir/x: the file cannot be written"),
        (["typed", "count=1", "--timeout", "0"], "Invalid value for '--timeout'"),
        ([], "Missing argument 'TOOL'"),
    ],
)
def test_wrong_usage_is_reported_in_a_line_and_exits_with_2(url: str, given: list[str], told: str) -> None:
    done = here("call", url, *given)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].startswith(f"midcall call: error: {told}")


def test_a_tool_that_fails_exits_with_1_and_says_why_on_stderr(url: str) -> None:
    done = midcall("call", url, "fails")
    assert (done.returncode, done.stdout) == (1, "")
    assert "✗ The tool failed:\n" in done.stderr
    assert "this tool is broken" in done.stderr
    assert "Traceback" not in done.stderr


WAITS = """
import sys
from mcp.server import MCPServer
import midcall
from midcall.portal import Portal

mcp = MCPServer("greeter")
midcall.install(mcp, portal=Portal())

@mcp.tool()
async def greet() -> str:
    return f"Hello, {await midcall.ask('Your name?', str)}."

mcp.run("streamable-http", port=int(sys.argv[2]), stateless_http=True)
"""


def test_a_tool_waiting_for_a_page_says_how_to_resume_and_it_does(tmp_path: Path) -> None:
    async def answer(portal: str, id: str) -> None:
        async with httpx2.AsyncClient(base_url=portal) as http:
            visitor = Visitor(http, "", portal)
            page = (await visitor.open(id)).text
            await visitor.press(id, "accept", posted(page, {"answer": "Ada"}))

    script, era = tmp_path / "server.py", ["--era", "2025-11-25"]
    script.write_text(WAITS)
    with serving(script, tmp_path / "log") as url:
        waits = here("call", url, "greet", *era)
        assert (waits.returncode, waits.stdout) == (3, "")
        assert waits.stderr.startswith("The tool is waiting for you: open the address.")
        [portal, id] = re.findall(r"(http://127\S+)/i/(\S+)", waits.stderr)[0]
        asyncio.run(answer(portal, id))
        command = shlex.split(waits.stderr.splitlines()[-1].removeprefix("Then continue with: "))
        assert command[-2:] == era
        done = here(*command[1:])
    assert (done.returncode, done.stdout) == (0, "Hello, Ada.\n"), done.stderr


PAYS = """
from mcp.server import MCPServer
import midcall
from midcall.portal import Portal

mcp = MCPServer("payer")

async def nobody(request):
    return None

midcall.install(mcp, {how})

@mcp.tool()
async def pay() -> str:
    return str(await midcall.approve("Pay?", {{"Amount": "3 EUR"}}))

mcp.run()
"""


def test_a_page_that_ended_with_its_server_is_not_offered(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(PAYS.format(how="portal=Portal()"))
    waits = here("call", command_of(script), "pay", "--era", "2025-06-18")
    assert (waits.returncode, waits.stdout) == (3, "")
    first, *said, last = waits.stderr.splitlines()
    assert first.startswith("The tool is waiting for someone on a page of its server.")
    assert any("http://127.0.0.1:" in line for line in said)
    assert last.startswith("Start the server over HTTP instead")
    assert "Open the address yourself" not in waits.stderr
    assert "midcall call" not in waits.stderr
    assert last.endswith("Or use a protocol version that can ask you here: 2025-11-25 or newer.")


def test_an_approval_without_an_answer_is_not_reported_as_the_users_decision(tmp_path: Path) -> None:
    script, answers = tmp_path / "server.py", tmp_path / "answers.yaml"
    script.write_text(PAYS.format(how="portal=Portal()"))
    answers.write_text("Something else?: yes\n")
    waits = here("call", command_of(script), "pay", "--answers", str(answers))
    assert (waits.returncode, waits.stdout) == (3, "")
    assert 'no answer for the question "Pay?" of payer.' in waits.stderr
    assert "NOT FINISHED YET" in waits.stderr


def test_an_older_version_is_no_reason_if_the_call_was_on_the_newest(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(PAYS.format(how="portal=Portal()"))
    waits = here("call", command_of(script), "pay")
    assert waits.stderr.splitlines()[-1] == "Start the server over HTTP instead, and call it by its URL."


@linux
async def test_a_page_that_outlives_the_server_is_offered_and_the_call_resumes(tmp_path: Path) -> None:
    script, home = tmp_path / "server.py", Home(tmp_path)
    script.write_text(PAYS.format(how="portal=Portal()"))
    try:
        waits = await to_thread.run_sync(
            lambda: here("call", command_of(script), "pay", "--era", "2025-06-18", **home.environment())
        )
        assert waits.stderr.startswith("The tool is waiting for you: open the address."), waits.stderr
        assert "Approved" in (await press(address_in(waits.stderr))).text
        command = shlex.split(waits.stderr.splitlines()[-1].removeprefix("Then continue with: "))
        done = await to_thread.run_sync(lambda: here(*command[1:], **home.environment()))
    finally:
        await home.end()
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_a_page_elsewhere_outlives_the_server_that_the_command_started(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    portal = "Portal('https://pay.example.com', identity=nobody)"
    script.write_text(
        PAYS.format(
            how=f"portal={portal}, principal=lambda ctx: 'https://id.example.com ada', "
            "keys='a key of the tests: 0123456789abcdef'"
        )
    )
    waits = here("call", command_of(script), "pay", "--era", "2025-06-18")
    assert waits.returncode == 3, waits.stderr
    assert "https://pay.example.com/" in waits.stderr
    assert "Then continue with: midcall call" in waits.stderr


LOG_IS_TOLD = "-v shows what the server wrote about it."


@pytest.fixture(scope="module")
def broken_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(BROKEN, tmp_path_factory.mktemp("broken") / "log") as url:
        yield url


@pytest.mark.parametrize("tool", ["asks_inside_once", "divides"])
def test_after_a_bug_in_the_tool_the_command_says_how_to_see_the_servers_log(tool: str, broken_url: str) -> None:
    assert here("call", command_of(BROKEN), tool).stderr.splitlines()[-1] == LOG_IS_TOLD
    for shown in (here("call", command_of(BROKEN), tool, "-v"), here("call", broken_url, tool)):
        assert (shown.returncode, LOG_IS_TOLD in shown.stderr) == (1, False)


def test_if_the_tool_explains_its_failure_the_log_is_not_mentioned() -> None:
    done = here("call", BARE, "fails")
    assert (done.returncode, LOG_IS_TOLD in done.stderr) == (1, False)


@pytest.mark.parametrize("command", [["tools", BARE], ["call", BARE, "fails"], ["doctor", BARE]])
def test_a_header_for_a_command_is_wrong_usage(command: list[str]) -> None:
    done = here(*command, "-H", "X: y")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("midcall: error: --header is for a URL, but this server is a command")


def test_json_is_the_result_and_nothing_else(url: str) -> None:
    done = here("call", url, "fails", "--json")
    assert done.returncode == 1
    result = json.loads(done.stdout)
    assert result["isError"] is True
    assert "this tool is broken" in result["content"][0]["text"]


def test_content_that_is_not_text_is_described(url: str) -> None:
    done = here("call", url, "several")
    assert done.stdout == "one\n[image, image/png, 5 bytes]\n"


def test_into_a_pipe_text_goes_as_it_is(url: str) -> None:
    assert midcall("call", url, "escapes").stdout == "\x1b[2J\x1b]0;owned\x07plain\n"


def test_no_server_is_4() -> None:
    done = midcall("call", "http://127.0.0.1:9/mcp", "x")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith("✗ Cannot connect to http://127.0.0.1:9/mcp: nothing answers there")


def test_a_tool_that_takes_too_long_is_cancelled(url: str) -> None:
    done = here("call", url, "waits", "--timeout", "2")
    assert (done.returncode, done.stderr) == (1, "✗ No result within 2 s: the call was cancelled.\n")


def test_a_malformed_result_is_reported_in_a_line() -> None:
    done = here("call", RUBBISH, "evil")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("✗ The server's response is malformed: content: Input should be a valid list")
    assert len(done.stderr.splitlines()) == 1


@pty
@pytest.mark.parametrize("args", [("tools",), ("tools", "--json"), ("call", "evil"), ("call", "evil", "x=1")])
def test_nothing_that_a_server_says_can_act_on_the_terminal(args: tuple[str, ...]) -> None:
    with screen(args[0], RUBBISH, *args[1:], NO_COLOR="1") as shown:
        assert shown.exit_code() in (0, 1, 2)
        assert not [char for char in shown.text if char != "\n" and not char.isprintable()]


# --- questions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
def test_questions_are_answered_from_a_file_on_every_version(era: str, answers: str, tmp_path: Path) -> None:
    audit = tmp_path / "audit.jsonl"
    done = here("call", BARE, "greet", "greeting=Hi", "--answers", answers, "--era", era, "--audit", str(audit))
    assert (done.returncode, done.stdout, done.stderr) == (0, "Hi, Ada!\n", "")
    [record] = map(json.loads, audit.read_text().splitlines())
    assert (record["server"], record["outcome"]) == ("Bare Server", "accept")
    assert "Ada" not in audit.read_text()


def test_questions_are_answered_over_http(url: str, answers: str) -> None:
    done = midcall("call", url, "greet", "greeting=Hi", "--answers", answers, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["content"][0]["text"] == "Hi, Ada!"


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
def test_a_question_without_an_answer_exits_with_3_and_is_named(era: str, url: str, tmp_path: Path) -> None:
    (tmp_path / "answers.json").write_text('{"Something else?": 1}')
    done = here("call", url, "greet", "greeting=Hi", "--answers", str(tmp_path / "answers.json"), "--era", era)
    assert (done.returncode, done.stdout) == (3, "Hi, cancel!\n")
    assert 'no answer for the question "Who are you?" of Bare Server (fields: name)' in done.stderr


def test_a_declined_question_exits_with_3(url: str, tmp_path: Path) -> None:
    (tmp_path / "answers.json").write_text('{"Who are you?": {"action": "decline"}}')
    done = here("call", url, "greet", "greeting=Hi", "--answers", str(tmp_path / "answers.json"))
    assert (done.returncode, done.stdout, done.stderr) == (3, "Hi, decline!\n", "✗ Declined: Who are you?\n")


def test_without_a_terminal_a_question_is_cancelled_and_the_command_reports_it(url: str) -> None:
    done = midcall("call", url, "greet", "greeting=Hi")
    assert (done.returncode, done.stdout) == (3, "Hi, cancel!\n")
    assert "Nobody is here to answer" in done.stderr
    assert "Run it in a terminal, or with --answers FILE or --browser." in done.stderr


def test_a_visit_that_is_needed_and_declined_exits_with_3(url: str, answers: str) -> None:
    done = here("call", url, "needs", "--answers", answers, "--era", "legacy")
    assert (done.returncode, done.stdout) == (3, "")
    assert "You declined to open the page that Bare Server needs" in done.stderr


# --- at a terminal -----------------------------------------------------------------------------


@pty
def test_at_a_terminal_a_form_is_shown_and_the_result_goes_to_its_own_place(tmp_path: Path) -> None:
    with (tmp_path / "out.json").open("w") as out:
        with screen("call", BARE, "greet", "greeting=Hi", "--json", stdout=out, NO_COLOR="1") as shown:
            shown.sees("Bare Server asks")
            shown.sees("> ")
            shown.press("Ada\n")
            shown.sees("> ")
            shown.press("\n")
            assert shown.exit_code() == 0
    assert json.loads((tmp_path / "out.json").read_text())["content"][0]["text"] == "Hi, Ada!"


@pty
@pytest.mark.parametrize(("no_color", "told"), [("", True), ("1", False)])
def test_without_textual_questions_are_asked_line_by_line(no_color: str, told: bool) -> None:
    """Who wants plain text misses nothing."""
    program = ("-c", WITHOUT_TEXTUAL)
    given = ("call", BARE, "greet", "greeting=Hi")
    with screen(*given, program=program, size=(100, 30), warm=False, NO_COLOR=no_color) as shown:
        shown.sees("Bare Server")
        shown.press("Ada\n", prompt=">")
        shown.press("\n", prompt=">")
        assert shown.exit_code() == 0
        assert "Hi, Ada!" in shown.text
        assert ("pip install 'midcall[terminal]'" in shown.text) is told


@pty
def test_while_a_tool_runs_a_spinner_counts_the_seconds_and_ctrl_c_cancels() -> None:
    with screen("call", BARE, "waits", NO_COLOR="") as shown:
        shown.sees("waits · 1 s · 25% · still here")
        shown.press("\x03")
        shown.sees("Cancelled.")
        assert shown.exit_code() == 130
        assert "Traceback" not in shown.text


def test_an_interrupt_that_comes_out_in_a_group_is_one_nevertheless(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def again(argv: object) -> int:
        raise BaseExceptionGroup("", [BaseExceptionGroup("", [KeyboardInterrupt()]), ValueError()])

    monkeypatch.setattr("midcall.cli.commands.run", again)
    assert main([]) == 130
    assert capsys.readouterr().err == "\nCancelled.\n"


@pty
def test_at_a_terminal_text_of_a_server_is_made_safe() -> None:
    with screen("call", BARE, "escapes", NO_COLOR="1") as shown:
        assert shown.exit_code() == 0
        assert shown.text == "plain\n"


POSING = command_of(Path(__file__).with_name("posing_server.py"))
OURS = {
    "failing": ["✗ The tool failed:"],
    "error": ["✗ The server answered with an error: busy"],
    "suspended": [
        "The tool is waiting for you: open the address. The other lines behind the bar are for a model.",
        "Then continue with: midcall call '",
    ],
}


@pty
@pytest.mark.parametrize("tool", OURS)
def test_at_a_terminal_no_text_of_a_server_begins_where_lines_of_the_command_do(tool: str) -> None:
    with screen("call", POSING, tool, NO_COLOR="1", size=(100, 30)) as shown:
        assert shown.exit_code() == (3 if tool == "suspended" else 1)
        lines = [line.rpartition("\x1b[2K")[2].rpartition("\r")[2] for line in shown.text.splitlines()]
    lines = [line for line in lines if line.strip()]
    assert [line for line in lines if not line.startswith("  │ ")][: len(OURS[tool])] == [
        next(line for line in lines if line.startswith(own)) for own in OURS[tool]
    ]
    for posing in ("✓ Sent.", "✗ The server is gone", "╭─ midcall", "Then continue with: curl"):
        assert [line for line in lines if posing in line], posing
        assert all(line.startswith("  │ ") for line in lines if posing in line), posing


# --- hints -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["call", "{url}", "scape"], "Did you mean 'escapes'?"),
        (["call", "{url}", "gree"], "Did you mean 'greet'?"),
        (["call", "{url}", "ESC"], "Did you mean 'escapes'?"),
        (["tools", "localhost:9/mcp"], "If it is an address, write http://localhost:9/mcp"),
    ],
)
def test_a_slip_is_answered_with_what_may_have_been_meant(url: str, given: list[str], told: str) -> None:
    assert told in here(*(part.format(url=url) for part in given)).stderr


BROKEN_OFF = """
import asyncio, sys
import anyio.to_thread
from midcall import cli
from midcall.cli import commands

def interrupted():
    raise KeyboardInterrupt

async def works():
    await anyio.to_thread.run_sync(int)  # from now on the loop has a thread, which ends when this task does
    asyncio.get_running_loop().call_soon(interrupted)
    await asyncio.Event().wait()

commands.run = lambda argv: asyncio.new_event_loop().run_until_complete(works())
sys.exit(cli.main())
"""


def test_ctrl_c_ends_the_program_even_if_it_has_cut_its_loop_off() -> None:
    """As one does that is pressed again while the loop ends: then nobody lets the threads of the loop go."""
    done = subprocess.run([sys.executable, "-c", BROKEN_OFF], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\nCancelled.\n")
