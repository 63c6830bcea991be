"""The portal: one app with all pages, mounted anywhere, or started by itself on this machine."""

from __future__ import annotations

import hashlib
import inspect
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from midcall.core.urls import is_loopback
from midcall.errors import InstallError, Misuse
from midcall.portal.access.permission import Door
from midcall.portal.identity.base import Caller, Ground, Grounded, Identity
from midcall.portal.identity.calling import FromCallable
from midcall.portal.identity.loopback import Loopback
from midcall.portal.identity.nobody import Nobody
from midcall.portal.logs import logger, mask_access_logs
from midcall.portal.oauth import OAuth, Provider
from midcall.portal.pages.account import Mine
from midcall.portal.pages.interaction import Desk, OnFinish
from midcall.portal.pages.kinds import Page
from midcall.portal.pages.kinds.approve import Approve
from midcall.portal.pages.kinds.authorize import Authorize
from midcall.portal.pages.kinds.hosted import Hosted
from midcall.portal.pages.kinds.secret import Secret
from midcall.portal.routes import site_of
from midcall.portal.validation import LAST_PORT, checks_of, hosts_of, port_of, providers_of, seconds_of
from midcall.portal.vault import Vault
from midcall.portal.views import Views, pages
from midcall.settings import number, whole
from midcall.settings import text as setting
from midcall.stores.base import Store
from midcall.stores.interactions import Interactions, Kind
from midcall.web.cookies import Cookies, Signing
from midcall.web.csrf import Tokens
from midcall.web.limits import BadOpens
from midcall.web.public_url import Place, place_at
from midcall.web.secret_checks import Check, Given
from midcall.wording.portal import told

if TYPE_CHECKING:
    from midcall.web.serving import Listening

__all__ = ["Portal"]

TTL: Final = 3600.0
HOST: Final = "127.0.0.1"


