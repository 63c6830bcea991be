from mcp.server import MCPServer

import midcall
from midcall import Choice, Choices, Flag, Form, Number, Text, ask

mcp = MCPServer("tickets")
midcall.install(mcp)

TICKET = Form(
    Text("summary", title="Summary", min_length=5, max_length=80),
    Text("contact", title="Contact", format="email"),
    Number("affected", title="People affected", integer=True, minimum=1, default=1),
    Flag("urgent", title="Is it urgent?", default=False),
    Choice("area", {"net": "Network", "acc": "Accounts"}, title="Area"),
    Choices("seen", ["laptop", "phone"], title="Seen on", max_items=2, required=False),
)


@mcp.tool()
async def open_ticket() -> str:
    """Open a ticket."""
    ticket = await ask("What is wrong?", TICKET)  # a dict, in the order of the form
    return f"{ticket['summary']} ({ticket['area']}), {ticket['affected']} affected"
