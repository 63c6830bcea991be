from collections.abc import Awaitable, Callable
from typing import Any

from mcp import Client, MCPError, UrlElicitationRequiredError
from mcp_types import URL_ELICITATION_REQUIRED, CallToolResult, ElicitRequestURLParams

Show = Callable[[ElicitRequestURLParams], Awaitable[bool]]
"""Shows the whole URL, opens it after a yes, and comes back when the user is done."""


async def call_tool(client: Client, name: str, arguments: dict[str, Any], show: Show) -> CallToolResult | None:
    """Call a tool; where it answers -32042, show its URLs and call it again. None: the user said no."""
    for _ in range(3):
        try:
            return await client.call_tool(name, arguments)
        except MCPError as error:
            if error.error.code != URL_ELICITATION_REQUIRED:
                raise
            required = UrlElicitationRequiredError.from_error(error.error)
        for visit in required.elicitations:
            if not await show(visit):
                return None
    return None
