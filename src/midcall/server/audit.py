"""What is told about a question, to logs and traces: never what it says, never what was answered."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opentelemetry import trace

if TYPE_CHECKING:
    from midcall.core.outcomes import Via
    from midcall.server.call import Call
    from midcall.server.reach import Asking

__all__ = ["leaves", "question", "settled"]

logger = logging.getLogger("midcall.questions")
_tracer = trace.get_tracer("midcall")


@dataclass(slots=True)
class Seen:
    outcome: str = "error"


def _facts(call: Call, asking: Asking, via: str) -> dict[str, str | int]:
    return {
        "midcall.question": asking.question.digest,
        "midcall.mode": asking.question.mode,
        "midcall.via": via,
        "midcall.attempt": asking.entry.attempt,
        "mcp.protocol.version": call.version,
    }


@contextmanager
def question(call: Call, asking: Asking, via: Via) -> Generator[Seen]:
    """Around a question that is waited for where it stands."""
    seen = Seen()
    if not trace.get_current_span().is_recording():
        yield seen
        _log(asking, via, seen)
        return
    with _tracer.start_as_current_span("midcall.ask", record_exception=False) as span:
        span.set_attributes(_facts(call, asking, via))
        try:
            yield seen
        finally:
            span.set_attribute("midcall.outcome", seen.outcome)
            _log(asking, via, seen)


def _log(asking: Asking, via: str, seen: Seen) -> None:
    if logger.isEnabledFor(logging.DEBUG):
        logger.debug("question %s via %s: %s", asking.question.digest, via, seen.outcome)


def leaves(call: Call, asking: Asking) -> None:
    """A question leaves with a round."""
    span = trace.get_current_span()
    if span.is_recording():
        span.add_event("midcall.question", _facts(call, asking, "round"))
    if logger.isEnabledFor(logging.DEBUG):
        logger.debug("question %s leaves with round %d", asking.question.digest, call.journal.rounds + 1)


def settled(digests: int, round: int) -> None:
    """A retry has brought answers."""
    span = trace.get_current_span()
    if span.is_recording():
        span.add_event("midcall.answers", {"midcall.answers": digests, "midcall.round": round})
