"""`install`: the one line that lets a server ask. And what it returns: its settings, and what its calls share."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from weakref import WeakSet

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import principal_components
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.request_state import RequestStateBoundary, RequestStateCodec
from mcp.shared.exceptions import MCPError
from mcp_types import ToolAnnotations

from midcall.audit import Audit, Name, Target, digest, open_audit
from midcall.core.caller import Caller, ServerIdentity
from midcall.core.journal import read_head
from midcall.core.question import MISSING, Missing
from midcall.core.remembered import Remembered, shorten
from midcall.errors import InstallError, InvalidJournal
from midcall.server.call import audit_tool, current_call
from midcall.server.channels.clients import Clients
from midcall.server.frameworks.errors import look_inside
from midcall.server.middleware import Calls
from midcall.server.resuming.storage import Keeping
from midcall.server.resuming.visits import Visits
from midcall.server.running.handover import Handover
from midcall.server.running.runs import Runs
from midcall.server.sealing import Key, Principal, Seal, Whose, given_keys, machine_keys, portal_keys, seal_for
from midcall.settings.calls import MAX_WARNING_KINDS, MAX_WARNINGS
from midcall.settings.environment import flag, number, text, whole
from midcall.settings.install import (
    DOUBT_SECONDS,
    HEARTBEAT_SECONDS,
    MAX_CALLER_MB,
    MAX_CALLER_RECORDS,
    MAX_LIVE,
    MAX_ROUNDS,
    MAX_STORE_MB,
    MAX_STORE_RECORDS,
)
from midcall.settings.resuming import MAX_SEEN_TOOLS
from midcall.stores import open_store
from midcall.stores.memory import Memory
from midcall.stores.quotas import Limits, Usage, name_user
from midcall.stores.seal import SealedStore
from midcall.stores.sqlite import SQLite
from midcall.web.security import NotLocal, network, why_not_local

if TYPE_CHECKING:
    from fastmcp import FastMCP
    from starlette.requests import HTTPConnection

    from midcall.server.call import Call
    from midcall.server.channels.portal import Portal
    from midcall.stores.base import Store

logger = logging.getLogger("midcall")

_LAUNCHERS: Final = ("fastmcp", "mcp", "midcall")
"""Programs that run the server in a file."""


def install(
    server: MCPServer[Any] | Server[Any] | FastMCP[Any],
    *,
    keys: Sequence[Key] | Key | None = None,
    state_ttl: float | None = None,
    principal: Principal | None = None,
    adopt: bool = True,
    strict: bool = False,
    max_rounds: int | Missing | None = MISSING,
    heartbeat: float | None = None,
    not_secret: str | None = None,
    answers_ahead: bool = False,
    store: Store | str | None = None,
    portal: Portal | None = None,
    audit: Audit | Target | Sequence[Target] | None = None,
    relay: bool = False,
    apps: bool | None = None,
    doubt: float | None = None,
    probe: bool = False,
    required: bool | None = None,
    live: bool | None = None,
    max_live: int | None = None,
    namespace: str | None = None,
    continue_annotations: ToolAnnotations | None = None,
    max_caller_records: int | None = None,
    max_caller_mb: int | None = None,
    max_store_records: int | None = None,
    max_store_mb: int | None = None,
) -> Installation:
    """Let the tools, prompts and resources of this server ask the user.

    Args:
        server: An `MCPServer`, a low-level `Server`, or a FastMCP server.
        keys: Keys that seal the state of a waiting call, on 2026-07-28. The first seals, all unseal. You need them for
            more than one process, and for calls that survive a restart. Default: `MIDCALL_KEYS`, else the server's own,
            else those of this machine with SQLite or a portal, else a key of this process.
        state_ttl: For how many seconds a call may wait for its answers.
        principal: Returns the user of a call, if MCP authorization doesn't.
        adopt: Let `ctx.elicit()` and `ctx.elicit_url()` go through midcall, too.
        strict: Refuse what midcall otherwise only warns about, such as a link in a form.
        max_rounds: End a call with a resume code before its client gives up; some clients do after nine rounds. None
            removes the limit. Default: `MIDCALL_MAX_ROUNDS`, else 9.
        heartbeat: Seconds between two progress notifications while the user thinks. Default: `MIDCALL_HEARTBEAT`, else
            10.
        not_secret: Why adopted forms may have fields that are named like secrets.
        answers_ahead: Accept answers to keyed questions that a client sends with the first request, before it is asked.
            Not for a question with `via=`, and not for a visit.
        store: Where journals, codes and pages are kept: a URL such as `postgresql://...`, `redis://...` or
            `sqlite:///path`, or a store. With one, `once` holds across replicas and restarts, states may grow large,
            and a call can resume later. Default: `MIDCALL_STORE`, else none; with a portal, SQLite.
        portal: The web pages for secrets, authorizations, approvals and forms.
        audit: Where the audit trail goes, for the portal too: a file that gets lines of JSON, `-` for standard error, a
            function that takes an `Event`, a list of these, or an `Audit`. Default: `MIDCALL_AUDIT`, else nowhere.
        relay: Let the model ask in the chat, for questions that allow it (`via=` with "relay"). It needs a store.
        apps: Whether clients without elicitation get forms as MCP Apps. Default: if they declare that they show Apps,
            and there is a store. True is for hosts that show Apps without declaring it.
        doubt: A "no" within so many seconds means that nobody saw the question, unless its client marks it: then
            midcall asks once more, by a page or a link, if there is one, or tells the model. 0 believes every "no".
            Default: `MIDCALL_DOUBT`, else 0.25.
        probe: Add a tool, `midcall_probe`, that asks the connected client one harmless question of each kind, and
            reports what happened.
        required: Every client of this server retries after the error -32042. Then, if the server can't reach its client
            (stateless HTTP up to 2025-11-25), a secret, an authorization, or a visit with an `id=` and `wait=True` ends
            with that error. Default: `MIDCALL_REQUIRED`, else only clients that declare it, as ours do.
        live: Whether a run stays in memory while its questions are with the client, so that its code runs once.
            Default: `MIDCALL_LIVE`, else yes, unless replicas share keys and no store. True is for a single replica,
            or for sticky routing; False replays every call.
        max_live: How many runs may wait in memory; the oldest is ended first, and replayed when its answer comes.
            Default: `MIDCALL_MAX_LIVE`, else 1,000.
        namespace: Tells this server from others with the same name that use the same store; the same on all replicas.
            Servers with one namespace share the user's secrets. Default: `MIDCALL_NAMESPACE`, else none: the server's
            name counts, and for secrets on the user's own machine also its program's file.
        continue_annotations: What clients are told about `midcall_continue`, such as
            `ToolAnnotations(read_only_hint=True)` if that is true of every tool that asks. Default: nothing.
        max_caller_records: How many records one caller may have in the store: a user, or an address if nobody is signed
            in. Default: `MIDCALL_MAX_CALLER_RECORDS`, else 50,000.
        max_caller_mb: How many megabytes these may have. Default: `MIDCALL_MAX_CALLER_MB`, else 256.
        max_store_records: How many records all callers together may have in the store. Default:
            `MIDCALL_MAX_STORE_RECORDS`, else 1,000,000.
        max_store_mb: How many megabytes these may have. Default: `MIDCALL_MAX_STORE_MB`, else 4,000.

    Raises:
        InstallError: It isn't a server, midcall is installed already, or a setting is wrong.
    """
    lowlevel, error_base = _lowlevel(server)
    if installation_on(server) is not None:
        raise InstallError("midcall is installed on this server already. Call install() once per server.")
    max_rounds = (whole("MIDCALL_MAX_ROUNDS", least=1) or MAX_ROUNDS) if isinstance(max_rounds, Missing) else max_rounds
    heartbeat = (number("MIDCALL_HEARTBEAT") or HEARTBEAT_SECONDS) if heartbeat is None else heartbeat
    doubt = number("MIDCALL_DOUBT", zero=True) if doubt is None else doubt
    doubt = DOUBT_SECONDS if doubt is None else doubt
    state_ttl = number("MIDCALL_STATE_TTL") if state_ttl is None else state_ttl
    max_live = (whole("MIDCALL_MAX_LIVE", least=1) or MAX_LIVE) if max_live is None else max_live
    limits = {
        "max_caller_records": _count(max_caller_records, "MIDCALL_MAX_CALLER_RECORDS", MAX_CALLER_RECORDS),
        "max_caller_mb": _count(max_caller_mb, "MIDCALL_MAX_CALLER_MB", MAX_CALLER_MB),
        "max_store_records": _count(max_store_records, "MIDCALL_MAX_STORE_RECORDS", MAX_STORE_RECORDS),
        "max_store_mb": _count(max_store_mb, "MIDCALL_MAX_STORE_MB", MAX_STORE_MB),
    }
    _check_numbers(
        heartbeat=heartbeat, doubt=doubt, state_ttl=state_ttl, max_rounds=max_rounds, max_live=max_live, **limits
    )
    if portal is not None and (isinstance(portal, type) or not hasattr(portal, "bind")):
        raise InstallError(f"portal= must be a Portal, not {_describe(portal)}: install(server, portal=Portal(...)).")
    namespace = text("MIDCALL_NAMESPACE") if namespace is None else namespace
    if namespace is not None and not (isinstance(namespace, str) and namespace.strip()):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InstallError(f'namespace={namespace!r} must be a name, as text: namespace="shop-staging".')
    identity = ServerIdentity(_strip_random_name(lowlevel), namespace or "", find_place(sys.argv))
    if principal is not None and not callable(principal):
        raise InstallError(
            "principal= must be a function that takes the request's context and names the user, not "
            f"{type(principal).__name__}."
        )
    if not_secret is not None and not (isinstance(not_secret, str) and not_secret.strip()):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InstallError(
            f'not_secret={not_secret!r} must be the reason, as text: not_secret="a word in a party game".'
        )
    if continue_annotations is not None and not isinstance(continue_annotations, ToolAnnotations):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InstallError(
            "continue_annotations= must be mcp_types.ToolAnnotations(...), not "
            f"{_describe(continue_annotations)}: ToolAnnotations(read_only_hint=True)."
        )
    given = given_keys(keys)
    trail = _audit(audit, portal)
    kept = _store(store, portal)
    if relay and kept is None:
        raise InstallError("relay=True needs a store: install(server, relay=True, store='sqlite://').")
    of_here = [] if given else machine_keys(kept, portal)
    seal, whose, ttl = seal_for(lowlevel, given, of_here, state_ttl, principal)
    live, why_live = _live(flag("MIDCALL_LIVE") if live is None else live, whose, kept)
    installation = Installation(
        server=lowlevel,
        identity=identity,
        error_base=error_base,
        adopt=adopt,
        strict=strict,
        state_ttl=ttl,
        max_rounds=max_rounds,
        heartbeat=heartbeat,
        not_secret=not_secret,
        answers_ahead=answers_ahead,
        whose_keys=whose,
        store=kept,
        portal=portal,
        audit=trail,
        relay=relay,
        apps=apps,
        codec=seal.codec,
        doubt=doubt,
        probe=probe,
        continue_annotations=continue_annotations,
        live=live,
        why_live=why_live,
        max_live=max_live,
        max_caller_records=limits["max_caller_records"],
        max_caller_mb=limits["max_caller_mb"],
        max_store_records=limits["max_store_records"],
        max_store_mb=limits["max_store_mb"],
        required=bool(flag("MIDCALL_REQUIRED") if required is None else required),
        principal=principal,
        knows_callers=True if principal is not None else _has_authorization(server),
    )
    if portal is not None and kept is not None and installation.records is not None:
        portal.bind(
            store=installation.records,
            identity=identity,
            server_name=installation.server_title,
            keys=portal_keys(given or of_here, kept),
            file=kept.path if isinstance(kept, SQLite) and whose in ("author", "machine") else None,
        )
    _place(lowlevel, seal, installation)
    if probe:
        from midcall.server.channels.probe import Probe

        lowlevel.middleware.append(Probe())
    if isinstance(server, MCPServer):
        look_inside(server, "call_tool", "read_resource")
    elif not isinstance(server, Server):
        from midcall.server.frameworks.fastmcp import prepare

        prepare(server, installation)
    installations.add(installation)
    return installation


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
    max_caller_records: int
    max_caller_mb: int
    max_store_records: int
    max_store_mb: int
    required: bool
    """Whether every client is known to call again after the error -32042."""
    whose_keys: Whose
    """Who has the keys that seal states, as far as we can see."""
    knows_callers: bool | None
    """Whether callers are identified; None if that is known only once the server serves."""
    principal: Principal | None
    on_ask: Callable[[Call], None] | None = None
    """Called when a tool asks by the framework's own means."""
    own_apps: MutableMapping[str, bool] = field(default_factory=lambda: Remembered[bool](MAX_SEEN_TOOLS))
    """By tool, whether it has its own App."""
    unlisted: MutableMapping[str, None] = field(default_factory=lambda: Remembered[None](MAX_SEEN_TOOLS))
    """The tools that a caller's list doesn't have. Others may see them."""
    secret_forms: MutableMapping[str, tuple[str, ...]] = field(
        default_factory=lambda: Remembered[tuple[str, ...]](MAX_WARNINGS)
    )
    """By digest, the fields of adopted forms that ask for a secret: for `doctor`."""

    odd_forms: MutableMapping[str, tuple[str, ...]] = field(
        default_factory=lambda: Remembered[tuple[str, ...]](MAX_WARNINGS)
    )
    """By digest, what some hosts can't show in a form that was asked: for `doctor`."""

    def __post_init__(self) -> None:
        limits = Limits(
            Usage(self.max_caller_records, self.max_caller_mb * 1_000_000),
            Usage(self.max_store_records, self.max_store_mb * 1_000_000),
        )
        server = self.identity.of_records
        records = SealedStore(self.store or Memory(), self.codec, server, limits, self._note_record)
        self.records = None if self.store is None else records
        self.keeping = None if self.records is None else Keeping(self.records, self.state_ttl)
        self.visits = Visits(self.keeping or Keeping(records, self.state_ttl))
        handover = None if self.keeping is None else Handover(self.keeping, self.codec, self.state_ttl)
        self.runs = Runs(live=self.live, most=self.max_live, seconds=self.state_ttl, handover=handover)
        self.server.lifespan = self.runs.within(self.server.lifespan)
        self.clients = Clients()
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
        middleware = _lowlevel(server)[0].middleware
    except InstallError:
        return None
    return next((each.installation for each in middleware if isinstance(each, Seal)), None)


