from mcp.server import MCPServer
from mcp.server.apps import Apps

import midcall
from midcall import confirm

apps = Apps()
apps.add_html_resource("ui://shop/cart", "<!doctype html><title>Cart</title><p>Your cart</p>")


@apps.tool(resource_uri="ui://shop/cart")
def cart() -> str:
    """Show the cart in the shop's own App."""
    return "2 chairs"


mcp = MCPServer("shop", extensions=[apps])
midcall.install(mcp, store="sqlite://")


@mcp.tool()
async def order() -> str:
    """Order what is in the cart. It asks, so it leaves the App to midcall."""
    return "Ordered." if await confirm("Order 2 chairs?") else "Not ordered."
