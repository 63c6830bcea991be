"""Choose who answers at the command line: a script, a browser, a terminal, or nobody."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec

from midcall.cli.call.watching import Watched, watch
from midcall.cli.console import Console
from midcall.cli.exits import usage_error
from midcall.client.answerer import Answerer
from midcall.client.guard import Guard
from midcall.core.text import plain
from midcall.errors import MidcallError


@dataclass(frozen=True, slots=True)
class Ways:
    """How questions are answered."""

    answers: str | None = None
    browser: bool = False
    audit: str | None = None


@asynccontextmanager
async def open_answerer(ways: Ways, console: Console, *, verbose: bool) -> AsyncGenerator[Watched]:
    """Open the chosen answerer, guarded and watched. If `verbose`, the ids of visits are shown."""
    try:
        answerer, reports = _choose(ways, console)
        _check_audit(ways.audit)
        guard = Guard(answerer, audit=ways.audit, tell=console.report)
    except (OSError, ValueError, ImportError, MidcallError) as error:
        raise usage_error("midcall call", plain(str(error))) from None
    try:
        yield watch(guard, console, reports=reports, verbose=verbose)
    finally:
        await guard.close()


def _check_audit(path: str | None) -> None:
    """Fail at once if the audit log can't be written."""
    try:
        if path not in (None, "-"):
            os.close(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600))
    except OSError as error:
        raise usage_error(
            "midcall call", f"--audit {path or ''}: the file cannot be written ({error.strerror or ''})"
        ) from None


def _choose(ways: Ways, console: Console) -> tuple[Answerer, bool]:
    """The answerer, and whether we must report the outcome because it isn't shown in this terminal."""
    from midcall.client.terminal.place import place

    if ways.answers is not None:
        from midcall.client.automatic.script import Script

        return Script.from_file(ways.answers, strict=True), True
    if ways.browser:
        from midcall.client.browser import Browser

        return Browser(), True
    if place() == "nowhere":
        from midcall.client.automatic.headless import Headless

        return Headless(
            "cancel",
            tell=lambda sentence: console.report(
                f"{sentence} Run it in a terminal, or with --answers FILE or --browser."
            ),
        ), False
    return _terminal(console, drawn=place() == "form"), False


def _terminal(console: Console, *, drawn: bool) -> Answerer:
    """Ask on standard error: a program may read standard output."""
    from midcall.client.lines.lines import Lines
    from midcall.client.lines.screen import Ink, print_error
    from midcall.client.terminal import Terminal

    lines = Lines(write=print_error, ink=Ink.on_stream(sys.stderr))
    if find_spec("textual") is not None:
        return Terminal(lines=lines)
    if drawn:
        console.say(console.ink.dim("Questions are asked line by line. For forms: pip install 'midcall[terminal]'"))
    return lines
