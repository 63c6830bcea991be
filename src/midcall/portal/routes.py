"""The pages of a portal as one site: its routes, and what users see if something fails."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from traceback import extract_tb
from typing import Any, cast

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from midcall.errors import RecordRefused, StoreError, StoreFull
from midcall.portal.access import Access
from midcall.portal.logs import logger
from midcall.portal.oauth import OAuth
from midcall.portal.pages.account import AccountPage
from midcall.portal.pages.authorize import CallbackPage
from midcall.portal.pages.interaction import InteractionPages
from midcall.portal.pages.rendering import icon, style
from midcall.portal.vault import VaultLocked
from midcall.settings.portal import HEALTH_SECONDS
from midcall.settings.web import MAX_LOGGED_HOSTS
from midcall.stores.base import Store
from midcall.web.security import SiteGuard


def build_site(pages: InteractionPages, account: AccountPage, oauth: OAuth, store: Store) -> ASGIApp:
    """The app that serves these pages."""
    access = pages.access
    site = Starlette(
        routes=[
            Route("/i/{id}", pages.show, methods=["GET"]),
            Route("/i/{id}", pages.submit, methods=["POST"]),
            Route("/i/{id}/next", pages.follow, methods=["GET"]),
            Route("/callback/{provider}", CallbackPage(pages, oauth).show),
            Route("/mine", account.show, methods=["GET"]),
            Route("/mine", account.delete, methods=["POST"]),
            Route("/health", _health(store)),
            Route("/static/style.css", _style),
            Route("/static/icon.svg", _icon),
            *access.identity.routes,
        ],
        exception_handlers=cast("Any", _error_handlers(access)),
    )
    site.router.redirect_slashes = False  # it would build a URL from the Host header
    # Load balancers ask for our health by any name they have for us, and learn nothing else.
    return SiteGuard(site, access.place, _WrongHost(access), public=("/health",), hide_errors=True)


def _health(store: Store) -> Callable[[Request], Any]:
    async def health(request: Request) -> Response:
        """Whether the store can be reached, within a few seconds."""
        try:
            async with asyncio.timeout(HEALTH_SECONDS):
                await store.read("health")
        except (StoreError, TimeoutError):
            return JSONResponse({"status": "unavailable"}, 503)
        return JSONResponse({"status": "ok"})

    return health


class _WrongHost:
    """Rejects requests for another host. Usually a proxy changes the name, so the log shows each name once.

    It shows only a few, since anyone can send any name.
    """

    def __init__(self, access: Access) -> None:
        self._place = access.place
        self._access = access
        self._logged: set[str] = set()

    def __call__(self, host: str) -> Response:
        host = host[:100]
        if host not in self._logged and len(self._logged) < MAX_LOGGED_HOSTS:
            self._logged.add(host)
            logger.warning(
                f"rejected a request for the host {host!r} (421): the portal answers to "
                f"{', '.join(sorted(self._place.hosts))}. If a proxy changes the name, add it to Portal(hosts=[...])"
            )
        self._access.refuse("wrong_host")
        return self._access.renderer.notice("wrong_host", 421)


def _error_handlers(access: Access) -> dict[Any, Callable[[Request, Exception], Response]]:
    """What users see if something fails. Logs get only the type of the error: its text may hold a value."""
    renderer = access.renderer

    def refuse(request: Request, exc: Exception) -> None:
        access.refuse(type(exc).__name__, str(request.path_params.get("id", "")))

    def on_store_error(request: Request, exc: Exception) -> Response:
        logger.error(f"the store cannot be reached: {exc!s}")  # the text names the store, and no value
        return renderer.notice("store_away", 503, headers={"retry-after": "10"})

    def on_full(request: Request, exc: Exception) -> Response:
        logger.warning(f"a page was rejected: {exc!s}")
        refuse(request, exc)
        return renderer.notice("store_away", 503, headers={"retry-after": "10"})

    def on_refused(request: Request, exc: Exception) -> Response:
        logger.error(f"a page was rejected: {exc!s}")
        refuse(request, exc)
        return renderer.notice("refused", 409)

    def on_error(request: Request, exc: Exception) -> Response:
        logger.error(f"a page failed with {type(exc).__name__}")
        refuse(request, exc)
        if logger.isEnabledFor(logging.DEBUG):
            frames = ", ".join(
                f"{each.filename}:{each.lineno} in {each.name}" for each in extract_tb(exc.__traceback__)
            )
            logger.debug(f"it failed here; the text of the error is not logged: {frames}")
        return renderer.notice("failed", 500)

    def on_missing(request: Request, exc: Exception) -> Response:
        return renderer.notice("unknown", 404)

    def on_wrong_method(request: Request, exc: Exception) -> Response:
        return renderer.notice("not_understood", 405)

    return {
        RecordRefused: on_refused,
        StoreFull: on_full,
        StoreError: on_store_error,
        VaultLocked: on_error,
        404: on_missing,
        405: on_wrong_method,
        Exception: on_error,
    }


async def _style(request: Request) -> Response:
    return Response(style(), media_type="text/css")


async def _icon(request: Request) -> Response:
    return Response(icon(), media_type="image/svg+xml")
