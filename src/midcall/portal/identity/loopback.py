"""The same user of the same machine: for a server that runs where its user sits."""

from __future__ import annotations

import getpass
import os
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from midcall.portal.identity.base import Caller, Ground
from midcall.web import peer

__all__ = ["Loopback"]


class Loopback:
    """Whoever sits at this machine as the user that the server runs as.

    On Linux, the kernel is asked whose program has opened the connection, and another user is refused. macOS
    and Windows do not tell; there, only the id in the address keeps other users of the machine out.
    """

    routes: Sequence[Route] = ()

    def settle(self, ground: Ground) -> None:
        self._views = ground.views

    async def visitor(self, request: Request) -> str | None:
        return _user() if peer.is_own(request) else None

    async def sign_in(self, request: Request, back: str) -> Response:
        return self._views.told("other_user", 403)

    def owner(self, caller: Caller) -> str:
        """A caller with a name of their own is somebody that this machine's users cannot be compared with."""
        return "" if caller.subject else _user()

    def name(self, request: Request) -> str:
        return getpass.getuser()


def _user() -> str:
    return f"local:{os.getuid() if hasattr(os, 'getuid') else getpass.getuser()}"
