"""What a portal page costs over HTTP, compared with a bare route that returns as many bytes."""

import secrets
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route

from bench.measure import WALL, best_of
from bench.report import Target, milliseconds, row
from midcall.core.caller import ServerIdentity
from midcall.core.forms.fields import Choice, Number, Text
from midcall.core.forms.form import Form
from midcall.portal.app import Portal
from midcall.stores.interactions import Interaction
from midcall.stores.memory import Memory
from midcall.web.local_server import LocalServer, bind

LIMIT: Final = 2.0
OWNER: Final = "https://id.example.com ada"
_FORM: Final = Form(
    Text("name", min_length=2), Number("days", integer=True), Choice("seat", {"w": "Window", "a": "Aisle"})
)


async def compare(times: int) -> list[Target]:
    """A form's page, opened by its owner."""
    async with AsyncExitStack() as stack:
        portal = await stack.enter_async_context(_mounted())
        id, now = secrets.token_urlsafe(24), time.time()
        about = {"schema": _FORM.schema()}
        await portal.interactions.begin(id, Interaction("form", OWNER, "bench", "bench", "?", now, now + 600, about))

        http = await stack.enter_async_context(httpx2.AsyncClient())
        page = await http.get(portal.address(id))
        assert page.status_code == 200, page.text
        bare = await stack.enter_async_context(_bare(page.text))

        async def get_page() -> httpx2.Response:
            return await http.get(portal.address(id))

        async def get_bare() -> httpx2.Response:
            return await http.get(bare)

        best, turns = await best_of(times, {"page": (get_page, _check), "bare": (get_bare, _check)}, WALL)
    print("\nA page of the portal, over HTTP, ms")
    print(row("a bare Starlette route with as many bytes", [milliseconds(best["bare"])]))
    print(row("the page of a form", [milliseconds(best["page"]), f"{best['page'] / best['bare']:.2f} x"]))
    print(row("best of", [str(turns)]), flush=True)
    return [Target("a page / a bare route", best["page"] / best["bare"], LIMIT)]


async def _ada(request: Request) -> str:
    """A stub for the app's sign-in, whose cost we don't measure."""
    return OWNER


@asynccontextmanager
async def _mounted() -> AsyncIterator[Portal]:
    """A portal, mounted as authors do."""
    where = bind("127.0.0.1", 0)
    portal = Portal(f"http://127.0.0.1:{where.getsockname()[1]}/midcall", identity=_ada)
    portal.bind(store=Memory(), identity=ServerIdentity("bench"), server_name="bench", keys=[secrets.token_hex()])
    listening = LocalServer(Starlette(routes=[Mount("/midcall", portal)]), where)
    try:
        yield portal
    finally:
        await listening.close()


@asynccontextmanager
async def _bare(text: str) -> AsyncIterator[str]:
    """The URL of a route that returns this text."""

    async def show(request: Request) -> Response:
        return HTMLResponse(text)

    where = bind("127.0.0.1", 0)
    listening = LocalServer(Starlette(routes=[Route("/", show)]), where)
    try:
        yield f"http://127.0.0.1:{where.getsockname()[1]}/"
    finally:
        await listening.close()


def _check(response: httpx2.Response) -> None:
    assert response.status_code == 200
