"""Forged callbacks, and hostile responses from providers. Each test names a defence."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

import pytest
from starlette.datastructures import QueryParams
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse

from midcall.errors import Misuse
from midcall.portal.oauth import CallbackRefused, Finished, Provider, ProviderFailed, endpoint
from midcall.portal.vault import VaultLocked
from tests.portal.oauth.authorization_server import CLIENT, AuthorizationServer, authorization_server
from tests.portal.oauth.connecting import BROWSER, ID, OWNER, Clock, Replica, Watched, discovered, visited
from tests.scanning import everything_about


async def refused(
    here: Replica, answer: dict[str, str], status: int, said: str, pending: Sequence[str] = (), **who: str
) -> None:
    """This callback is refused, and nothing is connected."""
    by = (who.get("browser", BROWSER), who.get("owner", OWNER))
    with pytest.raises(CallbackRefused, match=said) as caught:
        await here.finish(answer, *by, at=who.get("at", "acme"), pending=pending)
    assert caught.value.status == status
    assert await here.vault.names(OWNER) == await here.vault.names(who.get("owner", OWNER)) == []


# --- the callback ----------------------------------------------------------------------------
async def test_a_callback_that_comes_twice_counts_once(here: Replica, acme: AuthorizationServer) -> None:
    answer = await visited(await here.begin())
    assert await here.finish(answer, BROWSER, OWNER) == Finished(ID, "accept")
    await here.vault.forget(OWNER, "oauth:acme")
    await refused(here, answer, 410, "was used already")
    assert len(acme.token_requests) == 1


async def test_of_simultaneous_callbacks_one_is_accepted(
    here: Replica, store: Watched, clock: Clock, acme: AuthorizationServer
) -> None:
    replicas = [here, *(Replica(store, clock, discovered(acme)) for _ in range(3))]
    answer = await visited(await here.begin())
    finishing = (each.finish(answer, BROWSER, OWNER) for each in replicas for _ in range(2))
    results = await asyncio.gather(*finishing, return_exceptions=True)
    assert results.count(Finished(ID, "accept")) == 1
    assert sum(isinstance(each, CallbackRefused) for each in results) == 7
    assert len(acme.token_requests) == 1


async def test_a_callback_in_another_browser_is_rejected_and_the_right_one_can_continue(here: Replica) -> None:
    answer = await visited(await here.begin())
    await refused(here, answer, 403, "another browser", browser="cookie of a victim")
    await refused(here, answer, 403, "another browser", browser="")
    assert await here.finish(answer, BROWSER, OWNER) == Finished(ID, "accept")


async def test_a_callback_under_another_sign_in_is_rejected_and_the_right_one_can_continue(here: Replica) -> None:
    answer = await visited(await here.begin())
    await refused(here, answer, 403, "somebody else", owner="https://id.example.com|eve")
    await refused(here, answer, 403, "somebody else", owner="")
    assert await here.finish(answer, BROWSER, OWNER) == Finished(ID, "accept")


async def test_without_a_user_or_a_browser_no_flow_starts(here: Replica) -> None:
    with pytest.raises(Misuse, match="needs a known user"):
        await here.oauth.begin(ID, "acme", "", BROWSER)
    with pytest.raises(Misuse, match="needs a known user"):
        await here.oauth.begin(ID, "acme", OWNER, "")


@pytest.mark.parametrize("state", ["", "x", "\ud800", "ü" * 40])
async def test_an_unknown_state_is_rejected(here: Replica, acme: AuthorizationServer, state: str) -> None:
    answer = await visited(await here.begin())
    await refused(here, answer | {"state": state}, 400, "does not belong to a connection")
    await refused(here, answer | {"state": answer["state"][:-1]}, 400, "does not belong to a connection")
    await refused(here, {"code": answer["code"]}, 400, "does not belong to a connection")
    assert acme.token_requests == []


async def test_a_response_after_ten_minutes_is_rejected(here: Replica, clock: Clock) -> None:
    answer = await visited(await here.begin())
    clock.now += 600
    await refused(here, answer, 410, "took too long")


async def test_a_response_within_ten_minutes_is_accepted(here: Replica, clock: Clock) -> None:
    answer = await visited(await here.begin())
    clock.now += 599
    assert await here.finish(answer, BROWSER, OWNER) == Finished(ID, "accept")


async def test_the_id_of_an_interaction_is_not_a_state(here: Replica, store: Watched, clock: Clock) -> None:
    from midcall.stores.interactions import Interaction, Interactions

    await Interactions(store).begin(ID, Interaction("form", OWNER, "s", "c", "m", clock(), clock() + 900))
    await refused(here, {"state": ID, "code": "c"}, 400, "does not belong to a connection")


async def test_an_unsolicited_denial_declines_nothing(here: Replica) -> None:
    await refused(here, {"error": "access_denied", "state": "guessed"}, 400, "does not belong to a connection")
    await refused(here, {"error": "access_denied"}, 400, "does not belong to a connection")


async def test_a_denial_without_a_state_is_for_the_only_flow_of_this_browser_and_user(
    here: Replica, acme: AuthorizationServer, clock: Clock
) -> None:
    acme.sends_issuer = False
    denied = {"error": "access_denied"}
    [one, other] = [(await visited(await here.begin()))["state"] for _ in range(2)]
    for pending in ([], ["guessed"], [one, other]):
        await refused(here, denied, 400, "does not belong to a connection", pending=pending)
    for who in ({"browser": "another"}, {"owner": "eve"}):
        await refused(here, denied, 400, "does not belong to a connection", pending=[one], **who)
    for _ in range(2):  # it decides nothing, and takes nothing
        assert await here.finish(denied, BROWSER, OWNER, pending=[one, "guessed"]) == Finished(ID, None)
    clock.now += 600
    await refused(here, denied, 400, "does not belong to a connection", pending=[one, other])


async def test_a_response_with_duplicate_parameters_is_rejected_and_can_be_repeated(here: Replica) -> None:
    answer = await visited(await here.begin())
    twice = QueryParams([*answer.items(), ("code", "another")])
    with pytest.raises(CallbackRefused, match="has code twice"):
        await here.finish(twice, BROWSER, OWNER)
    assert await here.finish(QueryParams(answer), BROWSER, OWNER) == Finished(ID, "accept")


async def test_a_state_moved_to_another_owner_in_the_store_opens_for_nobody(here: Replica, store: Watched) -> None:
    from dataclasses import replace

    answer = await visited(await here.begin())
    records = vars(store)["_records"]
    for id, record in records.items():
        records[id] = replace(record, owner="eve")
    await refused(here, answer, 400, "does not belong to a connection", owner="eve")


async def test_a_response_for_a_removed_provider_is_rejected(here: Replica, store: Watched, clock: Clock) -> None:
    answer = await visited(await here.begin())
    await refused(Replica(store, clock), answer, 400, "does not belong to a connection")


async def test_a_flow_that_outlived_its_key_is_rejected(
    here: Replica, store: Watched, clock: Clock, acme: AuthorizationServer
) -> None:
    answer = await visited(await here.begin())
    there = Replica(store, clock, discovered(acme), keys=["another key that is long enough, too 2"])
    await refused(there, answer, 400, "does not belong to a connection")


# --- who answers -----------------------------------------------------------------------------
async def test_a_response_from_another_issuer_is_rejected(here: Replica, acme: AuthorizationServer) -> None:
    acme.says_issuer = "https://evil.example"
    await refused(here, await visited(await here.begin()), 403, "does not come from acme")
    assert acme.token_requests == []


async def test_an_issuer_that_is_only_nearly_right_is_rejected(here: Replica, acme: AuthorizationServer) -> None:
    acme.says_issuer = f"{acme.url}/"
    await refused(here, await visited(await here.begin()), 403, "does not come from acme")


async def test_a_response_without_issuer_is_rejected_if_the_provider_always_sends_it(here: Replica) -> None:
    answer = await visited(await here.begin())
    del answer["iss"]
    await refused(here, answer, 403, "does not come from acme")


async def test_a_denial_from_another_issuer_is_not_a_decline(here: Replica, acme: AuthorizationServer) -> None:
    acme.says_issuer, acme.answers = "https://evil.example", "access_denied"
    await refused(here, await visited(await here.begin()), 403, "does not come from acme")


async def test_a_provider_that_sends_no_issuer_needs_none(here: Replica, acme: AuthorizationServer) -> None:
    acme.sends_issuer = False
    assert await here.connect() == Finished(ID, "accept")


@pytest.mark.parametrize(("says", "taken"), [("{url}/realm", True), ("https://evil.example", False), ("", False)])
async def test_without_a_configured_issuer_the_response_must_come_from_the_authorize_host(
    store: Watched, clock: Clock, acme: AuthorizationServer, says: str, taken: bool
) -> None:
    described = Provider(
        "acme",
        authorize_url=f"{acme.url}/authorize",
        token_url=f"{acme.url}/token",
        client_id=CLIENT[0],
        client_secret=CLIENT[1],
    )
    here = Replica(store, clock, described)
    acme.sends_issuer = False
    answer = await visited(await here.begin()) | {"iss": says.format(url=acme.url)}
    if taken:
        assert await here.finish(answer, BROWSER, OWNER) == Finished(ID, "accept")
    else:
        await refused(here, answer, 403, "does not come from acme")


async def test_a_provider_that_redirects_to_another_gets_no_code_from_it(
    store: Watched, clock: Clock, acme: AuthorizationServer
) -> None:
    """The mix-up: the user chooses `evil`, which sends them on to acme, and acme's code would go to `evil`."""
    async with authorization_server() as evil:
        here = Replica(store, clock, discovered(acme), discovered(evil, "evil"))
        passed_on = (await here.begin("evil")).replace(evil.url, acme.url)
        answer = await visited(passed_on)
        await refused(here, answer, 403, "address of another service", at="acme")
        await refused(here, answer, 403, "does not come from evil", at="evil")
        assert evil.token_requests == []


