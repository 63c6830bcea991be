"""Servers that send people to a page: OAuth, payments, keys."""

from __future__ import annotations

import asyncio
import secrets
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp_types import ElicitRequestURLParams
from pydantic import BaseModel

from tests.strangers.confirming import Confirm
from tests.strangers.effects import Effects


class Redirects:
    """A listener for the way back from a provider, on a free port of this machine."""

    def __init__(self) -> None:
        self.query: asyncio.Future[dict[str, list[str]]] = asyncio.get_running_loop().create_future()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = (await reader.readline()).decode()
        self.query.set_result(parse_qs(urlsplit(line.split(" ")[1]).query))
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        await writer.drain()
        writer.close()


@asynccontextmanager
async def listening() -> AsyncGenerator[tuple[Redirects, str]]:
    redirects = Redirects()
    server = await asyncio.start_server(redirects.serve, "127.0.0.1", 0)
    async with server:
        yield redirects, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/callback"


class Pasted(BaseModel):
    code: str


def oauth(effects: Effects) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("oauth")
    tokens: dict[str, str] = {}

    @server.tool()
    async def connect(ctx: Context) -> str:
        """Listens, sends the person to the provider, and waits for the way back."""
        state = secrets.token_hex(8)
        async with listening() as (redirects, back):
            effects.add("listening")
            url, id = f"{back}?state={state}&code=c0de", str(uuid.uuid4())
            answer = await ctx.elicit_url("Sign in", url, id)
            if answer.action != "accept":
                effects.add("given up")
                return "not connected"
            async with asyncio.timeout(5):
                query = await redirects.query
        await ctx.session.send_elicit_complete(id, ctx.request_id)
        effects.add(f"token for {query['code'][0]}, state is ours: {query['state'] == [state]}")
        return "connected"

    @server.tool()
    async def paste(ctx: Context) -> str:
        """Makes a secret, sends the person away, and asks for the code that they bring back."""
        verifier = tokens["verifier"] = secrets.token_hex(8)
        effects.add("flow begun")
        answer = await ctx.elicit_url("Get a code", f"https://example.com/authorize?c={verifier}", "login")
        if answer.action != "accept":
            return "cancelled"
        pasted = await ctx.elicit("Paste the code", Pasted)
        effects.add(f"exchanged, verifier is ours: {tokens['verifier'] == verifier}")
        return f"signed in: {pasted.action}"

    @server.tool()
    async def prove(ctx: Context) -> str:
        """Asks the same thing up to three times, until the person says that they are done."""
        await ctx.elicit_url("Solve this", "https://example.com/captcha", "captcha")
        for attempt in range(3):
            answer = await ctx.elicit("Done?", Confirm)
            effects.add(f"attempt {attempt} {answer.action}")
            if answer.action != "accept" or answer.data.confirm:
                return f"done, {answer.action}"
        return "given up"

    @server.tool()
    async def report(ctx: Context) -> str:
        """Raises an error that asks the client to have the user sign in first."""
        effects.add("no token")
        page = ElicitRequestURLParams(message="Sign in", url="https://example.com/login", elicitation_id="login-1")
        raise UrlElicitationRequiredError([page], "Sign in first")

    return server
