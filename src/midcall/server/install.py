"""`install`: the one line that lets a server ask. It checks the settings, and adds our middleware."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from mcp.server.lowlevel.server import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.request_state import RequestStateBoundary
from mcp_types import ToolAnnotations

from midcall.audit import Audit, Target, open_audit
from midcall.core.caller import ServerIdentity
from midcall.core.question import MISSING, Missing
from midcall.errors import InstallError
from midcall.server.frameworks.errors import look_inside
from midcall.server.installation import Installation, installation_on, installations, lowlevel
from midcall.server.middleware import Calls
from midcall.server.resuming.sealing import Key, Principal, Seal, Whose, given_keys, machine_keys, portal_keys, seal_for
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
from midcall.stores import open_store
from midcall.stores.quotas import Limits, Usage
from midcall.stores.sqlite import SQLite

if TYPE_CHECKING:
    from fastmcp import FastMCP

    from midcall.server.channels.portal import Portal
    from midcall.stores.base import Store

_LAUNCHERS: Final = ("fastmcp", "mcp", "midcall")
"""Programs that run the server in a file."""

DefaultT = TypeVar("DefaultT", bound=float | None)


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
    inner, error_base = lowlevel(server)
    if installation_on(server) is not None:
        raise InstallError("midcall is installed on this server already. Call install() once per server.")
    if portal is not None and (isinstance(portal, type) or not hasattr(portal, "bind")):
        raise InstallError(f"portal= must be a Portal, not {_describe(portal)}: install(server, portal=Portal(...)).")
    if principal is not None and not callable(principal):
        raise InstallError(
            "principal= must be a function that takes the request's context and names the user, not "
            f"{type(principal).__name__}."
        )
    if continue_annotations is not None and not isinstance(continue_annotations, ToolAnnotations):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InstallError(
            "continue_annotations= must be mcp_types.ToolAnnotations(...), not "
            f"{_describe(continue_annotations)}: ToolAnnotations(read_only_hint=True)."
        )
    namespace = text("MIDCALL_NAMESPACE") if namespace is None else namespace
    _check_text("namespace", namespace, "a name", "shop-staging")
    _check_text("not_secret", not_secret, "the reason", "a word in a party game")
    state_ttl = _seconds("MIDCALL_STATE_TTL", state_ttl, None)
    if state_ttl == inf:
        raise InstallError("state_ttl=inf must be a finite number of seconds.")
    heartbeat = _seconds("MIDCALL_HEARTBEAT", heartbeat, HEARTBEAT_SECONDS)
    doubt = _seconds("MIDCALL_DOUBT", doubt, DOUBT_SECONDS, zero=True)
    max_rounds = None if max_rounds is None else _count("MIDCALL_MAX_ROUNDS", max_rounds, MAX_ROUNDS)
    max_live = _count("MIDCALL_MAX_LIVE", max_live, MAX_LIVE)
    limits = Limits(
        Usage(
            _count("MIDCALL_MAX_CALLER_RECORDS", max_caller_records, MAX_CALLER_RECORDS),
            _count("MIDCALL_MAX_CALLER_MB", max_caller_mb, MAX_CALLER_MB) * 1_000_000,
        ),
        Usage(
            _count("MIDCALL_MAX_STORE_RECORDS", max_store_records, MAX_STORE_RECORDS),
            _count("MIDCALL_MAX_STORE_MB", max_store_mb, MAX_STORE_MB) * 1_000_000,
        ),
    )
    given = given_keys(keys)
    kept = _store(store, portal)
    if relay and kept is None:
        raise InstallError("relay=True needs a store: install(server, relay=True, store='sqlite://').")
    of_here = [] if given else machine_keys(kept, portal)
    seal, whose, ttl = seal_for(inner, given, of_here, state_ttl, principal)
    live, why_live = _live(flag("MIDCALL_LIVE", None) if live is None else live, whose, kept)
    required = flag("MIDCALL_REQUIRED", False) if required is None else required
    name = re.sub(r"^FastMCP-[0-9a-f]{4}$", "FastMCP", inner.name)  # FastMCP makes up another one at each start
    installation = Installation(
        server=inner,
        identity=ServerIdentity(name, namespace or "", find_place(sys.argv)),
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
        audit=_audit(audit, portal),
        relay=relay,
        apps=apps,
        codec=seal.codec,
        doubt=doubt,
        probe=probe,
        continue_annotations=continue_annotations,
        live=live,
        why_live=why_live,
        max_live=max_live,
        limits=limits,
        required=bool(required),
        principal=principal,
        knows_callers=True if principal is not None else _has_authorization(server),
    )
    if portal is not None and kept is not None and installation.records is not None:
        portal.bind(
            store=installation.records,
            identity=installation.identity,
            server_name=installation.server_title,
            keys=portal_keys(given or of_here, kept),
            file=kept.path if isinstance(kept, SQLite) and whose in ("author", "machine") else None,
        )
    _place(inner, seal, installation)
    if probe:
        from midcall.server.channels.probe import Probe

        inner.middleware.append(Probe())
    if isinstance(server, MCPServer):
        look_inside(server, "call_tool", "read_resource")
    elif not isinstance(server, Server):
        from midcall.server.frameworks.fastmcp import prepare

        prepare(server, installation)
    installations.add(installation)
    return installation


def _live(given: bool | None, whose: Whose, store: Store | None) -> tuple[bool, str]:
    """Whether runs stay in memory, and why."""
    if given is not None:
        return given, f"install(..., live={given}) or MIDCALL_LIVE sets it."
    if whose == "process":
        return True, "Only this process can continue its calls."
    if store is not None:
        return True, "Replicas share a store."
    return False, "Replicas may share these keys, and there is no store: any of them may get a call's next request."


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


def _count(variable: str, given: int | Missing | None, default: int) -> int:
    """A count: the argument of the variable's name, else the variable, else the default."""
    value = whole(variable, default, least=1) if given is None or isinstance(given, Missing) else given
    is_whole = isinstance(value, int) and not isinstance(value, bool)  # pyright: ignore[reportUnnecessaryIsInstance]
    if not is_whole or value < 1:
        optional = ", or None" if variable == "MIDCALL_MAX_ROUNDS" else ""
        raise InstallError(f"{_argument(variable)}={value!r} must be a whole number from 1{optional}.")
    return value


def _seconds(variable: str, given: float | None, default: DefaultT, *, zero: bool = False) -> float | DefaultT:
    """Seconds: the argument of the variable's name, else the variable, else the default."""
    value = number(variable, default, zero=zero) if given is None else given
    if value is None:
        return default
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)  # pyright: ignore[reportUnnecessaryIsInstance]
    if not is_number or not (value > 0 or (zero and value == 0)):
        raise InstallError(f"{_argument(variable)}={value!r} must be {'0 or more' if zero else 'more than 0'} seconds.")
    return value


def _argument(variable: str) -> str:
    return variable.removeprefix("MIDCALL_").lower()


def _check_text(name: str, value: object, what: str, example: str) -> None:
    if value is not None and not (isinstance(value, str) and value.strip()):
        raise InstallError(f'{name}={value!r} must be {what}, as text: {name}="{example}".')


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
