"""The audit trail: one event for each thing that a security team asks about, and the sinks that take it.

    midcall.install(server, audit="audit.jsonl")

An event says who did what, in which call, and how it ended. It never has a question's text, an answer, a secret, or
anything that opens a page or continues a call.

Each sink has its own queue and thread, so no call waits for a sink, and none fails because of one. What a sink
can't take is counted and logged, and reported as `audit.lost` once the sink works again.
"""

from __future__ import annotations

import asyncio
import atexit
import inspect
import json
import logging
import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from os import PathLike
from queue import Empty, Full, Queue
from typing import Any, Final, Literal, TypeAlias, cast
from weakref import WeakSet

from midcall.core import wire
from midcall.core.text import reveal
from midcall.errors import InstallError
from midcall.settings.calls import (
    AUDIT_CLOSE_SECONDS,
    AUDIT_IDLE_SECONDS,
    AUDIT_POLL_SECONDS,
    MAX_AUDIT_CHARACTERS,
    MAX_AUDIT_EVENTS,
)
from midcall.settings.environment import text as variable

__all__ = ["Audit", "Event", "OpenTelemetry"]

logger = logging.getLogger("midcall.audit")

Name: TypeAlias = Literal[
    "question.asked",
    "question.answered",
    "question.declined",
    "question.rejected",
    "question.doubted",
    "question.refused",
    "approval.granted",
    "approval.declined",
    "approval.used",
    "approval.refused",
    "secret.stored",
    "secret.read",
    "secret.deleted",
    "account.connected",
    "account.used",
    "account.refreshed",
    "account.disconnected",
    "account.refused",
    "page.answered",
    "page.declined",
    "page.refused",
    "signin.refused",
    "app.refused",
    "code.issued",
    "code.used",
    "code.refused",
    "state.refused",
    "call.replayed",
    "call.failed",
    "caller.refused",
    "record.refused",
    "audit.lost",
]
"""What happened. A name that ends with `refused` is an attempt that midcall stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened. What isn't known is empty."""

    name: Name
    time: float
    """Seconds since the epoch."""
    user: str = ""
    """The identity key of the user who did it, or whose call it is."""
    server: str = ""
    client: str = ""
    tool: str = ""
    """The tool or prompt; for a resource, a digest of its URI."""
    call: str = ""
    """A digest that all events of a call share, on every replica, over all rounds and resumes."""
    question: str = ""
    """A digest that all events of a question share within a call."""
    page: str = ""
    """A digest of the page's id. The portal's log has the same."""
    via: str = ""
    """The channel that carried the question."""
    outcome: str = ""
    """How it ended, or why it was refused."""
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def as_data(self) -> dict[str, Any]:
        """The event as JSON-ready data, without empty fields."""
        moment = datetime.fromtimestamp(self.time, UTC).isoformat(timespec="milliseconds")
        known = {name: value for name in _FIELDS if (value := getattr(self, name))}
        return {
            "time": moment,
            "event": self.name,
            **known,
            **({"details": dict(self.details)} if self.details else {}),
        }


_FIELDS: Final = ("user", "server", "client", "tool", "call", "question", "page", "via", "outcome")

Sink: TypeAlias = Callable[[Event], object]
"""Takes each event. It may be async."""
Target: TypeAlias = str | PathLike[str] | Sink
"""A file that gets a line of JSON for each event, `-` for standard error, or a function."""


def digest(kind: str, secret: str) -> str:
    """A short name for something that must not be seen: the same everywhere, and nothing leads back from it."""
    return wire.digest(f"midcall/audit\0{kind}\0{secret}")


class Audit:
    """Where events go.

    Args:
        targets: Files, functions, or `OpenTelemetry()`. A function may be async; it then runs in the event loop that
            serves.
        answers: Include what people answer to forms. Secrets are never included.

    Raises:
        InstallError: A target is neither a file nor a function.
    """

    def __init__(self, *targets: Target, answers: bool = False) -> None:
        if not targets:
            raise InstallError("Audit() needs a target: a file, or a function that takes an Event.")
        self.answers = answers
        self._sinks = [_open(target) for target in targets]

    def write(self, name: Name, /, **facts: Any) -> None:
        """Give this event to all sinks. Never raises, and never waits."""
        try:
            event = _make(name, facts)
        except Exception:
            logger.exception("Could not make the audit event %s", name)
            return
        for sink in self._sinks:
            sink.put(event)

    async def flush(self) -> bool:
        """Wait until the sinks have taken everything so far, for a few seconds at most. False if they have not."""
        return await asyncio.to_thread(self._flush)

    def _flush(self) -> bool:
        until = time.monotonic() + AUDIT_CLOSE_SECONDS
        done = [sink.flush(until) for sink in self._sinks]
        return all(done)

    @property
    def lost(self) -> int:
        """How many events the sinks have not taken, and were not yet reported to them as lost."""
        return sum(sink.lost for sink in self._sinks)


def open_audit(given: Audit | Target | Sequence[Target] | None) -> Audit | None:
    """The audit trail that this argument means; without one, that of `MIDCALL_AUDIT`.

    Raises:
        InstallError: It isn't a file, a function, or a list of these.
    """
    if given is None:
        given = variable("MIDCALL_AUDIT")
    if given is None or isinstance(given, Audit):
        return given
    several = isinstance(given, (list, tuple))
    return Audit(*cast("Sequence[Target]", given if several else [given]))


def _make(name: Name, facts: Mapping[str, Any]) -> Event:
    known = {field: _clean(facts[field]) for field in _FIELDS if facts.get(field)}
    details = {key: _clean(value) for key, value in facts.items() if key not in _FIELDS and value is not None}
    return Event(name=name, time=time.time(), **known, details=details)


