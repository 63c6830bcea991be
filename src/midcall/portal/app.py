"""The portal: one app with all pages, mounted anywhere, or started automatically on this machine."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from midcall.audit import Audit, Name, Target, open_audit
from midcall.core.caller import ServerIdentity
from midcall.core.urls import is_loopback
from midcall.errors import InstallError, Misuse, RecordRefused
from midcall.portal.access import Access
from midcall.portal.identity.visitors import Caller, Identity, Loopback, Nobody
from midcall.portal.logs import logger, mask_access_logs
from midcall.portal.oauth import OAuth, Provider
from midcall.portal.pages.account import AccountPage
from midcall.portal.pages.authorize import Authorize
from midcall.portal.pages.interaction import InteractionPages, OnFinish
from midcall.portal.pages.interaction_kinds import Approve, HostedForm, InteractionPage, Reader, Secret
from midcall.portal.pages.notices import heading_and_hint
from midcall.portal.pages.rendering import Renderer, load_templates
from midcall.portal.routes import build_site
from midcall.portal.validation import (
    LAST_PORT,
    check_hosts,
    check_identity,
    check_numbers,
    check_providers,
    wrap_checks,
)
from midcall.portal.vault import Entered, Vault
from midcall.settings.environment import flag, number, whole
from midcall.settings.environment import text as setting
from midcall.settings.portal import PORTAL_DETACHED, PORTAL_HOST, PORTAL_PAUSE_SECONDS, PORTAL_PORT, PORTAL_TTL_SECONDS
from midcall.stores.base import Store
from midcall.stores.interactions import Interactions, Kind
from midcall.stores.keys import derive
from midcall.web.cookies import Cookies
from midcall.web.public_url import Place, local_place, place_at
from midcall.web.secret_checks import AuthorCheck, Check
from midcall.web.security import HEADERS, FailureLimit, Forms

if TYPE_CHECKING:
    from midcall.portal.detached.server import Detached
    from midcall.web.local_server import LocalServer


class Portal:
    """The web pages behind URL mode.

        portal = Portal("https://mcp.example.com/midcall", identity=Oidc("https://id.example.com", "portal"))
        midcall.install(mcp, store="postgresql://...", portal=portal)
        app.mount("/midcall", portal)

    Args:
        base_url: The public address. It must be https, except on loopback. Without one, the portal starts listening on
            this machine when it is first needed.
        identity: Tells who is looking: `Oidc(...)`, `ProxyJwt(...)`, `Loopback()`, or an async function of the request
            that returns an identity key or None. The default is `Loopback()` on loopback; elsewhere the portal
            recognizes nobody and serves only plain forms.
        providers: The services that `authorize` can connect.
        templates: A directory whose templates replace ours with the same name.
        ttl: For how many seconds a page can be answered; one hour by default.
        title: The title of every page; by default, the server's name.
        checks: Functions, async or plain, that check a secret before it is stored, by its name. Each gets what `secret`
            would give the tool, and returns the problem, or None.
        hosts: Other values of the Host header to accept, if a proxy changes it.
        host: The loopback address to listen on without a `base_url`.
        port: The port to listen on then; by default, any free one.
        detached: Whether a stdio server without a `base_url` lets its open pages be served by a separate process, so
            that their addresses work after the server has ended. Default: `MIDCALL_PORTAL_DETACHED`, else yes.
        pause: For how many seconds a page takes no answer after another page has led to it, so that a double click
            answers one page. Default: `MIDCALL_PORTAL_PAUSE`, else 0.7. Tests that click faster than people set 0.
        audit: Where the audit trail goes, for the server too: see `midcall.install`.
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
        checks: Mapping[str, AuthorCheck] | None = None,
        hosts: Sequence[str] = (),
        host: str | None = None,
        port: int | None = None,
        detached: bool | None = None,
        pause: float | None = None,
        audit: Audit | Target | Sequence[Target] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        base_url = setting("MIDCALL_PORTAL_URL") if base_url is None else base_url
        host = (setting("MIDCALL_PORTAL_HOST") or PORTAL_HOST) if host is None else host
        port = whole("MIDCALL_PORTAL_PORT", PORTAL_PORT, most=LAST_PORT) if port is None else port
        detached = flag("MIDCALL_PORTAL_DETACHED", PORTAL_DETACHED) if detached is None else detached
        ttl = number("MIDCALL_PORTAL_TTL", PORTAL_TTL_SECONDS) if ttl is None else ttl
        pause = number("MIDCALL_PORTAL_PAUSE", PORTAL_PAUSE_SECONDS, zero=True) if pause is None else pause
        check_numbers(port, ttl, pause)
        self._hosts = check_hosts(hosts)
        self._place = None if base_url is None else place_at(base_url, self._hosts)
        if base_url is None and not is_loopback(host):
            raise InstallError(
                f"A portal without a base_url listens on loopback only, and {host!r} is not loopback. Set base_url."
            )
        self.identity = check_identity(identity, self._place)
        self.providers = check_providers(providers)
        self.ttl, self.pause = ttl, pause
        self.on_finish: OnFinish | None = None
        """Called in this process after an outcome was stored."""
        self._templates = None if templates is None else Path(templates)
        load_templates(self._templates)  # fail now if the directory is missing
        self._title = title
        self._checks = wrap_checks({} if checks is None else checks)
        self._listen = (host, port)
        self._may_detach = detached
        self._detached: Detached | None = None
        self.find_check: Callable[[str], Check | None] = self._checks.get
        """The check of a secret, by its name, if there is one."""
        self.audit = None if audit is None else open_audit(audit)
        """The audit trail, which the server shares. `install` sets it, too."""
        self._local_server: LocalServer | None = None
        self._closing = asyncio.Event()
        """Set when its pages are no longer served."""
        self._site: ASGIApp | None = None
        self._installed: _Installed | None = None
        self._clock = clock

    # --- for `install` --------------------------------------------------------------------------

    def bind(
        self,
        *,
        store: Store,
        identity: ServerIdentity,
        server_name: str,
        keys: Sequence[str | bytes],
        file: Path | None = None,
    ) -> None:
        """Set the store, the server and the keys. `install` does it.

        `file` is the SQLite file of the store, if anyone who has these keys can read its records.

        Raises:
            InstallError: It is installed already, or a key is invalid.
        """
        if self._installed is not None:
            raise InstallError("This portal is installed on another server already. Each server needs its own portal.")
        vault, interactions = Vault(store, keys, identity.of_vault(local=self.local)), Interactions(store)
        self._installed = _Installed(
            store,
            server_name,
            derive(keys, "portal"),
            interactions,
            vault,
            Entered(vault, interactions),
            OAuth(store, vault, self.providers, self.redirect_uri, clock=self._clock, note=self._note_account),
            Reader.of(identity, local=self.local),
        )
        mask_access_logs()
        if file is not None and self.why_not_detached() is None:
            self._detached = self._detach(file, identity, server_name, keys)
        if self._place is not None:
            # The same on every replica, but not for another portal on the same host.
            instance = hashlib.sha256(f"{self._place.url}\0{server_name}".encode()).hexdigest()[:10]
            self._site = self._build(self._place, instance)

    @property
    def interactions(self) -> Interactions:
        return self._require_install().interactions

    @property
    def vault(self) -> Vault:
        return self._require_install().vault

    @property
    def entered(self) -> Entered:
        return self._require_install().entered

    @property
    def oauth(self) -> OAuth:
        return self._require_install().oauth

    @property
    def url(self) -> str:
        """The public address. Without a `base_url`, only after `start`."""
        if self._place is None:
            raise Misuse("This portal has no address before it listens: await portal.start() first.")
        return self._place.url

    @property
    def any_port(self) -> bool:
        """Whether it listens on a different port at each start. For `midcall doctor`."""
        return self._listen[1] == 0

    def address(self, id: str) -> str:
        """The address of this interaction. It holds nothing but the id."""
        return f"{self.url}/i/{id}"

    def why_not(self, kind: Kind, owner: str) -> str | None:
        """Why a page of this kind cannot be served for this owner; None if it can."""
        if kind == "form":
            return None
        if isinstance(self.identity, Nobody):
            return (
                "This portal cannot tell who is looking, so it serves only plain forms. Set identity=Oidc(...) or "
                "another identity."
            )
        if not owner:
            return "It is unknown who made this call, so the page can recognize nobody. Set up MCP authorization."
        return None

    @property
    def local(self) -> bool:
        """Whether it takes every visitor for the user of this machine."""
        return isinstance(self.identity, Loopback)

    def owner_of(self, caller: Caller) -> str:
        """The identity key of the user of a call; empty if the user is unknown."""
        return self.identity.owner(caller)

    def add_check(self, name: str, check: Check) -> None:
        """Check this secret before it is stored, on the pages of this process."""
        self._checks[name] = check

    def provider(self, name: str) -> Provider | None:
        """The provider of this name, if there is one."""
        return next((provider for provider in self.providers if provider.name == name), None)

    # --- listening ------------------------------------------------------------------------------

    async def start(self) -> None:
        """Start listening, unless it is mounted or listens already.

        Raises:
            InstallError: The port is not available.
        """
        if (self._place is not None and self._local_server is None) or (
            self._local_server and not self._local_server.has_ended
        ):
            return
        from midcall.web.local_server import LocalServer, bind

        self._require_install()
        host, port = self._listen
        try:
            where = bind(host, port)
        except OSError as exc:
            raise InstallError(f"The portal cannot listen on this machine: {exc!s}.") from None
        self._place = local_place(host, where.getsockname()[1], self._hosts)
        self._site = self._build(self._place, secrets.token_hex(5))
        self._local_server = LocalServer(self, where)
        logger.info(f"the portal listens at {self._place.url}")

    async def serve(self, id: str, kind: Kind, until: float, *, secret: str = "", detach: bool = False) -> str:
        """Serve this page until then, and return its address. `secret` is the name of the one that it asks for.

        With `detach`, another process serves it if it can: then the address works after this process has ended.
        """
        if detach and kind != "authorize" and self._detached is not None and self.on_finish is None:
            from midcall.portal.detached.files import NoPageProcess

            try:
                return await self._detached.open(id, until, secret)
            except NoPageProcess as exc:
                self._detached.close()
                self._detached = None
                logger.warning(
                    f"no separate process can serve pages: {exc!s}. The server serves them, and their addresses end "
                    "with it"
                )
        await self.start()
        return self.address(id)

    async def serve_again(self, id: str, until: float, *, detach: bool = False) -> str:
        """Serve a page whose process may be gone, and return its address now; empty if nobody has to open it."""
        try:
            found = await self.interactions.look(id)
        except RecordRefused:  # the call finds out, and ends
            return ""
        if found is None or found[1] is not None:
            return ""
        page = found[0]
        secret = str(page.about["name"]) if page.kind == "secret" else ""
        return await self.serve(id, page.kind, until, secret=secret, detach=detach)

    def why_not_detached(self) -> str | None:
        """Why no separate process can serve its pages; None if one can, for a stdio server with SQLite."""
        if not self._may_detach:
            return "it is turned off (Portal(detached=False) or MIDCALL_PORTAL_DETACHED)"
        if sys.platform != "linux":
            return "only Linux says which user is at the other end of a connection"
        if self._place is not None and self._local_server is None:
            return "it has its own address"
        if self._listen != (PORTAL_HOST, PORTAL_PORT):
            return "it has its own host or port (Portal(host=, port=))"
        if type(self.identity) is not Loopback or self._clock is not time.time:
            return "it has its own identity or clock (Portal(identity=, clock=))"
        if self.audit is not None or self.on_finish is not None:
            return "only this process can write the audit trail, and call on_finish"
        return None

    def _detach(
        self, file: Path, identity: ServerIdentity, server_name: str, keys: Sequence[str | bytes]
    ) -> Detached | None:
        from midcall.portal.detached.server import Detached, Site, is_stdio

        if not is_stdio():
            return None
        site = Site(
            file=str(file),
            keys=keys,
            identity=identity,
            server_name=server_name,
            title=self._title,
            templates=None if self._templates is None else str(self._templates.resolve()),
            hosts=self._hosts,
            pause=self.pause,
            providers=self.providers,
        )
        return Detached(site, self.find_check)

    async def close(self) -> None:
        """Stop listening. Pending interactions stay in the store."""
        self._closing.set()
        if self._detached is not None:
            self._detached.close()
        if self._local_server is not None:
            await self._local_server.close()
            self._local_server, self._place, self._site = None, None, None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _NO_LIFESPAN(scope, receive, send)
        elif scope["type"] == "http":
            site = self._site or PlainTextResponse(heading_and_hint("not_ready")[1], 503, HEADERS)
            await site(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})

    # --- building -------------------------------------------------------------------------------

    def _require_install(self) -> _Installed:
        if self._installed is None:
            raise Misuse("This portal is not installed yet: pass it to midcall.install(..., portal=portal).")
        return self._installed

    def redirect_uri(self, provider: str) -> str:
        """Where the provider of this name sends browsers back to: what to register there."""
        return f"{self.url}/callback/{provider}"

    def _note_account(self, event: Name, owner: str, provider: str, outcome: str = "") -> None:
        if self.audit is not None:
            server = self._require_install().server_name
            self.audit.write(event, user=owner, server=server, provider=provider, outcome=outcome)

    async def _notify(self, id: str) -> None:
        if self.on_finish is not None:
            await self.on_finish(id)

    def _build(self, place: Place, instance: str) -> ASGIApp:
        known = self._require_install()
        renderer = Renderer(place.path, known.server_name, self._title, self._templates)
        access = Access(
            identity=self.identity,
            interactions=known.interactions,
            place=place,
            cookies=Cookies(place, known.keys, instance),
            forms=Forms(place, known.keys, clock=self._clock),
            renderer=renderer,
            failures=FailureLimit(),
            clock=self._clock,
            store=known.store,
            vault=known.vault,
            server=known.server_name,
            audit=self.audit,
            pause=self.pause,
        )
        attach = getattr(self.identity, "attach", None)
        if attach is not None:
            attach(access)
        titles = {provider.name: provider.title for provider in self.providers}
        self._closing = asyncio.Event()
        pages = InteractionPages(access, self._kinds(renderer, titles), known.entered, self._notify, self._closing)
        account = AccountPage(access, known.vault, known.oauth, titles, known.reader)
        return build_site(pages, account, known.oauth, known.store)

    def _kinds(self, renderer: Renderer, titles: Mapping[str, str]) -> dict[Kind, InteractionPage]:
        known = self._require_install()
        return {
            "secret": Secret(known.entered, lambda name: self.find_check(name), known.reader),
            "authorize": Authorize(known.oauth, titles, known.reader),
            "approve": Approve(),
            "form": HostedForm(renderer.templates),
        }


@dataclass(frozen=True, slots=True)
class _Installed:
    """What a portal has after `install`."""

    store: Store
    server_name: str
    keys: Sequence[bytes]
    interactions: Interactions
    vault: Vault
    entered: Entered
    oauth: OAuth
    reader: Reader


_NO_LIFESPAN: Final = Starlette()
