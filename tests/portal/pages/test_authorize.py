"""Access to another service, through our page: consent, the provider, and back."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx2
import pytest

from midcall.errors import RecordRefused, StoreError, StoreFull
from midcall.portal.oauth import Provider
from midcall.stores.interactions import Interactions
from midcall.stores.memory import Memory
from midcall.stores.sqlite import SQLite
from tests.portal.oauth.authorization_server import CLIENT, AuthorizationServer, authorization_server
from tests.portal.sites import ADA, BASE, BOB, Site, Visitor, site, visiting


@asynccontextmanager
async def with_acme(**how: Any) -> AsyncIterator[tuple[Site, AuthorizationServer]]:
    async with authorization_server() as acme:
        provider = Provider.discover(
            "acme", issuer=acme.url, client_id=CLIENT[0], client_secret=CLIENT[1], scopes=["issues.read"], title="ACME"
        )
        yield site(providers=[provider], **how), acme


async def returned(visitor: Visitor, id: str) -> str:
    """Consent, and what the provider sends the browser back with."""
    agreed = await visitor.press(id, "accept")
    assert agreed.status_code == 303
    async with httpx2.AsyncClient() as outside:
        back = await outside.get(agreed.headers["location"])
    location = back.headers["location"]
    assert location.startswith(f"{BASE}/callback/acme?")
    return location


async def test_consent_comes_first_and_then_the_provider_and_then_the_vault() -> None:
    async with with_acme() as (at, acme):
        id = await at.begin("authorize")
        async with visiting(at) as ada:
            page = await ada.open(id)
            assert "Connect ACME to Travel desk" in page.text
            assert "issues.read" in page.text
            assert acme.url not in page.text, "the visited address is ours"
            assert acme.authorizations == []
            done = await ada.http.get(await returned(ada, id))
            assert done.status_code == 200
            assert "Connected" in done.text
        assert await at.action(id) == "accept"
        assert await at.portal.oauth.token("acme", ADA) is not None
        assert at.finished == [id]
        assert acme.authorizations[0]["redirect_uri"] == f"{BASE}/callback/acme"
        assert id not in str(acme.authorizations)


async def test_declining_at_the_provider_is_a_decline() -> None:
    async with with_acme() as (at, acme):
        acme.answers = "access_denied"
        id = await at.begin("authorize")
        async with visiting(at) as ada:
            done = await ada.http.get(await returned(ada, id))
            assert (done.status_code, "You declined" in done.text) == (200, True)
        assert await at.action(id) == "decline"


# --- a denial that does not say what it denies --------------------------------------------------

DENIED = "/callback/acme?error=access_denied"


async def test_a_denial_without_a_state_decides_nothing_and_leads_back_to_our_page() -> None:
    """Another site can send a browser to this address. Only the user can press the button of our page."""
    async with with_acme() as (at, acme):
        acme.sends_issuer = False
        id = await at.begin("authorize")
        async with visiting(at) as ada:
            link = await returned(ada, id)
            said = await ada.get(DENIED)
            assert (said.status_code, "ACME did not connect the account" in said.text) == (200, True)
            assert f'href="/midcall/i/{id}"' in said.text
            assert (await at.action(id), at.finished) == (None, [])
            assert (await ada.press(id, "decline")).status_code == 200
            assert await at.action(id) == "decline"
            assert (await ada.http.get(link)).status_code == 409
        assert await at.portal.vault.names(ADA) == []


async def test_a_denial_without_a_state_leaves_the_flow_as_it_is() -> None:
    async with with_acme() as (at, acme):
        acme.sends_issuer = False
        id = await at.begin("authorize")
        async with visiting(at) as ada:
            link = await returned(ada, id)
            for _ in range(2):
                assert (await ada.get(DENIED)).status_code == 200
            assert (await ada.http.get(link)).status_code == 200
        assert await at.action(id) == "accept"


async def test_a_denial_without_a_state_leads_to_no_page_unless_exactly_one_flow_is_pending() -> None:
    async with with_acme() as (at, acme):
        acme.sends_issuer = False
        one, other = await at.begin("authorize"), await at.begin("authorize")
        async with visiting(at) as ada:
            await ada.open(one)
            assert (await ada.get(DENIED)).status_code == 400
            links = [await returned(ada, one), await returned(ada, other)]
            assert (await ada.get(DENIED)).status_code == 400
            assert (await ada.http.get(links[0])).status_code == 200
            left = await ada.get(DENIED)
            assert (left.status_code, f"/i/{other}" in left.text) == (200, True)
        assert (await at.action(one), await at.action(other)) == ("accept", None)


async def test_agreeing_twice_to_one_interaction_is_one_pending_flow() -> None:
    async with with_acme() as (at, acme):
        acme.sends_issuer = False
        id = await at.begin("authorize")
        async with visiting(at) as ada:
            await returned(ada, id)
            await returned(ada, id)
            assert (await ada.get(DENIED)).status_code == 200


async def test_a_denial_without_a_state_leads_nowhere_in_another_browser_or_for_another_user() -> None:
    async with with_acme() as (at, acme):
        acme.sends_issuer = False
        id = await at.begin("authorize")
        async with visiting(at) as ada, visiting(at) as elsewhere:
            await returned(ada, id)
            await elsewhere.open(await at.begin("form"))  # gets its own mark
            assert (await elsewhere.get(DENIED)).status_code == 400
            ada.http.headers["x-test-user"] = BOB
            assert (await ada.get(DENIED)).status_code == 400
            del ada.http.headers["x-test-user"]
            assert (await ada.get(DENIED)).status_code == 401
        assert await at.action(id) is None


@pytest.mark.parametrize(
    "query",
    ["code=abc", "error=access_denied&code=abc", "error=server_error", "error=access_denied&state=", "error=", ""],
)
async def test_only_a_denial_may_leave_its_state_out(query: str) -> None:
    async with with_acme() as (at, acme):
        acme.sends_issuer = False
        id = await at.begin("authorize")
        async with visiting(at) as ada:
            link = await returned(ada, id)
            assert (await ada.get(f"/callback/acme?{query}")).status_code == 400
            assert await at.action(id) is None
            assert (await ada.http.get(link)).status_code == 200


async def test_a_denial_of_a_provider_that_always_sends_its_issuer_must_name_it() -> None:
    async with with_acme() as (at, acme):
        id = await at.begin("authorize")
        async with visiting(at) as ada:
            link = await returned(ada, id)
            assert (await ada.get(DENIED)).status_code == 403
            assert (await ada.get(f"{DENIED}&iss=https://evil.example")).status_code == 403
            assert (await ada.get(f"{DENIED}&iss={acme.url}")).status_code == 200
            assert await at.action(id) is None
            assert (await ada.http.get(link)).status_code == 200


# --- two providers ------------------------------------------------------------------------------


async def test_a_response_counts_only_at_the_address_of_the_provider_that_was_asked() -> None:
    """Otherwise one provider could get the code of another, and connect somebody else's account with it (mix-up)."""
    async with authorization_server() as acme, authorization_server() as honest:
        honest.sends_issuer = acme.sends_issuer = False
        both = [
            Provider(
                name,
                authorize_url=f"{server.url}/authorize",
                token_url=f"{server.url}/token",
                client_id=CLIENT[0],
                client_secret=CLIENT[1],
            )
            for name, server in (("acme", acme), ("honest", honest))
        ]
        at = site(providers=both)
        id = await at.begin("authorize")
        async with visiting(at) as ada:
            link = await returned(ada, id)
            assert (await ada.http.get(link.replace("/callback/acme?", "/callback/honest?"))).status_code == 403
            assert acme.token_requests == honest.token_requests == []
            for elsewhere in ("/callback", "/callback/", "/callback/nobody", "/callback/acme/"):
                assert (await ada.http.get(link.replace("/callback/acme", elsewhere))).status_code in (400, 403, 404)
            denied = "/callback/honest?error=access_denied"
            assert (await ada.get(denied)).status_code == 400, "its flow is with another provider"
            assert await at.action(id) is None
            assert (await ada.http.get(link)).status_code == 200
        assert (len(acme.token_requests), honest.token_requests) == (1, [])


