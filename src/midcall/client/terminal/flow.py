"""Questions that are answered together: which are decided, and which comes next. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from midcall.client.asked import Asked
from midcall.client.terminal.draft import Draft
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome


class Step:
    """One question, its draft, and the user's decision."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.draft = Draft(asked.form) if asked.form is not None else None
        self.outcome: Outcome[Any] | None = None

    def accept(self) -> None:
        """Accept with the content of the draft. A form without fields has empty content, a visit has none."""
        without_fields: dict[str, Any] | None = {} if self.asked.mode == "form" else None
        self.outcome = Accepted(self.draft.content() if self.draft is not None else without_fields, self.asked.via)

    def decline(self) -> None:
        self.outcome = Declined(self.asked.via)

    def cancel(self) -> None:
        self.outcome = Cancelled(self.asked.via)


class Behind(NamedTuple):
    """How many more questions are waiting, and how many were refused."""

    waiting: int = 0
    turned_away: int = 0


NOBODY: Final = Behind()


class QuestionFlow:
    """The questions of one server that are answered together, in order."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self.steps = list(steps)
        self.withdrawn: list[Step] = []
        self.alone: Final = len(self.steps) == 1
        """Whether there is only one question. Its form is the review.

        Questions that are withdrawn change nothing: the others wait for the review that their pages announced.
        """
        self.all_cancelled = False
        """Whether the user cancelled these and all waiting questions."""

    @property
    def needs_review(self) -> bool:
        """Whether there are answers to send that the user hasn't seen together."""
        return not self.alone and any(isinstance(step.outcome, Accepted) for step in self.steps)

    def number(self, step: Step) -> int:
        return self.steps.index(step) + 1

    def after(self, step: Step) -> Step | None:
        """The next undecided question after this one, starting over at the first; None if all are decided."""
        at = self.steps.index(step) + 1 if step in self.steps else 0
        return next((each for each in self.steps[at:] + self.steps[:at] if each.outcome is None), None)

    def before(self, step: Step) -> Step | None:
        at = self.steps.index(step)
        return self.steps[at - 1] if at else None

    def withdraw(self, step: Step) -> None:
        """Remove a question that its server or the caller withdrew."""
        if step in self.steps:
            self.steps.remove(step)
            self.withdrawn.append(step)

    def cancel_all(self) -> None:
        self.all_cancelled = True
        for step in self.steps:
            step.cancel()