class Portal:
    """The web pages behind URL mode.

        portal = Portal("https://mcp.example.com/midcall", identity=Oidc("https://id.example.com", "portal"))
        midcall.install(mcp, store="postgresql://...", portal=portal)
        app.mount("/midcall", portal)

    Args:
        base_url: The address that users know it by. It must be https, except on loopback. Without one, the portal
            listens on this machine by itself, when it is first needed.
        identity: Tells who is looking: `Oidc(...)`, `ProxyJwt(...)`, `Loopback()`, or an async function of the request
            that gives an identity key or None. On loopback, `Loopback()` by default; elsewhere nobody is
            recognised by default, and only plain forms are served.
        providers: Where `authorize` can get access.
        templates: A directory whose templates take the place of ours, by name.
        ttl: For how many seconds a page can be answered; an hour unless told.
        title: What stands at the top of the pages; by default, the server's name.
        checks: Look at a secret before it is kept, by its name: a function, async or plain, of what `secret` would give
            the tool; it gives the problem, or None.
        hosts: What the Host header may say besides the host of `base_url`, where a proxy changes it.
        host: Where to listen without a `base_url`: an address of this machine's loopback.
        port: On which port then; by default, any that is free.
        clock: Seconds since the epoch; for tests.

    Raises:
        InstallError: A setting is wrong.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        identity: Identity | Callable[[Request], Any] | None = None,
        providers: Sequence[Provider] = (),
        templates: str | Path | None = None,
        ttl: float | None = None,
        title: str | None = None,
        checks: Mapping[str, Given] | None = None,
        hosts: Sequence[str] = (),
        host: str | None = None,
        port: int | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        base_url = setting("MIDCALL_PORTAL_URL") if base_url is None else base_url
        host = (setting("MIDCALL_PORTAL_HOST") or HOST) if host is None else host
        port = port_of((whole("MIDCALL_PORTAL_PORT", most=LAST_PORT) or 0) if port is None else port)
        ttl = seconds_of((number("MIDCALL_PORTAL_TTL") or TTL) if ttl is None else ttl)
        self._hosts = hosts_of(hosts)
        self._place = None if base_url is None else place_at(base_url, self._hosts)
        if base_url is None and not is_loopback(host):
            raise InstallError(
                f"A portal without a base_url listens on this machine only, and {host!r} is not loopback. Give "
                "it a base_url."
            )
        self.identity = _identity(identity, self._place)
        self.providers = providers_of(providers)
        self.ttl = ttl
        self.on_finish: OnFinish | None = None
        """Is told, in this process, after an outcome was stored."""
        self._templates = None if templates is None else Path(templates)
        pages(self._templates)  # a directory that is not there is told of now
        self._title = title
        self._checks = checks_of({} if checks is None else checks)
        self._listen = (host, port)
        self._listening: Listening | None = None
        self._site: ASGIApp | None = None
        self._bound: _Bound | None = None
        self._clock = clock

    # --- for `install` --------------------------------------------------------------------------

    def bind(self, *, store: Store, server_name: str, keys: Sequence[str | bytes]) -> None:
        """Say where everything is kept, for which server, and under which keys. `install` does it.

        Raises:
            InstallError: It was bound before, or the keys are no good.
        """
        if self._bound is not None:
            raise InstallError("This portal is installed on a server already; each server needs one of its own.")
        vault = Vault(store, keys)
        oauth = OAuth(store, vault, self.providers, self._redirect_uri, clock=self._clock)
        self._bound = _Bound(store, server_name, Signing(keys), Interactions(store), vault, oauth)
        mask_access_logs()
        if self._place is not None:
            self._site = self._built(self._place, _instance(self._place, server_name))

    @property
    def interactions(self) -> Interactions:
        return self._ready().interactions

    @property
    def vault(self) -> Vault:
        return self._ready().vault

    @property
    def oauth(self) -> OAuth:
        return self._ready().oauth

    @property
    def url(self) -> str:
        """The address that users know it by. Without a `base_url`, only after `start`."""
        if self._place is None:
            raise Misuse("This portal has no address before it listens: await portal.start() first.")
        return self._place.url

    @property
    def any_port(self) -> bool:
        """Whether it listens on another port at each start. For `midcall doctor`."""
        return self._listen[1] == 0

    def address(self, id: str) -> str:
        """Where this interaction is. All that it holds is the id."""
        return f"{self.url}/i/{id}"

    def why_not(self, kind: Kind, owner: str) -> str | None:
        """Why a page of this kind cannot be served for this owner; None if it can."""
        if kind == "form":
            return None
        if isinstance(self.identity, Nobody):
            return (
                "This portal cannot tell who is looking, so it serves only plain forms: give it "
                "identity=Oidc(...) or another identity."
            )
        return (
            None
            if owner
            else (
                "It is not known who made this call, so nobody can be recognised on the page: let MCP "
                "authorization tell."
            )
        )

    @property
    def local(self) -> bool:
        """Whether it takes everybody for the user of this machine, and so must hear of nobody else."""
        return isinstance(self.identity, Loopback)

    def owner_of(self, caller: Caller) -> str:
        """The identity key of the user of a call; empty if that cannot be told."""
        return self.identity.owner(caller)

    def add_check(self, name: str, check: Check) -> None:
        """Look at this secret before it is kept, from now on, on the pages of this process."""
        self._checks[name] = check

    def provider(self, name: str) -> Provider | None:
        """The provider of this name, if there is one."""
        return next((provider for provider in self.providers if provider.name == name), None)

    # --- listening ------------------------------------------------------------------------------

    async def start(self) -> None:
        """Listen, if that is for us to do and not done yet.

        Raises:
            InstallError: The port cannot be had.
        """
        if (self._place is not None and self._listening is None) or (self._listening and not self._listening.ended):
            return
        from midcall.web.serving import Listening, bound

        self._ready()
        host, port = self._listen
        try:
            where = bound(host, port)
        except OSError as exc:
            raise InstallError(f"The portal cannot listen on this machine: {exc!s}.") from None
        name = f"[{host}]" if ":" in host else host.lower()
        self._place = place_at(f"http://{name}:{where.getsockname()[1]}", self._hosts)
        self._site = self._built(self._place, secrets.token_hex(5))
        self._listening = Listening(self, where)
        logger.info(f"the portal listens at {self._place.url}")

    async def close(self) -> None:
        """Stop listening. What waits in the store stays there."""
        if self._listening is not None:
            await self._listening.close()
            self._listening, self._place, self._site = None, None, None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _OUTSIDE(scope, receive, send)
        elif scope["type"] == "http":
            site = self._site or PlainTextResponse(told.heading_and_hint("not_ready")[1], 503)
            await site(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})

    # --- building -------------------------------------------------------------------------------

    def _ready(self) -> _Bound:
        if self._bound is None:
            raise Misuse("This portal is not installed yet: pass it to midcall.install(..., portal=portal).")
        return self._bound

    def _redirect_uri(self) -> str:
        return f"{self.url}/callback"

    async def _finished(self, id: str) -> None:
        if self.on_finish is not None:
            await self.on_finish(id)

    def _built(self, place: Place, instance: str) -> ASGIApp:
        known = self._ready()
        views = Views(place.path, known.server_name, self._title, self._templates)
        cookies = Cookies(place, known.signing, instance)
        if isinstance(self.identity, Grounded):
            self.identity.settle(Ground(place, cookies, views))
        door = Door(
            self.identity, known.interactions, place, cookies, Tokens(known.signing), views, BadOpens(), self._clock
        )
        titles = {provider.name: provider.title for provider in self.providers}
        desk = Desk(door, self._kinds(views, titles), self._finished)
        return site_of(desk, Mine(door, known.vault, known.oauth, titles), known.oauth, known.store)

    def _kinds(self, views: Views, titles: Mapping[str, str]) -> dict[Kind, Page]:
        known = self._ready()
        return {
            "secret": Secret(known.vault, known.interactions, self._checks, self._clock),
            "authorize": Authorize(known.oauth, titles),
            "approve": Approve(),
            "form": Hosted(views.pages),
        }


@dataclass(frozen=True, slots=True)
class _Bound:
    """What a portal has once it is installed."""

    store: Store
    server_name: str
    signing: Signing
    interactions: Interactions
    vault: Vault
    oauth: OAuth


_OUTSIDE: Final = Starlette()


def _identity(given: Identity | Callable[[Request], Any] | None, place: Place | None) -> Identity:
    loopback = place is None or place.loopback
    if given is None:
        return Loopback() if loopback else Nobody()
    if isinstance(given, Loopback) and not loopback:
        raise InstallError("Loopback() tells who sits at this machine: it needs a base_url on loopback, or none.")
    if hasattr(given, "visitor") and hasattr(given, "owner"):
        return cast("Identity", given)
    if inspect.iscoroutinefunction(given) or inspect.iscoroutinefunction(getattr(given, "__call__", None)):  # noqa: B004
        return FromCallable(cast("Any", given))
    raise InstallError("identity= takes Oidc(...), ProxyJwt(...), Loopback(), or an async function of the request.")


def _instance(place: Place, server: str) -> str:
    """The same on every replica; another for another portal on the same host."""
    return hashlib.sha256(f"{place.url}\0{server}".encode()).hexdigest()[:10]
