"""What is told about a question, to logs and traces: never what it says, never what was answered."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Final, TypeAlias

from opentelemetry import trace

if TYPE_CHECKING:
    from midcall.core.outcome import Via
    from midcall.server.call import Call
    from midcall.server.channels.table import Asking

__all__ = ["leaves", "settled", "watched"]

logger = logging.getLogger("midcall.questions")
_tracer = trace.get_tracer("midcall")

Tell: TypeAlias = Callable[[str], object]
_UNTOLD: Final = "error"


def _facts(call: Call, asking: Asking, via: str) -> dict[str, str | int]:
    return {
        "midcall.question": asking.question.digest,
        "midcall.mode": asking.question.mode,
        "midcall.via": via,
        "midcall.attempt": asking.entry.attempt,
        "mcp.protocol.version": call.version,
    }


def watched(call: Call, asking: Asking, via: Via) -> AbstractContextManager[Tell]:
    """Around a question that is waited for where it stands; within, how it ended is to be told."""
    if trace.get_current_span().is_recording():
        return _traced(call, asking, via)
    return _logged(asking, via) if logger.isEnabledFor(logging.DEBUG) else _UNWATCHED


_UNWATCHED: Final[AbstractContextManager[Tell]] = nullcontext(lambda outcome: None)


@contextmanager
def _traced(call: Call, asking: Asking, via: Via) -> Generator[Tell]:
    facts = _facts(call, asking, via)
    with _tracer.start_as_current_span("midcall.ask", record_exception=False, attributes=facts) as span:
        span.set_attribute("midcall.outcome", _UNTOLD)
        with _logged(asking, via) as log:
            yield lambda outcome: (span.set_attribute("midcall.outcome", outcome), log(outcome))


@contextmanager
def _logged(asking: Asking, via: Via) -> Generator[Tell]:
    outcomes = [_UNTOLD]
    try:
        yield outcomes.append
    finally:
        logger.debug("question %s via %s: %s", asking.question.digest, via, outcomes[-1])


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
