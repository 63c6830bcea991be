from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp_types import Tool

from midcall.cli.tools import _draw_tool  # pyright: ignore[reportPrivateUsage]
from tests.cli.shell import BARE, SECONDS, here, midcall
from tests.serving import serving
from tests.warm import PYTHON, command_of


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("bare") / "log"
    with serving(Path(__file__).with_name("bare_server.py"), log) as url:
        yield url


@pytest.fixture(scope="module")
def listed() -> str:
    done = midcall("tools", BARE, warm=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_tools_are_listed_with_what_they_take(listed: str) -> None:
    assert listed.startswith("Bare Server  1.2.3 · 2026-07-28\n")
    assert (
        "greet\n  Greet somebody whose name is asked for.\n  greeting*  text · required\n             How to begin\n"
    ) in listed
    assert "  count*   a whole number · required\n" in listed
    assert "  share    a number · default 0.5\n" in listed
    assert "  flag     yes or no · default false\n" in listed
    assert "  board    one of half, full · default half\n" in listed
    assert "  tags     a list of text\n" in listed


def test_in_a_pipe_the_list_is_plain_text(listed: str) -> None:
    assert not [char for char in listed if char != "\n" and not char.isprintable()]


def test_json_is_the_tools_as_the_server_sent_them(url: str) -> None:
    done = here("tools", url, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    tools = {tool["name"]: tool for tool in json.loads(done.stdout)}
    assert tools["typed"]["inputSchema"]["required"] == ["count"]


@pytest.mark.parametrize("era", ["legacy", "2025-06-18", "2025-11-25", "2026-07-28"])
def test_every_version_and_http_work(era: str, url: str) -> None:
    done = here("tools", url, "--era", era)
    spoken = "2025-11-25" if era == "legacy" else era
    assert done.stdout.startswith(f"Bare Server  1.2.3 · {spoken}\n")


HALF = command_of(Path(__file__).with_name("half_server.py"))
ERAS = ["2025-06-18", "2025-11-25", "2026-07-28"]
UNUSABLE = (
    "✗ The server describes the tool formless in a way that cannot be understood (inputSchema: Field required).",
    "✗ The server describes the tool no. 3 in a way that cannot be understood (name: Field required).",
    "✗ The server describes the tool no. 4 in a way that cannot be understood (Input should be an object",
    "✗ The server describes the tool oddclick in a way that cannot be understood (description: Input should be a",
)


@pytest.mark.parametrize("era", ERAS)
def test_tools_that_cannot_be_understood_are_named_and_hide_no_others(era: str) -> None:
    done = here("tools", HALF, "--era", era)
    assert done.returncode == 1
    assert done.stdout == f"half  1 · {era}\n\ngood\n\nfine\n"
    assert all(line.startswith(told) for line, told in zip(done.stderr.splitlines(), UNUSABLE, strict=True))


@pytest.mark.parametrize("required", [5, "x", {"x": 1}, [["x"]], [None]])
def test_a_tool_that_requires_nonsense_is_listed_like_the_others(required: Any) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string"}}, "required": required}
    assert _draw_tool(Tool(name="odd", input_schema=schema))


@pytest.mark.parametrize("header", ["Bearer hunter2", ": hunter2"])
def test_a_wrong_header_is_not_repeated(header: str) -> None:
    done = here("tools", "http://127.0.0.1:9/mcp", "-H", header)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "midcall: error: --header: a header looks like 'Name: value'\n"


def test_json_holds_the_tools_that_can_be_understood() -> None:
    done = here("tools", HALF, "--json")
    assert done.returncode == 1
    assert [tool["name"] for tool in json.loads(done.stdout)] == ["good", "fine"]
    assert len(done.stderr.splitlines()) == len(UNUSABLE)


@pytest.mark.parametrize("era", ERAS)
def test_a_tool_beside_those_can_be_called_and_one_of_those_cannot(era: str) -> None:
    done = here("call", HALF, "fine", "--era", era)
    assert (done.returncode, done.stdout, done.stderr) == (0, "called fine\n", "")
    done = here("call", HALF, "formless", "--era", era)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"{UNUSABLE[0]}\n")


def test_a_server_that_does_not_start_is_reported_with_its_output() -> None:
    done = midcall("tools", f"{BARE} --broken")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith("✗ Cannot connect to ")
    assert "it ended, or closed the connection, before it answered" in done.stderr
    assert "  │ ready\n  │ Exception: no configuration\n" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("no-such-program", "there is no such command"),
        ("", "there is no such command"),
        ("http://127.0.0.1:9/mcp", "nothing answers there"),
        ("gopher://example.com", "it is not a web address"),
        ("python 'x", "the command cannot be parsed"),
        ("cat", "it does not answer like an MCP server"),
    ],
)
def test_a_missing_server_is_reported_in_a_line(target: str, told: str) -> None:
    done = here("tools", target)
    assert (done.returncode, done.stdout) == (4, "")
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_with_a_timeout_nothing_hangs() -> None:
    done = here("tools", f'{sys.executable} -c "input(); input()"', "--timeout", "0.5")
    assert done.returncode == 4
    assert "no answer within 0.5 s" in done.stderr


def test_verbose_shows_what_the_server_writes() -> None:
    assert "  │ ready\n" in here("tools", BARE, "--verbose").stderr


def test_a_closed_pipe_is_not_a_failure() -> None:
    program = [*PYTHON, "-m", "midcall", "tools", BARE]
    with subprocess.Popen(program, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tools:
        assert tools.stdout is not None
        assert tools.stderr is not None
        tools.stdout.close()
        assert tools.stderr.read() == b""
        assert tools.wait(SECONDS) == 0


@pytest.mark.parametrize("args", [("tools",), ("tools", "x", "--era", "1999"), ("tools", "x", "-H", "nonsense")])
def test_bad_usage_is_reported_in_a_line(args: tuple[str, ...]) -> None:
    done = midcall(*args)
    assert done.returncode == 2
    assert ": error: " in done.stderr.splitlines()[-1]


def test_help_imports_neither_mcp_nor_textual_and_names_the_commands() -> None:
    program = (
        "import sys; from midcall.cli import main\n"
        "for args in (['--help'], ['call', '--help'], ['tools', '-h'], ['--version']): assert main(args) == 0\n"
        "heavy = {'mcp', 'mcp_types', 'pydantic', 'anyio', 'asyncio', 'textual', 'rich', 'jinja2', 'yaml'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=SECONDS)
    assert (done.returncode, done.stderr) == (0, "")
    for command in ("demo", "tools", "call"):
        assert f"\n  {command} " in done.stdout


@pytest.mark.parametrize(
    ("missing", "args"),
    [
        ("click", ["--help"]),
        ("rich", ["call", "x", "y"]),
        ("rich", ["tools", "x"]),
        ("rich", ["doctor", "x"]),
        ("authlib", ["pages"]),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_without_its_packages_it_says_what_to_install(missing: str, args: list[str]) -> None:
    """Uvicorn brings click with it, so Rich can be missing alone."""
    program = f"import sys; sys.modules[{missing!r}] = None; from midcall.cli import main; sys.exit(main({args}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 2
    extra = "portal" if missing == "authlib" else "cli"
    assert done.stderr == f"midcall: error: This command needs more packages: pip install 'midcall[{extra}]'\n"
