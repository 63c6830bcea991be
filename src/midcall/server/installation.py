"""The installation of midcall on one server: its settings, who makes its requests, and what its calls share."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import principal_components
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.request_state import RequestStateCodec
from mcp.shared.exceptions import MCPError
from mcp_types import ToolAnnotations

from midcall.audit import Audit, Name, digest
from midcall.core.caller import Caller, ServerIdentity
from midcall.core.journal import read_head
from midcall.core.remembered import Remembered, shorten
from midcall.errors import InstallError, InvalidJournal
from midcall.server.call import audit_tool, current_call
from midcall.server.channels.clients import Clients
from midcall.server.resuming.sealing import Principal, Seal, Whose
from midcall.server.resuming.storage import Keeping
from midcall.server.resuming.visits import Visits
from midcall.server.running.handover import Handover
from midcall.server.running.runs import Runs
from midcall.settings.calls import MAX_WARNING_KINDS, MAX_WARNINGS
from midcall.settings.resuming import MAX_SEEN_TOOLS
from midcall.stores.memory import Memory
from midcall.stores.quotas import Limits, name_user
from midcall.stores.seal import SealedStore
from midcall.web.security import NotLocal, network, why_not_local

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

    from midcall.server.call import Call
    from midcall.server.channels.portal import Portal
    from midcall.stores.base import Store

logger = logging.getLogger("midcall")


@dataclass(eq=False, repr=False, kw_only=True)
class Installation:
    """midcall on one server. What `install` returns."""

    server: Server[Any]
    identity: ServerIdentity
    """Which server this is: what binds its records and its users' secrets to it."""
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
    """As it was given. `records` is how it is used: everything there is bound to this server and its keys."""
    portal: Portal | None
    audit: Audit | None
    relay: bool
    apps: bool | None
    codec: RequestStateCodec
    doubt: float
    probe: bool
    continue_annotations: ToolAnnotations | None
    live: bool
    """Whether runs stay in memory between two requests."""
    why_live: str
    """Why they do, or don't."""
    max_live: int
    limits: Limits
    required: bool
    """Whether every client is known to call again after the error -32042."""
    whose_keys: Whose
    """Who has the keys that seal states, as far as we can see."""
    knows_callers: bool | None
    """Whether callers are identified; None if that is known only once the server serves."""
    principal: Principal | None
    on_ask: Callable[[Call], None] | None = None
    """Called when a tool asks by the framework's own means."""

    def __post_init__(self) -> None:
        server = self.identity.of_records
        records = SealedStore(self.store or Memory(), self.codec, server, self.limits, self._note_record)
        self.records = None if self.store is None else records
        self.keeping = None if self.records is None else Keeping(self.records, self.codec, self.state_ttl)
        self.visits = Visits(self.keeping or Keeping(records, self.codec, self.state_ttl))
        handover = None if self.keeping is None else Handover(self.keeping, self.codec, self.state_ttl)
        self.runs = Runs(live=self.live, most=self.max_live, seconds=self.state_ttl, handover=handover)
        self.server.lifespan = self.runs.within(self.server.lifespan)
        self.clients = Clients()
        self.own_apps: Remembered[bool] = Remembered(MAX_SEEN_TOOLS)
        """By tool, whether it has its own App."""
        self.unlisted: Remembered[None] = Remembered(MAX_SEEN_TOOLS)
        """The tools that a caller's list doesn't have. Others may see them."""
        self.secret_forms: Remembered[tuple[str, ...]] = Remembered(MAX_WARNINGS)
        """By digest, the fields of adopted forms that ask for a secret: for `doctor`."""
        self.odd_forms: Remembered[tuple[str, ...]] = Remembered(MAX_WARNINGS)
        """By digest, what some hosts can't show in a form that was asked: for `doctor`."""
        self._warned: Remembered[set[str]] = Remembered(MAX_WARNING_KINDS)

    async def complete(self, id: str) -> bool:
        """Report that the user has finished this visit. False if that was known already."""
        return await self.visits.complete(id)

    @property
    def server_title(self) -> str:
        """What the server calls itself."""
        return str(getattr(self.server, "title", None) or self.server.name)

    @cached_property
    def copy_server_info(self) -> Callable[[], dict[str, Any]]:
        """Copies what the server says of itself, to go with a result."""
        info = self.server.server_info_stamp
        has_parts = any(isinstance(value, (dict, list)) for value in info.values())
        return partial(deepcopy if has_parts else dict, info)

    def owner(self, ctx: ServerRequestContext[Any, Any]) -> str:
        """Names the user who makes the current request; empty if nobody is signed in."""
        if self.principal is not None:
            return self.principal(ctx) or ""
        if self.portal is None:
            return _find_user()
        return self.portal.owner_of(_caller()) if self.why_not_local(ctx) is None else ""

    def user(self, ctx: ServerRequestContext[Any, Any]) -> str:
        """Names the user who is signed in, even if no page of the portal would know them; empty if nobody is."""
        return _find_user() if self.principal is None else self.principal(ctx) or ""

    def holder(self, ctx: ServerRequestContext[Any, Any]) -> str:
        """Names who may continue a call with a code or an App, even if no page of the portal would know them."""
        return self.owner(ctx) or _find_user() or _client()

    def why_not_local(self, ctx: ServerRequestContext[Any, Any]) -> NotLocal | None:
        """Why this request isn't one of this machine's user, if that is what counts; None if it is.

        Theirs come over stdio, in memory, or over loopback.
        """
        if self.principal is not None or self.portal is None or not self.portal.local:
            return None
        found = next(filter(None, map(why_not_local, _requests_behind(ctx))), None)
        if found is not None:
            self.warn_once(
                f"not local: {found.by}",
                f"midcall: a call does not count as this machine's user, because {found.why}. It gets no secrets, "
                "accounts or approvals. If it is yours, use http://127.0.0.1 or http://localhost, without a proxy, or "
                "set up MCP authorization.",
            )
        return found

    def _note_record(self, kind: str, why: str) -> None:
        """Write into the audit trail that a record of the store was refused."""
        if self.audit is not None:
            self.audit.write("record.refused", server=self.server_title, outcome=why, kind=kind)

    def note(self, ctx: ServerRequestContext[Any, Any], event: Name, *, state: str = "", **facts: Any) -> None:
        """Write an event of this request into the audit trail, if there is one. It may be about the call of a state."""
        if self.audit is not None:
            params = ctx.params or {}
            tool = audit_tool(params.get("name") or params.get("uri"))
            self.audit.write(event, **self.audit_facts(ctx), tool=tool, call=_call_of(state), **facts)

    def audit_facts(self, ctx: ServerRequestContext[Any, Any]) -> dict[str, str]:
        """What an event says of a request: server, client and user."""
        client = ctx.session.client_params
        named = "" if client is None else client.client_info.title or client.client_info.name
        try:
            user = self.owner(ctx) or _find_user()
        except Exception:  # the author's principal=
            logger.exception("The audit trail cannot name the user of a call")
            user = ""
        return {"server": self.server_title, "client": named, "user": user}

    def caller(self, ctx: ServerRequestContext[Any, Any]) -> str:
        """Names who makes the current request, to count what they keep: its user, or its address."""
        if user := self.owner(ctx) or _find_user():
            return name_user(user)
        client = None if ctx.request is None else ctx.request.client
        return "" if client is None else f"address {network(client.host)}"

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

    @property
    def resumes(self) -> bool:
        """Whether a call may be resumed with a code: then the list of tools has the tool for it."""
        return self.keeping is not None or self.runs.states.given_out

    async def close(self) -> None:
        """End the live runs, and close the portal and the store."""
        self.stop()
        await self.runs.close()
        if self.portal is not None:
            await self.portal.close()
        if self.keeping is not None:
            await self.keeping.close()
        if self.audit is not None:
            await self.audit.flush()
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
        """Whether this was not logged yet. It names a kind up to the first colon; after many of one, none is new.

        Callers can make up many of one kind, and must not hide the others by that.
        """
        kind, what = what.partition(":")[0], shorten(what)
        logged = self._warned.setdefault(kind, set())
        if what in logged or len(logged) >= MAX_WARNINGS:
            return False
        logged.add(what)
        return True


