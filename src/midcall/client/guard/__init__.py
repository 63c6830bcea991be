"""A guard before an answerer: which servers may ask, how often, and where they may send the user.

    guarded = Guard(Terminal(), rate=Rate(10, per=60), deny_hosts=["evil.example"], audit="questions.jsonl")

What the guard stops is cancelled and never declined: a machine does not say no for a person. The
user is told, once for all questions of a burst.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection
from os import PathLike
from typing import Any, Final

from midcall.client.answerer import Answerer, CannotAnswer, answered, check_answerer, modes_of
from midcall.client.asked import Asked, Mode
from midcall.client.guard.lists import Hosts, Servers
from midcall.client.guard.rates import Rate, Rates, Waiters
from midcall.client.guard.records import Recorder, Sink
from midcall.client.lines.columns import one_line
from midcall.client.urls.consent import look
from midcall.client.visits.waiting import Waits
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome
from midcall.wording.client import guard as wording

__all__ = ["Guard", "Rate"]

_log: Final = logging.getLogger("midcall.client")

_MOST_TOLD: Final = 1_000


class Guard:
    """An answerer that stands before another one.

    A server gives itself its name: a list of servers keeps order among servers that are trusted, and
    does not stop one that lies about its name.

    Args:
        answerer: What answers the questions that pass.
        rate: How many questions a server may ask; None for any number.
        servers: The only servers that may ask, by name; None for all.
        deny_servers: Servers that may not ask.
        hosts: The only hosts that may be visited; None for all. `login.example.com` is that host,
            `*.example.com` every host below, and a domain that someone registered (`example.com`)
            stands for all of its hosts.
        deny_hosts: Hosts that may not be visited. Each stands for all that is below it too.
        most_waiting: How many questions of one server may wait at once; None for any number.
        most_waiting_in_all: How many questions may wait at once.
        audit: Where each question is recorded: a file that gets a line of JSON for each, or a
            function that gets the record. It has no content, only what was asked by whom (as a
            digest), how it came, and what became of it.
        tell: Called with a sentence for the user when something is stopped; by default it is logged.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        answerer: Answerer,
        *,
        rate: Rate | None = Rate(30, per=60),  # noqa: B008 (it never changes)
        servers: Collection[str] | None = None,
        deny_servers: Collection[str] = (),
        hosts: Collection[str] | None = None,
        deny_hosts: Collection[str] = (),
        most_waiting: int | None = 32,
        most_waiting_in_all: int | None = 128,
        audit: str | PathLike[str] | Sink | None = None,
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
        self._rates = Rates(rate)
        self._servers = Servers(servers, deny_servers)
        self._hosts = Hosts(hosts, deny_hosts)
        self._waiters = Waiters(most_waiting, most_waiting_in_all)
        self._recorder = Recorder(audit)
        self._tell = tell or _log.warning
        self._clock = clock
        self._told: dict[str, None] = {}

    async def answer(self, asked: Asked) -> Outcome[Any]:
        """Let the question pass, or cancel it."""
        began, ended, stopped = self._clock(), "error", self._stopped(asked)
        try:
            outcome = Cancelled() if stopped else await self._passed(asked)
            ended = _action(outcome)
            return outcome
        except asyncio.CancelledError:
            ended = "withdrawn"
            raise
        except CannotAnswer:
            ended = "unanswered"
            raise
        finally:
            self._recorder.record(asked, ended, stopped, self._clock() - began)

    async def _passed(self, asked: Asked) -> Outcome[Any]:
        with self._waiters.one_more(asked.server):
            return await answered(self._answerer, asked)

    def _stopped(self, asked: Asked) -> str:
        """Which rule stops this question, or nothing."""
        server = one_line(asked.server) or wording.unnamed_server()
        if not self._servers.allow(asked.server):
            return self._stop("server", f"{server} may not ask questions here: what it asks is cancelled.")
        if not self._rates.allow(asked.server, self._clock()):
            first = self._rates.is_first(asked.server)
            return self._stop(
                "rate", f"{server} asks too often: until it slows down, what it asks is cancelled.", first
            )
        if not self._waiters.allow(asked.server):
            return self._stop(
                "waiting",
                f"Too many questions wait for you: what {server} asks is cancelled until some are answered.",
                self._waiters.is_first(asked.server),
            )
        if asked.url is not None and not self._hosts.allow(address := look(asked.url)):
            return self._stop(
                "host",
                (
                    f"{server} wanted to send you to {address.host or wording.unnamed_site()}, which is not allowed "
                    "here: it was cancelled."
                ),
            )
        return ""

    def _stop(self, rule: str, sentence: str, first: bool | None = None) -> str:
        """Tell the user: where a rule has no bursts, each sentence once."""
        if first is None:
            first = sentence not in self._told
            self._told[sentence] = None
            if len(self._told) > _MOST_TOLD:
                del self._told[next(iter(self._told))]
        if first:
            self._say(sentence)
        return rule

    def _say(self, sentence: str) -> None:
        try:
            self._tell(sentence)
        except Exception as error:  # whoever cannot be told must not cost an answer
            _log.warning(f"the user could not be told that a question was stopped ({type(error).__name__})")


def _action(outcome: Outcome[Any]) -> str:
    match outcome:
        case Accepted():
            return "accept"
        case Declined():
            return "decline"
        case Cancelled():
            return "cancel"
