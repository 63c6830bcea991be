"""Every client in the table of docs/everywhere.md gets all five questions of one unchanged tool."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.everywhere import BEGIN, CALLERS, END, LONG, PAGE, Caller, table
from tests.serving import ROOT, serving

KEY = secrets.token_hex(32)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory = tmp_path_factory.mktemp("everywhere")
    store = f"sqlite:///{directory / 'store.db'}"
    with serving(ROOT / "examples/everywhere.py", directory / "log", MIDCALL_STORE=store, MIDCALL_KEYS=KEY) as url:
        yield url
    log = (directory / "log").read_text()
    assert "Traceback" not in log
    assert "ERROR" not in log


@pytest.mark.parametrize("caller", CALLERS, ids=str)
async def test_every_client_is_asked_all_five_questions(
    caller: Caller, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if caller.missing is not None:
        pytest.skip(caller.missing)
    monkeypatch.setenv("MIDCALL_STORE", f"sqlite:///{tmp_path / 'store.db'}")  # for clients that start it
    monkeypatch.setenv("MIDCALL_KEYS", KEY)
    assert await caller.wrong(url) is None


def test_the_table_in_the_docs_lists_these_clients() -> None:
    date, _, rows = PAGE.read_text().partition(BEGIN)[2].partition(END)[0].strip().partition("\n\n")
    assert date.startswith("Run on ")
    assert rows == table()


def test_each_simulated_client_says_which_hosts_it_stands_for() -> None:
    simulated = [caller for caller in CALLERS if caller.name.startswith("A ")]
    assert simulated
    assert all(caller.stands_for != "itself" for caller in simulated)
    assert all(caller.stands_for == "itself" for caller in (*CALLERS, *LONG) if caller not in simulated)


def test_every_channel_on_which_a_person_acts_is_in_the_table() -> None:
    assert {caller.via for caller in CALLERS} == {"push", "round", "page", "app", "link"}
