"""Servers that ask the client's model and for its folders, and mix that with questions to the person."""

from __future__ import annotations

import asyncio
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import Root, SamplingMessage, TextContent

from tests.strangers.confirming import Confirm
from tests.strangers.effects import Effects
from tests.strangers.flowing import Name


async def sampled(ctx: Context, prompt: str) -> str:
    message = SamplingMessage(role="user", content=TextContent(text=prompt))
    reply = await ctx.session.create_message(  # pyright: ignore[reportDeprecated]
        [message], max_tokens=100, system_prompt="Be brief.", related_request_id=ctx.request_id
    )
    return reply.content.text if isinstance(reply.content, TextContent) else ""


def poet(effects: Effects) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("poet")
    folders: list[Root] = []

    @server.tool()
    async def poem(ctx: Context) -> str:
        effects.add("muse called")
        about = await ctx.elicit("About what?", Name)
        draft = await sampled(ctx, about.data.name if about.action == "accept" else "nothing")
        effects.add(f"draft: {draft}")
        keep = await ctx.elicit(f"Keep '{draft}'?", Confirm)
        effects.add(f"kept: {keep.action}")
        return draft

    @server.tool()
    async def both(ctx: Context) -> list[str]:
        """The model writes while the person chooses a title."""
        draft, title = await asyncio.gather(sampled(ctx, "rain"), ctx.elicit("Title?", Name))
        effects.add("bound")
        return [draft, title.action]

    @server.tool()
    async def save(ctx: Context) -> str:
        """Asks for the folders once, and keeps them."""
        if not folders:
            folders.extend((await ctx.session.list_roots()).roots)  # pyright: ignore[reportDeprecated]
            effects.add(f"{len(folders)} folders")
        answer = await ctx.elicit(f"Save in {folders[0].name}?", Confirm)
        effects.add(f"saved: {answer.action}")
        return str(folders[0].uri)

    return server
