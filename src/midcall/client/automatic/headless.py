"""Answer by a policy when nobody is there to ask."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, get_args

from midcall.client.answerer import CannotAnswer
from midcall.client.asked import Asked, Mode
from midcall.client.lines.excerpt import one_line, server_name
from midcall.core.forms.check import check, fill
from midcall.core.forms.form import Form
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome
from midcall.language import _

Policy: TypeAlias = Literal["cancel", "decline", "defaults", "fail"]

_log: Final = logging.getLogger("midcall.client")
_MOST_NAMED: Final = 5


class Headless:
    """An answerer without a person.

    It never makes a visit: visits are cancelled, or declined if that's the policy.

    Args:
        policy: How to answer. "cancel": dismiss the question, because nobody decided. "decline": say no; only for
            hosts that may say no for their users. "defaults": send the form with its defaults, or cancel it if a
            required field has none. "fail": end the question with an error; in a round, which can't carry one,
            cancel it.
        tell: Called with a sentence for the user after each question, which is logged in any case.

    Attributes:
        modes: Only forms with "defaults", both modes with the other policies.
    """

    def __init__(self, policy: Policy = "cancel", *, tell: Callable[[str], object] | None = None) -> None:
        if policy not in get_args(Policy):
            raise ValueError(f"policy={policy!r}: use one of {', '.join(get_args(Policy))}.")
        self.policy: Policy = policy
        self.modes: tuple[Mode, ...] = ("form",) if policy == "defaults" else ("form", "url")
        self._tell = tell

    async def answer(self, asked: Asked) -> Outcome[Any]:
        """Answer by the policy."""
        outcome, how = self._decide(asked)
        server = server_name(asked.server)
        _log.warning(f"question {asked.digest} of {server} {how}: nobody is here to answer")
        if self._tell is not None:
            self._tell(
                _('{server} asked "{message}". Nobody is here to answer: it {how}.').format(
                    server=server, message=one_line(asked.message), how=how
                )
            )
        if outcome is None:
            raise CannotAnswer("Nobody is there to answer questions at this client.")
        return outcome

    def _decide(self, asked: Asked) -> tuple[Outcome[Any] | None, str]:
        match self.policy:
            case "fail" if asked.via == "round":
                return Cancelled(), _("was cancelled, because a question in a round cannot end with an error")
            case "fail":
                return None, _("ended with an error")
            case "decline":
                return Declined(), _("was declined, as this client is configured to do")
            case "defaults" if asked.form is not None:
                return _fill_in(asked.form)
            case _:
                return Cancelled(), _("was cancelled")


def _fill_in(form: Form) -> tuple[Outcome[Any], str]:
    content = fill(form, {})
    problems = check(form, content)
    if not problems:
        return Accepted(content), _("was answered with its defaults")
    fields = ", ".join(one_line(problem.field) for problem in problems[:_MOST_NAMED])
    if (more := len(problems) - _MOST_NAMED) > 0:
        fields = _("{fields} and {more} more").format(fields=fields, more=more)
    return Cancelled(), _("was cancelled, because it has no default for {fields}").format(fields=fields)
