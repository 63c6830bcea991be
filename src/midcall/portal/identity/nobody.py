"""Nobody can be told apart here: only plain forms are served."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from midcall.portal.identity.base import Caller, Ground

__all__ = ["Nobody"]


class Nobody:
    """What a portal has that was given no identity and is not on loopback."""

    routes: Sequence[Route] = ()

    def settle(self, ground: Ground) -> None:
        self._views = ground.views

    async def visitor(self, request: Request) -> str | None:
        return None

    async def sign_in(self, request: Request, back: str) -> Response:
        return self._views.told("no_identity", 403)

    def owner(self, caller: Caller) -> str:
        return ""
