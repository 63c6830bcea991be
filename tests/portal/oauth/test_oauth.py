"""Connect an account, at a very strict provider, and at one that others wrote."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from oidc_provider_mock import run_server_in_thread

from midcall.errors import InstallError, Misuse
from midcall.portal.oauth import Finished, Provider, ProviderFailed, renewal
from midcall.portal.oauth.renewal import lease_id
from midcall.stores import open_store
from midcall.stores.base import Record
from tests.portal.oauth.authorization_server import CLIENT, AuthorizationServer, authorization_server
from tests.portal.oauth.connecting import (
    BROWSER,
    CALLBACK,
    ID,
    OWNER,
    Clock,
    Replica,
    Watched,
    discovered,
    unavailable,
    visited,
)


@pytest.fixture
def provider(acme: AuthorizationServer) -> Provider:
    return discovered(acme, "acme", "read", "write")


# --- the whole way ---------------------------------------------------------------------------
async def test_a_user_who_agrees_is_connected_and_the_tool_gets_a_live_token(
    here: Replica, acme: AuthorizationServer
) -> None:
    assert await here.token() is None
    assert await here.connect() == Finished(ID, "accept")
    assert await here.token() == acme.grants[0].access
    assert [name for name, _ in await here.vault.names(OWNER)] == ["oauth:acme"]


async def test_the_authorization_request_has_all_it_needs_and_no_secret(
    here: Replica, acme: AuthorizationServer
) -> None:
    url = await here.begin()
    asked = dict(parse_qsl(urlsplit(url).query))
    assert url.startswith(f"{acme.url}/authorize?")
    assert (asked["redirect_uri"], asked["scope"]) == (CALLBACK, "read write")
    assert len(asked["state"]) >= 43
    assert len(asked["code_challenge"]) == 43
    assert asked["code_challenge_method"] == "S256"
    assert "code_verifier" not in asked
    for ours in (ID, OWNER, BROWSER, CLIENT[1]):
        assert ours not in url


async def test_every_flow_has_its_own_state_and_verifier(here: Replica, acme: AuthorizationServer) -> None:
    first, second = [dict(parse_qsl(urlsplit(await here.begin()).query)) for _ in range(2)]
    assert first["state"] != second["state"]
    assert first["code_challenge"] != second["code_challenge"]


async def test_another_replica_can_finish_a_flow(
    here: Replica, store: Watched, clock: Clock, provider: Provider
) -> None:
    there = Replica(store, clock, provider)
    answer = await visited(await here.begin())
    assert await there.finish(answer, BROWSER, OWNER) == Finished(ID, "accept")
    assert await here.token() == await there.token()


async def test_replicas_that_share_only_a_database_finish_and_renew_for_each_other(
    tmp_path: Path, clock: Clock, acme: AuthorizationServer, provider: Provider
) -> None:
    stores = [open_store(f"sqlite:///{tmp_path}/shared.db") for _ in range(2)]
    here, there = (Replica(store, clock, provider) for store in stores)
    try:
        answer = await visited(await here.begin())
        finished = await asyncio.gather(
            *(each.finish(answer, BROWSER, OWNER) for each in (here, there)), return_exceptions=True
        )
        assert finished.count(Finished(ID, "accept")) == 1
        for _ in range(3):
            clock.now += 4000
            tokens = await asyncio.gather(here.token(), there.token(), here.token(), there.token())
            assert set(tokens) == {acme.grants[0].access}
        assert acme.refreshes == 3
    finally:
        for store in stores:
            await store.close()


async def test_a_denial_at_the_provider_is_a_decline(here: Replica, acme: AuthorizationServer) -> None:
    acme.answers = "access_denied"
    assert await here.connect() == Finished(ID, "decline")
    assert await here.token() is None
    assert acme.token_requests == []


async def test_a_described_provider_needs_no_metadata(store: Watched, clock: Clock, acme: AuthorizationServer) -> None:
    acme.sends_issuer = False
    described = Provider(
        "acme",
        authorize_url=f"{acme.url}/authorize?theme=dark",
        token_url=f"{acme.url}/token",
        client_id=CLIENT[0],
        client_secret=CLIENT[1],
        token_auth="client_secret_post",
        resource="https://api.acme.example",
        extra={"access_type": "offline"},
    )
    here = Replica(store, clock, described)
    await here.connect()
    assert await here.token() == acme.grants[0].access
    asked = acme.authorizations[0]
    assert (asked["theme"], asked["access_type"]) == ("dark", "offline")
    assert asked["resource"] == acme.token_requests[0]["resource"] == "https://api.acme.example"
    assert "scope" not in asked


# --- renewing --------------------------------------------------------------------------------
async def test_an_expired_token_is_renewed_and_the_rotated_refresh_token_stored(
    here: Replica, acme: AuthorizationServer, clock: Clock
) -> None:
    await here.connect()
    for _ in range(3):
        clock.now += 4000
        assert await here.token() == acme.grants[0].access
    assert acme.refreshes == 3


async def test_a_token_is_renewed_shortly_before_its_end_and_not_sooner(
    here: Replica, acme: AuthorizationServer, clock: Clock
) -> None:
    await here.connect()
    first = acme.grants[0].access
    clock.now += 3500
    assert await here.token() == first
    clock.now += 50
    assert await here.token() == acme.grants[0].access != first


async def test_a_token_that_lives_for_a_minute_is_not_renewed_at_every_use(
    here: Replica, acme: AuthorizationServer, clock: Clock
) -> None:
    acme.lasts = 60
    await here.connect()
    clock.now += 30
    await here.token()
    assert acme.refreshes == 0


async def test_a_token_without_an_end_is_never_renewed(here: Replica, acme: AuthorizationServer, clock: Clock) -> None:
    acme.lasts = None
    await here.connect()
    clock.now += 10**9
    assert await here.token() == acme.grants[0].access
    assert acme.refreshes == 0


async def test_if_the_provider_has_revoked_the_access_the_user_is_asked_again(
    here: Replica, acme: AuthorizationServer, clock: Clock
) -> None:
    await here.connect()
    acme.grants[0].ended = True
    clock.now += 4000
    assert await here.token() is None
    assert await here.vault.names(OWNER) == []
    await here.connect()
    assert await here.token() == acme.grants[1].access


@pytest.mark.parametrize("replicas", [1, 2])
async def test_two_simultaneous_renewals_use_the_refresh_token_once(
    here: Replica, store: Watched, acme: AuthorizationServer, clock: Clock, provider: Provider, replicas: int
) -> None:
    there = here if replicas == 1 else Replica(store, clock, provider)
    await here.connect()
    clock.now += 4000
    acme.at_token.clear()
    acme.gate.clear()
    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        first = tasks.create_task(here.token())
        await acme.at_token.wait()
        second = tasks.create_task(there.token())
        await store.waited_for.wait()
        acme.gate.set()
    assert first.result() == second.result() == acme.grants[0].access
    assert acme.refreshes == 1
    clock.now += 4000
    assert await there.token() == acme.grants[0].access, "the rotated refresh token was lost"


async def renewing(here: Replica, acme: AuthorizationServer, clock: Clock) -> asyncio.Task[str | None]:
    """Somebody who wants a token, while its renewal is held at the provider's."""
    await here.connect()
    clock.now += 4000
    acme.at_token.clear()
    acme.gate.clear()
    caller = asyncio.create_task(here.token())
    await acme.at_token.wait()
    return caller


