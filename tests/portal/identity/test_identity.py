"""Who is looking: proven by an issuer, a proxy, the author's own function, or nobody."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from itsdangerous import TimestampSigner
from joserfc.jwk import KeySet, OctKey, RSAKey
from starlette.requests import Request

from midcall.portal.identity import Caller, FromCallable, Oidc, ProxyJwt
from tests.portal.identity.issuers import Issuer, issuing, provider_mock
from tests.portal.sites import BASE, Site, Visitor, site

HOME = "https://mcp.example.com"


class Surfer(Visitor):
    """A browser that follows where it is sent: to our app, or out to an issuer that listens on this machine."""

    def __init__(self, at: Site) -> None:
        inside = httpx2.AsyncClient(transport=httpx2.ASGITransport(at.app), base_url=HOME)
        super().__init__(inside)
        self.outside = httpx2.AsyncClient()

    async def follow(self, url: str, most: int = 10) -> httpx2.Response:
        answer = await self._get(url)
        while answer.is_redirect and most:
            answer = await self._get(answer.headers["location"])
            most -= 1
        return answer

    async def _get(self, url: str) -> httpx2.Response:
        ours = url.startswith(("/", HOME))
        return await (self.http if ours else self.outside).get(url)


@asynccontextmanager
async def surfing(at: Site) -> AsyncIterator[Surfer]:
    surfer = Surfer(at)
    async with surfer.http, surfer.outside:
        yield surfer


def with_issuer(issuer: str, **how: Any) -> Site:
    return site(identity=Oidc(issuer, "portal", how.pop("secret", None), **how))


# --- an issuer -------------------------------------------------------------------------------


async def test_the_user_of_the_access_token_signs_in_and_is_recognized() -> None:
    async with issuing(claims={"email": "ada@example.com"}) as issuer:
        at = with_issuer(issuer.url)
        owner = at.portal.owner_of(Caller(issuer.url, "ada", "some-mcp-client"))
        id = await at.begin("approve", owner=owner)
        async with surfing(at) as ada:
            page = await ada.follow(f"/midcall/i/{id}")
            assert page.status_code == 200
            assert "Signed in as ada@example.com" in page.text
            assert (await ada.press(id, "accept")).status_code == 200
        assert await at.action(id) == "accept"
        [asked] = issuer.asked
        assert asked["redirect_uri"] == f"{BASE}/signed-in"
        assert asked["code_challenge_method"] == "S256"
        assert asked["response_type"] == "code"
        assert len(asked["nonce"]) > 20
        assert len(asked["state"]) > 20
        assert id not in str(asked)


async def test_another_user_of_the_issuer_is_rejected_and_can_switch_accounts() -> None:
    async with issuing(sub="bob") as issuer:
        at = with_issuer(issuer.url)
        id = await at.begin("secret", owner=at.portal.owner_of(Caller(issuer.url, "ada")))
        async with surfing(at) as bob:
            page = await bob.follow(f"/midcall/i/{id}")
            assert page.status_code == 403
            assert "Sign in as somebody else" in page.text
            assert "github" not in page.text
            issuer.sub = "ada"
            out = await bob.post("/sign-out", {"back": f"/i/{id}"})
            assert out.status_code == 303
            page = await bob.follow(out.headers["location"])
            assert page.status_code == 200
            assert issuer.asked[-1]["prompt"] == "login"
        assert await at.action(id) is None


async def test_the_same_subject_of_another_issuer_is_somebody_else() -> None:
    async with issuing() as issuer:
        at = with_issuer(issuer.url)
        id = await at.begin("approve", owner=at.portal.owner_of(Caller("https://other.example", "ada")))
        async with surfing(at) as ada:
            assert (await ada.follow(f"/midcall/i/{id}")).status_code == 403


async def test_signing_out_needs_our_own_page_and_leads_nowhere_else() -> None:
    async with issuing() as issuer:
        at = with_issuer(issuer.url)
        async with surfing(at) as ada:
            assert (await ada.follow("/midcall/mine")).status_code == 200
            assert (await ada.post("/sign-out", {}, headers={"origin": "https://evil.example"})).status_code == 403
            for back in ("https://evil.example", "//evil.example", "/../x", "/i/x?y", ""):
                out = await ada.post("/sign-out", {"back": back})
                assert (out.status_code, out.headers["location"]) == (303, "/midcall/signed-out")
            assert "You are signed out" in (await ada.get("/signed-out")).text
            assert (await ada.get("/mine")).status_code == 303


async def signed_in(ada: Surfer, id: str) -> tuple[httpx2.Response, str]:
    """The way up to the issuer's answer, which is held."""
    start = await ada.open(id)
    assert start.status_code == 303
    back = await ada.outside.get(start.headers["location"])
    return start, back.headers["location"]


