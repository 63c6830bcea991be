"""What this server keeps about whoever is signed in: to see, and to delete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from midcall.portal.access.permission import Door
from midcall.portal.logs import logger
from midcall.portal.oauth import OAuth, OAuthError
from midcall.portal.pages.posted import TooMuch, posted
from midcall.portal.vault import Vault, VaultLocked
from midcall.portal.views import moment
from midcall.web.forms import shown
from midcall.wording.portal import logs
from midcall.wording.portal import mine as wording

__all__ = ["Mine"]

_ACCESS: Final = "oauth:"


@dataclass(frozen=True, slots=True)
class _Kept:
    """One line: never a value."""

    name: str
    title: str
    what: str
    since: str


@dataclass(frozen=True, slots=True)
class Mine:
    """Lists and deletes.

    Args:
        titles: What the providers are called, by name.
    """

    door: Door
    vault: Vault
    oauth: OAuth
    titles: Mapping[str, str]

    async def show(self, request: Request) -> Response:
        owner = await self._owner(request)
        return owner if isinstance(owner, Response) else await self._drawn(request, owner)

    async def delete(self, request: Request) -> Response:
        owner = await self._owner(request)
        if isinstance(owner, Response):
            return owner
        try:
            answer = await posted(request)
        except TooMuch:
            return self.door.views.told("too_much", 413)
        if not self.door.is_ours(request, answer, _purpose(owner)):
            return self.door.views.told("not_from_page", 403, again="/mine")
        names = [name for name, _ in await self.vault.names(owner)]
        wanted = names if answer.last("do") == "delete-all" else [answer.last("name")]
        deleted = [name for name in wanted if name in names]
        untold = [name for name in deleted if not await self._delete(owner, name)]
        return await self._drawn(request, owner, deleted, untold)

    async def _owner(self, request: Request) -> str | Response:
        """Whoever is signed in; else what they are told."""
        visitor = await self.door.identity.visitor(request)
        return visitor if visitor is not None else await self.door.sign_in(request, "/mine")

    async def _delete(self, owner: str, name: str) -> bool:
        """It is deleted here in any case; False if a provider could not be told so."""
        provider = name.removeprefix(_ACCESS)
        told = True
        if name.startswith(_ACCESS) and provider in self.titles:
            try:
                await self.oauth.revoke(provider, owner)
            except (OAuthError, VaultLocked) as exc:
                logger.warning(logs.revoke_failed(provider, type(exc).__name__))
                told = False
        await self.vault.forget(owner, name)
        return told

    async def _drawn(
        self, request: Request, owner: str, deleted: Sequence[str] | None = None, untold: Sequence[str] = ()
    ) -> Response:
        kept = [self._kept(name, since) for name, since in await self.vault.names(owner)]
        carrier = Response()
        browser = self.door.cookies.browser(request.cookies) or self.door.cookies.mark(carrier)
        drawn = self.door.views.page(
            "mine.html",
            who=self.door.who(request, owner),
            kept=kept,
            token=self.door.tokens.make(browser, _purpose(owner)),
            deleted=None if deleted is None else [self._title(name) for name in deleted],
            untold=[self._title(name) for name in untold],
        )
        drawn.raw_headers.extend(pair for pair in carrier.raw_headers if pair[0] == b"set-cookie")
        return drawn

    def _kept(self, name: str, since: float) -> _Kept:
        title = self._title(name)
        what = wording.access(title) if name.startswith(_ACCESS) else wording.secret()
        return _Kept(name, title, what, wording.since(moment(since)))

    def _title(self, name: str) -> str:
        provider = name.removeprefix(_ACCESS)
        return shown.line(self.titles.get(provider, provider) if name.startswith(_ACCESS) else name, 120)


def _purpose(owner: str) -> str:
    return f"mine\0{owner}"