async def test_a_code_goes_only_to_the_provider_whose_state_it_came_with(
    store: Watched, clock: Clock, acme: AuthorizationServer
) -> None:
    async with authorization_server() as evil:
        here = Replica(store, clock, discovered(acme), discovered(evil, "evil"))
        answer, other = await visited(await here.begin("acme")), await visited(await here.begin("evil"))
        await refused(here, answer | {"state": other["state"]}, 403, "address of another service", at="acme")
        await refused(here, answer | {"state": other["state"]}, 403, "does not come from evil", at="evil")
        assert evil.token_requests == []


async def test_a_code_from_another_flow_is_rejected_by_the_verifier(here: Replica, acme: AuthorizationServer) -> None:
    mine, stolen = await visited(await here.begin()), await visited(await here.begin())
    with pytest.raises(ProviderFailed, match="invalid_grant"):
        await here.finish(mine | {"code": stolen["code"]}, BROWSER, OWNER)
    assert await here.vault.names(OWNER) == []


# --- what a provider publishes ---------------------------------------------------------------
@pytest.mark.parametrize(
    ("published", "said"),
    [
        ({"issuer": "https://honest.example"}, "names the issuer 'https://honest.example'"),
        ({"issuer": None}, "names the issuer None"),
        ({"token_endpoint": "http://plain.example/token"}, "no usable token_endpoint"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "no usable authorization_endpoint"),
        ({"authorization_endpoint": 7}, "no usable authorization_endpoint"),
        ({"token_endpoint": "https://169.254.169.254/latest"}, "token_endpoint is at 169.254.169.254"),
        ({"token_endpoint": "https://10.0.0.1/token"}, "in a private network"),
        ({"authorization_endpoint": "https://[fe80::1]/"}, "authorization_endpoint is at fe80::1"),
        ({"revocation_endpoint": "https://192.168.0.1/"}, "revocation_endpoint is at"),
        ({"revocation_endpoint": "http://plain.example/revoke"}, "no usable revocation_endpoint"),
        ({"code_challenge_methods_supported": ["plain"]}, "PKCE"),
        ({"token_endpoint_auth_methods_supported": ["private_key_jwt"]}, "private_key_jwt only"),
    ],
)
async def test_invalid_metadata_is_rejected(
    here: Replica, acme: AuthorizationServer, published: dict[str, object], said: str
) -> None:
    acme.metadata = published
    with pytest.raises(ProviderFailed, match=said):
        await here.begin()


