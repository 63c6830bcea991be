"""Visits in progress: which clients were asked, which calls wait, which are done.

A visit's record is in the store, so that any replica can complete it. Only the connection to the client belongs to this
process, which notifies the client.

A request is held while the user is on a page: on 2026-07-28 for a while in at most two rounds, on older versions as
long as common clients wait. After that, the call ends with a resume code, if it can have one. A request that brings a
code is held before its run continues, not in the run: waiting uses no code up.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, replace
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary, ref

from mcp_types import ElicitCompleteNotification, ElicitCompleteNotificationParams

from midcall.core.remembered import Remembered
from midcall.errors import RecordRefused, StoreError, TimedOut
from midcall.protocol import has_visit_errors
from midcall.server import model_text
from midcall.server.channels.push import signs_of_life
from midcall.server.resuming.pages import Page, addresses_of
from midcall.settings.resuming import (
    BRIEF_HOLD_SECONDS,
    HOLD_SECONDS,
    MAX_HOLDS,
    MAX_VISITS,
    PUSH_HOLD_SECONDS,
    VISIT_POLL_SECONDS,
)
from midcall.stores.interactions import Ending, digest_of, short

if TYPE_CHECKING:
    from mcp.server.connection import Connection

    from midcall.server.call import Call
    from midcall.server.resuming.storage import Keeping
    from midcall.stores.base import Record

logger = logging.getLogger("midcall.visits")


_BEAT: Final = 1e-6
"""How much a heartbeat adds before the run continues: all of them together less than the first one of the run."""


class NotHeld(Exception):
    """The process is stopping, so no request is held any more."""


class Visits:
    """One per installation."""

    def __init__(self, keeping: Keeping) -> None:
        self._keeping = keeping
        self._loop: asyncio.AbstractEventLoop | None = None
        self._known: Remembered[None] = Remembered(MAX_VISITS)
        self._askers: Remembered[WeakKeyDictionary[Connection, ref[Call]]] = Remembered(MAX_VISITS)
        """The clients that were sent to each visit, and the calls that did: several, if its author gives it one id."""
        self._watching: dict[str, asyncio.Task[None]] = {}
        self._held: set[asyncio.Future[Record | None]] = set()
        self.stopping = False
        """Whether requests are no longer held."""

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        """The loop that serves calls, if it is known and running."""
        return self._loop if self._loop is not None and self._loop.is_running() else self._keeping.loop

    async def watch(self, call: Call, id: str) -> None:
        """Notify the client of this call when the visit is done."""
        await self.begin(call, id)
        if not has_visit_errors(call.version):
            return
        askers = self._askers.get(id) or WeakKeyDictionary()
        askers[call.asking_session.connection] = ref(call)
        self._askers[id] = askers
        if (watching := self._watching.get(id)) is None or watching.done():
            self._watching[id] = task = asyncio.create_task(self._watch(id))
            task.add_done_callback(lambda ended: self._end_watch(id, ended))

    def remember(self, id: str) -> None:
        """Remember that a call in this process has this visit."""
        self._loop = asyncio.get_running_loop()
        self._known[id] = None

    def remembers(self, id: str) -> bool:
        return id in self._known

    async def knows(self, id: str) -> bool:
        """Whether the visit has begun, in any process."""
        return await (await self._keeping.store()).read(digest_of(id)) is not None

    async def begin(self, call: Call, id: str) -> None:
        """Record that the visit is in progress."""
        self.remember(id)
        await self._keeping.create(call, id, "visit", "{}")

    async def wait(self, id: str, seconds: float) -> Ending | None:
        """Wait until the visit has ended, and return how; None if it has not within this time.

        Raises:
            NotHeld: The process is stopping.
        """
        waiting = asyncio.ensure_future((await self._keeping.store()).wait(digest_of(id), max(0.0, seconds)))
        self._held.add(waiting)
        if self.stopping:
            waiting.cancel()
        try:
            await asyncio.wait([waiting])
        finally:
            self._held.discard(waiting)
            waiting.cancel()
        if waiting.cancelled():
            raise NotHeld
        record = waiting.result()
        if record is None or record.outcome is None:
            return None
        await self.notify(id)  # before the call continues: its request may end
        ending = Ending(**json.loads(record.outcome))
        return replace(ending, action="cancel") if ending.action == "closed" else ending

    async def wait_for_one(self, pages: Sequence[Page], seconds: float) -> bool:
        """Wait until one of these has ended, has expired or is gone. False if none has within this time.

        Raises:
            NotHeld: The process is stopping.
        """
        until = time.time() + max(0.0, seconds)
        waits = [asyncio.create_task(self.wait(page.id, min(until, page.until) - time.time())) for page in pages]
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            ended = any(wait.result() is not None for wait in done)
        except RecordRefused:  # the run finds out, and ends
            return True
        finally:
            for wait in waits:
                wait.cancel()
        return ended or time.time() < until or any(page.until <= until for page in pages)

    async def has_ended(self, id: str) -> bool:
        """Whether the visit is done."""
        record = await (await self._keeping.store()).read(digest_of(id))
        return record is not None and record.outcome is not None

    def let_go(self) -> None:
        """Stop holding requests and watching visits: the process is stopping."""
        self.stopping = True
        for waiting in (*self._held, *self._watching.values()):
            waiting.cancel()

    async def complete(self, id: str) -> bool:
        """Record that the visit is done, and notify all waiters. False if it was done before, or has expired.

        Only the user completes a page of the portal: for such an id it is False, and nothing happens.

        Waiting calls and connections belong to the loop that serves; a webhook may run on another.
        """
        loop = self.loop
        if loop is None or loop is asyncio.get_running_loop():
            return await self._complete(id)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._complete(id), loop))

    async def _complete(self, id: str) -> bool:
        self._known[id] = None
        now = time.time()
        store = await self._keeping.store()
        known = await store.read(digest_of(id))
        if known is not None and known.kind != "visit":
            logger.warning("complete() was called for a page of the portal, which only the user completes")
            return False
        outcome = json.dumps(asdict(Ending("accept", now)))
        done = await store.complete(digest_of(id), outcome, owner=None, now=now)
        if done == "unknown":
            await self._keeping.create_for("", id, "visit", "{}")
            done = await store.complete(digest_of(id), outcome, owner=None, now=now)
        if done == "done":
            await self.notify(id)
        return done == "done"

    async def notify(self, id: str) -> None:
        """Notify the clients of this process that were sent there."""
        askers = self._askers.pop(id, None)
        for client, call in list(askers.items()) if askers else ():
            try:
                await _notify(client, call(), id)
            except Exception:
                logger.warning("A visit is complete, but its client could not be notified", exc_info=True)

    def _end_watch(self, id: str, ended: asyncio.Task[None]) -> None:
        if self._watching.get(id) is ended:
            del self._watching[id]

    async def _watch(self, id: str) -> None:
        """Wait until another replica completes the visit, as long as a client is connected to be notified."""
        try:
            while self._askers.get(id):
                record = await (await self._keeping.store()).wait(digest_of(id), VISIT_POLL_SECONDS)
                if record is None or record.expires < time.time():
                    self._askers.pop(id, None)
                elif not record.pending:
                    await self.notify(id)
        except StoreError as error:
            logger.warning("Could not watch a visit any longer: %s", error)


async def _notify(client: Connection, call: Call | None, id: str) -> None:
    """Notify on the stream of the request that asked, while it is open, else on the standalone stream."""
    done = ElicitCompleteNotification(params=ElicitCompleteNotificationParams(elicitation_id=id))
    if call is not None and call.is_being_served and call.session.can_send_request:
        await call.session.send_notification(done, related_request_id=call.ctx.request_id)
    else:
        await client.notify(done.method, {"elicitationId": id})


# --- holding a request -------------------------------------------------------------------------


async def wait_for_ending(call: Call, page: Page, timeout: float | None) -> Ending:
    """Hold the request until the user is done on this page, and record how.

    Raises:
        TimedOut: They were not in time.
    """
    identity = call.replay.identify_mark("visited", page.id)
    if (entry := call.replay.find_mark(identity)) is not None:
        return Ending(**entry.value)
    if page.kind == "visit":
        await call.installation.visits.begin(call, page.id)
    page = page._replace(until=min(page.until, _deadline(call, page.id, timeout)))
    while True:
        if (ending := await hold(call, page)) is not None:
            ending = replace(ending, sealed="")  # not in a journal, even if it's encrypted
            call.replay.mark(identity, "visited", asdict(ending))
            return ending
        if page.is_ours and (portal := call.installation.portal) is not None:  # its process may be gone
            address = await portal.serve_again(page.id, page.until, detach=not call.over_http)
            page = page._replace(address=address or page.address)
        if not await _let_go(call, page):
            raise page_timed_out(call, page.id)


async def hold(call: Call, page: Page) -> Ending | None:
    """Hold the request until the user is done on this page. None if the request has to return before that.

    Raises:
        TimedOut: It has expired, or is gone from the store: nobody can finish it any more.
    """
    left = max(0.0, page.until - time.time())
    seconds = min(left, longest_hold(call))
    try:
        async with signs_of_life(call, page.address):
            ending = await call.installation.visits.wait(page.id, seconds)
    except NotHeld:
        return None
    if ending is not None:
        if call.trail is not None:
            await call.trail.leave(page.id)
    elif left <= seconds or not await call.installation.visits.knows(page.id):
        raise page_timed_out(call, page.id)
    return ending


def longest_hold(call: Call) -> float:
    """For how long a run holds its request. One that brings a code is held before the run continues."""
    if call.is_held_outside:
        return 0.0
    return HOLD_SECONDS if call.modern or call.can_continue_later else PUSH_HOLD_SECONDS


def longest_wait(call: Call) -> float:
    """For how long a request with a code waits for pages. Without a progress token, its client may soon give up."""
    return HOLD_SECONDS if call.progress_token is not None else min(BRIEF_HOLD_SECONDS, HOLD_SECONDS)


def signs_of_waiting(call: Call, address: str) -> AbstractAsyncContextManager[None]:
    """Report progress to a request waiting for a page before its run continues, while this is open."""
    beats = count(1)

    async def report(message: str) -> None:
        await call.session.report_progress(next(beats) * _BEAT, message=message)

    return signs_of_life(call, address, report)


def page_timed_out(call: Call, id: str) -> TimedOut:
    """The error for a page that the user did not finish in time."""
    call.audit("page.declined", page=short(id), outcome="timeout")
    return TimedOut(
        "The visit was not completed in time.",
        for_model=f"{model_text.PAGE_NOT_FINISHED} Call the tool again when they say that they are done.",
    )


async def _let_go(call: Call, page: Page) -> bool:
    """Let the request return, to continue in the next round or later. False if neither is possible."""
    last = call.installation.max_rounds
    rounds_left = last is None or call.journal.rounds < last - 1
    is_held = not call.is_held_outside
    if is_held and call.modern and call.elicitation is not None and rounds_left and call.journal.holds < MAX_HOLDS:
        await call.run.pause()
        return True
    if call.can_give_code:
        await call.continue_later(model_text.not_finished(addresses_of([page])), pages=(page,))
        return True
    return False


def _deadline(call: Call, id: str, timeout: float | None) -> float:
    """The visit's deadline, which is recorded when the wait begins."""
    if timeout is None:
        return inf
    identity = call.replay.identify_mark("visiting", id)
    begun = call.replay.find_mark(identity)
    if begun is None:
        call.replay.mark(identity, "visiting", deadline := time.time() + timeout)
        return deadline
    return begun.value
