"""Seals the states that midcall makes, and finds the keys for that.

States travel encrypted and marked, and open only for the same user, server, tool and arguments, until they expire.
Other states are left to the server's own boundary, if it has one.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import struct
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.request_state import (
    AESGCMRequestStateCodec,
    InvalidRequestState,
    RequestStateBoundary,
    RequestStateSecurity,
    authenticated_principal,
)
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from mcp_types.methods import INPUT_REQUIRED_METHODS, is_input_required

from midcall.errors import InstallError
from midcall.server.frameworks.context import with_params
from midcall.server.running.turn import OwnState, has_own_state
from midcall.settings.calls import SDK_STATE_TTL_SECONDS
from midcall.settings.install import STATE_TTL_SECONDS
from midcall.stores.memory import Memory
from midcall.stores.sqlite import SQLite

if TYPE_CHECKING:
    from midcall.server.channels.portal import Portal
    from midcall.server.installation import Installation
    from midcall.stores.base import Store

logger = logging.getLogger("midcall")

_MARK: Final = "midcall."
_HEADER: Final = struct.Struct(">B16sd32s")
"""In front of a state: the version of this layout, a salt, when it expires, and the digest of what it's bound to."""
_VERSION: Final = 1
_SURROGATES: Final = "surrogatepass"
_REFUSED: Final = {"reason": "invalid_request_state"}
"""What the SDK says of a state that it refuses, too."""

_canonical: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode

Key: TypeAlias = str | bytes | bytearray
Principal: TypeAlias = Callable[[ServerRequestContext[Any, Any]], str | None]
"""Tells whose a request is."""
_Fail: TypeAlias = Callable[[ServerRequestContext[Any, Any], str, str], MCPError]
Whose: TypeAlias = Literal["author", "machine", "server", "process"]
"""Who has the keys: `server` means a policy of the server's own, whose keys replicas may share."""


