"""The requests that are ours: the form itself, and the tool behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError

from midcall.protocol import APP
from midcall.server.call import Call
from midcall.server.channels.apps.listing import FORM, fresh, listed, resource, seen, shows_apps
from midcall.server.channels.apps.tool import serve
from midcall.server.frameworks.errors import stamped

if TYPE_CHECKING:
    from midcall.server.installation import Installation

__all__ = ["listed", "served"]

_PAGES: Final = 100
_TOOLS: Final = 10_000


async def served(
    installation: Installation, ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> HandlerResult | None:
    """Our answer, if the request is ours. Hosts may send it on another connection, so nobody has to declare Apps."""
    params = ctx.params or {}
    if ctx.method == "resources/read":
        return fresh(resource(), _call(installation, ctx)) if params.get("uri") == FORM else None
    if ctx.method != "tools/call":
        return None
    name = params.get("name")
    if name == APP:
        return _stamped(await serve(installation, ctx), _call(installation, ctx))
    if name not in installation.own_apps and shows_apps(installation, ctx.session.client_capabilities):
        await _learn(installation, ctx, call_next)
        if len(installation.own_apps) < _TOOLS:
            installation.own_apps.setdefault(str(name), True)  # no host knows of an App for what is not listed
    return None


def _call(installation: Installation, ctx: ServerRequestContext[Any, Any]) -> Call:
    return Call(installation, ctx)


def _stamped(result: dict[str, Any], call: Call) -> dict[str, Any]:
    ours = result.pop("_meta")
    result = stamped(result, call, "complete")
    return {**result, "_meta": {**result.get("_meta", {}), **ours}}


async def _learn(installation: Installation, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> None:
    """See which tools have an App of their own, where this replica was not asked for the list."""
    meta = (ctx.params or {}).get("_meta")
    params: dict[str, Any] = {} if meta is None else {"_meta": meta}
    for _ in range(_PAGES):
        try:
            result = await call_next(replace(ctx, method="tools/list", params=params))
        except MCPError:  # it lists none: then no host knows of an App
            return
        page = cast("Mapping[str, Any]", result if isinstance(result, Mapping) else {})
        seen(installation, page.get("tools", ()))
        if (cursor := page.get("nextCursor")) is None:
            return
        params = {**params, "cursor": cursor}
