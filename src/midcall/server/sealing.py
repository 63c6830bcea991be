"""The seal of the state that a call travels as: the SDK's own, with advice where it refuses one."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.request_state import (
    AESGCMRequestStateCodec,
    RequestStateBoundary,
    RequestStateSecurity,
    authenticated_principal,
)
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from midcall.errors import InstallError
from midcall.server.keys import Key
from midcall.wording import installing
from midcall.wording import journal as wording

if TYPE_CHECKING:
    from midcall.server.installation import Installation

__all__ = ["Principal", "Seal", "Whose", "seal_for"]

STATE_TTL: Final = 3600.0
_SDK_TTL: Final = 600.0

Principal: TypeAlias = Callable[[ServerRequestContext[Any, Any]], str | None]
"""Tells whose a request is."""
Whose: TypeAlias = Literal["author", "machine", "process"]
"""Who has the keys."""


class Seal(RequestStateBoundary):
    """Seals and unseals states. It is told on whose behalf once midcall is installed."""

    installation: Installation

    def __init__(self, security: RequestStateSecurity, *, default_audience: str | None) -> None:
        super().__init__(security, default_audience=default_audience)
        self.codec = security.codec

    def _unseal(self, ctx: ServerRequestContext[Any, Any]) -> Any:
        """The SDK refuses a state before anything of ours sees it; say what to do then."""
        self.installation.look_at_keys(ctx)
        try:
            return super()._unseal(ctx)
        except MCPError as exc:
            if exc.code == INVALID_PARAMS and exc.data == {"reason": "invalid_request_state"}:
                message = wording.state_refused(self.installation.state_ttl)
                raise MCPError(code=INVALID_PARAMS, message=message, data=exc.data) from None
            raise


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
    return Seal(security, default_audience=audience), whose, ttl


def _is_default(policy: RequestStateSecurity) -> bool:
    """Whether this may be what the SDK makes by itself, with a key of this process: an author changes something."""
    usual = policy.ttl == _SDK_TTL and policy.audience is None and policy.bind_principal is authenticated_principal
    return usual and isinstance(policy.codec, AESGCMRequestStateCodec)


def _kept_ttl(old: RequestStateSecurity | None) -> float:
    """The author's own time to live, if it is not the SDK's default, which is short for a person."""
    return old.ttl if old is not None and old.ttl != _SDK_TTL else STATE_TTL
