from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shell import BARE, here, midcall, without_columns
from tests.serving import ROOT, serving
from tests.warm import command_of

EVERYWHERE = ROOT / "examples/everywhere.py"
HOW = {"MIDCALL_STORE": "memory://", "MIDCALL_KEYS": "k key of the tests: 0123456789abcdef"}
COMMAND = command_of(EVERYWHERE)

PLAIN = """
import midcall
from mcp.server import MCPServer

print("a word while it is imported")
mcp = MCPServer("plain", title="Plain server")
midcall.install(mcp)
"""


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "plain_server.py"
    path.write_text(PLAIN)
    return path


# --- the server's side -------------------------------------------------------------------------


def test_a_file_is_imported_and_every_channel_listed() -> None:
    done = midcall("doctor", str(EVERYWHERE), warm=False, **HOW)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Fjord Travel\n\nChannels, in the order in which they are tried\n  ✓ round ")
    for line in ("  ✓ push ", "  ✓ page ", "  ✓ app ", "  ✓ link ", "  – relay ", "  ✓ default ", "  ✓ keys "):
        assert f"\n{line}" in done.stdout
    assert "starts on loopback when it is first needed" in done.stdout


def test_what_is_missing_comes_with_advice(plain: Path) -> None:
    done = here("doctor", f"{plain}:mcp", MIDCALL_STORE="", MIDCALL_KEYS="")
    assert done.returncode == 0
    assert done.stdout.startswith("Plain server\n")
    assert "– link There is no portal" in without_columns(done.stdout)
    assert "→ Add one: install(..., portal=Portal())" in done.stdout
    assert "  ! keys " in done.stdout


def test_a_module_is_found_from_here(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(plain.parent)
    assert here("doctor", "plain_server:mcp").stdout.startswith("Plain server\n")


def test_json_is_the_whole_report_and_nothing_else(plain: Path) -> None:
    done = midcall("doctor", str(plain), "--json")
    report = json.loads(done.stdout)
    assert [finding["name"] for finding in report["channels"]][:2] == ["round", "push"]
    assert "a word while it is imported" in done.stderr


def test_a_store_that_is_away_ends_with_1(plain: Path) -> None:
    done = here("doctor", str(plain), MIDCALL_STORE="redis://127.0.0.1:9/0")
    assert done.returncode == 1
    assert "  ✗ store " in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("nowhere.py", "there is no file 'nowhere.py'"),
        ("no.such.module:mcp", "there is no module 'no.such.module'"),
        ("{plain}:nothing", "has no 'nothing'. Servers there: mcp."),
        ("json:dumps", "midcall is not installed on a server in json:dumps"),
        ("{broken}", "could not be imported: ZeroDivisionError: division by zero"),
        ("{exits}", "could not be imported: SystemExit: 3"),
        ("{lacks}", "could not be imported: ModuleNotFoundError: No module named 'not_there'"),
        ("{bare}", "midcall is not installed on a server in"),
        ("{two}", "has several servers: name one of one, two"),
    ],
)
def test_what_cannot_be_inspected_is_reported_in_a_line(target: str, told: str, plain: Path, tmp_path: Path) -> None:
    files = {
        "broken": "1 / 0",
        "exits": "raise SystemExit(3)",
        "lacks": "import not_there",
        "bare": "from mcp.server import MCPServer; mcp = MCPServer('bare')",
        "two": PLAIN.replace("mcp =", "one =").replace("(mcp)", "(one)")
        + "two = MCPServer('two')\nmidcall.install(two)",
    }
    for name, text in files.items():
        (tmp_path / f"{name}_server.py").write_text(text)
    paths = {name: str(tmp_path / f"{name}_server.py") for name in files}
    done = here("doctor", target.format(plain=plain, **paths))
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


# --- the client's side -------------------------------------------------------------------------


@pytest.mark.parametrize("era", ["2025-06-18", "2025-11-25", "2026-07-28"])
def test_a_server_is_asked_what_it_offers_and_its_probe_is_called(era: str) -> None:
    done = here("doctor", COMMAND, "--era", era, **HOW)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Fjord Travel  {era}\n")
    assert "✓ tools  3: plan, midcall_probe, midcall_continue" in done.stdout
    channel = "round" if era == "2026-07-28" else "push"
    for kind in ("text", "integer", "yes/no", "choice", "choices", "defaults"):
        assert f"| {kind} | {channel} | accepted |" in done.stdout
    assert f"| visit | {'link' if era == '2025-06-18' else channel} | accepted |" in done.stdout


