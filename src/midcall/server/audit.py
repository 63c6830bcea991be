"""What is told about a question, to logs and traces: never what it says, never what was answered."""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Self

from opentelemetry import trace

if TYPE_CHECKING:
    from midcall.core.outcomes import Via
    from midcall.server.call import Call
    from midcall.server.reach import Asking

__all__ = ["Watched", "leaves", "settled"]

logger = logging.getLogger("midcall.questions")
_tracer = trace.get_tracer("midcall")


def _facts(call: Call, asking: Asking, via: str) -> dict[str, str | int]:
    return {
        "midcall.question": asking.question.digest,
        "midcall.mode": asking.question.mode,
        "midcall.via": via,
        "midcall.attempt": asking.entry.attempt,
        "mcp.protocol.version": call.version,
    }


class Watched:
    """Around a question that is waited for where it stands; `outcome` is to be set within."""

    __slots__ = ("_asking", "_span", "_via", "outcome")

    def __init__(self, call: Call, asking: Asking, via: Via) -> None:
        self.outcome = "error"
        self._asking = asking
        self._via = via
        self._span: AbstractContextManager[trace.Span] | None = None
        if trace.get_current_span().is_recording():
            self._span = _tracer.start_as_current_span(
                "midcall.ask", record_exception=False, attributes=_facts(call, asking, via)
            )

    def __enter__(self) -> Self:
        if self._span is not None:
            self._span.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        if self._span is not None:
            trace.get_current_span().set_attribute("midcall.outcome", self.outcome)
            self._span.__exit__(*raised)
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("question %s via %s: %s", self._asking.question.digest, self._via, self.outcome)


def leaves(call: Call, asking: Asking, via: Via = "round") -> None:
    """A question leaves with a round, or with the error that sends the client away."""
    span = trace.get_current_span()
    if span.is_recording():
        span.add_event("midcall.question", _facts(call, asking, via))
    if logger.isEnabledFor(logging.DEBUG):
        logger.debug("question %s leaves with %s %d", asking.question.digest, via, call.journal.rounds + 1)


def settled(digests: int, round: int) -> None:
    """A retry has brought answers."""
    span = trace.get_current_span()
    if span.is_recording():
        span.add_event("midcall.answers", {"midcall.answers": digests, "midcall.round": round})
