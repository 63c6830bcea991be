"""A limit for processor time, under which code that never ends fails its test, too."""

from __future__ import annotations

import signal
import time
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType


class _Stop(BaseException):
    """The time is over. What we test catches every `Exception`."""


@contextmanager
def cpu_budget(seconds: float) -> Generator[None]:
    """Fail unless what is inside takes less processor time than this.

    On Windows, code that never ends isn't stopped.
    """
    begun = time.process_time()
    try:
        with _alarm(seconds):
            yield
    except _Stop as stopped:
        raise AssertionError(f"It was stopped after {seconds:g} s of processor time.") from stopped
    took = time.process_time() - begun
    assert took < seconds, f"It took {took:.1f} s of processor time, and may take {seconds:g} s."


@contextmanager
def _alarm(seconds: float) -> Generator[None]:
    if not hasattr(signal, "SIGPROF"):
        yield
        return

    def stop(_: int, frame: FrameType | None) -> None:
        raise _Stop

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)  # again each second, if something swallows it
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
