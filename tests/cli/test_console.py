"""What commands print while they run."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from midcall.cli import console
from midcall.cli.console import Console
from midcall.client.lines.screen import Ink


def test_a_status_of_wide_characters_stays_on_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines that it wrapped to would stay, and could pose as ours."""
    printed: list[str] = []
    monkeypatch.setattr(console, "print_error", printed.append)
    monkeypatch.setenv("COLUMNS", "80")
    shown = Console()
    shown.ink = Ink(True)
    shown.status("tool · " + "東" * 80)
    [line] = printed
    assert cell_len(line.removeprefix("\r\x1b[2K").removeprefix("\x1b[2m").removesuffix("\x1b[0m")) < 80
