from dataclasses import dataclass
from datetime import date

from mcp.server import MCPServer

import midcall
from midcall import ask, authorize, secret
from midcall.portal import Portal, Provider
from midcall.testing import Asked, fill_vault, press, run

acme = Provider(
    "acme", client_id="me", authorize_url="https://acme.example/auth", token_url="https://acme.example/token"
)
mcp = MCPServer("travel")
midcall.install(mcp, portal=Portal(providers=[acme]), store="memory://")


@dataclass
class Stay:
    arrive: date
    nights: int
    breakfast: bool


@mcp.tool()
async def accounts() -> str:
    """List the connected accounts."""
    return f"{await secret('github', 'A token')}, {await authorize('acme')}"


@mcp.tool()
async def reserve() -> str:
    """Reserve a room."""
    stay = await ask("When will you stay with us?", Stay)
    return f"{stay.nights} nights from {stay.arrive}"


async def test_what_the_user_has_connected_is_used() -> None:
    await fill_vault(mcp, secrets={"github": "ghp_1234"}, accounts={"acme": "an access token"})
    assert (await run(mcp, "accounts")).text == "ghp_1234, an access token"


async def test_the_form_is_filled_in_on_its_page() -> None:
    async def fills_in(asked: Asked) -> None:
        await press(asked.url, fields={"arrive": date(2026, 5, 1), "nights": 3, "breakfast": True})

    done = await run(mcp, "reserve", {}, fills_in, modes=("url",))
    assert done.text == "3 nights from 2026-05-01"
