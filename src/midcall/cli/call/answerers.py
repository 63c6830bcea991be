"""Who answers at the command line: a script, a browser, a terminal, or nobody. Counts what was left unanswered."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

from midcall.cli.console import Console
from midcall.cli.exits import usage_error
from midcall.client.answerer import Answerer, CannotAnswer, Waiting, Waits, ask_answerer, modes_of
from midcall.client.asked import Asked, VisitQuestion
from midcall.client.guard import Guard
from midcall.client.lines.excerpt import one_line
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome
from midcall.core.text import plain, plain_line
from midcall.errors import MidcallError
from midcall.settings.cli import UNANSWERED_CHARACTERS


@dataclass(frozen=True, slots=True)
class AnswererOptions:
    """How questions are answered."""

    answers: str | None = None
    browser: bool = False
    audit: str | None = None


@asynccontextmanager
async def open_answerer(options: AnswererOptions, console: Console, *, verbose: bool) -> AsyncGenerator[Watched]:
    """Open the chosen answerer, guarded and watched. If `verbose`, the ids of visits are shown."""
    try:
        answerer, reports = _choose(options, console)
        _check_audit(options.audit)
        guard = Guard(answerer, audit=options.audit, tell=console.report)
    except (OSError, ValueError, ImportError, MidcallError) as error:
        raise usage_error("midcall call", plain(str(error))) from None
    try:
        yield Watched(guard, console, reports=reports, verbose=verbose)
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


def _choose(options: AnswererOptions, console: Console) -> tuple[Answerer, bool]:
    """The answerer, and whether we must report the outcome because it isn't shown in this terminal."""
    from midcall.client.lines.screen import find_display

    if options.answers is not None:
        from midcall.client.automatic.script import Script

        return Script.from_file(options.answers, strict=True), True
    if options.browser:
        from midcall.client.browser import Browser

        return Browser(), True
    if (display := find_display()) == "nowhere":
        from midcall.client.automatic.headless import Headless

        return Headless(
            "cancel",
            tell=lambda sentence: console.report(
                f"{sentence} Run it in a terminal, or with --answers FILE or --browser."
            ),
        ), False
    return _terminal(console, drawn=display == "form"), False


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


class Watched:
    """Passes questions on, and counts those that weren't answered.

    Args:
        answerer: What answers.
        console: Makes room for questions.
        reports: Whether to print the outcome of a question, because it isn't asked in this terminal.
        verbose: Whether to print the ids of visits, as a server's log has them.
    """

    def __init__(self, answerer: Answerer, console: Console, *, reports: bool, verbose: bool) -> None:
        self._answerer = answerer
        self._console = console
        self._reports = reports
        self._verbose = verbose
        self.modes = modes_of(answerer)
        self.unanswered = 0
        if isinstance(answerer, Waits):
            self.wait = partial(self._wait, answerer)

    async def answer(self, asked: Asked) -> Outcome[Any]:
        what = plain_line(asked.message[:UNANSWERED_CHARACTERS])
        fate = f"Not answered: {what}"  # even if the question is withdrawn
        if self._verbose and isinstance(asked.question, VisitQuestion) and asked.question.id is not None:
            self._console.remark(f"elicitation id {one_line(asked.question.id)}")
        try:
            with self._console.show_question(here=not self._reports):
                outcome = await ask_answerer(self._answerer, asked)
            fate = f"Declined: {what}" if isinstance(outcome, Declined) else fate
            fate = "" if isinstance(outcome, Accepted) else fate
            return outcome
        except CannotAnswer as error:
            fate = plain_line(str(error))
            return Cancelled(unseen=True)
        finally:
            if fate:
                self.unanswered += 1
                if self._reports:
                    self._console.report(fate)

    def count_unanswered(self) -> None:
        """Count a question that nobody could be asked."""
        self.unanswered += 1

    async def _wait(self, answerer: Waits, waiting: Waiting) -> bool:
        with self._console.show_question(here=not self._reports):
            return await answerer.wait(waiting)
