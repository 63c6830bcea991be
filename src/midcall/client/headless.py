"""Answers where nobody is there to ask, by a policy, and says so."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, get_args

from midcall.client.answerer import CannotAnswer
from midcall.client.asked import Asked, Mode
from midcall.client.lines.columns import one_line
from midcall.core.forms.check import check, fill
from midcall.core.forms.form import Form
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome
from midcall.wording.client import headless as wording

__all__ = ["Headless", "Policy"]

Policy: TypeAlias = Literal["cancel", "decline", "defaults", "fail"]

_log: Final = logging.getLogger("midcall.client")


class Headless:
    """An answerer without a person.

    A visit is never made: it is cancelled, or declined where that is the policy.

    Args:
        policy: What becomes of a question. "cancel": it is closed, as nobody decided. "decline": the
            answer is no; only for hosts that may say no for their users. "defaults": a form is sent
            as it was pre-filled, and cancelled where a required field is not. "fail": the question
            ends with an error; in a round, which has none, it is cancelled.
        tell: Called with a sentence for each question, for the user; the log is told in any case.

    Attributes:
        modes: With "defaults" only forms can be served, and the other policies end both modes alike.
    """

    def __init__(self, policy: Policy = "cancel", *, tell: Callable[[str], object] | None = None) -> None:
        if policy not in get_args(Policy):
            raise ValueError(f"policy={policy!r} is none of: {', '.join(list(get_args(Policy)))}.")
        self.policy: Policy = policy
        self.modes: tuple[Mode, ...] = ("form",) if policy == "defaults" else ("form", "url")
        self._tell = tell

    async def answer(self, asked: Asked) -> Outcome[Any]:
        """Answer by the policy."""
        outcome, how = self._decided(asked)
        _log.warning(wording.headless_log(one_line(asked.server), asked.digest, how))
        if self._tell is not None:
            self._tell(wording.headless(one_line(asked.server), one_line(asked.message), how))
        if outcome is None:
            raise CannotAnswer("Nobody is there to answer questions at this client.")
        return outcome

    def _decided(self, asked: Asked) -> tuple[Outcome[Any] | None, str]:
        match self.policy:
            case "fail" if asked.via == "round":
                return Cancelled(), "was cancelled, since a question of a round cannot end with an error"
            case "fail":
                return None, "ended with an error"
            case "decline":
                return Declined(), "was declined, as this host is set up to do"
            case "defaults" if asked.form is not None:
                return _with_defaults(asked.form)
            case _:
                return Cancelled(), "was cancelled"


def _with_defaults(form: Form) -> tuple[Outcome[Any], str]:
    content = fill(form, {})
    problems = check(form, content)
    if problems:
        return Cancelled(), _no_defaults([one_line(problem.field) for problem in problems[:5]], len(problems))
    return Accepted(content), "was answered with its defaults"


def _no_defaults(fields: list[str], count: int) -> str:
    more = f" and {count - len(fields)} more" if count > len(fields) else ""
    return f"was cancelled, since it has no default for {', '.join(fields)}{more}"
