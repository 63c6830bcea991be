"""Requests from clients that show Apps: lists that include our form and its tool, and requests for these two.

A host shows an App if a tool points at one in the list of tools, before anyone knows whether it will ask. So all tools
point at our one form, except those that have their own App. Clients that have elicitation, or don't show Apps, see none
of this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND, ClientCapabilities
from pydantic import BaseModel

from midcall.protocol import ANSWER, APP, CONTINUE
from midcall.server import model_text
from midcall.server.call import Call
from midcall.server.channels.apps.tool import call_tool
from midcall.settings.cli import MAX_TOOL_PAGES

if TYPE_CHECKING:
    from midcall.server.installation import Installation

FORM: Final = "ui://midcall/form"

ABOUT: Final = frozenset({"initialize", "server/discover", "tools/list", "resources/list"})
"""The requests that describe a server."""

_TOOL: Final[dict[str, Any]] = {
    "name": APP,
    "title": model_text.APP_TOOL_TITLE,
    "description": model_text.APP_TOOL_DESCRIPTION,
    "inputSchema": {
        "type": "object",
        "properties": {"action": {"enum": ["find", "look", "accept", "decline", "cancel"]}},
        "required": ["action"],
    },
    "_meta": {"ui": {"resourceUri": FORM, "visibility": ["app"]}},
}

_UI: Final[dict[str, Any]] = {"ui": {"prefersBorder": True, "csp": {"connectDomains": [], "resourceDomains": []}}}

_RESOURCE: Final[dict[str, Any]] = {
    "uri": FORM,
    "name": "midcall_form",
    "title": model_text.APP_TITLE,
    "description": model_text.APP_DESCRIPTION,
    "mimeType": APP_MIME_TYPE,
    "_meta": _UI,
}


def shows_apps(installation: Installation, capabilities: ClientCapabilities | None) -> bool:
    """Whether this client shows Apps, as far as we know, and has no elicitation."""
    if installation.apps is False or (capabilities is not None and capabilities.elicitation is not None):
        return False
    if installation.apps is True or capabilities is None:
        return installation.apps is True
    settings = (capabilities.extensions or {}).get(EXTENSION_ID)
    types = None if settings is None else settings.get("mimeTypes")
    return isinstance(types, (list, tuple)) and APP_MIME_TYPE in types


async def add_to_list(
    installation: Installation, ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> HandlerResult:
    """Answer one of the requests in `ABOUT`; for a client that shows Apps, with our form and its tool."""
    if not shows_apps(installation, _capabilities(ctx)):
        return await call_next(ctx)
    result = await _answer(installation, ctx, call_next)
    match ctx.method:
        case "tools/list":
            return _tools(installation, result)
        case "resources/list":
            return _append(result, "resources", _RESOURCE)
        case _:
            capabilities: dict[str, Any] = {"resources": {}, **result.get("capabilities", {})}
            extensions: dict[str, Any] = {EXTENSION_ID: {}, **(capabilities.get("extensions") or {})}
            return {**result, "capabilities": {**capabilities, "extensions": extensions}}


def _capabilities(ctx: ServerRequestContext[Any, Any]) -> ClientCapabilities | None:
    if ctx.method != "initialize":
        return ctx.session.client_capabilities
    try:
        return ClientCapabilities.model_validate((ctx.params or {}).get("capabilities"))
    except ValueError:  # the server reports what is wrong with them
        return None


async def _answer(
    installation: Installation, ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> dict[str, Any]:
    """The server's own answer. A server without resources has no list of them, and now has one resource."""
    try:
        result = await call_next(ctx)
    except MCPError as error:
        if ctx.method != "resources/list" or error.code != METHOD_NOT_FOUND:
            raise
        return _fresh({"resources": []}, Call(installation, ctx))
    if isinstance(result, BaseModel):
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return dict(cast("Mapping[str, Any]", result or {}))


