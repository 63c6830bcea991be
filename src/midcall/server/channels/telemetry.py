"""Logs and traces of questions: never a message, never an answer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Final, TypeAlias

from opentelemetry import trace

if TYPE_CHECKING:
    from midcall.core.outcome import Via
    from midcall.server.call import Call
    from midcall.server.channels.request import Asking

logger = logging.getLogger("midcall.questions")
_tracer = trace.get_tracer("midcall")

Report: TypeAlias = Callable[[str], object]
_UNREPORTED: Final = "error"


def _facts(call: Call, asking: Asking, via: str) -> dict[str, str | int]:
    return {
        "midcall.question": asking.question.digest,
        "midcall.mode": asking.question.mode,
        "midcall.via": via,
        "midcall.attempt": asking.entry.attempt,
        "mcp.protocol.version": call.version,
    }


def watch(call: Call, asking: Asking, via: Via) -> AbstractContextManager[Report]:
    """Trace and log a question while the run waits for it; call the result with the outcome."""
    if trace.get_current_span().is_recording():
        return _trace(call, asking, via)
    return _log(asking, via) if logger.isEnabledFor(logging.DEBUG) else _SILENT


_SILENT: Final[AbstractContextManager[Report]] = nullcontext(lambda outcome: None)


@contextmanager
def _trace(call: Call, asking: Asking, via: Via) -> Generator[Report]:
    facts = _facts(call, asking, via)
    with _tracer.start_as_current_span("midcall.ask", record_exception=False, attributes=facts) as span:
        span.set_attribute("midcall.outcome", _UNREPORTED)
        with _log(asking, via) as log:
            yield lambda outcome: (span.set_attribute("midcall.outcome", outcome), log(outcome))


@contextmanager
def _log(asking: Asking, via: Via) -> Generator[Report]:
    outcomes = [_UNREPORTED]
    try:
        yield outcomes.append
    finally:
        logger.debug("question %s via %s: %s", asking.question.digest, via, outcomes[-1])


def leave(call: Call, asking: Asking, via: Via = "round") -> None:
    """Report that a question leaves with a round, or with the error -32042."""
    span = trace.get_current_span()
    if span.is_recording():
        span.add_event("midcall.question", _facts(call, asking, via))
    if logger.isEnabledFor(logging.DEBUG):
        logger.debug("question %s leaves with %s %d", asking.question.digest, via, call.journal.rounds + 1)


def record_answers(count: int, round: int) -> None:
    """Report that a retry has brought answers."""
    span = trace.get_current_span()
    if span.is_recording():
        span.add_event("midcall.answers", {"midcall.answers": count, "midcall.round": round})
