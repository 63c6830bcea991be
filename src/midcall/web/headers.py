"""What every response carries, and who is answered at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from midcall.web.public_url import Place

__all__ = ["GOING_ON", "HEADERS", "Guarded"]

_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)

HEADERS: Final = {
    "content-security-policy": _POLICY,
    "cache-control": "no-store",
    # Nothing is told to other sites. The pages themselves narrow it to "same-origin" in a meta element,
    # which tells them no more, but lets browsers name our own origin when a form is posted.
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
}

GOING_ON: Final = {"content-security-policy": _POLICY.replace("; form-action 'self'", "")}
"""For a page whose form leads on to another site: Chrome holds redirects to form-action, too."""

_SECURE: Final = {"strict-transport-security": "max-age=31536000"}


class Guarded:
    """Answers only who means this place, and puts the headers on every answer.

    Args:
        app: What answers.
        place: Where it is.
        astray: What a request for another host, which it is given, is told.
    """

    def __init__(self, app: ASGIApp, place: Place, astray: Callable[[str], Response]) -> None:
        self._app = app
        self._place = place
        self._astray = astray
        always = HEADERS | (_SECURE if place.secure else {})
        self._headers = [(name.encode(), value.encode()) for name, value in always.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                given = message.setdefault("headers", [])
                named = {name for name, _ in given}
                message["headers"] = [*given, *(pair for pair in self._headers if pair[0] not in named)]
            await send(message)

        headers = Headers(scope=scope)
        app = self._app if self._welcome(scope, headers) else self._astray(headers.get("host", ""))
        try:
            await app(scope, receive, guarded)
        except Exception:
            # The page has said so, and our log has its kind. The server around us would log its text, too,
            # which may hold a value.
            if not started:
                raise

    def _welcome(self, scope: Scope, headers: Headers) -> bool:
        """Load balancers ask for our health by whatever name they have for us, and learn nothing."""
        return self._place.is_host(headers) or scope["path"].endswith("/health")
