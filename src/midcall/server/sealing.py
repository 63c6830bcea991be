"""The seal of our states, around whatever seals the states of others.

A state of ours travels sealed and marked. A state that midcall didn't make is none of its business: the boundary that
the server has of its own seals it, or nobody does.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeGuard

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.request_state import (
    AESGCMRequestStateCodec,
    RequestStateBoundary,
    RequestStateSecurity,
    authenticated_principal,
)
from mcp.shared.exceptions import MCPError
from mcp_types.methods import INPUT_REQUIRED_METHODS, is_input_required

from midcall.errors import InstallError
from midcall.server.keys import Key
from midcall.server.running.following import with_params
from midcall.server.running.turns import OwnState
from midcall.wording import installing
from midcall.wording import journal as wording

if TYPE_CHECKING:
    from midcall.server.installation import Installation

__all__ = ["Principal", "Seal", "Whose", "seal_for"]

logger = logging.getLogger("midcall")

STATE_TTL: Final = 3600.0
_SDK_TTL: Final = 600.0
_MARK: Final = "midcall."

Principal: TypeAlias = Callable[[ServerRequestContext[Any, Any]], str | None]
"""Tells whose a request is."""
Whose: TypeAlias = Literal["author", "machine", "process"]
"""Who has the keys."""


class Seal:
    """Middleware: seals and unseals our states, and leaves those of others to the server's own boundary."""

    installation: Installation

    def __init__(
        self, security: RequestStateSecurity, *, audience: str | None, theirs: RequestStateBoundary | None
    ) -> None:
        self.codec = security.codec
        # An audience of its own: under the same key, a state that the server's boundary sealed must not pass for ours.
        self._ours = RequestStateBoundary(security, default_audience=f"{_MARK}{audience or ''}")
        self._theirs = theirs

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method not in INPUT_REQUIRED_METHODS:
            return await call_next(ctx)
        state = ctx.params.get("requestState") if ctx.params is not None else None
        if isinstance(state, str) and state.startswith(_MARK):
            return await self._unsealed(ctx, state, call_next)
        if state is not None and self._theirs is not None:
            result = await _around(self._theirs, ctx, call_next)
            return await self._sealed(ctx, result) if is_own(result) else result
        result = await call_next(ctx)
        return await self._sealed(ctx, result) if is_input_required(result) else result

    async def _unsealed(self, ctx: ServerRequestContext[Any, Any], state: str, call_next: CallNext) -> HandlerResult:
        """Continue a call with a state of ours. A round that it ends with is sealed on the way out, if it's ours."""
        self.installation.look_at_keys(ctx)
        verified = False
        left: list[HandlerResult] = []

        async def inside(ctx: ServerRequestContext[Any, Any]) -> HandlerResult:
            nonlocal verified
            verified = True
            params = ctx.params or {}
            params = {**params, "requestState": OwnState(params["requestState"])}
            result = await call_next(with_params(ctx, params))
            if is_own(result):
                return result
            left.append(result)
            return None

        bare = with_params(ctx, {**(ctx.params or {}), "requestState": state.removeprefix(_MARK)})
        try:
            result = await self._ours(bare, inside)
        except MCPError:
            if not verified:
                logger.warning(wording.state_refused(self.installation.state_ttl))
            raise
        if not left:
            return _marked(result)
        return await self._sealed(ctx, left[0]) if is_input_required(left[0]) else left[0]

    async def _sealed(self, ctx: ServerRequestContext[Any, Any], result: HandlerResult) -> HandlerResult:
        """This round, sealed; with our mark if it's ours."""
        if is_own(result):
            return _marked(await _as_if_fresh(self._ours, ctx, result))
        return result if self._theirs is None else await _as_if_fresh(self._theirs, ctx, result)


def is_own(result: object) -> TypeGuard[dict[str, Any]]:
    """Whether this is a round with a state that midcall made, not sealed yet."""
    return isinstance(result, dict) and isinstance(result.get("requestState"), OwnState)  # pyright: ignore[reportUnknownMemberType]


def _marked(sealed: Any) -> dict[str, Any]:
    return {**sealed, "requestState": f"{_MARK}{sealed['requestState']}"}


async def _around(
    boundary: RequestStateBoundary, ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> HandlerResult:
    """Let this boundary unseal the state, and seal the next one unless it's ours."""
    ours: list[HandlerResult] = []

    async def inside(ctx: ServerRequestContext[Any, Any]) -> HandlerResult:
        result = await call_next(ctx)
        if not is_own(result):
            return result
        ours.append(result)
        return None

    result = await boundary(ctx, inside)
    return ours[0] if ours else result


async def _as_if_fresh(
    boundary: RequestStateBoundary, ctx: ServerRequestContext[Any, Any], result: HandlerResult
) -> HandlerResult:
    """Let this boundary seal the state of a result."""

    async def made(_: ServerRequestContext[Any, Any]) -> HandlerResult:
        return result

    params = {name: value for name, value in (ctx.params or {}).items() if name != "requestState"}
    return await boundary(with_params(ctx, params), made)


def seal_for(
    server: Server[Any], keys: list[Key], of_here: list[Key], ttl: float | None, principal: Principal | None
) -> tuple[Seal, Whose, float]:
    """The seal for this server's states, who has its keys, and how long states live.

    A server that has one keeps its key unless it is given another; the SDK's own default dies with the process.
    """
    present = next((mw for mw in server.middleware if isinstance(mw, RequestStateBoundary)), None)
    old: RequestStateSecurity | None = getattr(present, "_security", None)
    audience: str | None = getattr(present, "_audience", server.name)
    ttl = ttl if ttl is not None else _kept_ttl(old)
    bind = principal or (old.bind_principal if old is not None else authenticated_principal)
    whose: Whose = "author" if keys else "process"
    if not keys and of_here and (old is None or _is_default(old)):
        keys, whose = of_here, "machine"
    try:
        if keys:
            security = RequestStateSecurity(keys=keys, ttl=ttl, bind_principal=bind)
        elif old is not None:
            security = RequestStateSecurity(codec=old.codec, ttl=ttl, bind_principal=bind)
        else:
            security = RequestStateSecurity(keys=[os.urandom(32)], ttl=ttl, bind_principal=bind)
    except (TypeError, ValueError) as exc:
        raise InstallError(installing.bad_keys(str(exc)), advice=installing.bad_keys_advice()) from None
    return Seal(security, audience=audience, theirs=present), whose, ttl


def _is_default(policy: RequestStateSecurity) -> bool:
    """Whether this may be what the SDK makes by itself, with a key of this process: an author changes something."""
    usual = policy.ttl == _SDK_TTL and policy.audience is None and policy.bind_principal is authenticated_principal
    return usual and isinstance(policy.codec, AESGCMRequestStateCodec)


def _kept_ttl(old: RequestStateSecurity | None) -> float:
    """The author's own time to live, if it is not the SDK's default, which is short for a person."""
    return old.ttl if old is not None and old.ttl != _SDK_TTL else STATE_TTL
