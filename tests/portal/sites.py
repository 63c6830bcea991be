"""A portal in an app, with interactions in its store, and people who open them."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request

from midcall.core.caller import ServerIdentity
from midcall.core.forms.fields import Choice, Number, Text
from midcall.core.forms.form import Form
from midcall.portal.app import Portal
from midcall.portal.identity import FromCallable
from midcall.stores.base import Store
from midcall.stores.interactions import Ending, Interaction, Kind
from midcall.stores.memory import Memory
from midcall.web.local_server import LocalServer, bind
from tests.web.submitting import Page

KEY = "k key of the tests: 0123456789abcdef"
ADA, BOB = "https://id.example.com ada", "https://id.example.com bob"
HOME = "https://mcp.example.com"
BASE = f"{HOME}/midcall"
SECONDS = 15.0
SERVER = ServerIdentity("Travel desk")

TRIP = Form(
    Text("name", title="Full name", min_length=2),
    Number("days", title="Days", integer=True, minimum=1, maximum=30),
    Choice("seat", {"w": "Window", "a": "Aisle"}, title="Seat", required=False),
)
ABOUT: dict[Kind, dict[str, Any]] = {
    "secret": {"name": "github"},
    "authorize": {"provider": "acme", "scopes": ["issues.read", "profile"]},
    "approve": {"details": {"to": "ACME <b>", "amount": 40, "lines": [{"item": "oak"}]}, "digest": "d1g3st"},
    "form": {"schema": TRIP.schema()},
}


async def by_header(request: Request) -> str | None:
    """A stub for the app's sign-in. Only tests trust a bare header."""
    return request.headers.get("x-test-user")


class Site:
    """A portal under test, and what is in its store."""

    def __init__(
        self,
        portal: Portal,
        store: Store | None = None,
        keys: Sequence[str] = (KEY,),
        server: ServerIdentity = SERVER,
    ) -> None:
        self.portal = portal
        self.store: Store = store or Memory()
        self.finished: list[str] = []
        portal.bind(store=self.store, identity=server, server_name="Travel desk", keys=keys)
        portal.on_finish = self._finished
        self.app = Starlette()
        self.app.mount("/midcall", portal)

    async def _finished(self, id: str) -> None:
        self.finished.append(id)

    async def begin(
        self,
        kind: Kind = "form",
        *,
        owner: str = ADA,
        server: str = "Travel desk",
        client: str = "Chat Client",
        lasts: float = 600.0,
        **about: Any,
    ) -> str:
        id, now = secrets.token_urlsafe(24), time.time()
        said = {**ABOUT[kind], **about}
        message = "So that I can look at your repositories."
        await self.portal.interactions.begin(
            id, Interaction(kind, owner, server, client, message, now, now + lasts, said)
        )
        return id

    async def ending(self, id: str) -> Ending | None:
        found = await self.portal.interactions.look(id)
        assert found is not None
        return found[1]

    async def action(self, id: str) -> str | None:
        ending = await self.ending(id)
        return None if ending is None else ending.action


class Visitor:
    """A browser without JavaScript."""

    def __init__(self, http: httpx2.AsyncClient, path: str = "/midcall", origin: str = HOME) -> None:
        self.http = http
        self.path = path
        self.origin = origin

    async def get(self, path: str, **more: Any) -> httpx2.Response:
        return await self.http.get(f"{self.path}{path}", **more)

    async def open(self, id: str, **more: Any) -> httpx2.Response:
        return await self.get(f"/i/{id}", **more)

    async def controls(self, id: str) -> dict[str, str]:
        shown = await self.open(id)
        assert shown.status_code == 200, shown.text
        return dict(controls_of(shown.text))

    async def post(self, path: str, data: dict[str, str], **more: Any) -> httpx2.Response:
        headers = {"origin": self.origin} | more.pop("headers", {})
        headers = {name: value for name, value in headers.items() if value is not None}
        return await self.http.post(f"{self.path}{path}", data=data, headers=headers, **more)

    async def press(self, id: str, button: str, values: dict[str, str] | None = None, **more: Any) -> httpx2.Response:
        data = await self.controls(id) | (values or {}) | {"do": button}
        return await self.post(f"/i/{id}", data, **more)


def controls_of(html: str) -> list[tuple[str, str]]:
    """What would be posted; password fields have no value to begin with."""
    return Page(html.replace('type="password"', 'type="password" value=""')).controls


def site(base_url: str | None = BASE, *, store: Store | None = None, **how: Any) -> Site:
    how.setdefault("identity", FromCallable(by_header, name=lambda request: request.headers.get("x-test-name", "")))
    keys: Sequence[str] = how.pop("keys", (KEY,))
    server: ServerIdentity = how.pop("server", SERVER)
    return Site(Portal(base_url, **how), store, keys, server)


@asynccontextmanager
async def visiting(
    at: Site, user: str | None = ADA, *, address: str = "203.0.113.5", **headers: str
) -> AsyncIterator[Visitor]:
    """Somebody who is signed in, at the app itself."""
    given = {"x-test-user": user} if user else {}
    transport = httpx2.ASGITransport(at.app, client=(address, 4711))
    async with httpx2.AsyncClient(transport=transport, base_url=HOME, headers={**given, **headers}) as http:
        yield Visitor(http)


@asynccontextmanager
async def served(**how: Any) -> AsyncIterator[Site]:
    """A portal in an app that listens on this machine, for real browsers."""
    where = bind("127.0.0.1", 0)
    at = site(f"http://127.0.0.1:{where.getsockname()[1]}/midcall", **how)
    listening = LocalServer(at.app, where)
    try:
        yield at
    finally:
        await listening.close()
