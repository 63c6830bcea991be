from fastmcp import Context, FastMCP
from fastmcp.server.elicitation import AcceptedElicitation

import midcall

mcp = FastMCP("kitchen")
midcall.install(mcp)  # the only new line


@mcp.tool
async def rename(ctx: Context) -> str:
    """Rename the kitchen."""
    answer = await ctx.elicit("What shall the kitchen be called?", str)
    if isinstance(answer, AcceptedElicitation):
        return f"The kitchen is called {answer.data} now."
    return "The kitchen keeps its name."
