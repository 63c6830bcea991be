"""The same user of the same machine: for a server that runs where its user sits."""

from __future__ import annotations

import getpass
import os
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from midcall.portal.identity.base import Caller, Surroundings
from midcall.web import peer


class Loopback:
    """The user that the server runs as, on this machine.

    On Linux, the kernel says whose program opened the connection, and other users are rejected. macOS and Windows
    do not say; there, only the id in the address keeps other users of the machine out.
    """

    routes: Sequence[Route] = ()

    def attach(self, portal: Surroundings) -> None:
        self._renderer = portal.renderer

    async def visitor(self, request: Request) -> str | None:
        return _user() if peer.is_own(request) else None

    async def sign_in(self, request: Request, back: str) -> Response:
        return self._renderer.notice("other_user", 403)

    def owner(self, caller: Caller) -> str:
        """Empty for a caller with a subject, which cannot be compared with the users of this machine."""
        return "" if caller.subject else _user()

    def name(self, request: Request) -> str:
        return getpass.getuser()


def _user() -> str:
    return f"local:{os.getuid() if hasattr(os, 'getuid') else getpass.getuser()}"
