from mcp.server import MCPServer

import midcall
from midcall import UrlElicitationRequired, Visit

mcp = MCPServer("third-party")
midcall.install(mcp)

TOKENS: dict[str, str] = {}


@mcp.tool()
async def access_third_party_resource(user: str) -> str:
    """A tool that requires third-party authorization."""
    if user not in TOKENS:
        raise UrlElicitationRequired(
            [Visit("Please connect your Example Co account.", lambda id: f"https://mcp.example.com/connect/{id}")],
            message="Authorization is required.",
        )
    return "Successfully accessed the resource!"