async def test_a_token_endpoint_that_redirects_gets_no_further(here: Replica, acme: AuthorizationServer) -> None:
    async with authorization_server() as inner:

        async def away() -> Response:
            return RedirectResponse(f"{inner.url}/token", 307)

        acme.token_answer = away
        with pytest.raises(ProviderFailed):
            await here.connect()
        assert inner.token_requests == []


async def test_a_token_response_that_is_too_long_is_not_read(here: Replica, acme: AuthorizationServer) -> None:
    async def long() -> Response:
        return JSONResponse({"access_token": "x" * 2_000_000, "token_type": "bearer"})

    acme.token_answer = long
    with pytest.raises(ProviderFailed):
        await here.connect()
    assert await here.vault.names(OWNER) == []


async def test_of_many_users_who_connect_at_once_one_fetches_the_metadata(
    here: Replica, acme: AuthorizationServer
) -> None:
    await asyncio.gather(*(here.begin() for _ in range(10)))
    assert acme.metadata_requests == 1


async def test_metadata_is_fetched_once_an_hour(here: Replica, acme: AuthorizationServer, clock: Clock) -> None:
    await here.begin()
    acme.metadata = {"issuer": "https://honest.example"}
    await here.begin()
    clock.now += 3601
    with pytest.raises(ProviderFailed, match="names the issuer"):
        await here.begin()


