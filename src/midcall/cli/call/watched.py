"""An answerer that is watched: which questions came to nothing, and when one has the screen."""

from __future__ import annotations

from typing import Any, Final, cast

from midcall.cli.console import Console
from midcall.client.answerer import Answerer, CannotAnswer, answered, modes_of
from midcall.client.asked import Asked
from midcall.client.visits.waiting import Waiting, Waits
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome
from midcall.core.text import plain_line

__all__ = ["Noted", "noted"]

_LONGEST: Final = 200


class Noted:
    """Hands questions on, and counts those that came to nothing.

    Args:
        answerer: What answers.
        console: Makes room for questions.
        tells: Whether the user has to be told what came of a question: it is not asked at the terminal.
    """

    def __init__(self, answerer: Answerer, console: Console, *, tells: bool) -> None:
        self._answerer = answerer
        self._console = console
        self._tells = tells
        self.modes = modes_of(answerer)
        self.unanswered = 0

    async def answer(self, asked: Asked) -> Outcome[Any]:
        what = plain_line(asked.message[:_LONGEST])
        fate = f"Not answered: {what}"  # also where the question is withdrawn
        try:
            with self._console.questioned(here=not self._tells):
                outcome = await answered(self._answerer, asked)
            fate = f"Declined: {what}" if isinstance(outcome, Declined) else fate
            fate = "" if isinstance(outcome, Accepted) else fate
            return outcome
        except CannotAnswer as error:
            fate = plain_line(str(error))
            return Cancelled()
        finally:
            self._note(fate)

    def refused(self) -> None:
        """A question came that could not be put to anybody."""
        self.unanswered += 1

    def _note(self, fate: str) -> None:
        if fate:
            self.unanswered += 1
            if self._tells:
                self._console.say(f"{self._console.ink.bad('✗')} {fate}")


class _NotedWaits(Noted):
    def __init__(self, answerer: Waits, console: Console, *, tells: bool) -> None:
        super().__init__(cast("Answerer", answerer), console, tells=tells)
        self._waits = answerer

    async def wait(self, waiting: Waiting) -> bool:
        with self._console.questioned(here=not self._tells):
            return await self._waits.wait(waiting)


def noted(answerer: Answerer, console: Console, *, tells: bool) -> Noted:
    """This answerer, watched. It can wait if that one can."""
    kind = _NotedWaits if isinstance(answerer, Waits) else Noted
    return cast("type[Noted]", kind)(answerer, console, tells=tells)
