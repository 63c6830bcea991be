from typing import Annotated

from mcp.server.mcpserver import AcceptedElicitation, Elicit, ElicitationResult, MCPServer, Resolve
from pydantic import BaseModel

mcp = MCPServer("repositories")


class Confirmation(BaseModel):
    sure: bool


async def confirmation(name: str) -> Elicit[Confirmation]:
    return Elicit(f"Delete {name}?", Confirmation)


@mcp.tool()
async def delete(name: str, answer: Annotated[ElicitationResult[Confirmation], Resolve(confirmation)]) -> str:
    """Delete a repository. Always asks before the body runs."""
    if isinstance(answer, AcceptedElicitation) and answer.data.sure:
        return f"Deleted {name}."
    return "Kept."