async def test_a_client_secret_is_sent_the_way_the_provider_supports(here: Replica, acme: AuthorizationServer) -> None:
    acme.metadata = {"token_endpoint_auth_methods_supported": ["private_key_jwt", "client_secret_post"]}
    await here.connect()
    assert acme.token_requests[0]["client_secret"] == CLIENT[1]


async def test_without_metadata_the_error_says_what_to_do(store: Watched, clock: Clock) -> None:
    async with authorization_server() as acme:
        lost = Provider.discover("acme", issuer=f"{acme.url}/nothing/here", client_id="id")
        with pytest.raises(ProviderFailed, match="Check issuer="):
            await Replica(store, clock, lost).begin()
    with pytest.raises(ProviderFailed, match="cannot be reached"):
        await Replica(store, clock, lost).begin()


# --- what a provider answers -----------------------------------------------------------------
def answering(content: object, status: int = 200) -> Callable[[], Awaitable[Response]]:
    async def answer() -> Response:
        return JSONResponse(content, status)

    return answer


async def as_html() -> Response:
    return Response("<h1>Too many requests</h1>", media_type="text/html", status_code=429)


async def elsewhere() -> Response:
    return RedirectResponse("http://127.0.0.1:9/somewhere", 307)


async def broken() -> Response:
    return Response(b'{"access_token": "half', media_type="application/json")


@pytest.mark.parametrize(
    ("token_answer", "said"),
    [
        (answering({"error": "server_error"}, 500), "HTTP 500"),
        (answering({"error": "invalid_client"}, 401), r"\(invalid_client\)"),
        (answering({"error": "<script>alert(1)</script>"}, 400), r"\(an unknown error\)"),
        (answering({"error": {"code": 7}}, 400), "an unknown error|invalid response"),
        (answering({"error": "bad_verification_code"}, 200), r"\(bad_verification_code\)"),
        (answering({}), "invalid response"),
        (answering([]), "invalid response"),
        (answering("text"), "invalid response"),
        (answering(None), "invalid response"),
        (answering({"access_token": ""}), "invalid response"),
        (answering({"access_token": 7}), "invalid response"),
        (answering({"access_token": "secret-a", "token_type": "mac"}), "invalid response"),
        (answering({"access_token": "secret-a", "token_type": None}), "invalid response"),
        (answering({"access_token": "secret-a", "expires_in": "soon"}), "invalid response"),
        (as_html, "HTTP 429"),
        (elsewhere, "HTTP 307"),
        (broken, "invalid response"),
    ],
)
async def test_an_invalid_token_response_connects_nothing_and_is_reported(
    here: Replica, acme: AuthorizationServer, token_answer: Callable[[], Awaitable[Response]], said: str
) -> None:
    acme.token_answer = token_answer
    with pytest.raises(ProviderFailed, match=said) as caught:
        await here.connect()
    assert await here.vault.names(OWNER) == []
    for each in ("secret-a", "half", "<script>", acme.handed_out[0]):
        assert each not in everything_about(caught.value)
    acme.token_answer = None
    assert await here.connect() == Finished(ID, "accept"), "it can be tried again"