class Seal:
    """Middleware: seals and unseals our states, and leaves those of others to the server's own boundary."""

    installation: Installation

    def __init__(
        self, security: RequestStateSecurity, *, audience: str | None, theirs: RequestStateBoundary | None
    ) -> None:
        self.codec = security.codec
        self._ttl = security.ttl
        self._principal = security.bind_principal
        self._audience = audience
        self._theirs = theirs

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method not in INPUT_REQUIRED_METHODS:
            return await call_next(ctx)
        state = None if ctx.params is None else ctx.params.get("requestState")
        binding = None
        if isinstance(state, str) and state.startswith(_MARK):
            if ctx.request is not None:
                self.installation.check_keys(ctx)
            binding = self._bind(ctx, self._refuse)
            opened = self._open(ctx, state[len(_MARK) :], binding)
            result = await call_next(with_params(ctx, {**(ctx.params or {}), "requestState": OwnState(opened)}))
        elif state is not None and self._theirs is not None:
            try:
                result, is_sealed = await _seal_around(self._theirs, ctx, call_next)
            except MCPError as exc:
                if exc.data == _REFUSED:
                    self.installation.note(ctx, "state.refused", outcome="unknown")
                raise
            if is_sealed:
                return result
        else:
            result = await call_next(ctx)
        if has_own_state(result):
            sealed = self._close(ctx, result["requestState"], binding or self._bind(ctx, _fail))
            return {**result, "requestState": f"{_MARK}{sealed}"}
        if self._theirs is not None and is_input_required(result):
            return await _as_if_fresh(self._theirs, ctx, result)
        return result

    # --- our envelope -------------------------------------------------------------------------

    def _bind(self, ctx: ServerRequestContext[Any, Any], fail: _Fail) -> bytes:
        """What a state of this request is bound to: server, user, method, target and arguments."""
        try:
            principal: Any = None if self._principal is None else self._principal(ctx)
        except Exception:
            logger.exception("Could not tell whose a request on %s is: principal= raised", ctx.method)
            raise fail(ctx, "user", "its user could not be told") from None
        if principal is not None and not isinstance(principal, str):
            raise fail(ctx, "user", f"principal= returned {type(principal).__name__} instead of str or None")
        params = ctx.params or {}
        called: tuple[Any, Any] = (params.get("name"), params.get("arguments") or {})
        called = (params.get("uri"), None) if ctx.method == "resources/read" else called
        server = (self._audience, self.installation.identity.namespace)
        return _canonical((server, principal, ctx.method, *called)).encode()

    def _close(self, ctx: ServerRequestContext[Any, Any], state: str, binding: bytes) -> str:
        """Seal this state."""
        salt = os.urandom(16)  # some codecs only sign; without it, anyone could find out the user by trying names
        header = _HEADER.pack(_VERSION, salt, time.time() + self._ttl, hashlib.sha256(salt + binding).digest())
        try:
            return self.codec.seal(header + state.encode(errors=_SURROGATES))
        except Exception:
            logger.exception("The codec of this server's states raised")
            raise _fail(ctx, "codec", "the codec raised") from None

    def _open(self, ctx: ServerRequestContext[Any, Any], sealed: str, binding: bytes) -> str:
        """The state in this, for the request that it's bound to.

        Raises:
            MCPError: It isn't, has expired, or was changed. The client gets the SDK's words.
        """
        try:
            payload = self.codec.unseal(sealed)
            version, salt, until, digest = _HEADER.unpack_from(payload)
        except Exception as exc:
            if not isinstance(exc, (InvalidRequestState, struct.error)):
                logger.warning("The codec of this server's states raised", exc_info=exc)
            raise self._refuse(ctx, "changed", "it was changed, or sealed with another key") from None
        if version != _VERSION:
            raise self._refuse(ctx, "version", "it has another version")
        opened = payload[_HEADER.size :].decode(errors=_SURROGATES)
        if not time.time() < until:
            raise self._refuse(ctx, "expired", "it has expired", opened)
        if not hmac.compare_digest(hashlib.sha256(salt + binding).digest(), digest):
            raise self._refuse(ctx, "foreign", "it belongs to another user, server, tool, or other arguments", opened)
        return opened

    def _refuse(self, ctx: ServerRequestContext[Any, Any], outcome: str, why: str, opened: str = "") -> MCPError:
        """Log why. The client gets the SDK's words and no more."""
        self.installation.note(ctx, "state.refused", outcome=outcome, state=opened)
        logger.warning(
            f"Refused the state of a call on {ctx.method}: {why}. States live for "
            f"{self.installation.state_ttl / 60:g} minutes, and replicas need the same keys: install(..., "
            "state_ttl=..., keys=...)."
        )
        return MCPError(INVALID_PARAMS, "Invalid or expired requestState", data=dict(_REFUSED))


def _fail(ctx: ServerRequestContext[Any, Any], outcome: str, why: str) -> MCPError:
    logger.error("Could not seal the state of a call on %s: %s", ctx.method, why)
    return MCPError(INTERNAL_ERROR, "Internal error")


