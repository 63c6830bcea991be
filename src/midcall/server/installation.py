"""midcall on one server: what was chosen when it was installed, and what all calls there share."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.request_state import RequestStateCodec

from midcall.server.identity import caller, is_own, key_of
from midcall.server.resuming.storage import Keeping
from midcall.server.resuming.visits import Visits
from midcall.server.running.handover import Handover
from midcall.server.running.runs import Runs
from midcall.stores.memory import Memory

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.portal import Portal
    from midcall.server.sealing import Principal, Whose
    from midcall.stores.base import Store

__all__ = ["Installation", "installations"]

logger = logging.getLogger("midcall")

_WARNINGS: Final = 100


@dataclass(eq=False, repr=False, kw_only=True)
class Installation:
    """midcall on one server. What `install` returns."""

    server: Server[Any]
    error_base: type[Exception]
    """What this kind of server lets through."""
    adopt: bool
    strict: bool
    state_ttl: float
    max_rounds: int | None
    heartbeat: float
    not_secret: str | None
    answers_ahead: bool
    store: Store | None
    portal: Portal | None
    relay: bool
    apps: bool | None
    codec: RequestStateCodec
    doubt: float
    probe: bool
    live: bool
    """Whether runs stay in memory between two requests."""
    why_live: str
    """Why they do, or don't."""
    max_live: int
    required: bool
    """Whether every client is known to call again after the error -32042."""
    whose_keys: Whose
    """Who has the keys that states are sealed with, as far as can be seen."""
    knows_callers: bool | None
    """Whether something tells who makes a call; None where that is said only when the server is served."""
    principal: Principal | None
    on_ask: Callable[[Call], None] | None = None
    """Called when a tool asks by the framework's own means."""
    own_apps: dict[str, bool] = field(default_factory=dict[str, bool])
    """Of the tools that were seen, which have an App that is not ours."""
    secret_forms: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """By digest, the fields of adopted forms that ask for a secret: for `doctor`."""

    def __post_init__(self) -> None:
        self.keeping = None if self.store is None else Keeping(self.store, self.state_ttl)
        self.visits = Visits(self.keeping or Keeping(Memory(), self.state_ttl))
        handover = None if self.keeping is None else Handover(self.keeping, self.codec, self.state_ttl)
        self.runs = Runs(live=self.live, most=self.max_live, seconds=self.state_ttl, handover=handover)
        self.server.lifespan = self.runs.within(self.server.lifespan)
        self._warned: set[str] = set()
        self._flat_stamp: dict[str, Any] | None = None

    async def complete(self, id: str) -> bool:
        """Say that the out-of-band part of this visit is done. False if that was known already."""
        return await self.visits.complete(id)

    @property
    def server_title(self) -> str:
        """What the server calls itself."""
        return str(getattr(self.server, "title", None) or self.server.name)

    @property
    def stamp(self) -> dict[str, Any]:
        """What the server says of itself, to go with a result: a copy of its own for each."""
        if self._flat_stamp is None:
            stamp = self.server.server_info_stamp
            self._flat_stamp = stamp if all(isinstance(value, str) for value in stamp.values()) else {}
        return dict(self._flat_stamp) or self.server.server_info_stamp

    def owner(self, ctx: ServerRequestContext[Any, Any]) -> str:
        """Names the user who makes the request that is running; empty where nobody signed in."""
        if self.principal is not None:
            return self.principal(ctx) or ""
        if self.portal is None:
            return key_of(caller())
        return self.portal.owner_of(caller()) if is_own(ctx) or not self.portal.local else ""

    def stop(self) -> None:
        """The server is about to end: calls that wait for a person are let go now, and go on elsewhere.

        On 2026-07-28 each leaves with its round, and the client comes again, to another replica; pushed, and with
        a store, it ends with a code to go on with.
        """
        self.visits.let_go()
        self._hand_over(stopping=True)

    def _hand_over(self, *, stopping: bool) -> None:
        if self.runs.handover is not None:
            self.runs.handover.stopping = stopping

    def resumes(self, ctx: ServerRequestContext[Any, Any]) -> bool:
        """Whether a call may be resumed with a code: then clients are told of the tool for it."""
        return self.keeping is not None or self.runs.has_codes

    async def close(self) -> None:
        """End the live runs, and let go of the store and the portal."""
        self.stop()
        await self.runs.close()
        if self.portal is not None:
            await self.portal.close()
        if self.keeping is not None:
            await self.keeping.close()
        self.visits.stopping = False
        self._hand_over(stopping=False)

    def look_at_keys(self, ctx: ServerRequestContext[Any, Any]) -> None:
        """Over HTTP, a process-local key loses calls."""
        if ctx.request is not None and self.whose_keys == "process":
            self.warn_once(
                "local-key",
                (
                    "midcall: as far as can be seen, this HTTP server seals the state of its calls with a key of "
                    "this process alone. Calls that wait for an answer are lost on a restart and cannot move to "
                    "another replica. Set MIDCALL_KEYS, or pass keys= to install(), even if the server has keys of "
                    "its own; and set MIDCALL_STORE, or pass live=True for a single replica, so that tools run "
                    "once."
                ),
            )

    def warn_once(self, what: str, message: str) -> None:
        if self.is_new(what):
            logger.warning(message)

    def is_new(self, what: str) -> bool:
        """Whether this was not logged yet. After many of them nothing is new any more."""
        if what in self._warned or len(self._warned) >= _WARNINGS:
            return False
        self._warned.add(what)
        return True


installations: WeakSet[Installation] = WeakSet()
"""All that there are in this process."""
