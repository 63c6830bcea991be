"""`install`: the one line that lets a server ask."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from mcp.server.lowlevel.server import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.request_state import RequestStateBoundary
from mcp.shared.exceptions import MCPError

from midcall.core.question import MISSING, Missing
from midcall.environment import flag, number, whole
from midcall.errors import InstallError
from midcall.server.frameworks.errors import look_inside
from midcall.server.installation import Installation, installations
from midcall.server.middleware import Calls
from midcall.server.sealing import Principal, Seal, Whose, seal_for
from midcall.server.sealing_keys import Key, given_keys, machine_keys, portal_keys
from midcall.settings import DOUBT_SECONDS, HEARTBEAT_SECONDS, MAX_LIVE, MAX_ROUNDS
from midcall.stores import open_store

if TYPE_CHECKING:
    from fastmcp import FastMCP

    from midcall.server.channels.portal import Portal
    from midcall.stores.base import Store


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
    relay: bool = False,
    apps: bool | None = None,
    doubt: float | None = None,
    probe: bool = False,
    required: bool | None = None,
    live: bool | None = None,
    max_live: int | None = None,
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
        store: Where journals, codes and pages are kept: a URL such as `postgresql://...`, `redis://...` or
            `sqlite:///path`, or a store. With one, `once` holds across replicas and restarts, states may grow large,
            and a call can resume later. Default: `MIDCALL_STORE`, else none; with a portal, SQLite.
        portal: The web pages for secrets, authorizations, approvals and forms.
        relay: Let the model ask in the chat, for questions that allow it (`via=` with "relay"). It needs a store.
        apps: Whether clients without elicitation get forms as MCP Apps. Default: if they declare that they show Apps,
            and there is a store. True is for hosts that show Apps without declaring it.
        doubt: A "no" within so many seconds, such as 0.25, may mean that nobody saw the question: then midcall asks
            once more, by a page or a link, if there is one. 0, the default, believes every "no".
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

    Raises:
        InstallError: It isn't a server, midcall is installed already, or a setting is wrong.
    """
    lowlevel, error_base = _lowlevel(server)
    if installation_on(server) is not None:
        raise InstallError("midcall is installed on this server already. Call install() once per server.")
    max_rounds = (whole("MIDCALL_MAX_ROUNDS", least=1) or MAX_ROUNDS) if isinstance(max_rounds, Missing) else max_rounds
    heartbeat = (number("MIDCALL_HEARTBEAT") or HEARTBEAT_SECONDS) if heartbeat is None else heartbeat
    doubt = (number("MIDCALL_DOUBT", zero=True) or DOUBT_SECONDS) if doubt is None else doubt
    state_ttl = number("MIDCALL_STATE_TTL") if state_ttl is None else state_ttl
    max_live = (whole("MIDCALL_MAX_LIVE", least=1) or MAX_LIVE) if max_live is None else max_live
    numbers = {
        "heartbeat": heartbeat,
        "doubt": doubt,
        "state_ttl": state_ttl,
        "max_rounds": max_rounds,
        "max_live": max_live,
    }
    for name, value in numbers.items():
        _check_number(name, value)
    if portal is not None and (isinstance(portal, type) or not hasattr(portal, "bind")):
        raise InstallError(f"portal= must be a Portal, not {_describe(portal)}: install(server, portal=Portal(...)).")
    if principal is not None and not callable(principal):
        raise InstallError(
            "principal= must be a function that takes the request's context and names the user, not "
            f"{type(principal).__name__}."
        )
    if not_secret is not None and not (isinstance(not_secret, str) and not_secret.strip()):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InstallError(
            f'not_secret={not_secret!r} must be the reason, as text: not_secret="a word in a party game".'
        )
    given = given_keys(keys)
    kept = _store(store, portal)
    if relay and kept is None:
        raise InstallError("relay=True needs a store: install(server, relay=True, store='sqlite://').")
    of_here = [] if given else machine_keys(kept, portal)
    seal, whose, ttl = seal_for(lowlevel, given, of_here, state_ttl, principal)
    live, why_live = _live(flag("MIDCALL_LIVE") if live is None else live, whose, kept)
    installation = Installation(
        server=lowlevel,
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
        relay=relay,
        apps=apps,
        codec=seal.codec,
        doubt=doubt,
        probe=probe,
        live=live,
        why_live=why_live,
        max_live=max_live,
        required=bool(flag("MIDCALL_REQUIRED") if required is None else required),
        principal=principal,
        knows_callers=True if principal is not None else _has_authorization(server),
    )
    if portal is not None and kept is not None:
        portal.bind(store=kept, server_name=installation.server_title, keys=portal_keys(given or of_here, kept))
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


def _has_authorization(server: object) -> bool | None:
    """Whether callers have an access token. Of a low-level server that is known only once it serves."""
    if isinstance(server, Server):
        return None
    return (getattr(server, "_token_verifier", None) or getattr(server, "auth", None)) is not None


def _check_number(name: str, value: Any) -> None:
    """Check a setting: seconds, or for `max_` a count. None means that it isn't set."""
    if value is None:
        return
    is_number = isinstance(value, int if name.startswith("max_") else (int, float)) and not isinstance(value, bool)
    if not is_number or not (value >= 0 if name == "doubt" else value >= 1 if name.startswith("max_") else value > 0):
        kinds = {"doubt": "0 or more seconds", "max_rounds": "a whole number from 1, or None"}
        kind = kinds.get(name, "a whole number from 1" if name.startswith("max_") else "more than 0 seconds")
        raise InstallError(f"{name}={value!r} must be {kind}.")


def _store(store: Store | str | None, portal: Portal | None) -> Store | None:
    """Open the store, if there is one; a portal always needs one."""
    if store is None:
        store = os.environ.get("MIDCALL_STORE") or ("sqlite://" if portal is not None else None)
    if store is not None and not isinstance(store, str) and (isinstance(store, type) or not hasattr(store, "open")):
        raise InstallError(f"store= must be a URL such as sqlite:///path, or a store, not {_describe(store)}.")
    return open_store(store) if isinstance(store, str) else store


def _describe(value: object) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def _place(server: Server[Any], seal: Seal, installation: Installation) -> None:
    """Add our middleware: the seal before the author's, and the one that runs calls after it."""
    seal.installation = installation
    middleware = server.middleware
    index = next((i for i, mw in enumerate(middleware) if isinstance(mw, RequestStateBoundary)), len(middleware))
    middleware[index : index + 1] = [seal]
    middleware.append(Calls(installation).serve)