async def test_a_callback_in_another_browser_or_for_another_user_is_rejected() -> None:
    async with with_acme() as (at, _):
        id = await at.begin("authorize")
        async with visiting(at) as ada, visiting(at) as elsewhere, visiting(at, BOB) as bob:
            link = await returned(ada, id)
            assert (await elsewhere.http.get(link)).status_code == 403
            await elsewhere.open(await at.begin("form"))  # gets its own mark
            assert (await elsewhere.http.get(link)).status_code in (400, 403)
            await bob.open(await at.begin("form", owner=BOB))
            assert (await bob.http.get(link)).status_code in (400, 403)
            ada.http.headers["x-test-user"] = BOB
            assert (await ada.http.get(link)).status_code in (400, 403)
            del ada.http.headers["x-test-user"]
            assert (await ada.http.get(link)).status_code == 401
        assert await at.action(id) is None
        assert await at.portal.vault.names(ADA) == await at.portal.vault.names(BOB) == []


async def test_a_callback_works_once() -> None:
    async with with_acme() as (at, acme):
        id = await at.begin("authorize")
        async with visiting(at) as ada:
            link = await returned(ada, id)
            assert (await ada.http.get(link)).status_code == 200
            assert (await ada.http.get(link)).status_code in (400, 403, 409, 410)
        assert len(acme.token_requests) == 1


