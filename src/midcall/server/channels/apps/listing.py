"""What a client that shows Apps, and cannot be asked, is told; nobody else is told any of it.

A host shows an App where a tool points at one, and a tool does so in the list of tools, before anyone
knows whether it will ask. So all tools point at our one form, except those that have an App of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND, ClientCapabilities
from pydantic import BaseModel

from midcall.protocol import ANSWER, APP, CONTINUE
from midcall.server.call import Call
from midcall.server.frameworks.errors import stamped
from midcall.wording import apps as wording

if TYPE_CHECKING:
    from midcall.server.installation import Installation

__all__ = ["ABOUT", "FORM", "META", "fresh", "listed", "resource", "seen", "shows_apps"]

FORM: Final = "ui://midcall/form"
META: Final = "midcall/app"
"""Where a result says something to the App, and to nobody else."""

ABOUT: Final = frozenset({"initialize", "server/discover", "tools/list", "resources/list"})
"""What is asked to get to know a server."""

_TOOL: Final[dict[str, Any]] = {
    "name": APP,
    "title": wording.tool_title(),
    "description": wording.tool_description(),
    "inputSchema": {
        "type": "object",
        "properties": {"action": {"enum": ["find", "look", "accept", "decline", "cancel"]}},
        "required": ["action"],
    },
    "_meta": {"ui": {"resourceUri": FORM, "visibility": ["app"]}},
}

_UI: Final[dict[str, Any]] = {"ui": {"prefersBorder": True, "csp": {"connectDomains": [], "resourceDomains": []}}}


def shows_apps(installation: Installation, capabilities: ClientCapabilities | None) -> bool:
    """Whether this client shows Apps, as far as we know, and cannot be asked in another way."""
    if installation.apps is False or (capabilities is not None and capabilities.elicitation is not None):
        return False
    return installation.apps is True or (capabilities is not None and _declares_apps(capabilities))


def _declares_apps(capabilities: ClientCapabilities) -> bool:
    settings = (capabilities.extensions or {}).get(EXTENSION_ID)
    types = None if settings is None else settings.get("mimeTypes")
    return isinstance(types, (list, tuple)) and APP_MIME_TYPE in types


async def listed(installation: Installation, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """The answer to one of the requests in `ABOUT`, with what is ours for a client that shows Apps."""
    if not shows_apps(installation, _capabilities(ctx)):
        return await call_next(ctx)
    result = await _answer(installation, ctx, call_next)
    match ctx.method:
        case "tools/list":
            return _tools(installation, result)
        case "resources/list":
            return _at_the_end(result, "resources", _resource())
        case _:
            return _capable(result)


def _capabilities(ctx: ServerRequestContext[Any, Any]) -> ClientCapabilities | None:
    if ctx.method != "initialize":
        return ctx.session.client_capabilities
    try:
        return ClientCapabilities.model_validate((ctx.params or {}).get("capabilities"))
    except ValueError:  # the server says what is wrong with them
        return None


async def _answer(
    installation: Installation, ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> dict[str, Any]:
    """What the server says itself. One without resources has no list of them, and now one resource."""
    try:
        result = await call_next(ctx)
    except MCPError as error:
        if ctx.method != "resources/list" or error.code != METHOD_NOT_FOUND:
            raise
        return fresh({"resources": []}, Call(installation, ctx))
    if isinstance(result, BaseModel):
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return dict(cast("Mapping[str, Any]", result or {}))


def fresh(result: dict[str, Any], call: Call) -> dict[str, Any]:
    """A list or a resource of ours, with what 2026-07-28 wants to know of it."""
    result = stamped(result, call, "complete")
    return {"ttlMs": 0, "cacheScope": "private", **result} if call.modern else result


def _capable(result: dict[str, Any]) -> dict[str, Any]:
    capabilities: dict[str, Any] = {"resources": {}, **result.get("capabilities", {})}
    extensions: dict[str, Any] = {EXTENSION_ID: {}, **(capabilities.get("extensions") or {})}
    return {**result, "capabilities": {**capabilities, "extensions": extensions}}


def _tools(installation: Installation, result: dict[str, Any]) -> dict[str, Any]:
    tools: list[dict[str, Any]] = result.get("tools", [])
    seen(installation, tools)
    linked = [tool if _app_of_its_own(tool) else _linked(tool) for tool in tools]
    return _at_the_end({**result, "tools": linked}, "tools", _TOOL)


def seen(installation: Installation, tools: Iterable[Mapping[str, Any]]) -> None:
    """Remember which tools have an App of their own. Those that go on with a call have none."""
    installation.own_apps |= {CONTINUE: False, ANSWER: False}
    installation.own_apps |= {tool["name"]: _app_of_its_own(tool) for tool in tools}


def _app_of_its_own(tool: Mapping[str, Any]) -> bool:
    """Whether this tool has an App already, or is there for Apps only."""
    meta: dict[str, Any] = tool.get("_meta") or {}
    ui: dict[str, Any] = meta.get("ui") or {}
    return bool(ui.get("resourceUri") or meta.get("ui/resourceUri")) or "model" not in ui.get("visibility", ["model"])


def _linked(tool: dict[str, Any]) -> dict[str, Any]:
    meta: dict[str, Any] = tool.get("_meta") or {}
    return {**tool, "_meta": {**meta, "ui": {**(meta.get("ui") or {}), "resourceUri": FORM}}}


def _at_the_end(result: dict[str, Any], name: str, ours: dict[str, Any]) -> dict[str, Any]:
    """The list with ours on its last page. It is made for this client, so nobody may share it."""
    if "cacheScope" in result:
        result = {**result, "cacheScope": "private"}
    return result if result.get("nextCursor") is not None else {**result, name: [*result.get(name, ()), ours]}


def _resource() -> dict[str, Any]:
    return {
        "uri": FORM,
        "name": "midcall_form",
        "title": wording.title(),
        "description": wording.description(),
        "mimeType": APP_MIME_TYPE,
        "_meta": _UI,
    }


def resource() -> dict[str, Any]:
    """The form itself, as `resources/read` gives it."""
    from midcall.web.forms.app import document

    return {"contents": [{"uri": FORM, "mimeType": APP_MIME_TYPE, "text": document(), "_meta": _UI}]}
