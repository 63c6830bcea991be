"""Hosts without elicitation, on the raw wire: each starts a stdio server, and ends it when it likes."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from midcall.portal.detached.files import Folder, Life
from tests.portal.sites import controls_of
from tests.serving import environment

SERVER = Path(__file__).with_name("detached_server.py")
WITHIN = 60.0


@dataclass
class Home:
    """A user's data folder. The test ends all processes that were started there."""

    path: Path
    more: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def folder(self) -> Folder:
        return Folder(self.path / "midcall" / "pages")

    @property
    def counted(self) -> list[str]:
        file = self.path / "counted"
        return file.read_text().split() if file.exists() else []

    def environment(self) -> dict[str, str]:
        own = {"XDG_DATA_HOME": str(self.path), "MIDCALL_PORTAL_DETACHED": "1", "COUNTED": str(self.path / "counted")}
        return environment(**own | self.more)

    def _life(self) -> Life | None:
        return self.folder.find_running() if self.folder.path.is_dir() else None

    async def running(self) -> int:
        """The page process, once it runs."""
        async with asyncio.timeout(WITHIN):
            while (life := self._life()) is None or not life.pid:
                await asyncio.sleep(0.05)
        return life.pid

    async def ended(self) -> None:
        """Return once the page process has ended."""
        async with asyncio.timeout(WITHIN):
            while self._life() is not None:
                await asyncio.sleep(0.05)

    async def end(self) -> None:
        """Leave no process behind."""
        if self._life() is not None:
            with suppress(ProcessLookupError):
                os.kill(await self.running(), signal.SIGTERM)
            await self.ended()


@dataclass
class Host:
    """A client on the raw wire."""

    process: asyncio.subprocess.Process
    seen: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Everything else that came."""
    last: int = 0

    async def send(self, method: str, params: dict[str, Any] | None = None, **more: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params}), **more}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        await self.process.stdin.drain()

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.last += 1
        await self.send(method, params, id=self.last)
        return await self.answer(self.last)

    async def answer(self, id: int) -> dict[str, Any]:
        message = await self._until(lambda message: message.get("id") == id and "method" not in message)
        return message.get("result") or message

    async def notified(self, method: str) -> dict[str, Any]:
        return await self._until(lambda message: message.get("method") == method)

    async def _until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        assert self.process.stdout is not None
        async with asyncio.timeout(WITHIN):
            while line := await self.process.stdout.readline():
                message = json.loads(line)
                if wanted(message):
                    return message
                self.seen.append(message)
        raise AssertionError("the server has ended")

    async def call(self, tool: str, **arguments: Any) -> str:
        params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": f"p{self.last}"}}
        result = await self.request("tools/call", params)
        return "\n".join(block["text"] for block in result["content"])

    async def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        async with asyncio.timeout(WITHIN):
            await self.process.wait()


@asynccontextmanager
async def host(home: Home, *, kill: bool = False) -> AsyncIterator[Host]:
    """A host that starts the server; in the end, it ends it with its whole process group."""
    with (home.path / "stderr").open("ab") as stderr:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(SERVER)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            env=home.environment(),
            start_new_session=True,
        )
    at = Host(process)
    try:
        about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "host", "version": "1"}}
        await at.request("initialize", about)
        await at.send("notifications/initialized")
        yield at
    finally:
        if kill:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        else:
            await at.end()


def address_in(text: str) -> str:
    found = re.search(r"http://127\.0\.0\.1:\d+\S*/i/\w+", text)
    assert found, text
    return found[0]


def code_in(text: str) -> str:
    found = re.search(r'"code": "([\w-]+)"', text)
    assert found, text
    return found[1]


async def press(address: str, action: str = "accept", fields: dict[str, str] | None = None) -> httpx2.Response:
    """What a browser does: it opens the page, and posts its form."""
    origin = "/".join(address.split("/")[:3])
    async with httpx2.AsyncClient(timeout=30) as browser:
        shown = await browser.get(address)
        assert shown.status_code == 200, shown.text
        given = {**dict(controls_of(shown.text)), **(fields or {}), "do": action}
        return await browser.post(address, data=given, headers={"origin": origin})