@pytest.mark.parametrize("lasts", ["3600", 3600.0, 3600])
async def test_lifetimes_are_understood_in_every_spelling(
    here: Replica, acme: AuthorizationServer, clock: Clock, lasts: float | str
) -> None:
    acme.lasts = lasts
    await here.connect()
    clock.now += 3700
    await here.token()
    assert acme.refreshes == 1


async def test_a_token_endpoint_that_never_responds_times_out(
    monkeypatch: pytest.MonkeyPatch, here: Replica, acme: AuthorizationServer
) -> None:
    monkeypatch.setattr(endpoint, "PROVIDER_TIMEOUT_SECONDS", 0.2)
    acme.gate.clear()
    async with asyncio.timeout(5):
        with pytest.raises(ProviderFailed, match="did not respond in time"):
            await here.connect()


async def test_a_token_endpoint_that_never_finishes_times_out(
    monkeypatch: pytest.MonkeyPatch, here: Replica, acme: AuthorizationServer
) -> None:
    monkeypatch.setattr(endpoint, "PROVIDER_TIMEOUT_SECONDS", 0.5)
    acme.token_answer = drip
    async with asyncio.timeout(5):
        with pytest.raises(ProviderFailed, match="did not respond in time"):
            await here.connect()


async def drip() -> Response:
    """Never silent for long enough to be called silent."""

    async def drops() -> AsyncGenerator[bytes]:
        while True:
            yield b" "
            await asyncio.sleep(0.02)

    return StreamingResponse(drops(), media_type="application/json")


@pytest.mark.parametrize("error", ["server_error", "temporarily_unavailable", "invalid_scope", "<b>Call us</b>"])
async def test_any_other_error_is_a_failure_and_not_a_decline(
    here: Replica, acme: AuthorizationServer, error: str
) -> None:
    acme.answers = error
    with pytest.raises(ProviderFailed, match=error if error.isidentifier() else "an unknown error"):
        await here.connect()


@pytest.mark.parametrize("code", ["a+b/c==", "ü &=%20", "x" * 4000])
async def test_a_code_reaches_the_provider_as_it_is(here: Replica, acme: AuthorizationServer, code: str) -> None:
    answer = await visited(await here.begin())
    with pytest.raises(ProviderFailed, match="invalid_grant"):
        await here.finish(answer | {"code": code}, BROWSER, OWNER)
    assert acme.token_requests[0]["code"] == code


async def test_a_response_without_code_and_error_is_a_failure(here: Replica) -> None:
    answer = await visited(await here.begin())
    del answer["code"]
    with pytest.raises(ProviderFailed, match="invalid response"):
        await here.finish(answer, BROWSER, OWNER)


async def test_a_renewal_error_that_quotes_the_token_reaches_nobody(
    here: Replica, acme: AuthorizationServer, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    await here.connect()
    acme.grants[0].ended = True
    clock.now += 4000
    assert await here.token() is None
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("midcall")]
    assert any("asked again" in each for each in ours)
    assert not [each for each in ours if acme.grants[0].refresh in each]


@pytest.mark.parametrize("error", ["invalid_client", "unauthorized_client", "temporarily_unavailable"])
async def test_a_renewal_that_fails_for_another_reason_deletes_nothing(
    here: Replica, acme: AuthorizationServer, clock: Clock, error: str
) -> None:
    await here.connect()
    clock.now += 4000
    acme.token_answer = answering({"error": error}, 400)
    with pytest.raises(ProviderFailed, match=error):
        await here.token()
    acme.token_answer = None
    assert await here.token() == acme.grants[0].access


async def test_without_its_key_a_connection_is_locked_and_not_lost(
    here: Replica, store: Watched, clock: Clock, acme: AuthorizationServer
) -> None:
    await here.connect()
    there = Replica(store, clock, discovered(acme), keys=["another key that is long enough, too 2"])
    with pytest.raises(VaultLocked, match="Nothing was deleted"):
        await there.token()
    assert await here.token() == acme.grants[0].access