async def test_a_sign_in_that_another_browser_started_is_rejected() -> None:
    async with issuing() as issuer:
        at = with_issuer(issuer.url)
        id = await at.begin("approve", owner=at.portal.owner_of(Caller(issuer.url, "ada")))
        async with surfing(at) as attacker, surfing(at) as victim:
            _, link = await signed_in(attacker, id)
            landed = await victim.follow(link)
            assert landed.status_code == 400
            assert "not started here" in landed.text
            await victim.open(id)  # starts its own sign-in
            assert (await victim.follow(link)).status_code == 400
            assert (await victim.open(id)).status_code == 303, "still not signed in"


async def test_a_sign_in_works_once() -> None:
    async with issuing() as issuer:
        at = with_issuer(issuer.url)
        id = await at.begin("approve", owner=at.portal.owner_of(Caller(issuer.url, "ada")))
        async with surfing(at) as ada:
            _, link = await signed_in(ada, id)
            assert (await ada.follow(link)).status_code == 200
            assert (await ada.follow(link)).status_code == 400


@pytest.mark.parametrize(
    "wrong",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "another-client"},
        {"aud": "another-client", "azp": "portal"},
        {"aud": ["portal", "other"]},
        {"iss": "https://evil.example"},
        pytest.param({"exp": int(time.time()) - 3600}, id="exp an hour ago"),  # by name: workers begin at other times
        {"exp": None},
        {"sub": None},
        pytest.param({"iat": int(time.time()) + 3600}, id="iat in an hour"),
        {"azp": "another-client"},
        {"at_hash": "wrong"},
    ],
    ids=str,
)
async def test_an_id_token_that_is_not_for_this_sign_in_is_rejected(
    wrong: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    async with issuing(claims=wrong) as issuer:
        if "sub" in wrong:
            issuer.sub = ""
        at = with_issuer(issuer.url)
        id = await at.begin("approve", owner=at.portal.owner_of(Caller(issuer.url, "ada")))
        async with surfing(at) as ada:
            page = await ada.follow(f"/midcall/i/{id}")
            assert page.status_code == 403
            assert "could not be signed in" in page.text
            assert "ACME" not in page.text
            claim = "azp" if isinstance(wrong.get("aud"), list) else next(iter(wrong))
            assert f"Error ({claim})" in caplog.text


@pytest.mark.parametrize("how", ["another key", "none", "shared secret"])
async def test_an_id_token_that_the_issuer_did_not_sign_is_rejected(how: str) -> None:
    async with issuing() as issuer:
        match how:
            case "another key":
                issuer.signs_with = RSAKey.generate_key(2048)
            case "none":
                issuer.header = {"alg": "none"}
            case _:
                issuer.header, issuer.signs_with = {"alg": "HS256"}, OctKey.import_key(b"s" * 32)
        at = with_issuer(issuer.url, secret="s" * 32)
        id = await at.begin("approve", owner=at.portal.owner_of(Caller(issuer.url, "ada")))
        async with surfing(at) as ada:
            assert (await ada.follow(f"/midcall/i/{id}")).status_code == 403


async def test_a_response_from_another_issuer_or_an_error_signs_nobody_in() -> None:
    async with issuing() as issuer:
        at = with_issuer(issuer.url)
        id = await at.begin("approve", owner=at.portal.owner_of(Caller(issuer.url, "ada")))
        async with surfing(at) as ada:
            issuer.sent_back = {"iss": "https://evil.example"}
            assert (await ada.follow(f"/midcall/i/{id}")).status_code == 403
            _, link = await signed_in(ada, id)
            state = parse_qs(urlsplit(link).query)["state"][0]
            denied = await ada.get(f"/signed-in?error=access_denied&state={state}")
            assert denied.status_code == 403
            assert "Try again" in denied.text


async def test_an_unreachable_or_misnamed_issuer_is_reported() -> None:
    at = with_issuer("http://127.0.0.1:9")
    id = await at.begin("approve", owner="x y")
    async with surfing(at) as ada:
        assert (await ada.open(id)).status_code == 503
    async with issuing(metadata={"issuer": "https://evil.example"}) as issuer:
        at = with_issuer(issuer.url)
        id = await at.begin("approve", owner="x y")
        async with surfing(at) as ada:
            assert (await ada.open(id)).status_code == 503
    async with issuing(metadata={"token_endpoint": "http://evil.example/token"}) as issuer:
        at = with_issuer(issuer.url)
        async with surfing(at) as ada:
            assert (await ada.get("/mine")).status_code == 503


async def test_a_session_is_short_and_ends_with_the_settings_it_was_made_under() -> None:
    async with issuing() as issuer:
        at = with_issuer(issuer.url)
        id = await at.begin("approve", owner=at.portal.owner_of(Caller(issuer.url, "ada")))
        async with surfing(at) as ada:
            assert (await ada.follow(f"/midcall/i/{id}")).status_code == 200
            controls = await ada.controls(id)
            at.portal.identity._session = -1.0
            late = await ada.post(f"/i/{id}", {**controls, "do": "accept"})
            assert late.status_code == 401
            assert "Your session has expired" in late.text
            assert f'href="/midcall/i/{id}"' in late.text
            at.portal.identity._session = 3600.0
            assert (await ada.open(id)).status_code == 200
            at.portal.identity._client_id = "renamed"
            assert (await ada.open(id)).status_code == 303
        assert await at.action(id) is None


@pytest.mark.parametrize(("ahead", "taken"), [(1, True), (50, True), (3600, False)])
async def test_a_replica_whose_clock_is_behind_accepts_what_another_signed(
    monkeypatch: pytest.MonkeyPatch, ahead: int, taken: bool
) -> None:
    """The sign-in comes back, the session is used and the form is posted within the same second, often elsewhere."""
    now = int(time.time())
    async with issuing() as issuer:
        at = with_issuer(issuer.url)
        id = await at.begin("approve", owner=at.portal.owner_of(Caller(issuer.url, "ada")))
        async with surfing(at) as ada:
            monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda _: now + ahead)
            assert (await ada.follow(f"/midcall/i/{id}")).status_code == 200
            controls = await ada.controls(id)
            monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda _: now)
            answer = await ada.post(f"/i/{id}", {**controls, "do": "accept"})
            assert answer.status_code == (200 if taken else 401)


