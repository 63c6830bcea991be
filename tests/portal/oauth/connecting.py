"""A replica that connects accounts, a clock that tests can set, and a browser that follows redirects."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import parse_qsl, urlsplit

import httpx
from starlette.responses import Response

from midcall.portal.oauth import Finished, OAuth, Provider
from midcall.portal.oauth.tokens import vault_name
from midcall.portal.vault import Vault
from midcall.stores.base import Record, Store
from midcall.stores.memory import Memory
from tests.portal.oauth.authorization_server import CLIENT, AuthorizationServer

CALLBACK = "http://127.0.0.1:9/midcall/callback/acme"
KEYS = ["a key that is long enough to be one, 1"]
ID = "interaction-id-that-nobody-guesses"
OWNER = "https://id.example.com|ada"
BROWSER = "cookie-of-this-browser"


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Watched(Memory):
    """A store that reports when somebody waits."""

    def __init__(self) -> None:
        super().__init__()
        self.waited_for = asyncio.Event()

    async def wait(self, id: str, seconds: float) -> Record | None:
        self.waited_for.set()
        return await super().wait(id, seconds)


class Replica:
    """One replica, as far as OAuth is concerned."""

    def __init__(self, store: Store, clock: Clock, *providers: Provider, keys: Sequence[str] = KEYS) -> None:
        self.vault = Vault(store, keys, '["server", "test"]')
        self._clock = clock
        self.oauth = OAuth(store, self.vault, providers, lambda name: CALLBACK.replace("acme", name), clock=clock)

    async def token(self, name: str = "acme") -> str | None:
        return await self.oauth.token(name, OWNER)

    async def connect(self, name: str = "acme") -> Finished:
        """The whole way of a browser, from our page to our callback."""
        return await self.finish(await visited(await self.begin(name)), at=name)

    async def finish(
        self,
        answer: Mapping[str, str],
        browser: str = BROWSER,
        owner: str = OWNER,
        *,
        at: str = "acme",
        pending: Iterable[str] = (),
    ) -> Finished:
        """As the callback page does, for a question that is still open."""
        finished = await self.oauth.finish(answer, browser, owner, at=at, pending=pending)
        if (granted := finished.granted) is not None:
            await self.vault.keep(owner, vault_name(granted.provider), granted.tokens.dump(), now=self._clock())
        return finished

    async def begin(self, name: str = "acme") -> str:
        return (await self.oauth.begin(ID, name, OWNER, BROWSER)).url


async def visited(url: str) -> dict[str, str]:
    """What the provider sends a browser back to us with."""
    async with httpx.AsyncClient() as browser:
        answer = await browser.get(url)
    back = answer.headers["Location"]
    assert re.match(r"http://127\.0\.0\.1:9/midcall/callback/[a-z]+\?", back), back
    return dict(parse_qsl(urlsplit(back).query))


def discovered(server: AuthorizationServer, name: str = "acme", *scopes: str) -> Provider:
    return Provider.discover(name, issuer=server.url, client_id=CLIENT[0], client_secret=CLIENT[1], scopes=scopes)


async def unavailable() -> Response:
    return Response("down", status_code=503)
