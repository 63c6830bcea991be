"""One tool for each verb that uses a page. Neither the client nor the model sees what happens there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from midcall import approve, authorize, once, secret, visit


def add_tools(mcp: MCPServer[Any], *, checkout: Callable[[str], str], issues_url: str, ledger: Path | None) -> None:
    """Give the server its four tools.

    Args:
        checkout: The address of the shop's page for an order.
        issues_url: The URL to call with the token of `authorize`, or empty.
        ledger: A file that gets one line for each payment.
    """

    @mcp.tool()
    async def read_repo(name: str = "midcall") -> str:
        """Read one of the user's repositories, with a token that they enter on a page."""
        token = await secret("github", "A token with repo scope, so that I can read your repositories.", check=one_word)
        return f"Read {name} with a token of {len(token)} characters."

    @mcp.tool()
    async def list_issues(project: str = "midcall") -> str:
        """List the user's open issues at a service that they connect on a page."""
        token = await authorize("tracker", "So that I can list your open issues.")
        try:
            return f"Open issues of {project}: {await fetched(issues_url, token)}"
        except httpx2.HTTPError as exc:
            raise ToolError("The tracker did not answer as it should. It is connected: try again later.") from exc

    @mcp.tool()
    async def pay(euros: int = 40, to: str = "ACME") -> str:
        """Pay someone, if the user approves exactly that on a page."""
        if not await approve(f"Pay {euros} EUR to {to}", {"Recipient": to, "Amount": f"{euros} EUR"}):
            return "Nothing was paid."
        return await once("transfer", transfer, euros, to)

    async def transfer(euros: int, to: str, *, idempotency_key: str) -> str:
        """Replace this with your bank."""
        if ledger is not None:
            await asyncio.to_thread(write_down, ledger, f"{idempotency_key} {euros} {to}\n")
        return f"Paid {euros} EUR to {to}."

    @mcp.tool()
    async def order(item: str = "oak table") -> str:
        """Order something: the user checks out on the shop's own page."""
        id = await visit(f"Check out in our shop: {item}.", checkout, wait=True)
        return f"Ordered: {item}. Order number {id[:6]}."


async def one_word(token: str) -> str | None:
    """Return what is wrong with the token, or None. A real check would try it against the service."""
    return None if len(token.split()) == 1 else "is not a token: it has spaces in it"


async def fetched(url: str, token: str) -> str:
    """Call the service with this token."""
    if not url:
        return f"connected, with a token of {len(token)} characters"
    async with httpx2.AsyncClient(timeout=10) as http:
        answer = await http.get(url, headers={"authorization": f"Bearer {token}"})
        return answer.raise_for_status().text


def write_down(ledger: Path, line: str) -> None:
    with ledger.open("a") as file:
        file.write(line)
