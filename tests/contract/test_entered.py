"""The vault holds what a user has accepted and a check has passed, on every store. Pages are answered over HTTP."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from midcall.errors import StoreError
from midcall.stores import Store
from midcall.stores.base import Completion, Value
from midcall.stores.interactions import digest_of
from tests.portal.oauth.authorization_server import authorization_server
from tests.portal.oauth.connecting import discovered
from tests.portal.pages.test_authorize import returned
from tests.portal.sites import ADA, Site, Visitor, site, visiting

WITHIN = 30.0
OLD, NEW = "ghp_entered_last_year", "ghp_entered_now"


class Clock:
    """The time, which a test can move."""

    ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


class Checking:
    """A check that a test holds while something else happens."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()

    async def __call__(self, typed: str) -> str | None:
        self.begun.set()
        await self.go_on.wait()
        return None


async def kept(at: Site) -> dict[str, str] | None:
    return await at.portal.vault.get(ADA, "github")


async def everything_in(store: Store, id: str) -> str:
    """The rows of this page and of the vault, as the store has them."""
    record = await store.read(digest_of(id))
    return f"{record} {[value async for value in store.all_values()]}"


async def sealed_with(at: Site, id: str) -> str | None:
    ending = await at.ending(id)
    return None if ending is None else ending.sealed


Meanwhile = Callable[[Site, Visitor, dict[str, str], str, Clock], Awaitable[None]]


async def declines(at: Site, ada: Visitor, page: dict[str, str], id: str, clock: Clock) -> None:
    assert (await ada.post(f"/i/{id}", {**page, "do": "decline"})).status_code == 200


async def cancels(at: Site, ada: Visitor, page: dict[str, str], id: str, clock: Clock) -> None:
    assert (await ada.post(f"/i/{id}", {**page, "do": "cancel"})).status_code == 200


async def waits_too_long(at: Site, ada: Visitor, page: dict[str, str], id: str, clock: Clock) -> None:
    clock.ahead = 601.0


@pytest.mark.parametrize(
    ("meanwhile", "status"),
    [(declines, 409), (cancels, 409), (waits_too_long, 410)],
    ids=["declined", "cancelled", "expired"],
)
@pytest.mark.parametrize("before", [None, OLD])
async def test_a_secret_that_was_declined_cancelled_or_late_while_its_check_ran_is_kept_nowhere(
    store: Store, meanwhile: Meanwhile, status: int, before: str | None
) -> None:
    clock, check = Clock(), Checking()
    at = site(store=store, clock=clock, checks={"github": check})
    earlier = None if before is None else {"value": before}
    if earlier is not None:
        await at.portal.vault.keep(ADA, "github", earlier, now=1.0)
    id = await at.begin("secret")
    async with asyncio.timeout(WITHIN), visiting(at) as ada:
        page = await ada.controls(id)
        accepting = asyncio.create_task(ada.post(f"/i/{id}", {**page, "s0": NEW, "do": "accept"}))
        await check.begun.wait()
        await meanwhile(at, ada, page, id, clock)
        check.go_on.set()
        assert (await accepting).status_code == status
    assert await kept(at) == earlier
    assert await at.portal.entered.read(id, ADA) is None
    assert await at.action(id) in (None, "decline", "cancel")
    assert not await sealed_with(at, id)


async def test_of_two_submissions_only_the_first_is_stored(store: Store) -> None:
    clock, check = Clock(), Checking()
    at = site(store=store, clock=clock, checks={"github": check})
    id = await at.begin("secret")
    async with asyncio.timeout(WITHIN), visiting(at) as ada:
        page = await ada.controls(id)
        first = asyncio.create_task(ada.post(f"/i/{id}", {**page, "s0": "one", "do": "accept"}))
        second = asyncio.create_task(ada.post(f"/i/{id}", {**page, "s0": "two", "do": "accept"}))
        await check.begun.wait()
        check.go_on.set()
        answers = {"one": (await first).status_code, "two": (await second).status_code}
    assert sorted(answers.values()) == [200, 409]
    [winner] = [value for value, status in answers.items() if status == 200]
    assert await kept(at) == {"value": winner}
    assert (await at.action(id), await sealed_with(at, id)) == ("accept", "")


async def test_after_an_accept_the_secret_is_in_the_vault_and_no_longer_with_its_page(store: Store) -> None:
    at = site(store=store)
    id = await at.begin("secret")
    async with visiting(at) as ada:
        assert (await ada.press(id, "accept", {"s0": NEW})).status_code == 200
    assert await kept(at) == {"value": NEW}
    assert NEW not in await everything_in(store, id)
    assert await sealed_with(at, id) == ""


class Dies:
    """A store whose process dies at one write: from then on, nothing is written."""

    def __init__(self, store: Store, at: str) -> None:
        self._store = store
        self._at = at
        self.dead = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def _write(self, name: str) -> None:
        self.dead = self.dead or name == self._at
        if self.dead:
            raise StoreError("The process has died.")

    async def complete(self, id: str, outcome: str, *, owner: str | None, now: float) -> Completion:
        self._write("complete")
        return await self._store.complete(id, outcome, owner=owner, now=now)

    async def put(self, value: Value, *, instead_of: bytes | None = None) -> bool:
        self._write("put")
        return await self._store.put(value, instead_of=instead_of)

    async def change(self, record: Any, version: int) -> Any:
        self._write("change")
        return await self._store.change(record, version)


@pytest.mark.parametrize("write", ["complete", "put", "change"])
async def test_a_crash_between_two_writes_keeps_all_or_nothing(store: Store, write: str) -> None:
    """Before the outcome nothing is kept; after it, the waiting call finds the secret."""
    doomed: Any = Dies(store, write)
    dying = site(store=doomed)
    id = await dying.begin("secret")
    async with visiting(dying) as ada:
        page = await ada.controls(id)
        status = (await ada.post(f"/i/{id}", {**page, "s0": NEW, "do": "accept"})).status_code
    at = site(store=store)  # the next process
    if write == "complete":
        assert (status, await at.ending(id), await kept(at)) == (503, None, None)
        return
    assert status == 200
    assert await at.action(id) == "accept"
    for _ in range(2):  # as the call does when it continues, even twice
        await at.portal.entered.keep(id, ADA, "github", now=1.0)
    assert await kept(at) == {"value": NEW}
    assert await sealed_with(at, id) == ""


async def test_what_the_tool_has_yet_to_check_is_not_in_the_vault(store: Store) -> None:
    """On a replica that does not know the check."""
    at = site(store=store)
    id = await at.begin("secret", check=True)
    async with visiting(at) as ada:
        assert (await ada.press(id, "accept", {"s0": NEW})).status_code == 200
    assert await kept(at) is None
    assert await at.portal.entered.read(id, ADA) == {"value": NEW}
    assert NEW not in await everything_in(store, id)
    await at.portal.entered.drop(id)
    assert await at.portal.entered.read(id, ADA) is None
    assert await kept(at) is None


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_access_granted_after_a_decline_is_kept_nowhere_and_revoked(store: Store, action: str) -> None:
    async with authorization_server() as acme:
        at = site(store=store, providers=[discovered(acme)])
        id = await at.begin("authorize")
        async with asyncio.timeout(WITHIN), visiting(at) as ada:
            page = await ada.controls(id)
            link = await returned(ada, id)
            assert (await ada.post(f"/i/{id}", {**page, "do": action})).status_code == 200
            assert (await ada.http.get(link)).status_code == 409
        assert await at.portal.vault.names(ADA) == []
        assert await at.portal.entered.read(id, ADA) is None
        assert acme.revoked