async def test_a_caller_who_is_cancelled_during_a_renewal_loses_nothing(
    here: Replica, acme: AuthorizationServer, clock: Clock
) -> None:
    caller = await renewing(here, acme, clock)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    acme.gate.set()
    async with asyncio.timeout(10):
        assert await here.token() == acme.grants[0].access
    assert acme.refreshes == 1


async def test_an_account_that_is_reconnected_during_a_renewal_stays(
    here: Replica, acme: AuthorizationServer, clock: Clock
) -> None:
    caller = await renewing(here, acme, clock)
    fresh = await here.vault.get(OWNER, "oauth:acme") or {}
    fresh |= {"access": "reconnected", "expires": "inf", "renew": "inf"}
    await here.vault.keep(OWNER, "oauth:acme", fresh, now=clock())
    acme.gate.set()
    assert await caller == "reconnected"
    assert await here.token() == "reconnected"
    assert set(acme.revoked) == {acme.grants[0].refresh, acme.grants[0].access}


async def test_an_account_that_is_deleted_during_a_renewal_does_not_come_back(
    here: Replica, acme: AuthorizationServer, clock: Clock
) -> None:
    caller = await renewing(here, acme, clock)
    await here.vault.forget(OWNER, "oauth:acme")
    acme.gate.set()
    assert await caller is None
    assert await here.token() is None
    assert acme.grants[0].refresh in acme.revoked


async def test_a_provider_that_is_down_costs_no_connection(
    here: Replica, acme: AuthorizationServer, clock: Clock
) -> None:
    await here.connect()
    clock.now += 4000
    acme.token_answer = unavailable
    with pytest.raises(ProviderFailed, match="try again"):
        await here.token()
    acme.token_answer = None
    assert await here.token() == acme.grants[0].access


