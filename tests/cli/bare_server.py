"""A server written with the SDK alone, as anybody's: over stdio, or with `--http PORT` over HTTP."""

from __future__ import annotations

import sys
from typing import Annotated, Any, Literal

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp_types import (
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
    ImageContent,
    InputRequiredResult,
    TextContent,
)
from pydantic import BaseModel, Field

mcp = MCPServer("bare", title="Bare Server", version="1.2.3", log_level="ERROR")


class Name(BaseModel):
    name: str = Field(min_length=2)


@mcp.tool()
async def greet(greeting: Annotated[str, Field(description="How to begin")], ctx: Context) -> Any:
    """Greet somebody whose name is asked for."""
    if ctx.request_context.protocol_version == "2026-07-28":
        response = (ctx.input_responses or {}).get("who")
        if not isinstance(response, ElicitResult):
            params = ElicitRequestFormParams(message="Who are you?", requested_schema=Name.model_json_schema())
            return InputRequiredResult(input_requests={"who": ElicitRequest(params=params)}, request_state="begun")
        content = response.content or {}
        return f"{greeting}, {content['name']}!" if response.action == "accept" else f"{greeting}, {response.action}!"
    result = await ctx.elicit("Who are you?", Name)
    return f"{greeting}, {result.data.name if result.action == 'accept' else result.action}!"


@mcp.tool()
def typed(
    count: Annotated[int, Field(ge=1, le=9)],
    share: float = 0.5,
    flag: bool = False,
    board: Literal["half", "full"] = "half",
    tags: list[str] | None = None,
    numbers: list[int] = [],  # noqa: B006
    extra: dict[str, Any] | None = None,
    name: str | None = None,
) -> str:
    """Tell what was given."""
    return repr((count, share, flag, board, tags, numbers, extra, name))


@mcp.tool()
def fails() -> str:
    raise ToolError("this tool is broken")


@mcp.tool()
def escapes() -> str:
    return "\x1b[2J\x1b]0;owned\x07plain"


@mcp.tool()
def several() -> list[Any]:
    return [TextContent(text="one"), ImageContent(data="aGVsbG8=", mime_type="image/png")]


@mcp.tool()
async def waits(ctx: Context) -> str:
    await ctx.report_progress(1, 4, "still here")
    await anyio.sleep_forever()
    return ""


@mcp.tool()
async def needs(ctx: Context) -> str:
    visit = ElicitRequestURLParams(message="Sign in", url="https://example.com/in", elicitation_id="1")
    raise UrlElicitationRequiredError([visit], "Sign in first")


if __name__ == "__main__":
    print("\x1b[31mready\x1b[0m", file=sys.stderr, flush=True)
    if "--broken" in sys.argv:
        sys.exit("Exception: no configuration")
    if "--http" in sys.argv:
        mcp.run("streamable-http", host="127.0.0.1", port=int(sys.argv[-1]))
    else:
        mcp.run("stdio")