def _live(given: bool | None, whose: Whose, store: Store | None) -> tuple[bool, str]:
    """Whether runs stay in memory, and why."""
    if given is not None:
        return given, f"install(..., live={given}) or MIDCALL_LIVE sets it."
    if whose == "process":
        return True, "Only this process can continue its calls."
    if store is not None:
        return True, "Replicas share a store."
    return False, "Replicas may share these keys, and there is no store: any of them may get a call's next request."


def _lowlevel(server: object) -> tuple[Server[Any], type[Exception]]:
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


def _strip_random_name(server: Server[Any]) -> str:
    """The name that the author gave this server. Without one, FastMCP makes up another name at each start."""
    return re.sub(r"^FastMCP-[0-9a-f]{4}$", "FastMCP", server.name)


def find_place(command: Sequence[str]) -> str:
    """The file of the program that this command runs; of a launcher, the file that it is to run."""
    program, *arguments = command or [""]
    named = [Path(each.partition(":")[0]) for each in arguments if Path(program).stem in _LAUNCHERS]
    path = next((each for each in named if each.suffix == ".py" and each.is_file()), Path(program))
    return str(path.resolve()) if path.is_file() else ""


def _has_authorization(server: object) -> bool | None:
    """Whether callers have an access token. Of a low-level server that is known only once it serves."""
    if isinstance(server, Server):
        return None
    return (getattr(server, "_token_verifier", None) or getattr(server, "auth", None)) is not None


