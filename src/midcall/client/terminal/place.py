"""What this process has to ask at: a terminal that can show a form, one for lines, or none."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

__all__ = ["Place", "place"]

Place: TypeAlias = Literal["form", "lines", "nowhere"]

COLUMNS: Final = 40
ROWS: Final = 12
PLAIN: Final = ("NO_COLOR", "MIDCALL_PLAIN", "ACCESSIBLE")
"""Who sets one of these wants text that a screen reader, or a person without colours, can follow."""


def place(env: Mapping[str, str] | None = None) -> Place:
    """Where to ask. Forms are drawn on standard error, so that output can go into a pipe."""
    env = os.environ if env is None else env
    if not _is_terminal(sys.__stdin__) or not _in_foreground():
        return "nowhere"
    if not _is_terminal(sys.__stderr__) and not _is_terminal(sys.__stdout__):
        return "nowhere"
    return "form" if _is_terminal(sys.__stderr__) and _can_draw(env) else "lines"


def _can_draw(env: Mapping[str, str]) -> bool:
    if any(env.get(name, "") not in ("", "0") for name in PLAIN):
        return False
    if sys.platform != "win32" and env.get("TERM", "dumb") in ("dumb", "unknown", ""):
        return False
    if threading.current_thread() is not threading.main_thread():
        return False  # Textual hears of a changed size by a signal, and only the main thread does
    size = _size()
    return size[0] >= COLUMNS and size[1] >= ROWS


def _size() -> tuple[int, int]:
    for stream in (sys.__stderr__, sys.__stdout__, sys.__stdin__):
        try:
            return os.get_terminal_size(stream.fileno() if stream is not None else -1)
        except (OSError, ValueError):
            continue
    return shutil.get_terminal_size()


def _is_terminal(stream: Any) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def _in_foreground() -> bool:
    """A program in the background is stopped by its shell when it reads."""
    if sys.platform == "win32" or sys.__stdin__ is None:
        return True
    try:
        return os.tcgetpgrp(sys.__stdin__.fileno()) == os.getpgrp()
    except OSError:
        return True
