"""Which channel carries a question: the first, in the order of the table, that this client has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from midcall import wording
from midcall.core.journal import Entry
from midcall.core.outcomes import Via
from midcall.core.questions import Question, Visit
from midcall.errors import NoChannel
from midcall.server.channels.default import Default
from midcall.server.channels.push import Push
from midcall.server.channels.round import Round

if TYPE_CHECKING:
    from midcall.server.call import Call

__all__ = ["CHANNELS", "Asking", "Channel", "channel_for", "channels", "why_not"]


class Asking(NamedTuple):
    """A question that is on its way: its name in the journal, and the entry that waits there."""

    identity: str
    question: Question[Any] | Visit
    entry: Entry


class Channel(Protocol):
    """A way for a question to reach the user."""

    via: ClassVar[Via]

    def why_not(self, call: Call, question: Question[Any] | Visit) -> str | None:
        """Why this channel cannot carry this question; None if it can."""
        ...

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        """Carry these, and give back their settled entries. A round does not come back."""
        ...


CHANNELS: Sequence[Channel] = (Push(), Round(), Default())


def channel_for(call: Call, question: Question[Any] | Visit) -> Channel:
    """The channel for this question.

    Raises:
        NoChannel: None serves; the error says why each did not.
    """
    for channel in CHANNELS:
        if (question.via is None or channel.via in question.via) and channel.why_not(call, question) is None:
            return channel
    raise NoChannel(
        wording.no_channel(why_not(call, question)),
        mode=question.mode,
        advice=wording.no_channel_advice(question.mode),
        for_model=wording.model_cannot_ask(),
    )


def why_not(call: Call, question: Question[Any] | Visit) -> dict[str, str]:
    """For each channel that does not serve, the reason."""
    reasons: dict[str, str] = {}
    for channel in CHANNELS:
        if question.via is not None and channel.via not in question.via:
            reasons[channel.via] = "the question refuses it"
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
