"""What a server that we started writes to its standard error.

It is a server's text like any other: it could steer the terminal, pose as the program, and run into a
form. So it comes through a pipe, line by line, and made plain.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Final, TextIO, TypeAlias

import anyio

from midcall.client.lines import backlog
from midcall.client.lines.colors import Ink
from midcall.core.text import plain

__all__ = ["Errlog", "server_log"]

Errlog: TypeAlias = TextIO | Callable[[str], object]
"""A file, which gets it as it is; or what takes each line, made plain, in a thread of its own."""

_log: Final = logging.getLogger("midcall.client")

_LONGEST: Final = 2_000
_DRAIN_SECONDS: Final = 1.0


@asynccontextmanager
async def server_log(errlog: Errlog | None) -> AsyncGenerator[TextIO]:
    """The file that a server is to write to.

    By default that is our own standard error, where no terminal is behind it. On a terminal each line
    stands behind a bar, and waits while a question is asked there.
    """
    take = _by_default() if errlog is None else errlog
    if not callable(take):
        yield take
        return
    reading, writing = os.pipe()
    reader = threading.Thread(target=_read, args=(reading, take), name="midcall server log", daemon=True)
    reader.start()
    try:
        with os.fdopen(writing, "w") as file:
            yield file
    finally:
        with anyio.CancelScope(shield=True):  # what the server said last is often why it ended
            await anyio.to_thread.run_sync(reader.join, _DRAIN_SECONDS)


def _by_default() -> Errlog:
    """While a form is shown, standard error leads into a pipe, and from there to the terminal."""
    return _show if backlog.is_asking() or _is_no_file(sys.stderr) else sys.stderr


def _is_no_file(stream: TextIO | None) -> bool:
    """Whether this is a terminal, or nothing that another process could write to."""
    try:
        return stream is None or os.isatty(stream.fileno())
    except (AttributeError, OSError, ValueError):
        return True


def _show(line: str) -> None:
    backlog.say(Ink.on_stream(sys.stderr).dim(f"  │ {line}"))


def _read(fd: int, take: Callable[[str], object]) -> None:
    """To the end, whatever happens: a server that nobody listens to would stand still."""
    failed = False
    with os.fdopen(fd, encoding="utf-8", errors="replace") as file:
        for line in _lines(file):
            try:
                take(plain(line))
            except Exception as error:
                if not failed:
                    _log.warning(
                        f"what takes the server's standard error failed with {type(error).__name__}; the server goes on"
                    )
                failed = True


def _lines(file: TextIO) -> Iterator[str]:
    """Each line, and of a very long one the beginning."""
    while line := file.readline(_LONGEST):
        ended = line.endswith("\n")
        yield line.rstrip() if ended or len(line) < _LONGEST else f"{line}…"
        while not ended and (rest := file.readline(_LONGEST)):
            ended = rest.endswith("\n")
