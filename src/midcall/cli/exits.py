"""How a command ends: exit codes for scripts, kept even if the terminal is closed or a pipe's reader is gone."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TextIO

DONE: Final = 0
TOOL_FAILED: Final = 1
USAGE: Final = 2
UNANSWERED: Final = 3
"""A question was declined or cancelled, or had no answer."""
NOT_CONNECTED: Final = 4
INTERRUPTED: Final = 130

_HANGUP: Final = getattr(signal, "SIGHUP", None)


class Ends(Exception):
    """Ends the command with this code, and says why on standard error."""

    def __init__(self, code: int, sentence: str = "") -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


class Lost(Ends):
    """The server went away during the call, so its questions don't count as declined."""

    def __init__(self) -> None:
        super().__init__(TOOL_FAILED)


def usage_error(command: str, why: str) -> Ends:
    """Ends the command because it was called wrongly."""
    return Ends(USAGE, f"{command}: error: {why}")


def is_interrupt(error: BaseException) -> bool:
    """Whether Ctrl-C is behind this error: a second one can hit the cleanup after the first, and become anything."""
    seen: list[BaseException] = []
    left: BaseException | None = error
    while left is not None and left not in seen:
        if BaseExceptionGroup("alone, or in a group", [left]).subgroup(KeyboardInterrupt) is not None:
            return True
        seen.append(left)
        left = left.__cause__ or left.__context__
    return False


def ignore_hangup() -> Callable[[], None] | None:
    """Don't let a closed terminal end the program. Returns a function that undoes it, if this changed anything.

    Whatever reads from that terminal gets an error soon enough, and gives up.
    """
    if _HANGUP is None or threading.current_thread() is not threading.main_thread():
        return None
    if signal.getsignal(_HANGUP) is not signal.SIG_DFL:  # nohup ignores it already
        return None
    signal.signal(_HANGUP, _on_hangup)
    return _undo


def abandon(stream: TextIO | None) -> None:
    """Drop what can't be written to a closed stream: it must not change the exit code."""
    if stream is None:
        return
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _on_hangup(number: int, frame: Any) -> None:
    if sys.__stdin__ is not None and sys.__stdin__.isatty():  # the terminal is still there: someone wants us to end
        _undo()
        signal.raise_signal(number)


def _undo() -> None:
    if _HANGUP is not None:
        signal.signal(_HANGUP, signal.SIG_DFL)
