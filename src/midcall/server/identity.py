"""Whose call it is."""

from __future__ import annotations

from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import principal_components
from mcp.server.context import ServerRequestContext

from midcall.core.caller import Caller
from midcall.web import peer

__all__ = ["caller", "is_own", "key_of"]


def caller() -> Caller:
    """Who makes the request that is running, as far as their access token tells."""
    token = get_access_token()
    if token is None:
        return Caller()
    client, issuer, subject = principal_components(token)
    return Caller(issuer, subject, client, token.claims or {})


def key_of(caller: Caller) -> str:
    """Names the user, whatever client they use. Empty where nobody signed in."""
    return f"{caller.issuer or ''} {caller.subject}" if caller.subject else ""


def is_own(ctx: ServerRequestContext[Any, Any]) -> bool:
    """Whether a program of the user that the server runs as makes the call: over stdio, in memory, or over loopback.

    What a proxy on this machine has passed on may come from anywhere.
    """
    return ctx.request is None or peer.is_own(ctx.request)
