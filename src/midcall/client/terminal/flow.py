"""Several questions as one flow: which are decided, and where to go next. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from midcall.client.asked import Asked
from midcall.client.terminal.draft import Draft
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome

__all__ = ["NOBODY", "Behind", "Flow", "Step"]


class Step:
    """One question, what was entered for it, and what the user has decided so far."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.draft = Draft(asked.form) if asked.form is not None else None
        self.outcome: Outcome[Any] | None = None

    def accept(self) -> None:
        self.outcome = Accepted(self.draft.content() if self.draft is not None else self._agreed(), self.asked.via)

    def decline(self) -> None:
        self.outcome = Declined(self.asked.via)

    def cancel(self) -> None:
        self.outcome = Cancelled(self.asked.via)

    def _agreed(self) -> dict[str, Any] | None:
        return {} if self.asked.mode == "form" else None


class Behind(NamedTuple):
    """How many questions wait behind a flow, and how many were turned away."""

    waiting: int = 0
    turned_away: int = 0


NOBODY: Final = Behind()


class Flow:
    """The questions that are answered together, in order."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self.steps = list(steps)
        self.withdrawn: list[Step] = []
        self.all_cancelled = False
        """Whether the user wants neither these nor any that wait behind them."""

    @property
    def alone(self) -> bool:
        """Whether there is one question only: then its form is the review."""
        return len(self.steps) == 1

    @property
    def needs_review(self) -> bool:
        """Whether anything would be sent that the user has not seen as a whole."""
        return not self.alone and any(isinstance(step.outcome, Accepted) for step in self.steps)

    def number(self, step: Step) -> int:
        return self.steps.index(step) + 1

    def after(self, step: Step) -> Step | None:
        """The next question that is not decided, from this one on and around; None if all are."""
        at = self.steps.index(step) + 1 if step in self.steps else 0
        return next((each for each in self.steps[at:] + self.steps[:at] if each.outcome is None), None)

    def before(self, step: Step) -> Step | None:
        at = self.steps.index(step)
        return self.steps[at - 1] if at else None

    def withdraw(self, step: Step) -> None:
        """The server or the caller has given this question up."""
        if step in self.steps:
            self.steps.remove(step)
            self.withdrawn.append(step)

    def cancel_all(self) -> None:
        self.all_cancelled = True
        for step in self.steps:
            step.cancel()
