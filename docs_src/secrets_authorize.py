import os

from mcp.server import MCPServer

import midcall
from midcall import ProviderFailed, authorize
from midcall.portal import Portal, Provider

calendar = Provider.discover(
    "calendar",
    issuer=os.environ["CALENDAR_ISSUER"],
    client_id=os.environ["CALENDAR_CLIENT_ID"],
    client_secret=os.environ["CALENDAR_CLIENT_SECRET"],
    scopes=["events.read"],
    title="Example Calendar",
)

mcp = MCPServer("assistant")
portal = Portal(providers=[calendar])
midcall.install(mcp, portal=portal)


@mcp.tool()
async def next_event() -> str:
    """Return the next event in the user's calendar."""
    try:
        token = await authorize("calendar", "To look up your next event.")
    except ProviderFailed:
        return "The calendar cannot be reached just now."
    return f"Looked it up: {bool(token)}."
