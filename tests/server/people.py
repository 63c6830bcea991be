"""Servers with a portal, and people who act on its pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2

from midcall import Declined, secret
from midcall.portal.app import Portal
from midcall.stores.memory import Memory
from midcall.testing import Era
from tests.kinds import Kind, server_with
from tests.portal.oauth.authorization_server import AuthorizationServer
from tests.portal.sites import Visitor
from tests.server.codes import KEYS

WITH_URLS: tuple[Era, ...] = ("2025-11-25", "2026-07-28")
TOKEN = "ghp_not_for_the_client"
WITHIN = 30.0


class Person:
    """Agrees to open an address, goes there, and does something. Use it as the answers of a client.

    Where that fails, the call would wait for minutes, for a page that nobody answers: so the test ends.
    """

    def __init__(self, act: Callable[[Visitor, str], Awaitable[None]], *, agrees: bool = True) -> None:
        self._act = act
        self._agrees = agrees
        self.asked: list[Any] = []
        self.tasks: list[asyncio.Task[None]] = []
        self._test = asyncio.current_task()

    def __call__(self, asked: Any) -> Any:
        self.asked.append(asked)
        if asked.mode == "form":
            return "x"
        if not self._agrees:
            return Declined()
        self.tasks.append(asyncio.get_running_loop().create_task(self._visit(asked.url)))
        self.tasks[-1].add_done_callback(self._ended)
        return "go"

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (failure := task.exception()) is not None and self._test is not None:
            self._test.cancel(f"a visit failed: {failure!r}")

    async def _visit(self, url: str) -> None:
        where = urlsplit(url)
        origin = f"{where.scheme}://{where.netloc}"
        async with asyncio.timeout(WITHIN), httpx2.AsyncClient(base_url=origin, timeout=WITHIN) as http:
            await self._act(Visitor(http, "", origin), where.path.rpartition("/")[2])


Act = Callable[[Visitor, str], Awaitable[None]]


def presses(button: str) -> Act:
    async def act(visitor: Visitor, id: str) -> None:
        answer = await visitor.press(id, button)
        assert answer.status_code < 400, answer.text

    return act


def fills(*values: str) -> Act:
    async def act(visitor: Visitor, id: str) -> None:
        answer = await visitor.press(id, "accept", {f"s{index}": value for index, value in enumerate(values)})
        assert answer.status_code < 400, answer.text

    return act


@asynccontextmanager
async def installed(
    *tools: Callable[..., Any], kind: Kind = "mcpserver", store: Memory | None = None, **how: Any
) -> AsyncIterator[tuple[Any, Portal]]:
    of_install = ("relay", "doubt", "live", "max_live", "heartbeat")
    installing = {name: how.pop(name) for name in of_install if name in how}
    portal = Portal(**how)
    server = server_with(*tools, kind=kind, keys=KEYS, store=store or Memory(), portal=portal, **installing)
    try:
        yield server, portal
    finally:
        await portal.close()


async def read_repo(name: str = "midcall") -> str:
    token = await secret("github", "A token with repo scope, to read your repositories.")
    return f"read {name} with {len(token)} characters"


def connects(acme: AuthorizationServer) -> Act:
    """Agrees on our page, and at the provider."""

    async def act(visitor: Visitor, id: str) -> None:
        agreed = await visitor.press(id, "accept")
        assert agreed.status_code == 303, agreed.text
        async with httpx2.AsyncClient() as outside:
            back = await outside.get(agreed.headers["location"])
        done = await visitor.http.get(back.headers["location"])
        assert done.status_code == 200, done.text

    return act
