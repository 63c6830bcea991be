"""`midcall doctor` for a new user: each problem is one line that says where it is and what to do."""

from __future__ import annotations

import asyncio
import socket
import sys
import time
from pathlib import Path

import pytest

from midcall.portal.vault import Vault
from midcall.stores.sqlite import SQLite
from tests.certificates import certificate, page_behind
from tests.cli.shell import here, midcall, without_columns

OLD, NEW = "old key of the tests: 0123456789abcdef", "new key of the tests: 0123456789abcdef"
SERVER = '["server", "repos"]'
VALUE = "a-value-that-nobody-may-see"
PORTAL = """
import midcall
from mcp.server import MCPServer
from midcall.portal import Portal

mcp = MCPServer("pages")
midcall.install(mcp, portal=Portal())
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the stranger is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pages.py").write_text(PORTAL)
    return tmp_path


def refused(target: str, code: str = "", **env: str) -> str:
    """Return the one-line error for a target that the doctor cannot inspect."""
    if code:
        Path(target).write_text(code)
    done = here("doctor", target, **env)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()[-1]


# --- not a server ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("", "no server was named. Name a file (server.py)"),
        ("page.py", "there is no file 'page.py' (looked for in "),
        ("page.py", "Did you mean 'pages.py'?"),
        ("pages", "Did you mean pages.py?"),
        ("pages.mcp", "Did you mean pages:mcp?"),
        ("pages.py:", "no name after the colon"),
        ("notes.txt", "notes.txt is neither a Python file nor a command. Name a file"),
        ("folder", "folder is a folder. Name a file in it: folder/inside.py."),
        ("nothing-like-it", "there is no file, module or command 'nothing-like-it' here. Name a file"),
        ("no.such.module:mcp", "PYTHON -m midcall doctor"),
    ],
)
def test_what_is_neither_code_nor_a_command_says_what_may_have_been_meant(target: str, told: str, home: Path) -> None:
    (home / "notes.txt").touch()
    (home / "folder").mkdir()
    (home / "folder" / "inside.py").touch()
    assert told in refused(target)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("x = 1\ny = x / 0", "ZeroDivisionError: division by zero (wrong.py, line 2). `python wrong.py` shows"),
        ("def f(:", "SyntaxError: invalid syntax (wrong.py, line 1). Correct it there"),
        ("import os\nos.environ['MISSING']", "(wrong.py, line 2). Set the variable MISSING"),
        ("import not_there", "(wrong.py, line 1). Install not_there here, or use the Python that has it"),
        ("raise SystemExit(3)", "put what starts it behind `if __name__"),
        (
            "x = 1",
            'importing it creates no server. If a function does, check it from outside: midcall doctor "',
        ),
        (
            "from mcp.server import MCPServer\nshop = MCPServer('shop')",
            "call midcall.install(shop) after the line that creates it",
        ),
    ],
)
def test_code_that_cannot_be_inspected_says_where_and_what_to_do(code: str, told: str) -> None:
    assert told in refused("wrong.py", code)


def test_a_name_that_is_not_a_server_is_reported() -> None:
    assert "and Portal is not a server: name the server" in refused("pages.py:Portal")


def test_the_advice_for_a_file_named_like_a_package_is_to_rename_it(home: Path) -> None:
    (home / "app").mkdir()
    assert "rename the file" in refused("app/mcp.py", PORTAL)


def test_what_an_error_quotes_is_shown_without_what_is_secret() -> None:
    code = "import os\nraise OSError(f'no postgresql://ada:hush-hush@db/x with {os.environ[\"API_TOKEN\"]}')"
    told = refused("wrong.py", code, API_TOKEN="t-o-k-e-n")
    assert "OSError: no postgresql://***@db/x with *** (wrong.py, line 2)" in told


def test_code_is_run_as_a_program_without_arguments_and_input(home: Path) -> None:
    (home / "starts.py").write_text(f"import argparse\nargparse.ArgumentParser().parse_args()\n{PORTAL}\nmcp.run()")
    done = midcall("doctor", "starts.py")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "pages")


# --- settings that are wrong -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("MIDCALL_STORE", "mysql://ada:hush-hush@db/x", "A store is named by a URL"),
        ("MIDCALL_STORE", "postgresql://ada:hush/hush@db/x", "Percent-encode"),
        ("MIDCALL_STORE", "sqlite://there", "Use three slashes"),
        ("MIDCALL_KEYS", "hush-hush", "Do not lengthen it: make one with"),
        ("MIDCALL_PORTAL_URL", "http://mcp.example.com", "Change it there, or in the environment: MIDCALL_PORTAL_URL."),
        ("MIDCALL_PORTAL_PORT", "eight", "Change the environment variable"),
    ],
)
def test_a_setting_that_cannot_be_used_says_what_to_do(
    name: str, value: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MIDCALL_PORTAL_DETACHED")  # which the suite sets
    line = refused("pages.py", **{name: value})
    assert told in line
    assert "(pages.py, line 7)" in line
    assert "hush" not in line


def test_keys_that_are_missing_may_be_there_under_another_name() -> None:
    line = refused("pages.py", MIDCALL_STORE="redis://127.0.0.1:9", MIDCALL_KEY=NEW, MIDCALL_KEYS="")
    assert "Set the same MIDCALL_KEYS" in line
    assert "MIDCALL_KEY (meant MIDCALL_KEYS?)" in line
    assert NEW not in line


# --- secrets that cannot be opened -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "code", "told"),
    [
        (NEW, 1, "✗ vault 1 of 1 value cannot be opened with these keys."),
        ("", 1, "No key was given here"),
        (f"{NEW},{OLD}", 0, "! vault 1 value can be opened, 1 of them only with a key that is not the first."),
        (OLD, 0, "✓ vault 1 value can be opened with these keys."),
    ],
    ids=["another key", "no key", "both keys", "its key"],
)
def test_stored_secrets_are_tried_with_the_keys_and_neither_is_shown(keys: str, code: int, told: str) -> None:
    store = SQLite("kept.db")

    async def keep() -> None:
        await Vault(store, [OLD], SERVER).keep("ada", "github", {"value": VALUE}, now=time.time())
        await store.close()

    asyncio.run(keep())
    done = here("doctor", "pages.py", MIDCALL_STORE="kept.db", MIDCALL_KEYS=keys)
    assert (done.returncode, told in without_columns(done.stdout)) == (code, True), done.stdout
    assert not any(secret in done.stdout + done.stderr for secret in (OLD, NEW, VALUE))


# --- what answers, or does not ---------------------------------------------------------------------


def test_a_portal_with_a_certificate_that_has_expired_ends_with_1(home: Path) -> None:
    pem = certificate(home / "old.pem", since=-9, until=-2)
    with page_behind(pem) as place:
        how = {"MIDCALL_PORTAL_URL": f"https://{place}", "MIDCALL_STORE": "memory://", "SSL_CERT_FILE": str(pem)}
        done = here("doctor", "pages.py", **how)
    assert done.returncode == 1
    assert f"✗ portal https://{place} was not opened: its certificate has expired." in without_columns(done.stdout)
    assert "→ Renew it" in done.stdout


def test_a_url_with_an_invalid_certificate_is_reported(home: Path) -> None:
    with page_behind(certificate(home / "own.pem")) as place:
        done = here("doctor", f"https://{place}/mcp")
    assert (done.returncode, done.stdout) == (4, "")
    assert "its certificate is self-signed" in done.stderr
    assert "SSL_CERT_FILE" in done.stderr


def test_a_url_that_is_not_an_mcp_server_is_reported() -> None:
    with page_behind(None) as place:
        done = here("doctor", f"http://{place}/")
    assert (done.returncode, done.stdout) == (4, "")
    assert "it does not answer like an MCP server" in done.stderr
    assert "Check that this is the right address" in done.stderr


def test_a_url_that_says_nothing_is_not_waited_for_long() -> None:
    with socket.socket() as hole:
        hole.bind(("127.0.0.1", 0))
        hole.listen()
        done = midcall("doctor", f"http://127.0.0.1:{hole.getsockname()[1]}/mcp")
    assert done.returncode == 4
    assert "no answer within 4 s" in done.stderr
    assert done.stderr.endswith("--timeout SECONDS waits longer.\n")


NO_NAMES = """
import socket, threading

