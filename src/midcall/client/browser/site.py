"""The page over HTTP. Everything works without JavaScript; with it the page is live."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from midcall.client.asked import Asked
from midcall.client.browser.board import Board, Draft
from midcall.client.browser.gate import HEADERS, Gate
from midcall.client.browser.presence import Presence
from midcall.client.browser.views import Views
from midcall.client.pending import DoesNotFit, NotPending
from midcall.client.urls.consent import look
from midcall.web.forms import read, stylesheet, too_large
from midcall.wording.client import page as wording

__all__ = ["site"]

_LARGEST: Final = 4_000_000
_MOST_VALUES: Final = 60_000
_PAUSE: Final = 0.2
"""Seconds between two events: a flood of questions is one change to look at."""

Posted = dict[str, list[str]]


class _TooMuch(Exception):
    """More was posted than is read."""


def site(board: Board, gate: Gate, presence: Presence, views: Views) -> ASGIApp:
    """The app that serves this board."""
    desk = _Desk(board, gate, presence, views)
    inside = [
        Route("/open/{ticket}", desk.open),
        Route("/", desk.page),
        Route("/q/{id}", desk.post, methods=["POST"]),
        Route("/static/style.css", _style),
        Route("/static/page.js", _script),
        Route("/static/icon.svg", _icon),
        Route("/events", _Events(board, gate, presence)),
    ]
    return _Guarded(Starlette(routes=[Mount(gate.base, routes=inside)]), gate, views)


class _Guarded:
    """Lets in only who means this site, and puts the headers on every answer."""

    def __init__(self, app: ASGIApp, gate: Gate, views: Views) -> None:
        self._app = app
        self._gate = gate
        self._views = views

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["type"] != "http":
            return
        app = self._app if self._gate.is_host(Headers(scope=scope)) else _wrong(self._views, 421)
        await app(scope, receive, guarded)


class _Desk:
    """Takes requests, and answers them from the board."""

    def __init__(self, board: Board, gate: Gate, presence: Presence, views: Views) -> None:
        self._board = board
        self._gate = gate
        self._presence = presence
        self._views = views

    async def open(self, request: Request) -> Response:
        """Exchange the id in the address for a cookie. From here it goes on by itself.

        Not by a redirect: a browser that came from another site would not send the cookie along.
        """
        entered = HTMLResponse(self._views.entering(self._gate.base))
        if self._gate.knows(request.cookies):
            return entered
        cookie = self._gate.admit(request.path_params["ticket"]) if request.method == "GET" else None
        if cookie is None:
            return HTMLResponse(self._views.refused(self._gate.base), 403)
        self._presence.seen()
        entered.headers["set-cookie"] = cookie
        return entered

    async def page(self, request: Request) -> Response:
        if not self._gate.knows(request.cookies):
            return HTMLResponse(self._views.refused(self._gate.base), 403)
        self._presence.seen()
        return HTMLResponse(self._views.page(self._board, self._gate, request.query_params.get("q")))

    async def post(self, request: Request) -> Response:
        """Something was answered, or put aside for another."""
        id = request.path_params["id"]
        if not self._gate.knows(request.cookies):
            return HTMLResponse(self._views.refused(self._gate.base), 403)
        try:
            posted = await _posted(request)
        except _TooMuch:
            too_much = self._views.note(wording.page_too_much(), wording.page_wrong_hint(), self._gate.base)
            return HTMLResponse(too_much, 413)
        token = _last(posted, "token")
        if not self._gate.is_from_page(request.headers) or not self._gate.is_token(id, token):
            return _wrong(self._views, 403, self._gate.base)
        self._presence.seen()
        return self._act(id, posted)

    def _act(self, id: str, posted: Posted) -> Response:
        """What the pressed button means. What is not open any more only shows how it ended."""
        action, asked = _last(posted, "do"), self._board.pending.get(id)
        try:
            if asked is not None:
                return self._answer(asked, action, posted)
        except NotPending:
            return self._to(id)
        if id in self._board.held and action in ("again", "give up"):
            self._board.settle_held(id, action == "again")
            return self._to(None)
        return self._to(_last(posted, "to") or id)

    def _answer(self, asked: Asked, action: str, posted: Posted) -> Response:
        pending = self._board.pending
        match action:
            case "decline":
                pending.decline(asked.id)
            case "cancel":
                pending.cancel(asked.id)
            case "send" if asked.url is None:
                return self._send(asked, posted)
            case "send" if asked.url is not None and look(asked.url).openable:
                pending.accept(asked.id)
                leaving = self._views.leaving(self._gate.base, asked.url)
                return HTMLResponse(leaving, headers={"referrer-policy": "no-referrer"})
            case _:
                self._keep(asked, posted, tried=False)
                return self._to(_last(posted, "to") or asked.id)
        return self._to(None)

    def _send(self, asked: Asked, posted: Posted) -> Response:
        if asked.form is not None and too_large(asked.form):
            return self._to(asked.id)
        content = _content(asked, posted)
        try:
            self._board.pending.accept(asked.id, content)
        except DoesNotFit:
            self._keep(asked, posted, tried=True)
            return self._to(asked.id)
        return self._to(None)

    def _keep(self, asked: Asked, posted: Posted, *, tried: bool) -> None:
        if asked.form is not None:
            self._board.drafts[asked.id] = Draft(_content(asked, posted), tried)

    def _to(self, id: str | None) -> Response:
        where = f"{self._gate.base}/"
        return RedirectResponse(where if id is None else f"{where}?q={id}", 303)


class _Events:
    """The stream that tells a page to look again, and tells us that the page is open."""

    def __init__(self, board: Board, gate: Gate, presence: Presence) -> None:
        self._board = board
        self._gate = gate
        self._presence = presence

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        if not self._gate.knows(request.cookies) or request.method != "GET":
            await Response(status_code=403)(scope, receive, send)
            return
        headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        # When the loop ends, this is the outermost frame of its task: the cancellation has arrived.
        with self._presence.page(), suppress(asyncio.CancelledError):
            await self._stream(receive, send)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _stream(self, receive: Receive, send: Send) -> None:
        gone = asyncio.create_task(_until_gone(receive))
        telling = asyncio.create_task(self._tell(send))
        try:
            await asyncio.wait([gone, telling], return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            telling.cancel()
            await asyncio.gather(gone, telling, return_exceptions=True)

    async def _tell(self, send: Send) -> None:
        version = -1
        while not self._board.closed:
            version = await self._board.changed(version)
            if not self._board.closed:
                await send(_event("version", str(version)))
                await asyncio.sleep(_PAUSE)
        await send(_event("ended", ""))


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _event(kind: str, data: str) -> Message:
    body = f"retry: 1000\nevent: {kind}\ndata: {data}\n\n".encode()
    return {"type": "http.response.body", "body": body, "more_body": True}


# --- what is posted --------------------------------------------------------------------------
async def _posted(request: Request) -> Posted:
    body = b""
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > _LARGEST:
                raise _TooMuch
    except ClientDisconnect:
        return {}
    try:
        pairs = parse_qsl(body.decode("ascii", "replace"), keep_blank_values=True, max_num_fields=_MOST_VALUES)
    except ValueError:
        raise _TooMuch from None
    posted: Posted = {}
    for name, value in pairs:
        posted.setdefault(name, []).append(value)
    return posted


def _last(posted: Mapping[str, list[str]], name: str) -> str:
    return posted[name][-1] if name in posted else ""


def _content(asked: Asked, posted: Posted) -> dict[str, Any]:
    if asked.form is None:
        return {}
    return read(asked.form, ((name, value) for name, values in posted.items() for value in values))


# --- what never changes ----------------------------------------------------------------------
def _wrong(views: Views, status: int, base: str = "") -> HTMLResponse:
    return HTMLResponse(views.note(wording.page_wrong(), wording.page_wrong_hint(), base), status)


async def _style(request: Request) -> Response:
    return Response(stylesheet(), media_type="text/css")


async def _script(request: Request) -> Response:
    return Response(_static("page.js"), media_type="text/javascript")


async def _icon(request: Request) -> Response:
    return Response(_static("icon.svg"), media_type="image/svg+xml")


@cache
def _static(name: str) -> str:
    return (Path(__file__).parent / "static" / name).read_text("utf-8")
