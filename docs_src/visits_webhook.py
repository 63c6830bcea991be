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
    """The address that our checkout page gives to the payment service, and to nobody else."""
    return f"https://shop.example.com/paid?{callbacks.sign(id)}"


@mcp.custom_route("/paid", methods=["POST"])
async def paid(request: Request) -> Response:
    """Anyone can call this, but only our signature counts."""
    try:
        id = callbacks.verify(request.url.query)
    except BadCallback:
        return PlainTextResponse("The signature is invalid or has expired.", 403)
    await complete(id)
    return PlainTextResponse("Noted.")
