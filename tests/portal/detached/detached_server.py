"""A stdio server whose pages outlive it. CHECKED counts the checks of secrets; SHORT ends its holds at once."""

from __future__ import annotations

import os
from pathlib import Path

from mcp.server import MCPServer

import midcall
from midcall import approve, ask, authorize, once, secret
from midcall.portal import Portal, Provider
from midcall.server.resuming import visits

mcp = MCPServer(os.environ.get("NAME", "Bookings"))
wiki = Provider(
    "wiki",
    authorize_url="https://wiki.example.com/authorize",
    token_url="https://wiki.example.com/token",
    client_id="bookings",
    client_secret="not a real one",
)
midcall.install(mcp, portal=Portal(providers=[wiki]))


def count(what: str) -> str:
    with Path(os.environ["COUNTED"]).open("a") as file:
        file.write(f"{what}\n")
    return what


@mcp.tool()
async def book() -> str:
    await once("begin", lambda: count("begun"))
    days = await ask("How many days?", int)
    seat = await ask("Where do you like to sit?", str)
    return f"{days} days, {seat}"


@mcp.tool()
async def pay(euros: int) -> str:
    return "paid" if await approve(f"Pay {euros} EUR?", {"Amount": f"{euros} EUR"}) else "not paid"


@mcp.tool()
async def repositories() -> str:
    async def check(value: str) -> str | None:
        count("checked")
        return None if value == "right" else "was not accepted"

    return f"a token of {len(await secret('github', 'A token, please', check=check))}"


@mcp.tool()
async def write() -> str:
    days = await ask("How many days?", int)
    return f"{days} days, a token of {len(await authorize('wiki'))}"


if __name__ == "__main__":
    if "SHORT" in os.environ:
        vars(visits)["HOLD_SECONDS"] = float(os.environ["SHORT"])
    mcp.run()
