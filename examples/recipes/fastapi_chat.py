"""A FastAPI chat page: a tool's questions appear as forms in the chat, live, in the right user's browser.

    python examples/recipes/fastapi_chat.py        # then open http://127.0.0.1:8000/ and type: book Oslo

Needs: pip install "midcall[browser]" fastapi uvicorn
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import uvicorn
from fastapi import Depends, FastAPI, Form, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, PlainTextResponse
from fastapi.sse import EventSourceResponse
from fastapi.staticfiles import StaticFiles

from calls import CallFailed, text_of
from midcall import MalformedAnswer, Problem
from midcall.client import Asked, CannotConnect, DoesNotFit, Pending, connect
from midcall.web.forms import Pages, draw, read, stylesheet
from travel import mcp

CONNECT = partial(connect, mcp)  # a URL or a command works too
HERE = Path(__file__).parent / "chat"
PAGES = Pages(HERE)
MOST = 1_000  # conversations at a time
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'"


class Conversation:
    """What one browser sees: messages and pending questions."""

    def __init__(self) -> None:
        self.said: list[dict[str, str]] = []
        self.pending = Pending(limit=10, modes=["form"])
        self._changed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._start(self._follow())

    def hear(self, text: str) -> None:
        self._say("you", text)
        self._start(self._reply(text))

    async def _reply(self, text: str) -> None:
        """Put your agent here. This one knows a single sentence."""
        match text.split():
            case ["book" | "Book", *place] if place:
                self._say("agent", await booked(self.pending, " ".join(place)))
            case _:
                self._say("agent", "I can book a trip. Say: book Oslo")

    async def views(self) -> AsyncIterator[dict[str, Any]]:
        """Yield the whole view: now, and after every change."""
        while True:
            changed = self._changed
            forms = [{"id": asked.id, "html": drawn(asked)} for asked in self.pending.open]
            yield {"said": self.said, "asked": forms}
            await changed.wait()

    async def close(self) -> None:
        self.pending.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _follow(self) -> None:
        async for _ in self.pending.changes():
            self._wake()

    def _say(self, who: str, text: str) -> None:
        self.said.append({"who": who, "text": text})
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def booked(pending: Pending, destination: str) -> str:
    try:
        async with CONNECT(pending) as client:
            return await text_of(client, "book", {"destination": destination})
    except (CallFailed, CannotConnect) as failed:
        return str(failed)


def drawn(asked: Asked, content: dict[str, Any] | None = None, problems: Sequence[Problem] = ()) -> str:
    fields = draw(asked.form, content, problems, prefix=f"q{asked.id}-") if asked.form else ""
    return PAGES.page("question.html", asked=asked, fields=fields)


# --- the web ----------------------------------------------------------------------------------

conversations: dict[str, Conversation] = {}


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    await asyncio.gather(*(each.close() for each in conversations.values()))
    conversations.clear()


app = FastAPI(lifespan=lifespan)
app.mount("/static", StaticFiles(directory=HERE))


def known(request: Request) -> Conversation:
    """Return this browser's conversation, by its cookie. Reject forms from other sites."""
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise HTTPException(403, "This request comes from another site.")
    if (found := conversations.get(request.cookies.get("chat", ""))) is None:
        raise HTTPException(401, "Load the page first.")
    return found


Known = Annotated[Conversation, Depends(known)]


@app.get("/")
async def page(request: Request) -> Response:
    response = HTMLResponse(PAGES.page("page.html"), headers={"Content-Security-Policy": POLICY})
    if request.cookies.get("chat") not in conversations:
        if len(conversations) >= MOST:
            await conversations.pop(next(iter(conversations))).close()
        conversations[key := secrets.token_urlsafe(32)] = Conversation()
        response.set_cookie("chat", key, httponly=True, samesite="strict", secure=request.url.scheme == "https")
    return response


@app.get("/style.css")
async def style() -> Response:
    return PlainTextResponse(stylesheet(), media_type="text/css")


@app.get("/events", response_class=EventSourceResponse)
async def events(here: Known) -> AsyncIterator[dict[str, Any]]:
    async for view in here.views():
        yield view


@app.post("/say", status_code=204)
async def say(here: Known, text: Annotated[str, Form(min_length=1, max_length=200)]) -> None:
    here.hear(text)


@app.post("/answers/{id}")
async def answer(here: Known, id: str, request: Request) -> Response:
    posted = [(name, value) for name, value in (await request.form()).multi_items() if isinstance(value, str)]
    if (asked := here.pending.get(id)) is None:
        raise HTTPException(404, "This question is no longer open.")
    content = read(asked.form, posted, prefix=f"q{id}-") if asked.form else {}
    try:
        here.pending.receive({"id": id, "action": dict(posted).get("do"), "content": content})
    except DoesNotFit as error:
        return HTMLResponse(drawn(asked, content, error.problems), 422)
    except MalformedAnswer as error:
        raise HTTPException(400, str(error)) from None
    return Response(status_code=204)


if __name__ == "__main__":
    uvicorn.run(app, port=8000, timeout_graceful_shutdown=1)