async def test_access_granted_after_a_decline_is_revoked() -> None:
    async with with_acme() as (at, acme):
        id = await at.begin("authorize")
        async with visiting(at) as ada:
            controls = await ada.controls(id)
            link = await returned(ada, id)
            assert (await ada.post(f"/i/{id}", {**controls, "do": "decline"})).status_code == 200
            assert (await ada.http.get(link)).status_code == 409
        assert await at.action(id) == "decline"
        assert await at.portal.oauth.token("acme", ADA) is None
        assert acme.revoked


async def test_access_granted_after_its_question_is_gone_from_the_store_is_revoked(tmp_path: Path) -> None:
    async with with_acme(store=SQLite(tmp_path / "kept.db")) as (at, acme):
        id = await at.begin("authorize")
        async with visiting(at) as ada:
            link = await returned(ada, id)
            with closing(sqlite3.connect(tmp_path / "kept.db")) as database, database:
                assert database.execute("DELETE FROM midcall_records WHERE kind = 'authorize'").rowcount == 1
            assert (await ada.http.get(link)).status_code == 404
        assert await at.portal.oauth.token("acme", ADA) is None
        assert acme.revoked


class Breaks:
    """A store that fails at one step, once it is told to."""

    def __init__(self, step: str, error: StoreError) -> None:
        self._store, self._step, self._error = Memory(), step, error
        self.broken = False

    def __getattr__(self, name: str) -> Any:
        if self.broken and name == self._step:
            raise self._error
        return getattr(self._store, name)


@pytest.mark.parametrize("error", [RecordRefused("authorize"), StoreFull("This caller has too much.")])
async def test_access_that_cannot_be_kept_is_revoked(error: StoreError) -> None:
    broken: Any = Breaks("complete", error)
    async with with_acme(store=broken) as (at, acme):
        id = await at.begin("authorize")
        async with visiting(at) as ada:
            link = await returned(ada, id)
            broken.broken = True
            assert (await ada.http.get(link)).status_code in (409, 503)
        broken.broken = False
        assert await at.action(id) is None
        assert await at.portal.oauth.token("acme", ADA) is None
        assert acme.revoked


@pytest.mark.parametrize("error", [RecordRefused("authorize"), StoreError("The store is away.")])
async def test_access_whose_question_cannot_be_read_is_revoked(error: StoreError) -> None:
    async with with_acme() as (at, acme):
        id = await at.begin("authorize")

        async def fail(*_: object) -> None:
            raise error

        async with visiting(at) as ada:
            link = await returned(ada, id)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(Interactions, "look", fail)
                assert (await ada.http.get(link)).status_code in (409, 503)
        assert await at.action(id) is None
        assert await at.portal.oauth.token("acme", ADA) is None
        assert acme.revoked


async def test_access_that_may_have_been_kept_is_not_revoked() -> None:
    """The reply of the store was lost: the call may find what it wrote."""
    broken: Any = Breaks("complete", StoreError("The store is away."))
    async with with_acme(store=broken) as (at, acme):
        id = await at.begin("authorize")
        async with visiting(at) as ada:
            link = await returned(ada, id)
            broken.broken = True
            assert (await ada.http.get(link)).status_code == 503
        assert acme.revoked == []


@pytest.mark.parametrize("answer", ["server_error", "invalid_scope"])
async def test_an_error_at_the_provider_is_shown_and_the_interaction_stays_pending(answer: str) -> None:
    async with with_acme() as (at, acme):
        acme.answers = answer
        id = await at.begin("authorize")
        async with visiting(at) as ada:
            failed = await ada.http.get(await returned(ada, id))
            assert failed.status_code == 502
            assert "The account was not connected" in failed.text
            assert await at.action(id) is None
            acme.answers = "code"
            assert (await ada.http.get(await returned(ada, id))).status_code == 200


async def test_an_unreachable_or_unknown_provider_is_reported() -> None:
    gone = Provider.discover("acme", issuer="http://127.0.0.1:9", client_id="c")
    at = site(providers=[gone])
    async with visiting(at) as ada:
        id = await at.begin("authorize")
        away = await ada.press(id, "accept")
        assert away.status_code == 502
        assert await at.action(id) is None
        assert (await ada.press(await at.begin("authorize", provider="nobody"), "accept")).status_code == 500
        for query in ("", "?state=x&code=y", "?error=access_denied"):
            assert (await ada.get(f"/callback/acme{query}")).status_code in (400, 403)
