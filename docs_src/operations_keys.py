import os

from mcp.server import MCPServer

import midcall
from midcall import ask

mcp = MCPServer("travel")
midcall.install(
    mcp,
    keys=[os.environ["NEW_KEY"], os.environ["OLD_KEY"]],  # the first encrypts, both decrypt
    state_ttl=2 * 60 * 60,  # a call may wait two hours for an answer
)


@mcp.tool()
async def days() -> str:
    """Ask for the days."""
    return f"{await ask('How many days?', int)} days"
