"""A host that shows Apps, and an App in its frame."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import Client
from mcp.client.extension import advertise
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID
from mcp_types import CallToolResult

from midcall.testing import Era, connect
from tests.server.codes import code_of, shown
from tests.server.reaching import NOTHING

APPS = advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]})


@asynccontextmanager
async def host(server: Any, *, era: Era = "2026-07-28", modes: Any = NOTHING) -> AsyncIterator[Client]:
    """A client that shows Apps, and declares no elicitation."""
    async with connect(server, era=era, modes=modes, extensions=[APPS]) as client:
        yield client


class Frame:
    """What the App in one frame does, without the browser around it."""

    def __init__(self, client: Client, name: str = "one") -> None:
        self._client = client
        self._name = name
        self.reply: dict[str, Any] = {}

    async def tool(self, **arguments: Any) -> dict[str, Any]:
        result = await self._client.call_tool("midcall_app", arguments)
        self.reply = (result.meta or {})["midcall/app"]
        assert "nonce" not in shown(result)
        return self.reply

    async def finds(self, arguments: dict[str, Any], **known: Any) -> dict[str, Any]:
        """Looks for its call until that asks."""
        async with asyncio.timeout(5):
            while (await self.tool(action="find", arguments=arguments, frame=self._name, **known))["state"] != "asking":
                await asyncio.sleep(0.01)
        return self.reply

    async def looks_on(self) -> dict[str, Any]:
        """Looks for the next question."""
        async with asyncio.timeout(5):
            while (await self.looks())["state"] == "done":
                await asyncio.sleep(0.01)
        return self.reply

    async def looks(self, **more: Any) -> dict[str, Any]:
        return await self.tool(action="look", nonce=self.reply["nonce"], step=self.reply["step"], **more)

    async def result(self, result: CallToolResult) -> dict[str, Any]:
        """The frame is shown with a result."""
        self.reply = (result.meta or {})["midcall/app"]
        return await self.looks(code=code_of(result))

    async def answers(self, *values: Any, action: str = "accept", **more: Any) -> dict[str, Any]:
        fields = [[f"f{index}", str(value)] for index, value in enumerate(values)]
        place = {name: self.reply[name] for name in ("nonce", "step", "question")}
        return await self.tool(action=action, fields=fields, **{**place, **more})
