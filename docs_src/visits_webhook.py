import os

from mcp.server import MCPServer
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

import midcall
from midcall import complete, visit
from midcall.portal.webhooks import BadCallback, Callbacks

mcp = MCPServer("shop")
midcall.install(mcp)  # MIDCALL_STORE names the store
callbacks = Callbacks(os.environ["MIDCALL_KEYS"].split(","))


@mcp.tool()
async def order(article: str) -> str:
    """Order an article."""
    await visit(f"Check out: {article}.", lambda id: f"https://shop.example.com/checkout/{id}", wait=True)
    return f"Paid: {article}."


def callback_for(id: str) -> str:
    """Our checkout page tells the payment service, and nobody else, whom to call when it is paid."""
    return f"https://shop.example.com/paid?{callbacks.sign(id)}"


@mcp.custom_route("/paid", methods=["POST"])
async def paid(request: Request) -> Response:
    """Anybody may call this, but only what we signed counts."""
    try:
        id = callbacks.verify(request.url.query)
    except BadCallback:
        return PlainTextResponse("This was not signed by us, or is too old.", 403)
    await complete(id)
    return PlainTextResponse("Noted.")