def _clean(value: Any) -> Any:
    """Other people's text on one line, and not too much of it."""
    return reveal(value[:MAX_AUDIT_CHARACTERS]) if isinstance(value, str) else value


# --- sinks ---------------------------------------------------------------------------------------


def _append(path: str, event: Event) -> None:
    """Append to a file that only its owner can read. It's opened for each line, so that it can be rotated."""
    line = _as_line(event).encode()
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        if os.write(file, line) < len(line):
            raise OSError("The disk is full.")
    finally:
        os.close(file)


def _print(event: Event) -> None:
    sys.stderr.write(_as_line(event))
    sys.stderr.flush()


def _as_line(event: Event) -> str:
    return f"{json.dumps(event.as_data(), default=str)}\n"


class OpenTelemetry:
    """Adds each event to the span that is recording; without one, the event becomes its own span."""

    def __call__(self, event: Event) -> None:
        from opentelemetry import trace

        name, data = f"midcall.{event.name}", event.as_data()
        flat = {**{key: data[key] for key in _FIELDS if key in data}, **data.get("details", {})}
        facts = {
            f"midcall.{key}": value if isinstance(value, (str, int, float)) else str(value)
            for key, value in flat.items()
        }
        span = trace.get_current_span()
        if span.is_recording():
            span.add_event(name, facts)
        else:
            trace.get_tracer("midcall").start_span(name, attributes=facts).end()


class _AtOnce:
    """For a sink that only works where the event happens, and doesn't wait."""

    lost = 0

    def __init__(self, write: Sink) -> None:
        self._write = write

    def put(self, event: Event) -> None:
        try:
            self._write(event)
        except Exception as error:
            self.lost += 1
            logger.warning("An audit sink failed (%s), and an event is lost", type(error).__name__)

    def flush(self, until: float) -> bool:
        return True


class _Queued:
    """Gives events to a sink in their order, in its own thread."""

    def __init__(self, write: Sink) -> None:
        self._write = write
        self._begin()
        _queued.add(self)

    def _begin(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._queue: Queue[_Item] = Queue(MAX_AUDIT_EVENTS)
        self.lost = 0

    def put(self, event: Event) -> None:
        if self._process != os.getpid():  # a fork has no threads, and perhaps a lock that nobody releases
            self._begin()
        try:
            self._queue.put_nowait((event, _loop()))
        except Full:
            self._lose("it is too slow, or hangs")
        self._run_if_needed()

    def flush(self, until: float) -> bool:
        if self._process != os.getpid():
            return True
        taken = threading.Event()
        try:
            self._queue.put(taken, timeout=max(0.0, until - time.monotonic()))
        except Full:
            return False
        self._run_if_needed()
        return taken.wait(max(0.0, until - time.monotonic())) and not self.lost

    def _run_if_needed(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="midcall-audit", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while (item := self._next()) is not None:
            if isinstance(item, threading.Event):
                item.set()
                continue
            event, loop = item
            try:
                if self.lost:
                    self._report(loop)
                self._give(event, loop)
            except BaseException as error:
                self._lose(type(error).__name__)

    def _next(self) -> _Item | None:
        """What comes next; None if nothing came for a while. Then the thread ends; the next event starts another."""
        while True:
            try:
                return self._queue.get(timeout=AUDIT_IDLE_SECONDS)
            except Empty:
                with self._lock:
                    if self._queue.empty():
                        self._thread = None
                        return None

    def _give(self, event: Event, loop: asyncio.AbstractEventLoop | None) -> None:
        given = self._write(event)
        if inspect.isawaitable(given):
            _await(given, loop)

    def _report(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """The sink may work again: write down what it has missed before anything else."""
        count = self.lost
        self._give(Event(name="audit.lost", time=time.time(), details={"count": count}), loop)
        with self._lock:
            self.lost -= count
        logger.error("%d audit events were lost. The sink works again, and the trail reports the loss.", count)

    def _lose(self, why: str) -> None:
        with self._lock:
            self.lost += 1
            first = self.lost == 1
        if first:
            logger.error("An audit sink does not take events (%s). They are counted as lost until it does.", why)


_Item: TypeAlias = tuple[Event, asyncio.AbstractEventLoop | None] | threading.Event
_queued: WeakSet[_Queued] = WeakSet()


def _open(target: Target) -> _AtOnce | _Queued:
    if isinstance(target, OpenTelemetry):
        return _AtOnce(target)
    if isinstance(target, (str, PathLike)):
        path = os.fspath(cast("str | PathLike[str]", target))
        return _Queued(_print if path in ("-", "stderr") else partial(_append, path))
    if callable(target) and not isinstance(target, type):
        return _Queued(target)
    raise InstallError(f"audit= takes a file, a function that takes an Event, or a list of these, not {target!r}.")


def _loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _await(given: Awaitable[Any], loop: asyncio.AbstractEventLoop | None) -> None:
    """Run an async sink in the loop that the event comes from, where its connections are; else in a new loop."""

    async def run() -> None:
        await given

    if loop is None or not loop.is_running():
        asyncio.run(run())
        return
    future: Future[None] = asyncio.run_coroutine_threadsafe(run(), loop)
    while not wait_for([future], AUDIT_POLL_SECONDS).done:
        if not loop.is_running():
            raise RuntimeError("the event loop has ended")
    future.result()


def _flush_all() -> None:
    """The process ends: let the sinks take what is left."""
    until = time.monotonic() + AUDIT_CLOSE_SECONDS
    for sink in list(_queued):
        if not sink.flush(until):
            logger.error("The process ends before an audit sink has taken all events.")


atexit.register(_flush_all)
