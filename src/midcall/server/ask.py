"""From a question to its outcome: the journal first, then a channel, then the form."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from midcall.core.adopted import AdoptedQuestion
from midcall.core.forms.check import Problem, tidy
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome
from midcall.core.question import Question, Visit
from midcall.core.replay import parse_answer
from midcall.errors import InvalidAnswer, InvalidQuestion, TimedOut
from midcall.server.channels.request import visit_id
from midcall.server.channels.table import Asking, Channel, beyond_doubt, channel_for
from midcall.wording import unanswered

if TYPE_CHECKING:
    from midcall.server.call import Call

__all__ = ["put", "put_all"]

logger = logging.getLogger("midcall")


async def put(call: Call, question: Question[Any] | Visit) -> Outcome[Any]:
    """Ask one question."""
    await call.run.check_question()
    asking = _begin(call, question)
    if call.recalls:
        await call.meet(asking.identity)
    while True:
        if asking.entry.kind == "waiting":
            (asking.entry,) = await _channel(call, asking).carry(call, (asking,))
        outcome = _outcome(call, asking)
        if outcome is not None:
            return outcome


async def put_all(call: Call, questions: Sequence[Question[Any] | Visit]) -> list[Outcome[Any]]:
    """Ask these together: on 2026-07-28 all that wait leave in one round. The first no stands for all of them."""
    await call.run.check_question()
    askings = [_begin(call, question) for question in questions]
    if call.recalls:
        await call.meet(*(asking.identity for asking in askings))
    while True:
        if (no := _no_among(call, askings)) is not None:
            return [no] * len(askings)
        if any(asking.entry.kind == "waiting" for asking in askings):
            await _carry_waiting(call, askings)
            continue
        settled = [outcome for asking in askings if (outcome := _outcome(call, asking)) is not None]
        if len(settled) == len(askings):
            return settled


def _no_among(call: Call, askings: Sequence[Asking]) -> Outcome[Any] | None:
    """The first no, or time that is up. After it nobody is asked the rest, in this run or in another.

    Raises:
        TimedOut: Nobody answered it in time.
    """
    for asking in askings:
        entry = asking.entry
        if entry.kind in ("decline", "cancel", "timeout") and not _is_doubted(call, asking):
            for other in askings:
                if other.entry.kind == "waiting":
                    other.entry = call.replay.settle(other.identity, other.entry, entry.kind, via=entry.via)
            return _outcome(call, asking)
    return None


def _begin(call: Call, question: Question[Any] | Visit) -> Asking:
    """Look the question up in the journal, or write down that it waits."""
    replay = call.replay
    identity = replay.identify(question)
    entry = replay.recorded(identity, question)
    channel = None
    if entry is None:
        line = call.on_line
        if line and (dropped := replay.depart(question.message)):
            logger.warning(
                "%r asked something else when it was replayed, so answers were dropped: %s. Put what changes between "
                "runs into once(), or give the question a key=.",
                call.called,
                ", ".join(map(repr, dropped)),
            )
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
        case "accept" if isinstance(question, AdoptedQuestion):
            return Accepted(entry.value, entry.via)  # pyright: ignore[reportArgumentType]
        case "accept" | "fits":
            assert isinstance(question, Question)
            content = tidy(question.form, entry.value)
            value, problems = question.read_tidy(content)
            if not problems:
                call.replay.keep(identity, entry, question, content)
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
        case "decline" | "cancel" if _is_doubted(call, asking):
            return None
        case "decline":
            return Declined(entry.via)  # pyright: ignore[reportArgumentType]
        case "cancel":
            return Cancelled(entry.via)  # pyright: ignore[reportArgumentType]
        case _:
            raise TimedOut(unanswered.timed_out(question.timeout), for_model=unanswered.model_timed_out())


def _is_doubted(call: Call, asking: Asking) -> bool:
    """Whether this no came so quickly that nobody may have seen the question. Then it waits again."""
    entry = asking.entry
    if entry.value is not True or not beyond_doubt(call, asking.question, entry):
        return False
    asking.entry = call.replay.doubt(asking.identity, entry)
    return True


def _is_empty(problems: Sequence[Problem]) -> bool:
    """Whether all that is wrong is that nothing was filled in: a client may accept what it has not shown."""
    return all(problem.code == "required" for problem in problems)


def _look_at_links(call: Call, question: Question[Any] | Visit) -> None:
    """A form is no place for a link: the user could not tell where it leads."""
    links = question.links
    if not links:
        return
    if call.installation.strict:
        raise InvalidQuestion(_link_in_form(links))
    call.installation.warn_once(f"link:{question.digest}", _link_in_form(links))


def _link_in_form(links: tuple[str, ...]) -> str:
    return (
        f"A form question contains a link ({', '.join(links)}). Users cannot tell where it leads: use visit() instead."
    )
