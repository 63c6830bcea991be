from mcp.server import MCPServer

import midcall
from midcall import ask, can_ask

mcp = MCPServer("weather")
midcall.install(mcp)


@mcp.tool()
async def forecast(city: str = "") -> str:
    """Return the forecast for a city. Asks the user for it if the client can show a form."""
    if not city and can_ask("form"):
        city = await ask("For which city?", str)
    if not city:
        return "Call again with a city: this client cannot ask its user."
    return f"Sun over {city}."