async def test_if_subjects_differ_by_client_another_claim_can_be_the_key() -> None:
    """As with Entra, whose `sub` is another one for every client."""
    async with issuing(sub="pairwise-portal", claims={"oid": "0-1"}) as issuer:
        at = with_issuer(issuer.url, key=lambda claims: claims["oid"])
        owner = at.portal.owner_of(Caller(issuer.url, "pairwise-mcp", claims={"oid": "0-1"}))
        id = await at.begin("approve", owner=owner)
        async with surfing(at) as ada:
            assert (await ada.follow(f"/midcall/i/{id}")).status_code == 200
        assert at.portal.owner_of(Caller(issuer.url, "pairwise-mcp", claims={})) == ""
        issuer.claims = {}
        async with surfing(at) as ada:
            assert (await ada.follow(f"/midcall/i/{id}")).status_code == 403


async def test_it_signs_in_with_a_real_provider() -> None:
    """oidc-provider-mock, in its own process."""
    async with provider_mock() as issuer:
        at = with_issuer(issuer, secret="hush")
        id = await at.begin("secret", owner=at.portal.owner_of(Caller(issuer, "ada")))
        for user, status in (("bob", 403), ("ada", 200)):
            async with surfing(at) as somebody:
                start = await somebody.open(id)
                assert start.status_code == 303
                back = await somebody.outside.post(start.headers["location"], data={"sub": user})
                page = await somebody.follow(back.headers["location"])
                assert page.status_code == status
                if user == "ada":
                    assert (await somebody.press(id, "accept", {"s0": "swordfish"})).status_code == 200
        assert await at.portal.vault.get(f"{issuer} ada", "github") == {"value": "swordfish"}
        async with surfing(at) as somebody:
            start = await somebody.get("/mine")
            denied = await somebody.outside.post(start.headers["location"], data={"action": "deny"})
            assert (await somebody.follow(denied.headers["location"])).status_code in (400, 403)


# --- a proxy ---------------------------------------------------------------------------------