def _fresh(result: dict[str, Any], call: Call) -> dict[str, Any]:
    """Our list or resource, with the cache hints that 2026-07-28 requires."""
    result = call.stamp(result, "complete")
    return {"ttlMs": 0, "cacheScope": "private", **result} if call.modern else result


def _tools(installation: Installation, result: dict[str, Any]) -> dict[str, Any]:
    tools: list[dict[str, Any]] = result.get("tools", [])
    _remember_apps(installation, tools)
    linked: list[dict[str, Any]] = []
    for tool in tools:
        meta: dict[str, Any] = tool.get("_meta") or {}
        ui: dict[str, Any] = {**(meta.get("ui") or {}), "resourceUri": FORM}
        linked.append(tool if _has_own_app(tool) else {**tool, "_meta": {**meta, "ui": ui}})
    return _append({**result, "tools": linked}, "tools", _TOOL)


def _remember_apps(installation: Installation, tools: Iterable[Mapping[str, Any]]) -> None:
    """Remember which tools have their own App. Those that resume a call have none."""
    installation.own_apps.update({CONTINUE: False, ANSWER: False})
    installation.own_apps.update({tool["name"]: _has_own_app(tool) for tool in tools})


def _has_own_app(tool: Mapping[str, Any]) -> bool:
    """Whether this tool has an App already, or is for Apps only."""
    meta: dict[str, Any] = tool.get("_meta") or {}
    ui: dict[str, Any] = meta.get("ui") or {}
    return bool(ui.get("resourceUri") or meta.get("ui/resourceUri")) or "model" not in ui.get("visibility", ["model"])


def _append(result: dict[str, Any], name: str, ours: dict[str, Any]) -> dict[str, Any]:
    """The list with ours on its last page. It is for this client, so no cache may share it."""
    if "cacheScope" in result:
        result = {**result, "cacheScope": "private"}
    return result if result.get("nextCursor") is not None else {**result, name: [*result.get(name, ()), ours]}


# --- our own requests --------------------------------------------------------------------------


async def serve(
    installation: Installation, ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> HandlerResult | None:
    """Answer a request for our form or its tool; None for any other request.

    Hosts may send it on another connection, so the client doesn't have to declare Apps.
    """
    params = ctx.params or {}
    if ctx.method == "resources/read" and params.get("uri") == FORM:
        from midcall.web.forms.document import document

        form = {"uri": FORM, "mimeType": APP_MIME_TYPE, "text": document(), "_meta": _UI}
        return _fresh({"contents": [form]}, Call(installation, ctx))
    if ctx.method != "tools/call":
        return None
    name = params.get("name")
    if name == APP:
        result, ours = await call_tool(installation, ctx)
        result = Call(installation, ctx).stamp(result, "complete")
        return {**result, "_meta": {**result.get("_meta", {}), **ours}}
    if not isinstance(name, str):  # the server refuses it
        return None
    if name not in installation.own_apps and shows_apps(installation, ctx.session.client_capabilities):
        unlisted = f"{installation.caller(ctx)}\0{name}"
        if unlisted not in installation.unlisted:
            await _learn(installation, ctx, call_next)
            installation.unlisted[unlisted] = None  # asked once is enough
    return None


async def _learn(installation: Installation, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> None:
    """Find out which tools have their own App, if this replica was not asked for the list."""
    meta = (ctx.params or {}).get("_meta")
    params: dict[str, Any] = {} if meta is None else {"_meta": meta}
    for _ in range(MAX_TOOL_PAGES):
        try:
            result = await call_next(replace(ctx, method="tools/list", params=params))
        except MCPError:  # it lists no tools, so no host knows of an App
            return
        page = cast("Mapping[str, Any]", result if isinstance(result, Mapping) else {})
        _remember_apps(installation, page.get("tools", ()))
        if (cursor := page.get("nextCursor")) is None:
            return
        params = {**params, "cursor": cursor}