async def _seal_around(
    boundary: RequestStateBoundary, ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> tuple[HandlerResult, bool]:
    """Let this boundary unseal the state, and seal the next one unless it's ours. Whether it has."""
    ours: list[HandlerResult] = []

    async def inside(ctx: ServerRequestContext[Any, Any]) -> HandlerResult:
        result = await call_next(ctx)
        if not has_own_state(result):
            return result
        ours.append(result)
        return None

    result = await boundary(ctx, inside)
    return (ours[0], False) if ours else (result, True)


async def _as_if_fresh(
    boundary: RequestStateBoundary, ctx: ServerRequestContext[Any, Any], result: HandlerResult
) -> HandlerResult:
    """Let this boundary seal the state of a result."""

    async def made(_: ServerRequestContext[Any, Any]) -> HandlerResult:
        return result

    params = {name: value for name, value in (ctx.params or {}).items() if name != "requestState"}
    return await boundary(with_params(ctx, params), made)


# --- keys --------------------------------------------------------------------------------------


def seal_for(
    server: Server[Any], keys: list[Key], of_here: list[Key], ttl: float | None, principal: Principal | None
) -> tuple[Seal, Whose, float]:
    """The seal for this server's states, who has its keys, and how long states live.

    A server that has one keeps its key unless it is given another; the SDK's own default dies with the process.
    """
    present = next((mw for mw in server.middleware if isinstance(mw, RequestStateBoundary)), None)
    old: RequestStateSecurity | None = getattr(present, "_security", None)
    audience: str | None = getattr(present, "_audience", server.name)
    if ttl is None:  # the SDK's default is short for a person
        ttl = old.ttl if old is not None and old.ttl != SDK_STATE_TTL_SECONDS else STATE_TTL_SECONDS
    bind = principal or (old.bind_principal if old is not None else authenticated_principal)
    whose: Whose = "author" if keys else "server" if old is not None and not _is_default(old) else "process"
    if not keys and of_here and (old is None or _is_default(old)):
        keys, whose = of_here, "machine"
    try:
        if old is not None and not keys:
            security = RequestStateSecurity(codec=old.codec, ttl=ttl, bind_principal=bind)
        else:
            security = RequestStateSecurity(keys=keys or [os.urandom(32)], ttl=ttl, bind_principal=bind)
    except (TypeError, ValueError) as exc:
        raise _bad_keys(str(exc)) from None
    return Seal(security, audience=audience, theirs=present), whose, ttl


def _is_default(policy: RequestStateSecurity) -> bool:
    """Whether this looks like the SDK's default, with a key of this process: an author changes something."""
    usual = (
        policy.ttl == SDK_STATE_TTL_SECONDS
        and policy.audience is None
        and policy.bind_principal is authenticated_principal
    )
    return usual and isinstance(policy.codec, AESGCMRequestStateCodec)


def given_keys(keys: Sequence[Key] | Key | None) -> list[Key]:
    """The author's keys, else those of `MIDCALL_KEYS`, else none.

    Raises:
        InstallError: One of them isn't a key.
    """
    if keys is None:
        keys = [key.strip() for key in os.environ.get("MIDCALL_KEYS", "").split(",") if key.strip()]
    elif isinstance(keys, (str, bytes, bytearray)):
        keys = [keys]
    elif not isinstance(keys, Sequence) or not keys:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _bad_keys("there are none.")
    if keys:
        from midcall.stores.keys import check_keys

        check_keys(keys)
    return list(keys)


def machine_keys(store: Store | None, portal: Portal | None) -> list[Key]:
    """The keys of this user on this machine, if everything that they seal stays on it; else none.

    With them, a server that restarts can read what it stored.

    Raises:
        InstallError: A portal needs them, and they cannot be read or created.
    """
    if store is None or (portal is None and not isinstance(store, SQLite)):
        return []
    try:
        return list(portal_keys([], store))
    except InstallError:
        if portal is not None:
            raise
        return []  # no place for a key, or a locked keyring: then calls don't outlive the process


def portal_keys(keys: Sequence[Key], store: Store) -> list[str | bytes]:
    """The keys for the vault and the pages: the author's, else those of this machine.

    Raises:
        InstallError: No keys are set, and other machines share the store.
    """
    from midcall.stores.keys import find_keys
    from midcall.stores.sqlite import default_file

    given = [bytes(key) if isinstance(key, bytearray) else key for key in keys]
    return find_keys(given, directory=default_file().parent, shared=not isinstance(store, (Memory, SQLite)))


def _bad_keys(why: str) -> InstallError:
    return InstallError(
        f"These keys (keys=, or MIDCALL_KEYS) cannot be used: {why}",
        advice=(
            "A key is a string of at least 32 random characters; make one with "
            '`python -c "import secrets; print(secrets.token_hex(32))"`. Several keys, separated by commas in '
            "MIDCALL_KEYS, rotate: the first seals, all unseal."
        ),
    )
