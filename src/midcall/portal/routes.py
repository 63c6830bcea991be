"""The pages of a portal as one site: where each of them is, and what people are told when something fails."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from traceback import format_tb
from typing import Any, Final, cast

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from midcall.portal.logs import logger
from midcall.portal.oauth import OAuth
from midcall.portal.oauth.callback import Returning
from midcall.portal.pages.account import Mine
from midcall.portal.pages.interaction import Desk
from midcall.portal.vault import VaultLocked
from midcall.portal.views import Views, icon, style
from midcall.stores.base import Store, StoreError
from midcall.web.headers import Guarded
from midcall.web.public_url import Place

__all__ = ["site_of"]

_PROMPT: Final = 3.0
_HOSTS_TOLD: Final = 10


def site_of(desk: Desk, mine: Mine, oauth: OAuth, store: Store) -> ASGIApp:
    """The app that serves these."""
    door = desk.door
    site = Starlette(
        routes=[
            Route("/i/{id}", desk.show, methods=["GET"]),
            Route("/i/{id}", desk.submit, methods=["POST"]),
            Route("/callback", Returning(desk, oauth).callback),
            Route("/mine", mine.show, methods=["GET"]),
            Route("/mine", mine.delete, methods=["POST"]),
            Route("/health", _health_of(store)),
            Route("/static/style.css", _style),
            Route("/static/icon.svg", _icon),
            *door.identity.routes,
        ],
        exception_handlers=cast("Any", _failures(door.views)),
    )
    site.router.redirect_slashes = False  # it would build an address from the Host header
    return Guarded(site, door.place, _Astray(door.place, door.views))


def _health_of(store: Store) -> Callable[[Request], Any]:
    async def health(request: Request) -> Response:
        """Whether the store can be reached, and nothing more. Whoever asks does not wait for long."""
        try:
            async with asyncio.timeout(_PROMPT):
                await store.read("health")
        except (StoreError, TimeoutError):
            return JSONResponse({"status": "unavailable"}, 503)
        return JSONResponse({"status": "ok"})

    return health


class _Astray:
    """Turns away who means another host. Most often it is a proxy that changes the name: so the log has it, for each
    name once, and for few of them, since anybody can send any.
    """

    def __init__(self, place: Place, views: Views) -> None:
        self._place = place
        self._views = views
        self._told: set[str] = set()

    def __call__(self, host: str) -> Response:
        if host not in self._told and len(self._told) < _HOSTS_TOLD:
            self._told.add(host)
            logger.warning(
                f"a request for the host {host[:100]!r} was refused (421): the portal answers to "
                f"{', '.join(sorted(self._place.hosts))}. If a proxy changes the name, Portal(hosts=[...]) "
                "takes it"
            )
        return self._views.told("wrong_host", 421)


def _failures(views: Views) -> dict[Any, Callable[[Request, Exception], Response]]:
    """What people are told when something fails. Logs get the kind of failure: its text may hold a value."""

    def away(request: Request, exc: Exception) -> Response:
        logger.error(f"the store cannot be reached: {exc!s}")  # it names the store, and no value
        return views.told("store_away", 503, headers={"retry-after": "10"})

    def failed(request: Request, exc: Exception) -> Response:
        logger.error(f"a page failed with {type(exc).__name__}")
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug(
                f"it failed here, for a reason whose text is not logged:\n{''.join(format_tb(exc.__traceback__))}"
            )
        return views.told("failed", 500)

    def missing(request: Request, exc: Exception) -> Response:
        return views.told("unknown", 404)

    def wrong_method(request: Request, exc: Exception) -> Response:
        return views.told("not_understood", 405)

    return {StoreError: away, VaultLocked: failed, 404: missing, 405: wrong_method, Exception: failed}


async def _style(request: Request) -> Response:
    return Response(style(), media_type="text/css")


async def _icon(request: Request) -> Response:
    return Response(icon(), media_type="image/svg+xml")
