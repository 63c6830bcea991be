"""What the handler sees of a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Final, cast

from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession

from midcall.core.journal import Journal

# A run keeps the connection of its first request. The channel, the request id, the progress token and the HTTP request
# are those of the newest one.

_FOLLOWING: Final = ("request", "close_sse_stream", "close_standalone_sse_stream")
_ALL_FIELDS: Final = len(fields(ServerRequestContext)) == 10
"""Whether `with_session` knows all fields of a context. A later SDK may have more."""


def with_session(ctx: ServerRequestContext[Any, Any], session: ServerSession) -> ServerRequestContext[Any, Any]:
    """`dataclasses.replace`, at a quarter of its price: every call pays it, even if it never asks."""
    if type(ctx) is not ServerRequestContext or not _ALL_FIELDS:
        return replace(ctx, session=session)
    changed = object.__new__(type(ctx))
    changed.session = session
    changed.lifespan_context = ctx.lifespan_context
    changed.protocol_version = ctx.protocol_version
    changed.method = ctx.method
    changed.params = ctx.params
    changed.request_id = ctx.request_id
    changed.meta = ctx.meta
    changed.request = ctx.request
    changed.close_sse_stream = ctx.close_sse_stream
    changed.close_standalone_sse_stream = ctx.close_standalone_sse_stream
    return changed


def with_params(ctx: ServerRequestContext[Any, Any], params: Mapping[str, Any]) -> ServerRequestContext[Any, Any]:
    changed = with_session(ctx, ctx.session)
    changed.params = params
    return changed


def follow_request(held: Any, newest: ServerRequestContext[Any, Any]) -> None:
    """Bring what the framework holds up to date: the SDK's context, or FastMCP's copy of it."""
    of_sdk = type(held) is type(newest)
    held.request_id = newest.request_id if of_sdk or newest.request_id is None else str(newest.request_id)
    held.meta = newest.meta if of_sdk else _raw_meta(newest.params)
    for name in _FOLLOWING:
        if hasattr(held, name):
            setattr(held, name, getattr(newest, name))


def _raw_meta(params: Mapping[str, Any] | None) -> dict[str, Any] | None:
    meta: Any = (params or {}).get("_meta")
    return dict(cast("Mapping[str, Any]", meta)) if isinstance(meta, Mapping) else None


def hand_down(ctx: ServerRequestContext[Any, Any], journal: Journal) -> ServerRequestContext[Any, Any]:
    """With the params for the handler: its own state and answers, and the call behind a resume code."""
    params = ctx.params or {}
    handed = {name: value for name, value in params.items() if name not in ("requestState", "inputResponses")}
    if journal.target is not None:
        handed |= journal.target._asdict()
    if (foreign := journal.foreign) is not None:
        if foreign.state is not None:
            handed["requestState"] = foreign.state
        if foreign.responses:
            handed["inputResponses"] = foreign.responses
    return with_params(ctx, handed)
