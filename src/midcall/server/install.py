"""`install`: the one line that lets a server ask."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, cast
from weakref import WeakKeyDictionary, WeakSet

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity, authenticated_principal
from mcp.shared.exceptions import MCPError

from midcall import wording
from midcall.errors import InstallError
from midcall.server.middleware import Advice, Asking
from midcall.server.visits import Visits

if TYPE_CHECKING:
    from fastmcp import FastMCP

__all__ = ["Installation", "install"]

logger = logging.getLogger("midcall")

STATE_TTL: Final = 3600.0
MAX_ROUNDS: Final = 10
HEARTBEAT: Final = 10.0
_WARNINGS: Final = 100

Principal = Callable[[ServerRequestContext[Any, Any]], str | None]
Key = str | bytes | bytearray

installations: WeakSet[Installation] = WeakSet()
_by_server: WeakKeyDictionary[Server[Any], Installation] = WeakKeyDictionary()


class Installation:
    """midcall on one server. What `install` returns."""

    def __init__(
        self,
        server: Server[Any],
        *,
        error_base: type[Exception],
        adopt: bool,
        strict: bool,
        state_ttl: float,
        max_rounds: int | None,
        heartbeat: float,
        not_secret: str | None,
        answers_ahead: bool,
        local_key: bool,
    ) -> None:
        self.server = server
        self.error_base = error_base
        self.adopt = adopt
        self.strict = strict
        self.state_ttl = state_ttl
        self.max_rounds = max_rounds
        self.heartbeat = heartbeat
        self.not_secret = not_secret
        self.answers_ahead = answers_ahead
        self.visits = Visits()
        self._local_key = local_key
        self._warned: set[str] = set()

    async def complete(self, id: str) -> bool:
        """Say that the out-of-band part of this visit is done. False if that was known already."""
        return await self.visits.complete(id)

    def over_http(self) -> None:
        """A request came over HTTP, where a process-local key loses calls."""
        if self._local_key:
            self.warn_once("local-key", wording.process_local_key())

    def warn_once(self, what: str, message: str) -> None:
        if what not in self._warned and len(self._warned) < _WARNINGS:
            self._warned.add(what)
            logger.warning(message)


def install(
    server: MCPServer[Any] | Server[Any] | FastMCP[Any],
    *,
    keys: Sequence[Key] | Key | None = None,
    state_ttl: float | None = None,
    principal: Principal | None = None,
    adopt: bool = True,
    strict: bool = False,
    max_rounds: int | None = MAX_ROUNDS,
    heartbeat: float = HEARTBEAT,
    not_secret: str | None = None,
    answers_ahead: bool = False,
) -> Installation:
    """Let the tools, prompts and resources of this server ask the user.

    Args:
        server: An `MCPServer`, a low-level `Server`, or a FastMCP server.
        keys: What seals the state of a call that waits, on 2026-07-28. The first seals, all
            unseal. Needed where there is more than one process, or where calls are to survive a
            restart. Default: `MIDCALL_KEYS`, else what the server has, else a key of this process.
        state_ttl: For how many seconds a call may wait for its answers.
        principal: Tells to whom a call belongs, where MCP authorization does not.
        adopt: Let `ctx.elicit()` and `ctx.elicit_url()` go through midcall, too.
        strict: Refuse what is only warned about otherwise, such as a link in a form.
        max_rounds: End a call before its client gives up; stock clients do after 10 rounds.
        heartbeat: Seconds between two signs of life on the caller's progress token.
        not_secret: Why adopted forms may have fields that are named like secrets.
        answers_ahead: Take answers to keyed questions that a client sends before it was asked, with
            the first request. Off, they change nothing.

    Raises:
        InstallError: It is no server, midcall is installed already, or a setting is wrong.
    """
    lowlevel, error_base = _lowlevel(server)
    if lowlevel in _by_server:
        raise InstallError(wording.installed_twice())
    if not heartbeat > 0 or (max_rounds is not None and max_rounds < 1):
        raise InstallError(wording.bad_setting(heartbeat, max_rounds))
    if state_ttl is not None and not state_ttl > 0:
        raise InstallError(wording.bad_ttl(state_ttl))
    boundary, local_key, ttl = _boundary(lowlevel, _keys(keys), state_ttl, principal)
    installation = Installation(
        lowlevel,
        error_base=error_base,
        adopt=adopt,
        strict=strict,
        state_ttl=ttl,
        max_rounds=max_rounds,
        heartbeat=heartbeat,
        not_secret=not_secret,
        answers_ahead=answers_ahead,
        local_key=local_key,
    )
    _place(lowlevel, boundary, installation)
    if not isinstance(server, (MCPServer, Server)):
        from midcall.server.fastmcp import prepare

        prepare(server, adopt=adopt)
    _by_server[lowlevel] = installation
    installations.add(installation)
    return installation


def _lowlevel(server: object) -> tuple[Server[Any], type[Exception]]:
    """The SDK's server under this one, and the exception that it lets through."""
    if isinstance(server, MCPServer):
        return cast("Server[Any]", server._lowlevel_server), MCPError  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType]
    if isinstance(server, Server):
        return cast("Server[Any]", server), MCPError
    if (fastmcp := sys.modules.get("fastmcp")) is not None and isinstance(server, fastmcp.FastMCP):
        from fastmcp.exceptions import ToolError

        return cast("Any", server)._mcp_server, ToolError
    raise InstallError(wording.not_a_server(type(server).__name__))


