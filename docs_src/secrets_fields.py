from mcp.server import MCPServer

import midcall
from midcall import secret
from midcall.portal import Portal

mcp = MCPServer("mail")
portal = Portal()
midcall.install(mcp, portal=portal)


@mcp.tool()
async def count_mails() -> str:
    """Count the mails in the user's inbox."""
    account = await secret(
        "mailbox",
        "Your mail account, to count what is in the inbox.",
        fields={"user": "User name", "password": "App password"},
    )
    return f"Signed in as {account['user']}, with {len(account['password'])} characters."
