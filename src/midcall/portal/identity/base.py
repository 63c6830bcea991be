"""Who is looking at a page, and whether that is the user who made the call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from midcall.core.caller import Caller
from midcall.portal.pages.rendering import Renderer
from midcall.web.cookies import Cookies
from midcall.web.public_url import Place

Key: TypeAlias = Callable[[Mapping[str, Any]], str]
"""Makes an identity key from claims, for issuers whose subjects differ between clients."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an identity may use of its portal."""

    place: Place
    cookies: Cookies
    renderer: Renderer


class Identity(Protocol):
    """Tells who is looking. `visitor` and `owner` must return the same key for the same person, and for nobody else.

    If it also has `name(request)`, pages show that name. If it has a route `/sign-out`, which takes a POST with the
    path to go `back` to, people can switch accounts.
    """

    @property
    def routes(self) -> Sequence[Route]:
        """Its own pages, below the portal's path."""
        ...

    async def visitor(self, request: Request) -> str | None:
        """The identity key of the person who is looking, if it is proven."""
        ...

    async def sign_in(self, request: Request, back: str) -> Response:
        """The response for someone who is not signed in. `back` is the path to return to."""
        ...

    def owner(self, caller: Caller) -> str:
        """The same key for the user of a call; empty if the user is unknown."""
        ...


@runtime_checkable
class Attachable(Protocol):
    """An identity that needs to know its portal."""

    def attach(self, portal: Surroundings) -> None: ...


class Nobody:
    """Recognizes nobody, so only plain forms are served: the default of a portal that is not on loopback."""

    routes: Sequence[Route] = ()

    def attach(self, portal: Surroundings) -> None:
        self._renderer = portal.renderer

    async def visitor(self, request: Request) -> str | None:
        return None

    async def sign_in(self, request: Request, back: str) -> Response:
        return self._renderer.notice("no_identity", 403)

    def owner(self, caller: Caller) -> str:
        return ""


def key_of(claims: Mapping[str, Any], key: Key | None) -> str:
    """The identity key of these claims; empty if they have none."""
    if key is not None:
        try:
            found = cast("object", key(claims))
        except (KeyError, LookupError, TypeError, ValueError):
            return ""
        return found if isinstance(found, str) else ""
    issuer, subject = claims.get("iss"), claims.get("sub")
    if not (isinstance(issuer, str) and isinstance(subject, str) and issuer and subject) or " " in issuer:
        return ""
    return f"{issuer} {subject}"


def caller_key(caller: Caller, key: Key | None) -> str:
    """The identity key of the user of a call."""
    named = {"iss": caller.issuer, "sub": caller.subject}
    return key_of({**caller.claims, **{name: value for name, value in named.items() if value is not None}}, key)
