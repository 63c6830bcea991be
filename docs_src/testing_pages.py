import pytest
from mcp.server import MCPServer

import midcall
from midcall import approve, secret
from midcall.portal import Portal
from midcall.testing import ERAS, Asked, Era, press, run

mcp = MCPServer("payments")
midcall.install(mcp, portal=Portal(), store="memory://")


@mcp.tool()
async def pay(euros: int) -> str:
    """Pay, if the user approves."""
    return f"Paid {euros}." if await approve(f"Pay {euros} EUR", {"Amount": euros}) else "Nothing was paid."


@mcp.tool()
async def connect() -> str:
    """Connect the user's account."""
    return f"A token of {len(await secret('github', 'A token'))} characters."


@pytest.mark.parametrize("era", ERAS[1:])
async def test_nothing_is_paid_without_approval(era: Era) -> None:
    async def says_no(asked: Asked) -> None:
        await press(asked.url, "decline")

    assert (await run(mcp, "pay", {"euros": 3}, says_no, era=era)).text == "Nothing was paid."


async def test_what_is_approved_is_paid() -> None:
    async def says_yes(asked: Asked) -> None:
        await press(asked.url)

    assert (await run(mcp, "pay", {"euros": 3}, says_yes)).text == "Paid 3."


async def test_the_token_is_typed_into_the_page() -> None:
    async def types(asked: Asked) -> None:
        await press(asked.url, "accept", "ghp_1234")

    assert (await run(mcp, "connect", {}, types)).text == "A token of 8 characters."
