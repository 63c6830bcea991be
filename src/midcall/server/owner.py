"""Whose call it is."""

from __future__ import annotations

from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import principal_components
from mcp.server.context import ServerRequestContext

from midcall.core.addresses import is_loopback
from midcall.portal.caller import Caller
from midcall.portal.peer import is_forwarded

__all__ = ["caller", "is_local", "key_of"]


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


def is_local(ctx: ServerRequestContext[Any, Any]) -> bool:
    """Whether the request comes from this machine: over stdio, in memory, or from its loopback address.

    What a proxy on this machine has passed on may come from anywhere.
    """
    if ctx.request is None:
        return True
    client, headers = getattr(ctx.request, "client", None), getattr(ctx.request, "headers", {})
    return client is not None and is_loopback(client.host) and not is_forwarded(headers)
