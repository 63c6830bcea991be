from mcp.server import MCPServer

import midcall
from midcall import TimedOut, confirm

mcp = MCPServer("processing")
midcall.install(mcp)


@mcp.tool()
async def process(data: str) -> str:
    """Processes data; large data only after a yes within two minutes."""
    try:
        if len(data) > 100 and not await confirm(f"The data is {len(data)} characters. Proceed?", timeout=120):
            return "The user chose not to proceed."
    except TimedOut:
        return "The user was not there to say yes."
    return f"Processed {len(data)} characters"
