"""The tasks of a tool that ask. They park until their round leaves, and are ended then, with those that hold them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final

from midcall.server.enclosing import context_of, enclosing, futures_around
from midcall.server.held import below, held_in
from midcall.server.scopes import leave_scope

__all__ = ["CLEANUP_SECONDS", "Branches", "keep_for_good", "retrieve"]

CLEANUP_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 0.05
_TURNS_TO_BE_SEEN: Final = 3
_TURNS_TO_UNWIND: Final = 6


def keep_for_good(coroutine: object) -> None:
    """Never let this be collected: closing it would run its loop again, for ever, even at exit."""
    import ctypes  # here, since hardly anybody needs it

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(coroutine))


class Branches:
    """Those of one run; `is_ours` tells whether a task is one of them. Its `line` is the task that runs the tool."""

    __slots__ = ("_ending", "_endless", "_found", "_held", "_is_ours", "_line", "_parked", "_told", "_tool")

    def __init__(self, is_ours: Callable[[asyncio.Task[Any]], bool], line: asyncio.Task[Any], tool: object) -> None:
        self._is_ours = is_ours
        self._line = line
        self._tool = tool
        """The coroutine that the line is at, of all that are in it the one that the author wrote."""
        self._parked: dict[asyncio.Task[Any], int] = {}
        """How often each was cancelled before it parked."""
        self._ending: set[asyncio.Task[Any]] = set()
        """Those that parked, and whose end has begun."""
        self._told: set[asyncio.Task[Any]] = set()
        """Those that were cancelled."""
        self._endless: set[asyncio.Task[Any]] = set()
        """Those that catch whatever would unwind them, over and over."""
        self._held: set[asyncio.Task[Any]] = set()
        """What they had in their hands."""
        self._found = asyncio.Event()

    def park(self, task: asyncio.Task[Any]) -> None:
        """This one waits for the round to leave."""
        self._parked[task] = task.cancelling()
        self._ending.discard(task)
        self._told.discard(task)
        _retrieve_all(task)

    async def take(self, held: Iterable[asyncio.Task[Any]]) -> None:
        """Those of these that the run has started end with it, too: nobody else knows of them."""
        for task in tuple(held):
            for _ in range(_TURNS_TO_BE_SEEN):  # a task that is about to run cannot be told from another's
                if task.done():
                    retrieve(task)
                elif task not in self._parked and self._is_ours(task):
                    self.park(task)
                if task.done() or task in self._parked:
                    break
                await asyncio.sleep(0)

    def look_below(self, holder: asyncio.Task[Any]) -> None:
        """This is about to be cancelled, or what it waits for: who was to look at what it holds may be gone by then."""
        for task in below(holder, self._may_be_ours, self._tool if holder is self._line else None):
            _retrieve_all(task)

    async def watch(self, holders: Iterable[asyncio.Task[Any]]) -> None:
        """These are cancelled. It takes a few turns until all below them are, and meanwhile they may take up more."""
        for _ in range(_TURNS_TO_UNWIND):
            await asyncio.sleep(0)
            for holder in holders:
                self.look_below(holder)

    def _may_be_ours(self, task: asyncio.Task[Any]) -> bool:
        return context_of(task) is None or self._is_ours(task)

    def give_up(self, branch: asyncio.Task[Any]) -> None:
        """This one catches everything. It and whatever waits for it stay, and nobody waits for them: not even the
        loop, when it closes."""
        self._endless.add(branch)
        self._found.set()
        leave_scope(branch)
        for task in self._lost():
            keep_for_good(task)
            asyncio._unregister_task(task)  # pyright: ignore[reportPrivateUsage]

    async def has_endless(self) -> bool:
        """Whether one shows, while there is time for cleanup, that it never ends."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._found.wait(), CLEANUP_SECONDS)
        return bool(self._endless)

    def cancel(self) -> None:
        """Cancel those that parked."""
        for task in self._parked:
            self._tell(task)

    def look(self) -> None:
        """See what those that parked, and those that hold them, have in their hands: unwound, they have nothing."""
        holders = set(self._parked).union(*(enclosing(task, self._is_ours) for task in self._parked))
        self._held |= {held for task in holders for held in held_in(task)}

    async def end(self) -> None:
        """End those that parked, and those that hold them, and let their cleanup run."""
        await self.take(self._held)
        while parked := {task for task in self._parked if not task.done()} - self._ending:
            self._ending |= parked
            self.look()
            await self.take(self._held)
            while roots := self._roots():
                for task in roots:
                    self._tell(task)
                await self._ended(roots)
            for task in parked:
                if not task.done():
                    keep_for_good(task)

    def _tell(self, task: asyncio.Task[Any]) -> None:
        self._told.add(task)
        if task.cancelling() <= self._parked.get(task, 0):  # else it is at its cleanup, which that would cut off
            _retrieve_all(task)  # again: a task that was started eagerly parks before anybody holds it
            self.look_below(task)
            self.look_below(self._line)  # which goes on, if it has swallowed its own end
            task.cancel()

    def _roots(self) -> set[asyncio.Task[Any]]:
        """The outermost of those that parked and of those that hold them.

        Holders would run on without an answer if only what parked were cancelled; they cancel what they hold.
        """
        parked = {task for task in self._parked if not task.done()} - self._endless
        found = parked.union(*(enclosing(task, self._is_ours) for task in parked)) - self._told
        return {task for task in found if not enclosing(task, self._is_ours) & found}

    async def _ended(self, tasks: set[asyncio.Task[Any]]) -> None:
        """Wait until these have ended, for as long as cleanup may take; not for one that never does."""
        until = time.monotonic() + CLEANUP_SECONDS
        await self.watch(tasks)
        while (left := {task for task in tasks if not task.done()} - self._lost()) and time.monotonic() < until:
            await asyncio.wait(left, timeout=_LOOK_SECONDS)
            for task in self._parked.keys() - self._told:
                if holders := enclosing(task, self._is_ours) & left:  # their cleanup waits for what has parked
                    for holder in holders:
                        self.look_below(holder)
                    self._tell(task)

    def _lost(self) -> set[asyncio.Task[Any]]:
        """Those that never end, and those that wait for them."""
        return {*self._endless, *(holder for task in self._endless for holder in enclosing(task, self._is_ours))}


def _retrieve_all(task: asyncio.Task[Any]) -> None:
    for future in (task, *futures_around(task)):
        future.add_done_callback(retrieve)


def retrieve(future: asyncio.Future[Any]) -> None:
    """Look at how something ended that was only stopped: nobody else may, and asyncio would complain."""
    if not future.cancelled():
        future.exception()
