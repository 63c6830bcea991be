import httpx2
from mcp.server import MCPServer

import midcall
from midcall import confirm
from midcall.audit import Event

siem = httpx2.AsyncClient(base_url="https://siem.example.com", timeout=5)


async def forward(event: Event) -> None:
    """Send refused attempts and approvals to the security team."""
    if event.name.endswith(".refused") or event.name.startswith("approval."):
        response = await siem.post("/events", json=event.as_data())
        response.raise_for_status()


mcp = MCPServer("payments")
midcall.install(mcp, audit=[forward, "audit.jsonl"])


@mcp.tool()
async def close_account() -> str:
    """Close the account."""
    return "Closed." if await confirm("Close your account?") else "Nothing was done."
