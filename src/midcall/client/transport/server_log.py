"""The standard error of a server that we started.

It's untrusted text: it could control the terminal, imitate the program, or run into a form. So it comes through a
pipe, line by line, and is sanitized.
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

from midcall.client.lines.screen import TERMINAL, Ink, columns_of
from midcall.core.text import plain
from midcall.settings.client import DRAIN_SECONDS, LOG_LINE_CHARACTERS

Errlog: TypeAlias = TextIO | Callable[[str], object]
"""A file, which gets it unchanged; or a function, which gets each sanitized line in a separate thread."""

_log: Final = logging.getLogger("midcall.client")

_BAR: Final = "  │ "


@asynccontextmanager
async def server_log(errlog: Errlog | None) -> AsyncGenerator[TextIO]:
    """The file for a server to write to.

    By default that's our own standard error, unless it's a terminal: there, each line is shown after a bar, and not
    while a question is shown.
    """
    target = _default() if errlog is None else errlog
    if not callable(target):
        yield target
        return
    reading, writing = os.pipe()
    reader = threading.Thread(target=_read, args=(reading, target), name="midcall server log", daemon=True)
    reader.start()
    try:
        with os.fdopen(writing, "w") as file:
            yield file
    finally:
        with anyio.CancelScope(shield=True):  # the last lines often explain why the server ended
            await anyio.to_thread.run_sync(reader.join, DRAIN_SECONDS)


def _default() -> Errlog:
    """While a form is shown, standard error is a pipe to the terminal, so a file descriptor isn't enough."""
    return _show if TERMINAL.is_asking or _is_terminal(sys.stderr) else sys.stderr


def _is_terminal(stream: TextIO | None) -> bool:
    """Whether this is a terminal, or has no file descriptor that another process could use."""
    try:
        return stream is None or os.isatty(stream.fileno())
    except (AttributeError, OSError, ValueError):
        return True


def _show(line: str) -> None:
    paint = Ink.on_stream(sys.stderr).dim
    TERMINAL.say("\n".join(paint(f"{_BAR}{piece}") for piece in _break(line, columns_of(sys.stderr) - len(_BAR))))


def _break(line: str, columns: int) -> Iterator[str]:
    """Pieces that the terminal doesn't break, even if all that isn't ASCII takes two columns. It works without Rich."""
    piece, width = "", 0
    for char in line:
        taken = 1 if char.isascii() else 2
        if piece and width + taken > columns:
            yield piece
            piece, width = "", 0
        piece, width = piece + char, width + taken
    yield piece


def _read(fd: int, take: Callable[[str], object]) -> None:
    """Read to the end even if `take` fails: a full pipe would block the server."""
    failed = False
    with os.fdopen(fd, encoding="utf-8", errors="replace") as file:
        for line in _lines(file):
            try:
                take(plain(line).replace("\n", " "))  # it may hold other characters that end a line
            except Exception as error:
                if not failed:
                    _log.warning(f"errlog failed with {type(error).__name__}; the server keeps running")
                failed = True


def _lines(file: TextIO) -> Iterator[str]:
    """Each line, or its beginning if it's very long."""
    while line := file.readline(LOG_LINE_CHARACTERS):
        ended = line.endswith("\n")
        yield line.rstrip() if ended or len(line) < LOG_LINE_CHARACTERS else f"{line}…"
        while not ended and (rest := file.readline(LOG_LINE_CHARACTERS)):
            ended = rest.endswith("\n")
