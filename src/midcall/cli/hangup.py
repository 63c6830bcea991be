"""A terminal that is closed while it asks: the question is cancelled, and the command ends with its own code."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TextIO

__all__ = ["let_go", "outlive_terminal"]

_HANGUP: Final = getattr(signal, "SIGHUP", None)


def outlive_terminal() -> Callable[[], None]:
    """From now on a terminal that goes away does not end the program. Call what this returns to undo it.

    Whoever reads from that terminal hears of it soon enough, and gives up.
    """
    if _HANGUP is None or threading.current_thread() is not threading.main_thread():
        return _nothing
    if signal.getsignal(_HANGUP) is not signal.SIG_DFL:  # under nohup, it is ignored anyway
        return _nothing
    signal.signal(_HANGUP, _hung_up)
    return _undo


def let_go(stream: TextIO | None) -> None:
    """What could not be written to a stream that is gone must not change the exit code."""
    if stream is None:
        return
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _hung_up(number: int, frame: Any) -> None:
    if sys.__stdin__ is not None and sys.__stdin__.isatty():  # it is still there: somebody wants us to end
        _undo()
        signal.raise_signal(number)


def _undo() -> None:
    if _HANGUP is not None:
        signal.signal(_HANGUP, signal.SIG_DFL)


def _nothing() -> None:
    pass
