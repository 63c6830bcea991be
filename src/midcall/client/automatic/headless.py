"""Answer by a policy when nobody is there to ask."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, get_args

from midcall.client.answerer import CannotAnswer
from midcall.client.asked import Asked, Mode
from midcall.client.lines.excerpt import one_line, server_name
from midcall.client.urls import look
from midcall.core.forms.check import check, fill
from midcall.core.forms.form import Form
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome
from midcall.core.text import plain_line
from midcall.language import _

Policy: TypeAlias = Literal["cancel", "decline", "defaults", "fail"]

_log: Final = logging.getLogger("midcall.client")
_MOST_NAMED: Final = 5


class Headless:
    """An answerer without a person.

    It opens no page: visits are cancelled, or declined if that's the policy. With `visits`, it agrees to them and tells
    you the address: someone else can open it, while the call waits as long as the client's `patience` allows.

    Args:
        policy: How to answer. "cancel": dismiss the question, because nobody decided. "decline": say no; only for
            hosts that may say no for their users. "defaults": send the form with its defaults, or cancel it if a
            required field has none. "fail": end the question with an error; in a round, which can't carry one,
            cancel it.
        visits: Agree to visits, without opening them. Needs `tell`.
        tell: Called with a sentence for the user after each question, which is logged in any case.

    Attributes:
        modes: Only forms with "defaults" and without `visits`, both modes otherwise.
    """

    def __init__(
        self, policy: Policy = "cancel", *, visits: bool = False, tell: Callable[[str], object] | None = None
    ) -> None:
        if policy not in get_args(Policy):
            raise ValueError(f"policy={policy!r}: use one of {', '.join(get_args(Policy))}.")
        self.policy: Policy = policy
        if visits and tell is None:
            raise ValueError("visits=True needs tell=, a function that gets the address to someone who can open it.")
        self.modes: tuple[Mode, ...] = ("form",) if policy == "defaults" and not visits else ("form", "url")
        self._visits = visits
        self._tell = tell

    async def answer(self, asked: Asked) -> Outcome[Any]:
        """Answer by the policy."""
        if self._visits and asked.url is not None:
            return self._pass_on(asked, asked.url)
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

    def _pass_on(self, asked: Asked, url: str) -> Outcome[Any]:
        """Tell someone the address, if it can be opened at all."""
        address, server = look(url), server_name(asked.server)
        if not address.openable or self._tell is None:
            _log.warning(f"question {asked.digest} of {server} was cancelled: its address can't be opened")
            return Cancelled()
        _log.warning(f"question {asked.digest} of {server} was passed on")
        sentence = _('{server} asked "{message}". Open this page for it: {url}')
        self._tell(sentence.format(server=server, message=one_line(asked.full_message), url=plain_line(address.url)))
        return Accepted(None)

    def _decide(self, asked: Asked) -> tuple[Outcome[Any] | None, str]:
        match self.policy:
            case "fail" if asked.via == "round":
                why = _("was cancelled, because a question in a round cannot end with an error")
                return Cancelled(unseen=True), why
            case "fail":
                return None, _("ended with an error")
            case "decline":
                return Declined(), _("was declined, as this client is configured to do")
            case "defaults" if asked.form is not None:
                return _fill_in(asked.form)
            case _:
                return Cancelled(unseen=True), _("was cancelled")


def _fill_in(form: Form) -> tuple[Outcome[Any], str]:
    content = fill(form, {})
    problems = check(form, content)
    if not problems:
        return Accepted(content), _("was answered with its defaults")
    fields = ", ".join(one_line(problem.field) for problem in problems[:_MOST_NAMED])
    if (more := len(problems) - _MOST_NAMED) > 0:
        fields = _("{fields} and {more} more").format(fields=fields, more=more)
    return Cancelled(unseen=True), _("was cancelled, because it has no default for {fields}").format(fields=fields)
