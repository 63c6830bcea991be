from enum import Enum

from mcp.server import MCPServer

import midcall
from midcall import choose, confirm

mcp = MCPServer("kitchen")
midcall.install(mcp)


class Size(Enum):
    SMALL = "s"
    LARGE = "l"


@mcp.tool()
async def order() -> str:
    """Order a pizza."""
    size = await choose("How large?", Size)  # a Size
    base = await choose("Which base?", ["thin", "thick"])  # a str
    extras = await choose("Which toppings?", {"o": "Olives", "c": "Capers"}, many=True)  # a list[str]
    if not await confirm(f"Order one {size.name.lower()} pizza?"):
        return "Nothing was ordered."
    return f"{size.value} {base} {' '.join(extras)}"
