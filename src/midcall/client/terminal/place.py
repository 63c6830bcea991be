"""How this process can ask: with forms, with line prompts, or not at all."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from midcall.client.lines.screen import is_terminal

Place: TypeAlias = Literal["form", "lines", "nowhere"]

COLUMNS: Final = 40
ROWS: Final = 12
PLAIN: Final = ("NO_COLOR", "MIDCALL_PLAIN", "ACCESSIBLE")
"""Any of these asks for plain text, for example for a screen reader."""


def place(env: Mapping[str, str] | None = None) -> Place:
    """Choose how to ask. Forms are drawn on standard error, so that standard output can be a pipe."""
    env = os.environ if env is None else env
    if not is_terminal(sys.__stdin__) or not _in_foreground():
        return "nowhere"
    if not is_terminal(sys.__stderr__) and not is_terminal(sys.__stdout__):
        return "nowhere"
    return "form" if is_terminal(sys.__stderr__) and _can_draw(env) else "lines"


def _can_draw(env: Mapping[str, str]) -> bool:
    if any(env.get(name, "") not in ("", "0") for name in PLAIN):
        return False
    if sys.platform != "win32" and env.get("TERM", "dumb") in ("dumb", "unknown", ""):
        return False
    if threading.current_thread() is not threading.main_thread():
        return False  # Textual learns of a new size by a signal, and only the main thread gets signals
    size = _size()
    return size[0] >= COLUMNS and size[1] >= ROWS


def _size() -> tuple[int, int]:
    for stream in (sys.__stderr__, sys.__stdout__, sys.__stdin__):
        try:
            return os.get_terminal_size(stream.fileno() if stream is not None else -1)
        except (OSError, ValueError):
            continue
    return shutil.get_terminal_size()


def _in_foreground() -> bool:
    """Whether this process may read the terminal. The shell stops a background job that does."""
    if sys.platform == "win32" or sys.__stdin__ is None:
        return True
    try:
        return os.tcgetpgrp(sys.__stdin__.fileno()) == os.getpgrp()
    except OSError:
        return True
