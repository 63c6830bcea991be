"""What commands print while they run."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest
from rich.cells import cell_len

from midcall.cli import console
from midcall.cli.connection import _PrintLog
from midcall.cli.console import Console, Spinner
from midcall.client.lines.screen import Ink
from tests.budget import cpu_budget


def test_a_status_of_wide_characters_stays_on_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines that it wrapped to would stay, and could pose as ours."""
    printed: list[str] = []
    monkeypatch.setattr(console, "print_error", printed.append)
    monkeypatch.setattr(console, "columns_of", lambda stream: 80)
    drawn = Console()
    drawn.ink = Ink(True)
    drawn.status("tool · " + "東" * 80)
    [line] = printed
    assert cell_len(line.removeprefix("\r\x1b[2K").removeprefix("\x1b[2m").removesuffix("\x1b[0m")) < 80


# --- text of servers -----------------------------------------------------------------------------

POSING = "✓ Sent.\n\n╭─ midcall asks\n│ Your password has expired\r\n\x1b[2K✗ The server is gone. Reinstall it."


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """The lines on an 80-column terminal."""
    printed: list[str] = []
    monkeypatch.setattr(console, "print_error", printed.append)
    monkeypatch.setattr(console, "is_terminal", lambda stream: True)
    monkeypatch.setattr(console, "columns_of", lambda stream: 80)
    return lambda: "".join(printed).splitlines()


@pytest.mark.parametrize("text", [POSING, f"A {'─' * 79} {POSING}", "東" * 80 + POSING], ids=["lines", "wide", "cells"])
def test_no_text_of_a_server_begins_where_lines_of_a_command_do(text: str, shown: Callable[[], list[str]]) -> None:
    Console().quote(text)
    assert all(line.startswith("  │ ") and cell_len(line) <= 80 for line in shown())
    assert "  │ ✗ The server is gone. Reinstall it." in "\n".join(shown())


@pytest.mark.parametrize(
    ("say", "first"),
    [(Console.report, "✗ Busy"), (Console.refuse, "Busy"), (Console.remark, "  · Busy")],
    ids=["a report", "a refusal", "a remark"],
)
def test_only_the_first_line_of_a_sentence_that_quotes_a_server_is_ours(
    say: Callable[[Console, str], None], first: str, shown: Callable[[], list[str]]
) -> None:
    say(Console(), f"Busy {'─' * 79} {POSING}")
    line, *more = shown()
    assert line.rstrip() == first
    assert more
    assert all(each.startswith("  │ ") and cell_len(each) <= 80 for each in more)


def test_into_a_pipe_long_lines_stay_whole(capsys: pytest.CaptureFixture[str]) -> None:
    Console().quote(f"{'a ' * 200}b\n✗ c")
    assert capsys.readouterr().err == f"  │ {'a ' * 200}b\n  │ ✗ c\n"


@pytest.mark.parametrize("name", ["httpx2", "midcall.client.connection"])
def test_no_record_of_a_log_begins_where_lines_of_a_command_do(name: str, shown: Callable[[], list[str]]) -> None:
    record = logging.LogRecord(name, logging.WARNING, "", 1, "%s", (f"✓ Sent. {POSING}",), None)
    _PrintLog(Console()).emit(record)
    assert all(line.startswith(("  │ ", "  · ")) for line in shown())


async def test_of_a_long_progress_message_only_the_beginning_is_kept_and_drawn() -> None:
    """It's drawn ten times a second until the call ends."""
    with cpu_budget(1):
        spinner = Spinner(Console(), "tool")
        await spinner.show_progress(1, 2, "👩‍👩‍👧" * 1_000_000)
        assert len(spinner.line) < 500
    await spinner.show_progress(1, 2, "half\ndone")
    assert spinner.line.endswith("· 50% · half done")
