"""The middleware of a server of any kind."""

from __future__ import annotations

from typing import Any

from mcp.server.context import ServerMiddleware

__all__ = ["chain_of"]


def chain_of(server: Any) -> list[ServerMiddleware[Any]]:
    """The middleware chain, outermost first. FastMCP's own middleware is another one, inside."""
    return getattr(server, "_mcp_server", server).middleware
