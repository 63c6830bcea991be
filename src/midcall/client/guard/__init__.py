"""Limit which servers may ask, how often, and where they may send the user.

    guarded = Guard(Terminal(), rate=Rate(10, per=60), deny_hosts=["evil.example"], audit="questions.jsonl")

The guard cancels what it stops and never declines it: a machine doesn't say no for a person. It notifies the
user once for each burst.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from midcall.audit import Audit, Target, open_audit
from midcall.client.answerer import (
    Answerer,
    CannotAnswer,
    Tells,
    Waits,
    action_of,
    ask_answerer,
    check_answerer,
    modes_of,
)
from midcall.client.asked import Asked, Mode
from midcall.client.guard.lists import Hosts, Servers
from midcall.client.lines.excerpt import server_name
from midcall.client.queue import Queue
from midcall.client.urls import look
from midcall.core.outcome import Cancelled, Outcome
from midcall.core.remembered import Remembered
from midcall.language import _
from midcall.settings.client import (
    GUARD_PENDING,
    GUARD_PENDING_IN_ALL,
    MAX_RATED_SERVERS,
    MAX_TOLD,
    RATE_QUESTIONS,
    RATE_SECONDS,
)

__all__ = ["Guard", "Rate", "limit_rate"]

_log: Final = logging.getLogger("midcall.client")


@dataclass(frozen=True, slots=True)
class Rate:
    """This many questions in this many seconds. They may come in one burst, then no faster than this."""

    count: int
    per: float = RATE_SECONDS

    def __post_init__(self) -> None:
        if not (_is_number(self.count) and _is_number(self.per) and self.count >= 1 and self.per > 0):
            raise ValueError(
                f"Rate({self.count!r}, per={self.per!r}): it takes at least one question in a positive time."
            )


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def limit_rate(answerer: Answerer) -> Answerer:
    """The answerer behind a guard with the default rate, if there's a person behind it. A `Guard` stays as it is."""
    if isinstance(answerer, Tells) and not isinstance(answerer, type):
        return Guard(answerer, most_waiting=None, most_waiting_in_all=None, tell=answerer.tell)
    return answerer