found = socket.getaddrinfo


def never(host, *more, **named):
    return threading.Event().wait() if "invalid" in str(host) else found(host, *more, **named)


socket.getaddrinfo = never
"""
"""Stands for a network in which nobody answers what a name means."""


def test_if_names_never_resolve_the_command_still_ends(home: Path) -> None:
    (home / "lost.py").write_text(NO_NAMES + PORTAL)
    how = {"MIDCALL_PORTAL_URL": "https://mcp.invalid", "MIDCALL_STORE": "redis://db.invalid", "MIDCALL_KEYS": NEW}
    done = midcall("doctor", "lost.py", **how)
    assert done.returncode == 1
    assert "✗ store No answer within" in without_columns(done.stdout)
    assert "! portal No answer from https://mcp.invalid within a few seconds" in without_columns(done.stdout)


def test_an_unexpected_error_is_reported_in_a_line(home: Path) -> None:
    strange = (
        "from midcall.stores.memory import Memory\nclass Odd(Memory):\n    async def read(self, id): raise OddError"
    )
    (home / "odd.py").write_text(f"{strange}\n{PORTAL.replace('portal=Portal()', 'store=Odd()')}")
    done = here("doctor", "odd.py")
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert "OddError" in done.stderr


WAITS = """
from mcp.server import MCPServer

mcp = MCPServer("waits")


@mcp.tool()
def midcall_probe(timeout: float) -> str:
    return "short" if timeout <= 3 else "long"


mcp.run()
"""


def test_a_probe_that_asks_by_a_link_is_not_waited_for_long(home: Path) -> None:
    (home / "waits.py").write_text(WAITS)
    done = here("doctor", f"{sys.executable} waits.py")
    assert done.returncode == 0
    assert done.stdout.endswith("\nshort\n")
