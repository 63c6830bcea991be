from mcp.server import MCPServer

import midcall
from midcall import TimedOut, confirm

mcp = MCPServer("processing")
midcall.install(mcp)


@mcp.tool()
async def process(data: str) -> str:
    """Process data. Large data needs a confirmation within two minutes."""
    try:
        if len(data) > 100 and not await confirm(f"The data is {len(data)} characters. Proceed?", timeout=120):
            return "The user chose not to proceed."
    except TimedOut:
        return "The user didn't respond in time."
    return f"Processed {len(data)} characters"