class Guard:
    """An answerer in front of another one, which stops some questions.

    Servers choose their own names, so a list of servers helps only among servers that you trust. It doesn't stop one
    that lies about its name.

    Args:
        answerer: Answers the questions that pass.
        rate: How many questions a server may ask; None for no limit.
        servers: The only servers that may ask, by name; None for all.
        deny_servers: Servers that may not ask.
        hosts: The only hosts that may be visited; None for all. `login.example.com` is that host,
            `*.example.com` every subdomain, and a registered domain (`example.com`) includes all of its hosts.
        deny_hosts: Hosts that may not be visited, including their subdomains.
        most_waiting: How many questions of one server may be pending; None for no limit.
        most_waiting_in_all: How many questions may be pending together; None for no limit.
        audit: Where the audit trail goes: a file that gets a line of JSON for each question, a function that takes an
            `Event`, a list of these, or an `Audit`. An event has no content, only a digest of the question.
        tell: Called with a sentence for the user when something is stopped; by default it's logged.
        clock: A monotonic clock, in seconds.
    """

    def __init__(
        self,
        answerer: Answerer,
        *,
        rate: Rate | None = Rate(RATE_QUESTIONS),  # noqa: B008 (immutable)
        servers: Collection[str] | None = None,
        deny_servers: Collection[str] = (),
        hosts: Collection[str] | None = None,
        deny_hosts: Collection[str] = (),
        most_waiting: int | None = GUARD_PENDING,
        most_waiting_in_all: int | None = GUARD_PENDING_IN_ALL,
        audit: Audit | Target | Sequence[Target] | None = None,
        tell: Callable[[str], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        check_answerer(answerer)
        self.modes: tuple[Mode, ...] = modes_of(answerer)
        if isinstance(answerer, Waits):
            self.wait = answerer.wait
        if (completed := getattr(answerer, "completed", None)) is not None:
            self.completed: Callable[[str], Any] = completed
        self._answerer = answerer
        if rate is not None and not isinstance(cast("object", rate), Rate):
            raise TypeError(
                f"rate={rate!r}: write Rate(5, per=60) for 5 questions in 60 seconds, or None for no limit."
            )
        self._rates = Rates(rate)
        self._servers = Servers(servers, deny_servers)
        self._hosts = Hosts(hosts, deny_hosts)
        self._queue = Queue(most_waiting, most_waiting_in_all)
        self._audit = None if audit is None else open_audit(audit)
        self._tell = tell or _log.warning
        self._clock = clock
        self._told: Remembered[None] = Remembered(MAX_TOLD)

    async def answer(self, asked: Asked) -> Outcome[Any]:
        """Let the question pass, or cancel it."""
        began, ended, stopped = self._clock(), "error", self._stop(asked)
        try:
            if stopped:
                outcome: Outcome[Any] = Cancelled()
            else:
                with self._queue.join(asked):
                    outcome = await ask_answerer(self._answerer, asked)
            ended = action_of(outcome)
            return outcome
        except asyncio.CancelledError:
            ended = "withdrawn"
            raise
        except CannotAnswer:
            ended = "unanswered"
            raise
        finally:
            if self._audit is not None:
                _note(self._audit, asked, ended, stopped, self._clock() - began)

    async def close(self) -> None:
        """Let the audit trail take its last events, and close the answerer."""
        if self._audit is not None:
            await self._audit.flush()
        if (close := getattr(self._answerer, "close", None)) is not None:
            await close()

    def _stop(self, asked: Asked) -> str:
        """The rule that stops this question, or an empty string."""
        server = server_name(asked.server)
        if not self._servers.allow(asked.server):
            self._tell_once(_("{server} may not ask questions here: they are cancelled.").format(server=server))
            return "server"
        if not self._rates.allow(asked.sender, self._clock()):
            if self._rates.is_first(asked.sender):
                self._say(
                    _("{server} asks too often: its questions are cancelled until it slows down.").format(server=server)
                )
            return "rate"
        if self._queue.is_full(asked.sender):
            if self._queue.refuse(asked.sender):
                self._say(
                    _(
                        "Too many questions are waiting for you: those of {server} are cancelled until you answer some."
                    ).format(server=server)
                )
            return "waiting"
        if asked.url is not None and not self._hosts.allow(address := look(asked.url)):
            self._tell_once(
                _("{server} wanted to send you to {host}, which is not allowed here: it was cancelled.").format(
                    server=server, host=address.host or _("a site without a name")
                )
            )
            return "host"
        return ""

    def _tell_once(self, sentence: str) -> None:
        if sentence not in self._told:
            self._say(sentence)
        self._told[sentence] = None

    def _say(self, sentence: str) -> None:
        try:
            self._tell(sentence)
        except Exception as error:  # a failing `tell` must not cost an answer
            _log.warning(f"could not tell the user that a question was stopped ({type(error).__name__})")


def _note(audit: Audit, asked: Asked, ended: str, stopped: str, seconds: float) -> None:
    """Write how a question ended into the audit trail."""
    audit.write(
        "question.refused" if stopped else "question.answered" if ended == "accept" else "question.declined",
        server=asked.server,
        question=asked.digest,
        via=asked.via,
        outcome=stopped or ended,
        mode=asked.mode,
        seconds=round(seconds, 3),
    )


# --- how often a server may ask ------------------------------------------------------------------


@dataclass(slots=True)
class _Bucket:
    """How many questions a server may still ask. It refills over time."""

    left: float
    at: float
    stopped: int = 0


class Rates:
    """Holds each server to a rate."""

    def __init__(self, rate: Rate | None) -> None:
        self._rate = rate
        self._buckets: Remembered[_Bucket] = Remembered(MAX_RATED_SERVERS)

    def allow(self, server: str, now: float) -> bool:
        """Take one question from this server's bucket. Returns False if it's empty."""
        if self._rate is None:
            return True
        bucket = self._refill(server, self._rate, now)
        if bucket.left < 1:
            bucket.stopped += 1
            return False
        bucket.left -= 1
        return True

    def is_first(self, server: str) -> bool:
        """Whether the last question that was stopped is the first of its burst."""
        return self._buckets[server].stopped == 1

    def _refill(self, server: str, rate: Rate, now: float) -> _Bucket:
        bucket = self._buckets.pop(server, None) or _Bucket(rate.count, now)
        bucket.left = min(rate.count, bucket.left + (now - bucket.at) * rate.count / rate.per)
        bucket.at = now
        if bucket.left >= rate.count:  # quiet for long enough: the next question starts a new burst
            bucket.stopped = 0
        self._buckets[server] = bucket
        return bucket
