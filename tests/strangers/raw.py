"""Low-level servers, which write their schemas by hand and get answers as they came."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ClientCapabilities,
    ElicitationCapability,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptMessage,
    TextContent,
    Tool,
)

from tests.strangers.effects import Effects

Context = ServerRequestContext[Any]
Handler = Callable[[Context, dict[str, Any]], Awaitable[str]]

NOTHING: Final[dict[str, Any]] = {"type": "object", "properties": {}}
TEAM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "team": {
            "type": "string",
            "title": "Team",
            "oneOf": [{"const": "7", "title": "Acme / Web"}, {"const": "9", "title": "Acme / Data"}],
        },
        "copies": {"type": "integer", "exclusiveMinimum": 0},
    },
    "required": ["team", "copies"],
    "additionalProperties": False,
}
BANK: Final[dict[str, Any]] = {
    "required": ["user", "pin"],
    "type": "object",
    "properties": {"pin": {"title": "PIN", "type": "string", "x-password": True}, "user": {"type": "string"}},
}


def confirmed(effects: Effects) -> Server[Any]:
    """Asks in the handler, before it looks for the tool."""

    async def list_tools(ctx: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name=name, input_schema={"type": "object"}) for name in tools])

    async def call_tool(ctx: Context, params: CallToolRequestParams) -> CallToolResult:
        effects.add(f"call {params.name}")
        if params.name.startswith("drop") and (refusal := await refused(ctx, params.name)):
            return CallToolResult(content=[TextContent(text=refusal)], is_error=True, _meta={"reason": "declined"})
        try:
            text = await tools[params.name](ctx, dict(params.arguments or {}))
        except MCPError as error:
            return CallToolResult(content=[TextContent(text=f"{error.code}: {error.message}")], is_error=True)
        finally:
            effects.add(f"end {params.name}")
        return CallToolResult(content=[TextContent(text=text)], structured_content={"text": text})

    async def refused(ctx: Context, name: str) -> str | None:
        if not ctx.session.check_client_capability(ClientCapabilities(elicitation=ElicitationCapability())):
            return f"{name} needs a client that can ask"
        result = await ctx.session.elicit_form(f"Confirm {name}", NOTHING, ctx.request_id)
        return None if result.action == "accept" else f"{name}: {result.action}"

    async def drop(ctx: Context, arguments: dict[str, Any]) -> str:
        effects.add("dropped")
        return "dropped"

    async def publish(ctx: Context, arguments: dict[str, Any]) -> str:
        effects.add("built")
        result = await ctx.session.elicit_form("Where to?", TEAM, related_request_id=ctx.request_id)
        effects.add(f"published {result.content}")
        return f"{result.action} {result.content}"

    async def bank(ctx: Context, arguments: dict[str, Any]) -> str:
        result = await ctx.session.elicit("Your bank needs this", BANK)
        effects.add(f"sent {sorted(result.content or {})}")
        return result.action

    async def pay(ctx: Context, arguments: dict[str, Any]) -> str:
        effects.add("invoice made")
        url = "https://example.com/pay/1"
        result = await ctx.session.elicit_url("Pay here", url, "pay-1", ctx.request_id)
        effects.add(f"paid: {result.action}")
        return result.action

    async def by_hand(ctx: Context, arguments: dict[str, Any]) -> str:
        """Sends the request itself, with what the SDK would have put around it."""
        effects.add("request made")
        request = ElicitRequest(params=ElicitRequestFormParams(message="Which team?", requested_schema=TEAM))
        related = ServerMessageMetadata(related_request_id=ctx.request_id)
        result = await ctx.session.send_request(request, ElicitResult, 30, related)
        effects.add(f"answered {result.content}")
        return result.action

    tools: dict[str, Handler] = {
        "drop_index": drop,
        "publish": publish,
        "bank": bank,
        "pay": pay,
        "by_hand": by_hand,
    }

    async def list_prompts(ctx: Context, params: PaginatedRequestParams | None) -> ListPromptsResult:
        return ListPromptsResult(prompts=[Prompt(name="review")])

    async def get_prompt(ctx: Context, params: GetPromptRequestParams) -> GetPromptResult:
        effects.add("diff read")
        result = await ctx.session.elicit_form("Which team?", TEAM, ctx.request_id)
        text = TextContent(text=f"Review for {(result.content or {}).get('team')}")
        return GetPromptResult(description="A review", messages=[PromptMessage(role="user", content=text)])

    return Server(
        "confirmed",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )
