"""Who is looking at a page, and whether that is the user who made the call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from midcall.core.caller import Caller
from midcall.portal.views import Views
from midcall.web.cookies import Cookies
from midcall.web.public_url import Place

__all__ = ["Caller", "Ground", "Grounded", "Identity", "Key", "caller_key", "key_of"]

Key: TypeAlias = Callable[[Mapping[str, Any]], str]
"""Makes an identity key of claims, for issuers whose subjects differ from client to client."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What an identity may use of the portal it is in."""

    place: Place
    cookies: Cookies
    views: Views


class Identity(Protocol):
    """Tells who is looking. `visitor` and `owner` must give the same key for the same person, and for nobody else.

    One that also has `name(request)` tells the pages what to call them. One with a route `/sign-out`, which takes a
    POST with the path to go `back` to, lets people change accounts.
    """

    @property
    def routes(self) -> Sequence[Route]:
        """Pages of its own, below the portal's address."""
        ...

    async def visitor(self, request: Request) -> str | None:
        """The identity key of whoever looks, if that is proven."""
        ...

    async def sign_in(self, request: Request, back: str) -> Response:
        """What to answer to someone who is not signed in. `back` is the path to return to."""
        ...

    def owner(self, caller: Caller) -> str:
        """The same key for the user of a call; empty if that cannot be told."""
        ...


@runtime_checkable
class Grounded(Protocol):
    """An identity that has to know where its portal is."""

    def settle(self, ground: Ground) -> None: ...


def key_of(claims: Mapping[str, Any], key: Key | None) -> str:
    """The identity key of these claims; empty where they do not make one."""
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
