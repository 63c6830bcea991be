"""From a question to its outcome: the journal first, then a channel, then the form."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from midcall.core.check import Problem
from midcall.core.outcomes import Accepted, Cancelled, Declined, Outcome
from midcall.core.questions import Question, Visit
from midcall.core.replay import parse_answer
from midcall.errors import InvalidAnswer, InvalidQuestion, TimedOut
from midcall.server.channels.request import visit_id
from midcall.server.reach import Asking, Channel, beyond_doubt, channel_for
from midcall.wording import questions as wording
from midcall.wording import unanswered

if TYPE_CHECKING:
    from midcall.server.call import Call

__all__ = ["put", "put_all"]


async def put(call: Call, question: Question[Any] | Visit) -> Outcome[Any]:
    """Ask one question."""
    if call.unwinding is not None and call.unwinding.leaving:
        await call.unwinding.stop()
    asking = _begin(call, question)
    while True:
        if asking.entry.kind == "waiting":
            (asking.entry,) = await _channel(call, asking).carry(call, (asking,))
        outcome = _outcome(call, asking)
        if outcome is not None:
            return outcome


async def put_all(call: Call, questions: Sequence[Question[Any] | Visit]) -> list[Outcome[Any]]:
    """Ask these together: on 2026-07-28 all that wait leave in one round."""
    if call.unwinding is not None and call.unwinding.leaving:
        await call.unwinding.stop()
    askings = [_begin(call, question) for question in questions]
    while True:
        await _carry_waiting(call, askings)
        settled = [outcome for outcome in _outcomes(call, askings) if outcome is not None]
        if len(settled) == len(askings):
            return settled


def _outcomes(call: Call, askings: Sequence[Asking]) -> list[Outcome[Any] | None]:
    """What each of these came to; None where it waits again.

    But none does after a no: that stands for all whose answers do not fit, or have not been looked at.
    """
    no: Outcome[Any] | None = None
    found: list[Outcome[Any] | None] = []
    for asking in askings:
        outcome = _outcome(call, asking) if no is None or isinstance(asking.question, Visit) else no
        if no is None and outcome is not None and not outcome:
            no = outcome
        found.append(outcome)
    return [no if outcome is None else outcome for outcome in found]


def _begin(call: Call, question: Question[Any] | Visit) -> Asking:
    """Look the question up in the journal, or write down that it waits."""
    replay = call.replay
    identity = replay.identify(question)
    entry = replay.recorded(identity, question)
    channel = None
    if entry is None:
        line = call.on_line
        if line:
            replay.depart(question.message)
        _look_at_links(call, question)
        channel = channel_for(call, question)  # before anything is written down: it may raise
        entry = replay.wait(identity, question, line=line, deadline=_deadline(question))
        if question.key is not None and call.ahead and question.key in call.ahead:
            entry = replay.settle(identity, entry, *parse_answer(call.ahead[question.key]))
    elif entry.kind == "waiting" and entry.deadline is not None and time.time() > entry.deadline:
        entry = replay.settle(identity, entry, "timeout")
    return Asking(identity, question, entry, channel)


def _deadline(question: Question[Any] | Visit) -> float | None:
    return None if question.timeout is None else time.time() + question.timeout


def _channel(call: Call, asking: Asking) -> Channel:
    """The one that was found for it, unless it has been asked since."""
    if asking.channel is not None and asking.entry.attempt == 1:
        return asking.channel
    return channel_for(call, asking.question, asking.entry)


async def _carry_waiting(call: Call, askings: Sequence[Asking]) -> None:
    chosen = [(_channel(call, asking), asking) for asking in askings if asking.entry.kind == "waiting"]
    by_channel = sorted(chosen, key=lambda pair: pair[0].via)
    for channel, pairs in groupby(by_channel, key=lambda pair: pair[0]):
        carried = [asking for _, asking in pairs]
        for asking, entry in zip(carried, await channel.carry(call, carried), strict=True):
            asking.entry = entry


def _outcome(call: Call, asking: Asking) -> Outcome[Any] | None:
    """What the settled entry means; None where the answer does not fit, and the question waits again."""
    identity, question, entry = asking.identity, asking.question, asking.entry
    match entry.kind:
        case "accept" if entry.via == "default":
            assert isinstance(question, Question)
            return Accepted(question.taken_default(), "default")
        case "accept" | "fits" if isinstance(question, Visit):
            return Accepted(visit_id(call, identity, question), entry.via)  # pyright: ignore[reportArgumentType]
        case "accept" | "fits":
            assert isinstance(question, Question)
            value, problems = question.read(entry.value)
            if not problems:
                call.replay.trim(identity, entry, question.form.names)
                return Accepted(value, entry.via)  # pyright: ignore[reportArgumentType]
            if entry.attempt >= question.attempts:
                if _is_empty(problems) and beyond_doubt(call, question, entry):
                    asking.entry = call.replay.doubt(identity, entry)
                    return None
                raise InvalidAnswer(
                    unanswered.invalid_answer(entry.attempt, [str(problem) for problem in problems]),
                    problems,
                    for_model=unanswered.model_invalid_answer(),
                )
            asking.entry = call.replay.reject(identity, entry, problems, question.form.names, _deadline(question))
            return None
        case "decline" | "cancel" if entry.value is True and beyond_doubt(call, question, entry):
            asking.entry = call.replay.doubt(identity, entry)
            return None
        case "decline":
            return Declined(entry.via)  # pyright: ignore[reportArgumentType]
        case "cancel":
            return Cancelled(entry.via)  # pyright: ignore[reportArgumentType]
        case _:
            raise TimedOut(unanswered.timed_out(question.timeout), for_model=unanswered.model_timed_out())


def _is_empty(problems: Sequence[Problem]) -> bool:
    """Whether all that is wrong is that nothing was filled in: a client may accept what it has not shown."""
    return all(problem.code == "required" for problem in problems)


def _look_at_links(call: Call, question: Question[Any] | Visit) -> None:
    """A form is no place for a link: the user could not tell where it leads."""
    links = question.links
    if not links:
        return
    if call.installation.strict:
        raise InvalidQuestion(wording.link_in_form(links))
    call.installation.warn_once(f"link:{question.digest}", wording.link_in_form(links))
