"""A server whose tools send their users to pages. A tool plays the web page's callback.

It serves stdio, or with `--http PORT` HTTP. MIDCALL_TEST_HOLD is how long a request is held; MIDCALL_TEST_PORTAL=0
leaves the portal out.
"""

from __future__ import annotations

import argparse
import os

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel, EmailStr, Field

import midcall
from midcall import UrlElicitationRequired, Visit, approve, ask, complete, secret, visit
from midcall.portal import Portal
from midcall.server.resuming import visits

PAGE = "https://files.example.com/connect/"
MESSAGE = "Your files are not connected yet."
connected: set[str] = set()
called_back: set[str] = set()
"""The visits whose page has called back."""


class Contact(BaseModel):
    name: str = Field(description="Your full name")
    email: EmailStr = Field(description="Your email address")
    age: float | None = Field(None, ge=18, description="Your age")


mcp = MCPServer("pages", log_level="WARNING")
with_portal = os.environ.get("MIDCALL_TEST_PORTAL") != "0"
midcall.install(mcp, **({"portal": Portal()} if with_portal else {}))


@mcp.tool()
async def list_files(user: str) -> str:
    """Needs a connected account."""
    if user not in connected:
        raise UrlElicitationRequired([Visit("Connect your files.", lambda id: f"{PAGE}{id}")], message=MESSAGE)
    return f"The files of {user}: a.txt"


@mcp.tool()
async def mirror(user: str) -> str:
    """Needs two connected accounts."""
    if user not in connected:
        raise UrlElicitationRequired([Visit(f"Connect your {what}.", lambda id: f"{PAGE}{id}") for what in ("A", "B")])
    return "Mirrored."


@mcp.tool()
async def contact() -> str:
    """Asks for several values in one form."""
    person = await ask("Please provide your contact information", Contact)
    return f"{person.name} {person.email} {person.age:g}"


@mcp.tool()
async def callback(id: str, user: str = "") -> bool:
    """What the page calls when the user is done."""
    connected.add(user)
    called_back.add(id)
    return await complete(id)


@mcp.tool()
async def wait() -> str:
    """Waits for a page."""
    id = await visit("Go there.", lambda id: f"{PAGE}{id}", wait=True)
    return id if id in called_back else "too early"


@mcp.tool()
async def go() -> str:
    """Sends its user to a page, and doesn't wait."""
    return await visit("Go there.", lambda id: f"{PAGE}{id}")


@mcp.tool()
async def elicit(ctx: Context) -> str:
    """Uses the SDK's own verb."""
    return (await ctx.elicit_url("Go there.", f"{PAGE}sdk", "an-id-of-the-author")).action


@mcp.tool()
async def pay() -> str:
    """Needs an approval."""
    return str(await approve("Pay 5 EUR", {"To": "Ada"}))


@mcp.tool()
async def key() -> str:
    """Needs a secret."""
    return str(bool(await secret("example", "An API key of example.com")))


@mcp.tool()
async def name() -> str:
    """Asks for a name."""
    return await ask("Your name?", str)


@mcp.tool()
async def many(questions: int) -> str:
    """Asks so many questions."""
    return " ".join([await ask(f"Question {number}?", str) for number in range(1, questions + 1)])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", type=int)
    visits.HOLD_SECONDS = float(os.environ.get("MIDCALL_TEST_HOLD", visits.HOLD_SECONDS))
    if (port := parser.parse_args().http) is not None:
        mcp.run("streamable-http", port=port)
    else:
        mcp.run()


if __name__ == "__main__":
    main()
