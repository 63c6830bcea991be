from mcp.server import MCPServer
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

import midcall
from midcall import complete, visit

mcp = MCPServer("mail")
midcall.install(mcp)


@mcp.tool()
async def connect_mailbox() -> str:
    """Connect the user's mailbox."""
    await visit(
        "Connect your mailbox on our page.",
        lambda id: f"https://mail.example.com/connect/{id}",
        wait=True,
    )
    return "The mailbox is connected."


@mcp.custom_route("/connected/{id}", methods=["POST"])
async def connected(request: Request) -> Response:
    """Our page posts here after it has identified the user and connected the mailbox."""
    await complete(request.path_params["id"])
    return PlainTextResponse("Done. You can close this page.")
