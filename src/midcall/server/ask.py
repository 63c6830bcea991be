"""From a question to its outcome: the journal first, then a channel, then the form."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from midcall.core.adopted import AdoptedQuestion
from midcall.core.forms.fields import Choices, Number
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome, value_of
from midcall.core.question import Question, Visit, make_question, recent_question
from midcall.core.replay import DOUBT, parse_answer
from midcall.errors import InvalidAnswer, InvalidQuestion, MidcallError, TimedOut
from midcall.language.problems import Problem
from midcall.server.call import current_call, running_call
from midcall.server.channels.request import Asking, visit_id
from midcall.server.channels.table import BEYOND_DOUBT, CHANNELS, DOUBTFUL, Channel, beyond_doubt, no_channel
from midcall.server.frameworks.errors import surface
from midcall.settings.calls import CACHED_CHARACTERS

if TYPE_CHECKING:
    from midcall.core.journal import Entry
    from midcall.server.call import Call

logger = logging.getLogger("midcall")

_CLASS = type
_HIDES_NUMBERS: Final = "hides numbers"


async def ask_for_value(verb: str, message: object, type: Any, options: Mapping[str, Any]) -> Any:
    """Ask, and return the value that the user accepted. Other outcomes raise."""
    try:
        call = running_call(verb)
        if not options and isinstance(message, str) and isinstance(type, _CLASS) and len(message) <= CACHED_CHARACTERS:
            question = recent_question(message, type)
        else:
            question = make_question(message, type, options)
        outcome = await put(call, question)
        return outcome.value if isinstance(outcome, Accepted) else value_of(outcome)  # pyright: ignore[reportUnknownVariableType]
    except MidcallError as exc:
        raise surface(exc, current_call.get()) from exc.__cause__


async def ask_for_outcome(verb: str, message: object, type: Any, options: Mapping[str, Any]) -> Outcome[Any]:
    """Ask, and return the whole outcome."""
    try:
        return await put(running_call(verb), make_question(message, type, options))
    except MidcallError as exc:
        raise surface(exc, current_call.get()) from exc.__cause__


async def put(call: Call, question: Question[Any] | Visit) -> Outcome[Any]:
    """Ask one question."""
    if question.links or question.hazards:
        _warn(call, question)
    if call.recalls or call.run.ending is not None:
        await call.run.check_question()
    asking = _begin(call, question)
    if call.recalls:
        await call.meet(asking.identity)
    while True:
        if asking.entry.kind == "waiting":
            channel = asking.channel if asking.entry.attempt == 1 else None
            (asking.entry,) = await (channel or _choose_channel(call, asking)).carry(call, (asking,))
        outcome = _outcome(call, asking)
        if outcome is not None:
            return outcome


async def put_all(call: Call, questions: Sequence[Question[Any] | Visit]) -> list[Outcome[Any]]:
    """Ask these together: on 2026-07-28 they leave in one round. The first decline or cancel counts for all of them."""
    for question in questions:
        if question.links or question.hazards:
            _warn(call, question)
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
    """The first decline, cancel or timeout. After it nobody is asked the others, in this run or in a replay.

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
    entry = replay.find(identity, question)
    channel = None
    if entry is None:
        line = call.run.on_line()
        if line and call.recalls and (dropped := replay.depart(question.message)):
            logger.warning(
                "%r asked something else when it was replayed, so answers were dropped: %s. Put what changes between "
                "runs into once(), or give the question a key=.",
                call.called,
                ", ".join(map(repr, dropped)),
            )
        channel = channel_for(call, question)  # before anything is written down: it may raise
        clients = call.installation.clients
        if clients.has_notes and not replay.asks_as_text and clients.is_known(call, _HIDES_NUMBERS):
            replay.ask_as_text()
        deadline = None if question.timeout is None else _deadline(question)
        entry = replay.wait(identity, question, line=line, deadline=deadline)
        if call.installation.audit is not None:
            call.audit("question.asked", identity, via=channel.via, mode=question.mode)
        if call.ahead and (answer := _came_ahead(call, question, channel)) is not None:
            entry = replay.settle(identity, entry, *parse_answer(answer))
    elif entry.kind == "waiting" and entry.deadline is not None and time.time() > entry.deadline:
        entry = replay.settle(identity, entry, "timeout")
    return Asking(identity, question, entry, channel)


def _came_ahead(call: Call, question: Question[Any] | Visit, channel: Channel) -> Any:
    """The answer that came with the first request, before this question was asked; None if it must not, or did not.

    With `via=`, an author says through which channels a question may be answered, and this answer came through none.
    Nobody can consent to an address that they have not seen. A replay of a later round doesn't have such answers.
    """
    if question.via is not None or channel.via != "round" or isinstance(question, Visit) or call.journal.turn:
        return None
    return None if call.ahead is None or question.key is None else call.ahead.get(question.key)


def _deadline(question: Question[Any] | Visit) -> float | None:
    return None if question.timeout is None else time.time() + question.timeout


def _choose_channel(call: Call, asking: Asking) -> Channel:
    """The one that was found for it, unless it has been asked since; for a doubted answer, one where a person acts."""
    if asking.channel is not None and asking.entry.attempt == 1:
        return asking.channel
    return channel_for(call, asking.question, BEYOND_DOUBT if asking.entry.via == DOUBT else CHANNELS)


