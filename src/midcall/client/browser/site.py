"""The page over HTTP. Everything works without JavaScript; with it the page is live."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from midcall.client.asked import Asked
from midcall.client.browser.board import Board, Draft
from midcall.client.browser.gate import Gate
from midcall.client.browser.presence import Presence
from midcall.client.browser.views import Views
from midcall.client.pending import DoesNotFit, NotPending
from midcall.client.urls import look
from midcall.language import _
from midcall.settings.client import BROWSER_POST_BYTES, BROWSER_POST_VALUES, PAGE_EVENT_SECONDS
from midcall.web import peer
from midcall.web.forms import read, stylesheet, too_large
from midcall.web.security import SCRIPTS, Posted, SiteGuard, TooLarge, read_posted

Refuse: TypeAlias = Callable[[str], None]
"""Takes the reason why a request is refused."""


def site(board: Board, gate: Gate, presence: Presence, views: Views, refuse: Refuse) -> ASGIApp:
    """The app that serves this board."""
    desk = _Desk(board, gate, presence, views, refuse)

    def wrong_host(host: str) -> Response:
        refuse("wrong_host")
        return _wrong(views, 421)

    inside = [
        Route("/open/{ticket}", desk.open),
        Route("/", desk.page),
        Route("/q/{id}", desk.post, methods=["POST"]),
        Route("/static/style.css", _serve(stylesheet, "text/css")),
        Route("/static/page.js", _serve(partial(_static, "page.js"), "text/javascript")),
        Route("/static/icon.svg", _serve(partial(_static, "icon.svg"), "image/svg+xml")),
        Route("/events", _Events(board, gate, presence, refuse)),
    ]
    app = Starlette(routes=[Mount(gate.base, routes=inside)])
    return SiteGuard(_OwnUser(app, views, refuse), gate.place, wrong_host, headers=SCRIPTS)


class _OwnUser:
    """Refuses the programs of other users of this machine: they can read the address in the browser's command line."""

    def __init__(self, app: ASGIApp, views: Views, refuse: Refuse) -> None:
        self._app = app
        self._views = views
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if peer.is_own(HTTPConnection(scope)):
            await self._app(scope, receive, send)
        else:
            self._refuse("wrong_user")
            title, hint = (
                _("This page belongs to another user"),
                _("Only the user of the program that asks can open it."),
            )
            await HTMLResponse(self._views.note(title, hint), 403)(scope, receive, send)


class _Desk:
    """Answers requests from the board."""

    def __init__(self, board: Board, gate: Gate, presence: Presence, views: Views, refuse: Refuse) -> None:
        self._board = board
        self._gate = gate
        self._presence = presence
        self._views = views
        self._refuse = refuse

    async def open(self, request: Request) -> Response:
        """Exchange the ticket in the address for a cookie, and continue to the page automatically.

        Not by a redirect: a browser that came from another site would not send the cookie along.
        """
        entered = HTMLResponse(self._views.entering(self._gate.base))
        if self._gate.knows(request.cookies):
            return entered
        cookie = self._gate.admit(request.path_params["ticket"]) if request.method == "GET" else None
        if cookie is None:
            return self._refuse_stranger()
        self._presence.seen()
        entered.headers["set-cookie"] = cookie
        return entered

    async def page(self, request: Request) -> Response:
        if not self._gate.knows(request.cookies):
            return self._refuse_stranger()
        self._presence.seen()
        return HTMLResponse(self._views.page(self._board, self._gate, request.query_params.get("q")))

    async def post(self, request: Request) -> Response:
        """Take an answer, or the draft of a question that the user leaves for another one."""
        id = request.path_params["id"]
        if not self._gate.knows(request.cookies):
            return self._refuse_stranger()
        try:
            posted = await read_posted(request, largest=BROWSER_POST_BYTES, most=BROWSER_POST_VALUES)
        except TooLarge:
            self._refuse("too_large")
            return HTMLResponse(self._views.note(_("Request too large"), _wrong_hint(), self._gate.base), 413)
        if not self._gate.accepts(request.headers, posted.last("token"), id):
            self._refuse("not_from_page")
            return _wrong(self._views, 403, self._gate.base)
        self._presence.seen()
        if posted.last("do") and self._gate.is_too_soon(posted.last("token")):  # only without JavaScript
            return self._refuse_hasty(id, posted)
        return self._act(id, posted)

    def _refuse_hasty(self, id: str, posted: Posted) -> Response:
        """Show the question again: the second half of a double click belongs to the one before."""
        self._refuse("too_soon")
        if (asked := self._board.pending.get(id)) is not None:
            self._keep(asked, posted, tried=False)
        return HTMLResponse(self._views.page(self._board, self._gate, id, too_soon=True), 409)

    def _refuse_stranger(self) -> Response:
        """For a browser that wasn't let in."""
        self._refuse("unknown")
        return HTMLResponse(self._views.refuse(self._gate.base), 403)

    def _act(self, id: str, posted: Posted) -> Response:
        """Do what the button says. If the question has ended, show how."""
        action, asked = posted.last("do"), self._board.pending.get(id)
        try:
            if asked is not None:
                return self._answer(asked, action, posted)
        except NotPending:
            return self._to(id)
        if id in self._board.held and action in ("again", "give up"):
            self._board.settle_held(id, action == "again")
            return self._to(None)
        return self._to(posted.last("to") or id)

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
            case _other:
                self._keep(asked, posted, tried=False)
                return self._to(posted.last("to") or asked.id)
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
    """The event stream of a page: it announces changes, and its connection shows that the page is open."""

    def __init__(self, board: Board, gate: Gate, presence: Presence, refuse: Refuse) -> None:
        self._board = board
        self._gate = gate
        self._presence = presence
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        if not self._gate.knows(request.cookies) or request.method != "GET":
            self._refuse("unknown")
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
            version = await self._board.wait_for_change(version)
            if not self._board.closed:
                await send(_event("version", str(version)))
                await asyncio.sleep(PAGE_EVENT_SECONDS)
        await send(_event("ended", ""))


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _event(kind: str, data: str) -> Message:
    body = f"retry: 1000\nevent: {kind}\ndata: {data}\n\n".encode()
    return {"type": "http.response.body", "body": body, "more_body": True}


def _content(asked: Asked, posted: Posted) -> dict[str, Any]:
    if asked.form is None:
        return {}
    return read(asked.form, posted.pairs)


# --- what never changes ----------------------------------------------------------------------
def _wrong(views: Views, status: int, base: str = "") -> HTMLResponse:
    return HTMLResponse(views.note(_("This request did not come from the page"), _wrong_hint(), base), status)


def _wrong_hint() -> str:
    return _("It was rejected, and nothing was sent. Go back, reload the page and answer there.")


def _serve(content: Callable[[], str], media_type: str) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        return Response(content(), media_type=media_type)

    return serve


@cache
def _static(name: str) -> str:
    return (Path(__file__).parent / "static" / name).read_text("utf-8")