def _count(given: int | None, variable: str, default: int) -> int:
    return (whole(variable, least=1) or default) if given is None else given


def _check_numbers(**numbers: Any) -> None:
    """Check settings: seconds, or for `max_` a count. None means that it isn't set."""
    for name, value in numbers.items():
        counts, zero = name.startswith("max_"), name == "doubt"
        kind = "a whole number from 1" if counts else "0 or more seconds" if zero else "more than 0 seconds"
        is_number = isinstance(value, int if counts else (int, float)) and not isinstance(value, bool)
        if value is not None and not (is_number and (value > 0 or (zero and value == 0))):
            raise InstallError(f"{name}={value!r} must be {kind}{', or None' if name == 'max_rounds' else ''}.")


def _store(store: Store | str | None, portal: Portal | None) -> Store | None:
    """Open the store, if there is one; a portal always needs one."""
    if store is None:
        store = os.environ.get("MIDCALL_STORE") or ("sqlite://" if portal is not None else None)
    if store is not None and not isinstance(store, str) and (isinstance(store, type) or not hasattr(store, "open")):
        raise InstallError(f"store= must be a URL such as sqlite:///path, or a store, not {_describe(store)}.")
    return open_store(store) if isinstance(store, str) else store


def _audit(given: Audit | Target | Sequence[Target] | None, portal: Portal | None) -> Audit | None:
    """The audit trail, which server and portal share."""
    if portal is None:
        return open_audit(given)
    if given is not None and portal.audit is not None:
        raise InstallError("Pass audit= to install() or to Portal(), not to both: they share one audit trail.")
    portal.audit = open_audit(given if portal.audit is None else portal.audit)
    return portal.audit


def _describe(value: object) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def _place(server: Server[Any], seal: Seal, installation: Installation) -> None:
    """Add our middleware: the seal before the author's, and the one that runs calls after it."""
    seal.installation = installation
    middleware = server.middleware
    index = next((i for i, mw in enumerate(middleware) if isinstance(mw, RequestStateBoundary)), len(middleware))
    middleware[index : index + 1] = [seal]
    middleware.append(Calls(installation).serve)