def _keys(keys: Sequence[Key] | Key | None) -> list[Key]:
    if keys is None:
        keys = [key.strip() for key in os.environ.get("MIDCALL_KEYS", "").split(",") if key.strip()]
    elif isinstance(keys, (str, bytes, bytearray)):
        keys = [keys]
    elif not isinstance(keys, Sequence) or not keys:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InstallError(wording.bad_keys("there are none."), advice=wording.bad_keys_advice())
    return list(keys)


def _boundary(
    server: Server[Any], keys: list[Key], ttl: float | None, principal: Principal | None
) -> tuple[RequestStateBoundary, bool, float]:
    """The seal for this server's states, whether its key is this process's alone, and how long states live.

    A server that has one keeps its key unless it is given another.
    """
    present = next((mw for mw in server.middleware if isinstance(mw, RequestStateBoundary)), None)
    old: RequestStateSecurity | None = getattr(present, "_security", None)
    audience: str | None = getattr(present, "_audience", server.name)
    ttl = ttl if ttl is not None else _kept_ttl(old)
    bind = principal or (old.bind_principal if old is not None else authenticated_principal)
    try:
        if keys:
            security = RequestStateSecurity(keys=keys, ttl=ttl, bind_principal=bind)
        elif old is not None:
            security = RequestStateSecurity(codec=old.codec, ttl=ttl, bind_principal=bind)
        else:
            security = RequestStateSecurity(keys=[os.urandom(32)], ttl=ttl, bind_principal=bind)
    except (TypeError, ValueError) as exc:
        raise InstallError(wording.bad_keys(str(exc)), advice=wording.bad_keys_advice()) from None
    return RequestStateBoundary(security, default_audience=audience), not keys, ttl


def _kept_ttl(old: RequestStateSecurity | None) -> float:
    """The author's own time to live, if it is not the SDK's default, which is short for a person."""
    return old.ttl if old is not None and old.ttl != 600.0 else STATE_TTL


def _place(server: Server[Any], boundary: RequestStateBoundary, installation: Installation) -> None:
    """Advice, the seal, whatever the author has, and innermost what asks."""
    middleware = server.middleware
    index = next((i for i, mw in enumerate(middleware) if isinstance(mw, RequestStateBoundary)), None)
    if index is None:
        index = len(middleware)
        middleware.append(boundary)
    else:
        middleware[index] = boundary
    middleware.insert(index, Advice(installation))
    middleware.append(Asking(installation))
