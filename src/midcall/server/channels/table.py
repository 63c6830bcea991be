"""The table of channels, in the order in which they are tried, and why one can't carry a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

from midcall.core.journal import Entry
from midcall.core.outcome import Via
from midcall.core.question import Question, Visit
from midcall.core.text import plain_line
from midcall.errors import NoChannel
from midcall.server.channels.apps.channel import App
from midcall.server.channels.default import Default
from midcall.server.channels.portal import Link, Page
from midcall.server.channels.push import Push
from midcall.server.channels.relay import Relay
from midcall.server.channels.request import Asking
from midcall.server.channels.required import Required
from midcall.server.channels.round import Round

if TYPE_CHECKING:
    from midcall.server.call import Call


class Channel(Protocol):
    """A way for a question to reach the user."""

    via: ClassVar[Via]

    def why_not(self, call: Call, question: Question[Any] | Visit) -> str | None:
        """Why this channel cannot carry this question; None if it can."""
        ...

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        """Carry these questions, and return their entries, settled with `call.replay`.

        An accepted answer is the form's content, as a client sends it. It isn't checked yet: if it doesn't fit, the
        question is carried again.
        """
        ...


CHANNELS: Sequence[Channel] = (Round(), Push(), Page(), Required(), App(), Link(), Relay(), Default())
BEYOND_DOUBT: Sequence[Channel] = tuple(channel for channel in CHANNELS if channel.via in ("page", "app", "link"))
"""Here the user opens or fills in something themselves, so an answer is a person's."""
DOUBTFUL: Final = ("push", "round")
"""Here a client may answer without showing anything."""


def no_channel(call: Call, question: Question[Any] | Visit) -> NoChannel:
    """The error for a question that no channel can carry; it says why, for each."""
    reasons = why_not(call, question)
    undeclared = _find_undeclared_mode(call, question, reasons)
    why, asked = _main_reason(call, reasons), plain_line(question.message)
    return NoChannel(why, mode=question.mode, undeclared=undeclared, reasons=reasons, question=asked)


def _main_reason(call: Call, reasons: Mapping[str, str]) -> str:
    """The reason of the first channel that this protocol version has and the question allows."""
    other = "push" if call.modern else "round"
    allowed = [reason for reason in reasons.values() if reason != NoChannel.REFUSED]
    own = [reason for via, reason in reasons.items() if via != other and reason in allowed]
    return next(iter(own or allowed), NoChannel.REFUSED)


def _find_undeclared_mode(call: Call, question: Question[Any] | Visit, reasons: Mapping[str, str]) -> str | None:
    """The mode that would be enough to declare: then the question could leave in a round."""
    if call.modern:
        for via, mode in (("round", question.mode), ("page", "url")):
            if (reason := call.lacks(mode)) is not None and reasons.get(via) == reason:
                return mode
    return None


def beyond_doubt(call: Call, question: Question[Any] | Visit, entry: Entry) -> bool:
    """Whether a channel where a person acts can ask a question again that perhaps nobody saw.

    Nobody acts if the tool only wants to know that the user goes somewhere: resuming the call would count as that.
    """
    if isinstance(question, Visit) and not question.is_awaited:
        return False
    return entry.via in DOUBTFUL and any(
        (question.via is None or channel.via in question.via) and channel.why_not(call, question) is None
        for channel in BEYOND_DOUBT
    )


def why_not(call: Call, question: Question[Any] | Visit) -> dict[str, str]:
    """For each channel that can't carry this question, the reason."""
    reasons: dict[str, str] = {}
    for channel in CHANNELS:
        if question.via is not None and channel.via not in question.via:
            reasons[channel.via] = NoChannel.REFUSED
        elif reason := channel.why_not(call, question):
            reasons[channel.via] = reason
    return reasons


def channels(call: Call, mode: str | None, via: Via | None) -> tuple[Via, ...]:
    """The channels that could carry a question of this mode, without asking it."""
    probes = [probe for probe in (_FORM_PROBE, _VISIT_PROBE) if mode in (None, probe.mode)]
    return tuple(
        channel.via
        for channel in CHANNELS
        if via in (None, channel.via) and any(channel.why_not(call, probe) is None for probe in probes)
    )


_FORM_PROBE: Question[Any] = Question("?", bool)
_VISIT_PROBE = Visit("?", "https://localhost/")
