"""What this server stores about the user who is signed in: to see, and to delete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from midcall.core.text import reveal
from midcall.portal.access import Access
from midcall.portal.logs import logger
from midcall.portal.oauth import OAuth, OAuthError
from midcall.portal.pages.interaction_kinds import Reader
from midcall.portal.pages.rendering import allow_script, format_moment
from midcall.portal.vault import Vault, VaultLocked
from midcall.stores.base import ACCOUNTS
from midcall.web.cookies import new_mark
from midcall.web.security import LEAVING, TooLarge, read_posted


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line of the list, without the value."""

    name: str
    title: str
    is_access: bool
    since: str


@dataclass(frozen=True, slots=True)
class AccountPage:
    """Lists and deletes.

    Args:
        titles: The titles of the providers, by name.
        reader: Who can read what is listed.
    """

    access: Access
    vault: Vault
    oauth: OAuth
    titles: Mapping[str, str]
    reader: Reader

    async def show(self, request: Request) -> Response:
        owner = await self._owner(request)
        if isinstance(owner, Response):
            return owner
        return await self._render(request, owner, pause=self.access.pause_of(request))

    async def delete(self, request: Request) -> Response:
        came = self.access.clock()
        owner = await self._owner(request)
        if isinstance(owner, Response):
            return owner
        try:
            answer = await read_posted(request)
        except TooLarge:
            self.access.refuse("too_large", key=owner)
            return self.access.renderer.notice("too_large", 413)
        if not self.access.is_ours(request, answer, _purpose(owner)):
            self.access.refuse("not_from_page", key=owner)
            return self.access.renderer.notice("not_from_page", 403, again="/mine")
        if self.access.forms.is_too_soon(answer.last("token"), came):
            self.access.refuse("too_soon", key=owner)
            return await self._render(request, owner, pause=self.access.pause, too_soon=True)
        names = [name for name, _ in await self.vault.names(owner)]
        wanted = names if answer.last("do") == "delete-all" else [answer.last("name")]
        deleted = [name for name in wanted if name in names]
        not_revoked = [name for name in deleted if not await self._delete(owner, name)]
        return await self._render(request, owner, deleted, not_revoked, pause=self.access.pause)

    async def _owner(self, request: Request) -> str | Response:
        """The identity key of the user, or the response that asks them to sign in."""
        visitor = await self.access.identity.visitor(request)
        return visitor if visitor is not None else await self.access.sign_in(request, "/mine")

    async def _delete(self, owner: str, name: str) -> bool:
        """Delete it here in any case. False if access could not be revoked at its provider."""
        provider = name.removeprefix(ACCOUNTS)
        revoked = True
        if name.startswith(ACCOUNTS) and provider in self.titles:
            try:
                await self.oauth.revoke(provider, owner)
            except (OAuthError, VaultLocked) as exc:
                logger.warning(f"access to {provider} was deleted here, but not revoked there: {type(exc).__name__}")
                revoked = False
        await self.vault.forget(owner, name)
        if name.startswith(ACCOUNTS):
            self.access.note(
                "account.disconnected", key=owner, provider=provider, outcome="" if revoked else "not_revoked"
            )
        else:
            self.access.note("secret.deleted", key=owner, name=name)
        return revoked

    async def _render(
        self,
        request: Request,
        owner: str,
        deleted: Sequence[str] | None = None,
        not_revoked: Sequence[str] = (),
        *,
        pause: float,
        too_soon: bool = False,
    ) -> Response:
        """The list. During the pause it deletes nothing: after a deletion, other lines are where the mouse is."""
        entries = [
            _Entry(name, self._title(name), name.startswith(ACCOUNTS), format_moment(since))
            for name, since in await self.vault.names(owner)
        ]
        known = self.access.cookies.browser(request.cookies)
        browser = known or new_mark()
        page = self.access.renderer.page(
            "account.html",
            409 if too_soon else 200,
            who=self.access.name(request, owner),
            entries=entries,
            reader=self.reader,
            token=self.access.forms.token(browser, _purpose(owner), pause=pause),
            too_soon=too_soon,
            deleted=None if deleted is None else [self._title(name) for name in deleted],
            not_revoked=[self._title(name) for name in not_revoked],
            sign_out=self.access.has_sign_out,
            pause=self.access.pause,
            headers=allow_script(LEAVING if self.access.has_sign_out else {}),
        )
        if not known:
            self.access.cookies.mark(page, browser)
        return page

    def _title(self, name: str) -> str:
        provider = name.removeprefix(ACCOUNTS)
        return reveal(self.titles.get(provider, provider) if name.startswith(ACCOUNTS) else name)


def _purpose(owner: str) -> str:
    return f"mine\0{owner}"
