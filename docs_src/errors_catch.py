from mcp.server import MCPServer

import midcall
from midcall import CannotAsk, NotAnswered, UserDeclined, ask

mcp = MCPServer("library")
midcall.install(mcp)


@mcp.tool()
async def lend(title: str) -> str:
    """Lend a book."""
    try:
        weeks = await ask(f"For how many weeks do you want {title}?", int)
    except UserDeclined:
        return "Nothing was lent."
    except CannotAsk:
        weeks = 4  # this client cannot be asked
    except NotAnswered as error:
        return f"Not lent: {type(error).__name__}."
    return f"{title} is yours for {weeks} weeks."