def _call_of(state: str) -> str:
    """The call of this state, as the audit trail names it; empty if it can't be read."""
    try:
        return digest("call", read_head(state).call)
    except InvalidJournal:
        return ""


def _caller() -> Caller:
    """Who makes the current request, by its access token."""
    token = get_access_token()
    if token is None:
        return Caller()
    client, issuer, subject = principal_components(token)
    return Caller(issuer, subject, client, token.claims or {})


def _find_user() -> str:
    """The user of the current request, by its access token; empty if it names none."""
    caller = _caller()
    return f"{caller.issuer or ''} {caller.subject}" if caller.subject else ""


def _client() -> str:
    """The client of the current request, by its access token; no user's name begins like this."""
    caller = _caller()
    return shorten(json.dumps(["client", caller.issuer, caller.client])) if caller.client else ""


def _requests_behind(ctx: ServerRequestContext[Any, Any]) -> Iterator[HTTPConnection]:
    """The HTTP requests that caused this call; none over stdio.

    A call in memory may come from the tool of another server in this process, which somebody called over HTTP.
    """
    calls = [ctx]
    call = current_call.get()
    while call is not None:
        calls.append(call.ctx)
        call = call.around
    yield from (each.request for each in calls if each.request is not None)
    if ctx.request is None and (fastmcp := sys.modules.get("fastmcp.server.dependencies")) is not None:
        with suppress(RuntimeError):
            yield fastmcp.get_http_request()


installations: WeakSet[Installation] = WeakSet()
"""All installations in this process."""


def installation_on(server: object) -> Installation | None:
    """What `install` returned for this server; None if midcall isn't installed there, or it isn't a server."""
    try:
        middleware = lowlevel(server)[0].middleware
    except InstallError:
        return None
    return next((each.installation for each in middleware if isinstance(each, Seal)), None)


def lowlevel(server: object) -> tuple[Server[Any], type[Exception]]:
    """The SDK's server inside this one, and the exception class that it lets through."""
    if isinstance(server, MCPServer):
        return cast("Server[Any]", server._lowlevel_server), MCPError  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType]
    if isinstance(server, Server):
        return cast("Server[Any]", server), MCPError
    if (fastmcp := sys.modules.get("fastmcp")) is not None and isinstance(server, fastmcp.FastMCP):
        from fastmcp.exceptions import ToolError

        return cast("Any", server)._mcp_server, ToolError
    raise InstallError(
        f"install() takes an MCPServer, a low-level Server or a FastMCP server, not {type(server).__name__}."
    )