def test_over_http_it_is_the_same_as_data(tmp_path: Path) -> None:
    with serving(EVERYWHERE, tmp_path / "log", **HOW) as url:
        done = here("doctor", url, "--json")
    told = json.loads(done.stdout)
    assert told["tools"] == ["plan", "midcall_probe", "midcall_continue"]
    assert {finding["answer"] for finding in told["probe"]["found"]} == {"accepted"}


STATELESS = """
import sys
from mcp.server import MCPServer
import midcall
from midcall.portal import Portal

mcp = MCPServer("links")
midcall.install(mcp, portal=Portal(), probe=True)
if __name__ == "__main__":
    mcp.run("streamable-http", port=int(sys.argv[2]), stateless_http=True)
"""


def test_a_probe_that_asks_by_a_link_has_not_failed(tmp_path: Path) -> None:
    path = tmp_path / "links_server.py"
    path.write_text(STATELESS)
    with serving(path, tmp_path / "log", **HOW) as url:
        done = here("doctor", url, "--era", "2025-11-25")
    assert done.returncode == 0, done.stderr
    assert "! probe  midcall_probe asked by a link" in done.stdout
    assert "code" not in done.stdout


def test_a_server_without_midcall_is_reported() -> None:
    done = here("doctor", BARE)
    assert done.returncode == 0
    assert "– later  midcall_continue is not listed" in done.stdout
    assert "– probe  midcall_probe is not listed" in done.stdout


def test_a_missing_server_is_reported_in_a_line() -> None:
    done = here("doctor", "http://127.0.0.1:9/mcp")
    assert (done.returncode, done.stdout) == (4, "")
    assert len(done.stderr.splitlines()) == 1


def test_its_help_says_what_a_target_is() -> None:
    assert "midcall doctor package.module:mcp" in here("doctor", "--help").stdout


# --- settings ----------------------------------------------------------------------------------


def test_settings_are_printed_with_their_values_and_sources_and_without_secrets() -> None:
    given = {
        "MIDCALL_KEYS": "hush-hush-0123456789-hush-abcdefghij",
        "MIDCALL_STORE": "redis://ada:hush-hush@db/0",
        "MIDCALL_MAX_LIVE": "50",
    }
    done = here("doctor", "--settings", "--json", **given)
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert (done.returncode, done.stderr) == (0, "")
    assert (rows["MAX_LIVE"]["value"], rows["MAX_LIVE"]["from"]) == ("50", "environment")
    assert (rows["KEYS"]["value"], rows["KEYS"]["from"]) == ("(set)", "environment")
    assert rows["STORE"]["value"] == "redis://***@db/0"
    assert (rows["MAX_ROUNDS"]["value"], rows["MAX_ROUNDS"]["from"]) == ("9 rounds", "default")
    assert rows["GRACE_SECONDS"]["from"] == "fixed"
    assert "hush" not in done.stdout


def test_settings_of_code_say_what_it_sets_itself(tmp_path: Path) -> None:
    path = tmp_path / "set_server.py"
    path.write_text(PLAIN.replace("install(mcp)", "install(mcp, max_rounds=4, store='sqlite:///x.db', live=False)"))
    done = here("doctor", "--settings", str(path), "--json", MIDCALL_MAX_ROUNDS="7", MIDCALL_HEARTBEAT="2")
    rows = {row["name"]: (row["value"], row["from"]) for row in json.loads(done.stdout)}
    assert rows["MAX_ROUNDS"] == ("4 rounds", "argument")
    assert rows["HEARTBEAT_SECONDS"] == ("2 s", "environment")
    assert rows["LIVE"] == ("no", "argument")
    assert "x.db" in rows["STORE"][0]
    assert rows["MAX_LIVE"] == ("1,000 runs", "default")


@pytest.mark.parametrize("columns", ["150", "80", "45"])
def test_settings_fit_any_terminal(columns: str) -> None:
    done = here("doctor", "--settings", COLUMNS=columns)
    assert "install(max_live=)" in done.stdout
    assert "MIDCALL_MAX_LIVE" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= int(columns)


def test_settings_need_code_and_not_an_address() -> None:
    done = here("doctor", "--settings", "http://localhost:8000/mcp")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--settings needs the server's code" in done.stderr


def test_without_a_target_it_says_what_to_name() -> None:
    done = here("doctor")
    assert done.returncode == 2
    assert "no server was named. Name a file (server.py)" in done.stderr
