"""The user that the author's own function names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from midcall.portal.identity.base import Caller, Surroundings, caller_key


class FromCallable:
    """An identity made of one function, for apps that have their own sign-in.

    Args:
        look: Returns the identity key of the user who sent this request, or None. It must come from something
            verified, such as a signed session, never from a bare header.
        owner: The same key for the user of an MCP call; by default, issuer and subject with a space between them.
        name: What the pages call the user who is signed in.
    """

    routes: Sequence[Route] = ()

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

    def attach(self, portal: Surroundings) -> None:
        self._renderer = portal.renderer

    async def visitor(self, request: Request) -> str | None:
        return await self._look(request) or None

    async def sign_in(self, request: Request, back: str) -> Response:
        return self._renderer.notice("sign_in_elsewhere", 401)

    def owner(self, caller: Caller) -> str:
        return self._owner(caller) if self._owner is not None else caller_key(caller, None)

    def name(self, request: Request) -> str:
        return self._name(request) if self._name is not None else ""
