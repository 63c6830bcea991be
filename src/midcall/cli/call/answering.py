"""Who answers at the command line: a script, a browser, a terminal, or nobody."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from midcall.cli.call.watched import Noted, noted
from midcall.cli.console import Console
from midcall.cli.exits import USAGE, Ends
from midcall.client.answerer import Answerer
from midcall.client.guard import Guard
from midcall.core.text import plain
from midcall.errors import MidcallError
from midcall.wording import cli as wording

__all__ = ["Ways", "answering"]


@dataclass(frozen=True, slots=True)
class Ways:
    """How questions are answered."""

    answers: str | None = None
    browser: bool = False
    audit: str | None = None


@asynccontextmanager
async def answering(ways: Ways, console: Console) -> AsyncGenerator[Noted]:
    """The answerer that was asked for, guarded and watched."""
    try:
        answerer, tells = _answerer(ways, console)
        _check_audit(ways.audit)
        guard = Guard(answerer, audit=ways.audit, tell=console.say)
    except (OSError, ValueError, ImportError, MidcallError) as error:
        raise Ends(USAGE, wording.usage("midcall call", plain(str(error)))) from None
    try:
        yield noted(guard, console, tells=tells)
    finally:
        close: Any = getattr(answerer, "close", None)
        if close is not None:
            await close()


def _check_audit(path: str | None) -> None:
    """A record that is asked for and cannot be kept is told at once."""
    try:
        if path is not None:
            os.close(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600))
    except OSError as error:
        raise Ends(
            USAGE,
            wording.usage("midcall call", f"--audit {path or ''}: the file cannot be written ({error.strerror or ''})"),
        ) from None


def _answerer(ways: Ways, console: Console) -> tuple[Answerer, bool]:
    """What answers, and whether somebody else has to tell the user what came of a question."""
    from midcall.client.terminal.place import place

    if ways.answers is not None:
        from midcall.client.scripts.script import Script

        return Script.from_file(ways.answers, strict=True), True
    if ways.browser:
        from midcall.client.browser import Browser

        return Browser(), True
    if place() == "nowhere":
        from midcall.client.headless import Headless

        return Headless("cancel", tell=lambda sentence: console.say(f"{sentence} {_how_to_answer()}")), False
    return _terminal(console, drawn=place() == "form"), False


def _terminal(console: Console, *, drawn: bool) -> Answerer:
    """Questions are shown on standard error: what is on standard output may be read by a program."""
    from midcall.client.lines.colors import Ink
    from midcall.client.lines.lines import Lines
    from midcall.client.lines.screen import print_error
    from midcall.client.terminal import Terminal

    lines = Lines(write=print_error, ink=Ink.on_stream(sys.stderr))
    if find_spec("textual") is not None:
        return Terminal(lines=lines)
    if drawn:
        console.say(console.ink.dim("Questions are asked line by line. For forms: pip install 'midcall[terminal]'"))
    return lines


def _how_to_answer() -> str:
    return "Run it in a terminal, or with --answers FILE or --browser."
