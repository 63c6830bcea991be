"""Watch an answerer: count unanswered questions, and make room on the screen."""

from __future__ import annotations

from typing import Any, cast

from midcall.cli.console import Console
from midcall.client.answerer import Answerer, CannotAnswer, Waiting, Waits, ask_answerer, modes_of
from midcall.client.asked import Asked, VisitQuestion
from midcall.client.lines.excerpt import one_line
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome
from midcall.core.text import plain_line
from midcall.settings.cli import UNANSWERED_CHARACTERS


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
            return Cancelled()
        finally:
            self._count(fate)

    def count_unanswered(self) -> None:
        """Count a question that nobody could be asked."""
        self.unanswered += 1

    def _count(self, fate: str) -> None:
        if fate:
            self.unanswered += 1
            if self._reports:
                self._console.report(fate)


class _WatchedWaits(Watched):
    def __init__(self, answerer: Waits, console: Console, *, reports: bool, verbose: bool) -> None:
        super().__init__(cast("Answerer", answerer), console, reports=reports, verbose=verbose)
        self._waits = answerer

    async def wait(self, waiting: Waiting) -> bool:
        with self._console.show_question(here=not self._reports):
            return await self._waits.wait(waiting)


def watch(answerer: Answerer, console: Console, *, reports: bool, verbose: bool = False) -> Watched:
    """Watch this answerer. The result can wait if the answerer can."""
    kind = _WatchedWaits if isinstance(answerer, Waits) else Watched
    return cast("type[Watched]", kind)(answerer, console, reports=reports, verbose=verbose)
