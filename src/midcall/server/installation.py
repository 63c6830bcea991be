"""midcall on one server: its settings, and what its calls share."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import principal_components
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.request_state import RequestStateCodec

from midcall.core.caller import Caller
from midcall.server.resuming.storage import Keeping
from midcall.server.resuming.visits import Visits
from midcall.server.running.handover import Handover
from midcall.server.running.runs import Runs
from midcall.stores.memory import Memory
from midcall.web import peer

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.channels.portal import Portal
    from midcall.server.sealing import Principal, Whose
    from midcall.stores.base import Store

logger = logging.getLogger("midcall")

_WARNINGS: Final = 100


@dataclass(eq=False, repr=False, kw_only=True)
class Installation:
    """midcall on one server. What `install` returns."""

    server: Server[Any]
    error_base: type[Exception]
    """The exception class that this kind of server lets through."""
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
    """Who has the keys that seal states, as far as we can see."""
    knows_callers: bool | None
    """Whether callers are identified; None if that is known only once the server serves."""
    principal: Principal | None
    on_ask: Callable[[Call], None] | None = None
    """Called when a tool asks by the framework's own means."""
    own_apps: dict[str, bool] = field(default_factory=dict[str, bool])
    """By tool, whether it has its own App."""
    secret_forms: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """By digest, the fields of adopted forms that ask for a secret: for `doctor`."""

    def __post_init__(self) -> None:
        self.keeping = None if self.store is None else Keeping(self.store, self.state_ttl)
        self.visits = Visits(self.keeping or Keeping(Memory(), self.state_ttl))
        handover = None if self.keeping is None else Handover(self.keeping, self.codec, self.state_ttl)
        self.runs = Runs(live=self.live, most=self.max_live, seconds=self.state_ttl, handover=handover)
        self.server.lifespan = self.runs.within(self.server.lifespan)
        self._warned: set[str] = set()

    async def complete(self, id: str) -> bool:
        """Report that the user has finished this visit. False if that was known already."""
        return await self.visits.complete(id)

    @property
    def server_title(self) -> str:
        """What the server calls itself."""
        return str(getattr(self.server, "title", None) or self.server.name)

    @cached_property
    def server_info(self) -> dict[str, Any]:
        """What the server says of itself, to go with a result. Copy it."""
        return self.server.server_info_stamp

    def owner(self, ctx: ServerRequestContext[Any, Any]) -> str:
        """Names the user who makes the current request; empty if nobody is signed in."""
        if self.principal is not None:
            return self.principal(ctx) or ""
        if self.portal is None:
            caller = _caller()
            return f"{caller.issuer or ''} {caller.subject}" if caller.subject else ""
        return self.portal.owner_of(_caller()) if _is_local(ctx) or not self.portal.local else ""

    def stop(self) -> None:
        """The server is stopping: let requests waiting for a person return, to continue elsewhere.

        On 2026-07-28 each returns its round, and the client's next request goes to another replica. On older versions,
        with a store, each ends with a resume code.
        """
        self.visits.let_go()
        self._hand_over(stopping=True)

    def _hand_over(self, *, stopping: bool) -> None:
        if self.runs.handover is not None:
            self.runs.handover.stopping = stopping

    def resumes(self, ctx: ServerRequestContext[Any, Any]) -> bool:
        """Whether a call may be resumed with a code: then the list of tools has the tool for it."""
        return self.keeping is not None or self.runs.has_codes

    async def close(self) -> None:
        """End the live runs, and close the portal and the store."""
        self.stop()
        await self.runs.close()
        if self.portal is not None:
            await self.portal.close()
        if self.keeping is not None:
            await self.keeping.close()
        self.visits.stopping = False
        self._hand_over(stopping=False)

    def check_keys(self, ctx: ServerRequestContext[Any, Any]) -> None:
        """Warn once if an HTTP server seals states with a key of this process only."""
        if ctx.request is not None and self.whose_keys == "process":
            self.warn_once(
                "local-key",
                "midcall: this HTTP server seems to seal the state of its calls with a key of this process only. "
                "Waiting calls are lost on a restart and cannot move to another replica. Set MIDCALL_KEYS, or pass "
                "keys= to install(), even if the server has its own keys. And set MIDCALL_STORE, or pass live=True "
                "for a single replica, so that tools run once.",
            )

    def warn_once(self, what: str, message: str) -> None:
        if self.is_new(what):
            logger.warning(message)

    def is_new(self, what: str) -> bool:
        """Whether this was not logged yet. After many warnings nothing counts as new."""
        if what in self._warned or len(self._warned) >= _WARNINGS:
            return False
        self._warned.add(what)
        return True


def _caller() -> Caller:
    """Who makes the current request, by its access token."""
    token = get_access_token()
    if token is None:
        return Caller()
    client, issuer, subject = principal_components(token)
    return Caller(issuer, subject, client, token.claims or {})


def _is_local(ctx: ServerRequestContext[Any, Any]) -> bool:
    """Whether a program of the server's own user makes the call: over stdio, in memory, or over loopback.

    A request that came through a proxy doesn't count: it may come from anywhere.
    """
    return ctx.request is None or peer.is_own(ctx.request)


installations: WeakSet[Installation] = WeakSet()
"""All installations in this process."""
