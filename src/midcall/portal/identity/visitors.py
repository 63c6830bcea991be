"""Who is looking at a page, and whether that is the user who made the call."""

from __future__ import annotations

import getpass
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from midcall.core.caller import Caller
from midcall.web import peer

if TYPE_CHECKING:
    from midcall.portal.access import Access

Key: TypeAlias = Callable[[Mapping[str, Any]], str]
"""Makes an identity key from claims, for issuers whose subjects differ between clients."""


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


class WithoutSignIn:
    """An identity that cannot sign anybody in, and shows a notice instead."""

    routes: Sequence[Route] = ()
    _notice = ("sign_in_elsewhere", 401)

    def attach(self, portal: Access) -> None:
        """The portal calls this first, if an identity has it."""
        self._renderer = portal.renderer

    async def sign_in(self, request: Request, back: str) -> Response:
        return self._renderer.notice(*self._notice)


class Nobody(WithoutSignIn):
    """Recognizes nobody, so only plain forms are served: the default of a portal that is not on loopback."""

    _notice = ("no_identity", 403)

    async def visitor(self, request: Request) -> str | None:
        return None

    def owner(self, caller: Caller) -> str:
        return ""


class Loopback(WithoutSignIn):
    """The user that the server runs as, on this machine.

    On Linux, the kernel says whose program opened the connection, and other users are rejected. macOS and Windows
    do not say; there, only the id in the address keeps other users of the machine out.
    """

    _notice = ("other_user", 403)

    async def visitor(self, request: Request) -> str | None:
        return _local_key() if peer.is_own(request) else None

    def owner(self, caller: Caller) -> str:
        """Empty for a caller with a subject, which cannot be compared with the users of this machine."""
        return "" if caller.subject else _local_key()

    def name(self, request: Request) -> str:
        return getpass.getuser()


def _local_key() -> str:
    return f"local:{os.getuid() if hasattr(os, 'getuid') else getpass.getuser()}"


class FromCallable(WithoutSignIn):
    """An identity made of one function, for apps that have their own sign-in.

    Args:
        look: Returns the identity key of the user who sent this request, or None. It must come from something
            verified, such as a signed session, never from a bare header.
        owner: The same key for the user of an MCP call; by default, issuer and subject with a space between them.
        name: What the pages call the user who is signed in.
    """

    def __init__(
        self,
        look: Callable[[Request], Awaitable[str | None]],
        *,
        owner: Callable[[Caller], str] | None = None,
        name: Callable[[Request], str] | None = None,
    ) -> None:
        self._look = look
        self._owner = owner
        self._name = name

    async def visitor(self, request: Request) -> str | None:
        return await self._look(request) or None

    def owner(self, caller: Caller) -> str:
        return self._owner(caller) if self._owner is not None else caller_key(caller, None)

    def name(self, request: Request) -> str:
        return self._name(request) if self._name is not None else ""


def key_of(claims: Mapping[str, Any], key: Key | None) -> str:
    """The identity key of these claims; empty if they have none."""
    if key is not None:
        try:
            found = cast("object", key(claims))
        except (LookupError, TypeError, ValueError, AttributeError):  # the claims may have any type
            return ""
        return found if isinstance(found, str) and _can_be_stored(found) else ""
    issuer, subject = claims.get("iss"), claims.get("sub")
    if not (isinstance(issuer, str) and isinstance(subject, str) and issuer and subject) or " " in issuer:
        return ""
    found = f"{issuer} {subject}"
    return found if _can_be_stored(found) else ""


def _can_be_stored(key: str) -> bool:
    """Whether every store can hold it: no half of a character, and no null."""
    try:
        return b"\0" not in key.encode()
    except UnicodeEncodeError:
        return False


def caller_key(caller: Caller, key: Key | None) -> str:
    """The identity key of the user of a call."""
    named = {"iss": caller.issuer, "sub": caller.subject}
    return key_of({**caller.claims, **{name: value for name, value in named.items() if value is not None}}, key)