def behind(proxy: Issuer, **how: Any) -> Site:
    how = {"keys": KeySet([proxy.key]).as_dict(private=False)} | how
    return site(identity=ProxyJwt("x-assertion", issuer=proxy.url, audience="portal", **how))


PROXY = Issuer("https://proxy.example.com", claims={"email": "ada@example.com"})


async def seen(at: Site, id: str, headers: list[tuple[str, str]]) -> httpx2.Response:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(at.app), base_url=HOME) as http:
        return await http.get(f"/midcall/i/{id}", headers=headers)


async def test_a_user_that_the_proxy_vouches_for_is_recognized() -> None:
    at = behind(PROXY)
    id = await at.begin("approve", owner=at.portal.owner_of(Caller(PROXY.url, "ada")))
    page = await seen(at, id, [("x-assertion", PROXY.token("portal"))])
    assert page.status_code == 200
    assert "Signed in as ada@example.com" in page.text
    assert (await seen(at, id, [("x-assertion", PROXY.token("portal", sub="bob"))])).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("x-assertion", "ada")],
        [("x-assertion", "")],
        [("x-assertion", PROXY.token("another"))],
        [("x-assertion", PROXY.token("portal", iss="https://evil.example"))],
        [("x-assertion", PROXY.token("portal", exp=int(time.time()) - 3600))],
        [("x-assertion", PROXY.token("portal", exp=None, aud="portal"))],
        [("x-assertion", Issuer(PROXY.url, key=RSAKey.generate_key(2048, {"kid": "k1"})).token("portal"))],
        [("x-assertion", PROXY.token("portal")[:-3] + "abc")],
        [("x-assertion", PROXY.token("portal")), ("x-assertion", PROXY.token("portal"))],
        [("x-forwarded-user", "ada"), ("x-user", "ada")],
    ],
    ids=range(11),
)
async def test_a_bare_header_or_a_bad_assertion_is_nobody(headers: list[tuple[str, str]]) -> None:
    at = behind(PROXY)
    id = await at.begin("approve", owner=at.portal.owner_of(Caller(PROXY.url, "ada")))
    page = await seen(at, id, headers)
    assert page.status_code == 401
    assert "ACME" not in page.text


async def test_the_keys_of_a_proxy_are_fetched_and_fetched_again_when_they_change() -> None:
    async with issuing() as proxy:
        at = behind(proxy, keys=None, jwks_url=f"{proxy.url}/keys")
        id = await at.begin("approve", owner=at.portal.owner_of(Caller(proxy.url, "ada")))
        for _ in range(3):
            assert (await seen(at, id, [("x-assertion", proxy.token("portal"))])).status_code == 200
        assert proxy.fetches == 1
        proxy.key = RSAKey.generate_key(2048, {"kid": "k2"})
        proxy.header = {"kid": "k2"}
        kept = at.portal.identity._keys._fetched
        assert (await seen(at, id, [("x-assertion", proxy.token("portal"))])).status_code == 401, "not so soon"
        kept._clock = lambda: time.monotonic() + 11
        assert (await seen(at, id, [("x-assertion", proxy.token("portal"))])).status_code == 200
        assert proxy.fetches == 2


# --- a function ------------------------------------------------------------------------------


async def test_an_async_function_of_the_request_is_an_identity() -> None:
    async def look(request: Request) -> str | None:
        return "https://id.example.com ada" if request.cookies.get("app") == "signed" else None

    at = site(identity=look)
    assert at.portal.owner_of(Caller("https://id.example.com", "ada", "any")) == "https://id.example.com ada"
    id = await at.begin("approve", owner="https://id.example.com ada")
    async with surfing(at) as ada:
        assert (await ada.open(id)).status_code == 401
        ada.http.cookies.set("app", "signed")
        assert (await ada.open(id)).status_code == 200


@pytest.mark.parametrize(
    "caller",
    [Caller(), Caller("https://id.example.com"), Caller(None, "ada"), Caller("", "ada"), Caller("a b", "c")],
    ids=range(5),
)
def test_a_caller_that_is_not_fully_known_is_nobody(caller: Caller) -> None:
    async def look(request: Request) -> str | None:
        return None

    assert FromCallable(look).owner(caller) == ""
    assert Oidc("https://id.example.com", "portal").owner(caller) == ""
    assert FromCallable(look, owner=lambda caller: "me").owner(caller) == "me"