async def test_a_token_that_still_works_is_used_while_the_provider_is_down(
    here: Replica, acme: AuthorizationServer, clock: Clock
) -> None:
    await here.connect()
    clock.now += 3580
    acme.token_answer = unavailable
    assert await here.token() == acme.grants[0].access
    assert acme.refreshes == 1


async def test_a_replica_that_died_while_renewing_delays_the_others_only_for_a_while(
    store: Watched, acme: AuthorizationServer, clock: Clock, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    await Replica(store, clock, provider).connect()
    here = Replica(store, clock, provider)
    monkeypatch.setattr(renewal, "_LEASE", 0.1)
    clock.now += 4000
    entry = await here.vault.entry(OWNER, "oauth:acme")
    assert entry is not None
    lease = Record(lease_id(OWNER, provider, entry), "oauth-renewal", OWNER, "{}", clock(), clock() + 0.1)
    await store.create(lease)  # and then it died
    with pytest.raises(ProviderFailed, match="could not be renewed just now"):
        await here.token()
    clock.now += 1
    assert await Replica(store, clock, provider).token() == acme.grants[0].access


# --- what the author changes -----------------------------------------------------------------
@pytest.mark.parametrize(
    "change",
    [
        {"scopes": ("read", "write", "delete")},
        {"client_id": "client-2"},
        {"token_url": "https://elsewhere.example/token"},
    ],
    ids=["more scopes", "another client", "another token endpoint"],
)
async def test_a_token_granted_for_other_settings_is_not_used(
    store: Watched, clock: Clock, acme: AuthorizationServer, change: dict[str, str]
) -> None:
    as_before: dict[str, object] = {
        "authorize_url": f"{acme.url}/authorize",
        "token_url": f"{acme.url}/token",
        "client_id": CLIENT[0],
        "client_secret": CLIENT[1],
        "scopes": ("read", "write"),
    }
    before = Replica(store, clock, Provider("acme", **as_before))  # pyright: ignore
    await before.connect()
    clock.now += 4000
    after = Replica(store, clock, Provider("acme", **(as_before | change)))  # pyright: ignore
    assert await after.token() is None
    assert acme.refreshes == 0
    assert await before.token() is not None


async def test_fewer_scopes_need_no_new_consent(
    here: Replica, store: Watched, clock: Clock, acme: AuthorizationServer
) -> None:
    await here.connect()
    assert await Replica(store, clock, discovered(acme, "acme", "read")).token() == acme.grants[0].access


# --- giving back -----------------------------------------------------------------------------
async def test_revoking_revokes_and_deletes_both_tokens(here: Replica, acme: AuthorizationServer) -> None:
    await here.connect()
    await here.oauth.revoke("acme", OWNER)
    assert acme.revoked == [acme.grants[0].refresh, acme.grants[0].access]
    assert await here.token() is None
    await here.oauth.revoke("acme", OWNER)
    assert len(acme.revoked) == 2


async def test_if_revoking_fails_the_access_is_deleted_here_and_the_error_says_so(store: Watched, clock: Clock) -> None:
    async with authorization_server() as acme:
        here = Replica(store, clock, discovered(acme))
        await here.connect()
    with pytest.raises(ProviderFailed, match=r"deleted here, .* settings at acme"):
        await here.oauth.revoke("acme", OWNER)
    assert await here.vault.names(OWNER) == []


# --- a provider that others wrote ------------------------------------------------------------
@pytest.fixture
def mock() -> Iterator[str]:
    with run_server_in_thread() as server:
        yield f"http://localhost:{server.server_port}"


async def consented(url: str, subject: str) -> dict[str, str]:
    """As a user does it: look at the provider's page, and send its form."""
    async with httpx.AsyncClient() as browser:
        page = await browser.get(url)
        assert page.status_code == 200
        answer = await browser.post(url, data={"sub": subject})
    return dict(parse_qsl(urlsplit(answer.headers["Location"]).query))


@pytest.mark.filterwarnings("ignore:get_jwt_config:DeprecationWarning")  # from the mock, in our thread
async def test_oidc_provider_mock_is_connected_used_renewed_and_ended(mock: str, store: Watched, clock: Clock) -> None:
    known = Provider.discover(
        "mock", issuer=mock, client_id="midcall", client_secret="of midcall", scopes=("openid", "email")
    )
    here = Replica(store, clock, known)
    answer = await consented(await here.begin("mock"), "ada@example.com")
    assert await here.finish(answer, BROWSER, OWNER, at="mock") == Finished(ID, "accept")
    assert await email(mock, await here.token("mock")) == "ada@example.com"

    first = await here.token("mock")
    clock.now += 4000
    second = await here.token("mock")
    assert second != first
    assert await email(mock, second) == "ada@example.com"

    async with httpx.AsyncClient() as admin:
        await admin.post(f"{mock}/users/ada@example.com/revoke-tokens")
    clock.now += 4000
    assert await here.token("mock") is None


async def email(issuer: str, token: str | None) -> str:
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as tool:
        answer = await tool.get(f"{issuer}/userinfo")
    return answer.json()["email"]


# --- nothing leaks ---------------------------------------------------------------------------
async def test_after_a_whole_life_logs_and_store_hold_no_token_code_verifier_state_or_id(
    here: Replica, acme: AuthorizationServer, clock: Clock, store: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await here.connect()
    clock.now += 4000
    await here.token()
    acme.token_answer = unavailable
    clock.now += 4000
    with pytest.raises(ProviderFailed):
        await here.token()
    acme.token_answer = None
    kept = f"{vars(store)['_records']} {vars(store)['_values']}"
    await here.oauth.revoke("acme", OWNER)
    acme.answers = "access_denied"
    await here.connect()

    secret = [*acme.handed_out, ID, BROWSER, CLIENT[1]]
    secret += [asked[name] for asked in acme.token_requests for name in ("code", "code_verifier") if name in asked]
    secret += [asked["state"] for asked in acme.authorizations]
    logged = [record for record in caplog.records if record.name.split(".")[0] not in ("httpx", "httpcore", "uvicorn")]
    assert {"midcall", "httpx2"} <= {record.name.split(".")[0] for record in logged}
    for record in logged:
        text = f"{record.getMessage()} {vars(record)}"
        assert not [each for each in secret if each in text], record.name
    assert not [each for each in secret if each in kept]


def test_the_repr_of_a_provider_holds_no_secret() -> None:
    known = Provider.github("id", "the secret of this app", ["repo"])
    assert "the secret" not in f"{known!r} {known}"


# --- mistakes of the author ------------------------------------------------------------------
URLS = {"authorize_url": "https://a.example/authorize", "token_url": "https://a.example/token"}


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("Not a name", URLS, "cannot name a provider"),
        ("a", {"authorize_url": URLS["authorize_url"]}, "both needed"),
        ("a", {}, "Provider.discover"),
        (
            "a",
            URLS | {"token_url": "http://a.example/token"},
            "token_url='http://a.example/token' must be an https URL",
        ),
        ("a", URLS | {"authorize_url": "https://u:p@a.example"}, "must be an https URL"),
        ("a", URLS | {"revoke_url": "ftp://a.example"}, "revoke_url"),
        ("a", {"issuer": "http://id.example"}, "issuer='http://id.example' must be an https URL"),
        ("a", URLS | {"client_id": ""}, "client_id= is missing"),
        ("a", URLS | {"scopes": "repo"}, "must be a list of scopes"),
        ("a", URLS | {"scopes": ["repo user"]}, "must be a list of scopes"),
        ("a", URLS | {"extra": {"state": "x"}}, "must not set 'state'"),
        ("a", URLS | {"authorize_url": "https://a.example/authorize?redirect_uri=x"}, "must not set 'redirect_uri'"),
        ("a", URLS | {"token_auth": "none", "client_secret": "s"}, "client_secret="),
        ("a", URLS | {"token_auth": "client_secret_post"}, "needs client_secret="),
        ("a", URLS | {"token_auth": "private_key_jwt"}, "must be one of client_secret_basic"),
    ],
)
def test_an_invalid_provider_is_rejected_when_it_is_created(name: str, given: dict[str, str], said: str) -> None:
    with pytest.raises(InstallError, match=said):
        Provider(name, **({"client_id": "id"} | given))  # pyright: ignore


def test_loopback_may_be_http() -> None:
    assert Provider.discover("a", issuer="http://127.0.0.1:4000", client_id="id").uses_discovery


async def test_an_unknown_provider_is_named_with_those_that_exist(here: Replica) -> None:
    with pytest.raises(Misuse, match="no provider 'githib'; this portal has acme"):
        await here.token("githib")


def test_two_providers_with_one_name_are_rejected(clock: Clock, store: Watched) -> None:
    twice = Provider.github("id", "secret")
    with pytest.raises(InstallError, match="Two providers are called 'github'"):
        Replica(store, clock, twice, twice)