def channel_for(call: Call, question: Question[Any] | Visit, channels: Sequence[Channel] = CHANNELS) -> Channel:
    """The first of these channels that can carry this question.

    Raises:
        NoChannel: None can.
    """
    for channel in channels:
        if (question.via is None or channel.via in question.via) and channel.why_not(call, question) is None:
            return channel
    raise no_channel(call, question)


async def _carry_waiting(call: Call, askings: Sequence[Asking]) -> None:
    chosen = [(_choose_channel(call, asking), asking) for asking in askings if asking.entry.kind == "waiting"]
    by_channel = sorted(chosen, key=lambda pair: pair[0].via)
    for channel, pairs in groupby(by_channel, key=lambda pair: pair[0]):
        carried = [asking for _, asking in pairs]
        for asking, entry in zip(carried, await channel.carry(call, carried), strict=True):
            asking.entry = entry


def _outcome(call: Call, asking: Asking) -> Outcome[Any] | None:
    """The outcome in this entry; None if the answer does not fit, and the question is asked again."""
    identity, question, entry = asking.identity, asking.question, asking.entry
    match entry.kind:
        case "accept" if entry.via == "default":
            assert isinstance(question, Question)
            return Accepted(question.read_default(), "default")
        case "accept" | "fits" if isinstance(question, Visit):
            return Accepted(visit_id(call, identity, question), entry.via)  # pyright: ignore[reportArgumentType]
        case "accept" if isinstance(question, AdoptedQuestion):
            if question.is_left_empty(entry.value) and beyond_doubt(call, question, entry):
                asking.entry = call.replay.doubt(identity, entry)
                return None
            return Accepted(entry.value, entry.via)  # pyright: ignore[reportArgumentType]
        case "accept" | "fits":
            assert isinstance(question, Question)
            if call.replay.asks_as_text and entry.kind == "accept":
                entry = entry._replace(value=question.form.read_lines(entry.value))
            value, problems = call.replay.accept(identity, entry, question)
            if problems and any(problem.code == "option" for problem in problems):
                entry = entry._replace(value=question.form.read_titles(entry.value))
                value, problems = call.replay.accept(identity, entry, question)
            if not problems:
                return Accepted(value, entry.via)  # pyright: ignore[reportArgumentType]
            empty, last = not entry.value, entry.attempt >= question.attempts
            if (last or (empty and entry.attempt > 1)) and _is_empty(problems) and beyond_doubt(call, question, entry):
                asking.entry = call.replay.doubt(identity, entry)
                return None
            if last:
                if call.installation.audit is not None and identity in call.observed:
                    call.audit("question.rejected", identity, attempt=entry.attempt)
                raise InvalidAnswer(problems, entry.attempt)
            if empty and _turn_to_text(call, question, entry):
                problems = ()  # with nothing to correct: nobody has seen the form
            asking.entry = call.replay.reject(identity, entry, problems, question.form.names, _deadline(question))
            return None
        case "decline" | "cancel" if _is_doubted(call, asking):
            return None
        case "decline":
            return Declined(entry.via, entry.value is True)  # pyright: ignore[reportArgumentType]
        case "cancel":
            return Cancelled(entry.via, entry.value is True)  # pyright: ignore[reportArgumentType]
        case _:
            raise TimedOut(within=question.timeout)


def _is_doubted(call: Call, asking: Asking) -> bool:
    """Whether this no came so fast that nobody has seen the question, and a page or a link can ask it again."""
    entry = asking.entry
    if entry.value is not True or not beyond_doubt(call, asking.question, entry):
        return False
    asking.entry = call.replay.doubt(asking.identity, entry)
    return True


def _turn_to_text(call: Call, question: Question[Any], entry: Entry) -> bool:
    """Whether numbers and lists go out as text from now on, since a client has accepted a form with some empty.

    Some hide such a form behind a plain yes.
    """
    if entry.via not in DOUBTFUL or call.replay.asks_as_text:
        return False
    if not any(isinstance(field, (Number, Choices)) for field in question.form):
        return False
    call.replay.ask_as_text()
    call.installation.clients.note(call, _HIDES_NUMBERS)
    return True


def _is_empty(problems: Sequence[Problem]) -> bool:
    """Whether the only problem is that nothing was filled in: a client may accept a form it never showed."""
    return all(problem.code == "required" for problem in problems)


def _warn(call: Call, question: Question[Any] | Visit) -> None:
    """Tell the author, once, what is wrong with this question.

    A link doesn't belong in a form: the user can't tell where it leads. And some hosts refuse a whole form.
    """
    if question.links:
        links = ", ".join(question.links)
        text = f"A form question contains a link ({links}). Users can't tell where it leads: use visit()."
        if call.installation.strict:
            raise InvalidQuestion(text)
        call.installation.warn_once(f"link:{question.digest}", text)
    if question.hazards:
        call.installation.odd_forms[question.digest] = question.hazards
        call.installation.warn_once(f"hazard:{question.digest}", _describe_hazards(call.called, question))


def _describe_hazards(called: object, question: Question[Any] | Visit) -> str:
    sent = "" if question.is_adopted else " Clients get a simpler pattern, and midcall checks the whole one."
    return (
        f"A form of {called!r} has {', '.join(question.hazards)}. Some hosts refuse such a form.{sent} Avoid "
        "look-ahead, and give each option a value that is not empty."
    )
