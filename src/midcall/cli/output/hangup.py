"""Survive a terminal that is closed during a question: cancel the question, and end with the right exit code."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TextIO

_HANGUP: Final = getattr(signal, "SIGHUP", None)


def ignore_hangup() -> Callable[[], None]:
    """Don't let a closed terminal end the program. Returns a function that undoes it.

    Whatever reads from that terminal gets an error soon enough, and gives up.
    """
    if _HANGUP is None or threading.current_thread() is not threading.main_thread():
        return _nothing
    if signal.getsignal(_HANGUP) is not signal.SIG_DFL:  # nohup ignores it already
        return _nothing
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


def _nothing() -> None:
    pass
