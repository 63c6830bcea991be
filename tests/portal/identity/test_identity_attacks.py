"""Sign-in under attack: storms of requests, metadata that points inwards, forged tokens, sessions that are over."""

from __future__ import annotations

import asyncio
import base64
import hmac
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import httpx2
import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, RSAKey
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from midcall.portal.app import Portal
from midcall.portal.identity import Caller, Oidc, ProxyJwt
from midcall.settings.portal import PROVIDER_AGAIN_SECONDS, TOKEN_LEEWAY_SECONDS
from tests.auditing import Trail
from tests.portal.identity.issuers import Issuer, _part, issuing
from tests.portal.identity.test_identity import HOME, behind, seen, signed_in, surfing, with_issuer
from tests.portal.sites import BASE, Site, site

HOSTILE = "x\r\nERROR:midcall.portal:forged\x1b[2J\u202e"


async def page_of(at: Site, issuer: Issuer) -> str:
    return await at.begin("approve", owner=at.portal.owner_of(Caller(issuer.url, "ada")))


# --- iss (RFC 9207) --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("always", "sent", "status"),
    [
        (True, "right", 200),
        (True, None, 403),
        (True, "wrong", 403),
        (False, None, 200),
        (False, "right", 200),
        (False, "wrong", 403),
        (False, "", 403),
    ],
)
async def test_the_issuer_of_a_response_is_checked(always: bool, sent: str | None, status: int) -> None:
    async with issuing(metadata={"authorization_response_iss_parameter_supported": always}) as issuer:
        named = {"right": issuer.url, "wrong": f"{issuer.url}/"}
        if sent is not None:
            issuer.sent_back = {"iss": named.get(sent, sent)}
        at = with_issuer(issuer.url)
        async with surfing(at) as ada:
            assert (await ada.follow(f"/midcall/i/{await page_of(at, issuer)}")).status_code == status
        assert len(issuer.codes) == (0 if status == 200 else 1), "a refused code is never exchanged"


async def test_a_sign_in_that_another_issuer_began_is_not_finished_with_this_one() -> None:
    """While an operator changes the issuer, the code of one must not go to the other."""
    async with issuing() as one, issuing() as other:
        before, after = with_issuer(one.url), with_issuer(other.url)
        async with surfing(before) as ada, surfing(after) as later:
            _, link = await signed_in(ada, await page_of(before, one))
            later.http.cookies = ada.http.cookies
            assert (await later.follow(link)).status_code == 400
            assert (await ada.follow(link)).status_code == 200
        assert (other.asked, other.fetches) == ([], 0)


@pytest.mark.parametrize("twice", ["iss", "code", "state", "error"])
async def test_a_response_with_a_parameter_twice_signs_nobody_in(twice: str) -> None:
    async with issuing() as issuer:
        at = with_issuer(issuer.url)
        async with surfing(at) as ada:
            _, link = await signed_in(ada, await page_of(at, issuer))
            more = {"iss": [issuer.url, "https://evil.example"], "error": ["a", "b"]}.get(twice, ["x"])
            link += "".join(f"&{twice}={quote(each)}" for each in more)
            assert (await ada.follow(link)).status_code in (400, 403)
            assert (await ada.get("/mine")).status_code == 303
        assert len(issuer.codes) == 1


async def test_a_response_with_a_code_and_an_error_is_an_error() -> None:
    async with issuing(sent_back={"error": "access_denied"}) as issuer:
        at = with_issuer(issuer.url)
        async with surfing(at) as ada:
            assert (await ada.follow(f"/midcall/i/{await page_of(at, issuer)}")).status_code == 403


async def test_what_an_issuer_or_a_stranger_says_cannot_forge_a_line_of_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG", "midcall")
    async with issuing() as issuer:
        at = with_issuer(issuer.url)
        async with surfing(at) as ada:
            _, link = await signed_in(ada, await page_of(at, issuer))
            state = parse_qs(urlsplit(link).query)["state"][0]
            await ada.get(f"/signed-in?error={quote(HOSTILE)}&state={state}")
        issuer.metadata = {"issuer": HOSTILE}
        async with surfing(with_issuer(issuer.url)) as ada:
            assert (await ada.get("/mine")).status_code == 503
        proxied = behind(issuer)
        token = issuer.token("portal", iss=HOSTILE)
        await seen(proxied, await page_of(proxied, issuer), [("x-assertion", token), ("user-agent", "x\x1b[2J")])
    lines = [record.getMessage() for record in caplog.records if record.name.startswith("midcall")]
    assert sum("forged" in line for line in lines) >= 2, "they are logged"
    assert all(line.isprintable() for line in lines)


async def test_a_sign_in_that_is_refused_is_in_the_audit_trail() -> None:
    trail = Trail()
    async with issuing() as issuer:
        at = site(identity=Oidc(issuer.url, "portal", None), audit=trail.audit)
        async with surfing(at) as stranger:
            assert (await stranger.get("/signed-in?code=stolen&state=guessed")).status_code == 400
        issuer.sent_back = {"error": "access_denied"}
        async with surfing(at) as ada:
            await ada.follow(f"/midcall/i/{await page_of(at, issuer)}")
        issuer.sent_back = {}
        issuer.claims = {"aud": "another-portal"}
        async with surfing(at) as ada:
            await ada.follow(f"/midcall/i/{await page_of(at, issuer)}")
    assert await trail.told("signin") == [
        "signin.refused page unknown",
        "signin.refused page response",
        "signin.refused page id_token",
    ]


async def test_a_sign_out_that_is_refused_is_in_the_audit_trail() -> None:
    trail = Trail()
    async with issuing() as issuer:
        at = site(identity=Oidc(issuer.url, "portal", None), audit=trail.audit)
        async with surfing(at) as ada:
            elsewhere = {"origin": "https://evil.example"}
            assert (await ada.post("/sign-out", {}, headers=elsewhere)).status_code == 403
            assert (await ada.post("/sign-out", {"back": "x" * 1_100_000})).status_code == 413
    assert await trail.told() == ["page.refused page not_from_page", "page.refused page too_large"]


async def test_an_assertion_of_a_proxy_that_is_refused_is_in_the_audit_trail_once() -> None:
    trail, issuer = Trail(), Issuer("https://proxy.example.com")
    keys = KeySet([issuer.key]).as_dict(private=False)
    proxy = ProxyJwt("x-assertion", issuer=issuer.url, audience="portal", keys=keys, key=lambda claims: claims["oid"])
    at = site(identity=proxy, audit=trail.audit)
    told: list[list[str]] = []
    for assertions in ([], ["garbage"], [issuer.token("another")], [issuer.token("portal", oid="ada")] * 2):
        headers = [("x-assertion", each) for each in assertions]
        for path in ("/midcall/mine", f"/midcall/i/{await at.begin('approve', owner='ada')}"):
            async with httpx2.AsyncClient(transport=httpx2.ASGITransport(at.app), base_url=HOME) as http:
                assert (await http.get(path, headers=headers)).status_code == 401
            told.append(await trail.told("signin"))
            trail.seen.clear()
    assert told == [[], [], *[["signin.refused page assertion"]] * 6]
    assert (await seen(at, await at.begin("approve", owner="ada"), [("x-assertion", issuer.token("portal"))])).is_error
    assert await trail.told("signin") == ["signin.refused page no_key"]


# --- the id token ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "seconds", "status"),
    [
        ("exp", -TOKEN_LEEWAY_SECONDS + 20, 200),
        ("exp", -TOKEN_LEEWAY_SECONDS - 60, 403),
        ("iat", TOKEN_LEEWAY_SECONDS - 20, 200),
        ("iat", TOKEN_LEEWAY_SECONDS + 600, 403),
        ("nbf", TOKEN_LEEWAY_SECONDS - 20, 200),
        ("nbf", TOKEN_LEEWAY_SECONDS + 600, 403),
    ],
)
async def test_the_clocks_may_differ_a_little(claim: str, seconds: int, status: int) -> None:
    async with issuing(claims={claim: int(time.time()) + seconds}) as issuer:
        at = with_issuer(issuer.url)
        async with surfing(at) as ada:
            assert (await ada.follow(f"/midcall/i/{await page_of(at, issuer)}")).status_code == status


def _forge(issuer: Issuer, how: str, claims: Mapping[str, Any]) -> str:
    public = issuer.key.as_pem(private=False)
    own = RSAKey.generate_key(2048, {"kid": "k1"})
    match how:
        case "public key as a shared secret":
            text = f"{_part({'alg': 'HS256', 'kid': 'k1'})}.{_part(dict(claims))}"
            proof = base64.urlsafe_b64encode(hmac.digest(public, text.encode(), "sha256")).decode().rstrip("=")
            return f"{text}.{proof}"
        case "key in the header":
            jwk = own.as_dict(private=False)
            return jwt.encode({"alg": "RS256", "jwk": jwk}, dict(claims), own, algorithms=["RS256"])
        case "unknown key id":
            return jwt.encode({"alg": "RS256", "kid": "../k1"}, dict(claims), own, algorithms=["RS256"])
        case "another curve":
            key = ECKey.generate_key("P-256", {"kid": "k1"})
            return jwt.encode({"alg": "ES256", "kid": "k1"}, dict(claims), key, algorithms=["ES256"])
        case "no signature":
            return issuer.token("portal").rpartition(".")[0] + "."
        case "deep header":
            return f"{'W1tb' * 40_000}.e30.AA"
        case _:
            return how


@pytest.mark.parametrize(
    "how",
    [
        *("public key as a shared secret", "key in the header", "unknown key id", "another curve", "no signature"),
        *("deep header", "", "..", "a.b.c", "bnVsbA.bnVsbA.bnVsbA", "W10.W10.W10", "\x00.é.☃"),
    ],
)
async def test_a_token_that_the_issuer_did_not_sign_proves_nothing(how: str) -> None:
    async with issuing() as issuer:
        claims = {"iss": issuer.url, "sub": "ada", "aud": "portal", "exp": int(time.time()) + 600}
        at = behind(issuer, keys=None, jwks_url=f"{issuer.url}/keys")
        id = await page_of(at, issuer)
        assert (await seen(at, id, [("x-assertion", issuer.token("portal"))])).status_code == 200
        forged: Any = _forge(issuer, how, claims).encode()
        assert (await seen(at, id, [(b"x-assertion", forged)])).status_code == 401  # type: ignore[list-item]


@pytest.mark.parametrize("offered", [["HS256"], ["none"], [], "RS256", ["RS256", "none"]], ids=str)
async def test_an_issuer_that_signs_with_a_shared_secret_only_is_not_used(offered: object) -> None:
    async with issuing(metadata={"id_token_signing_alg_values_supported": offered}) as issuer:
        at = with_issuer(issuer.url)
        async with surfing(at) as ada:
            usable = not offered or offered == ["RS256", "none"]
            assert (await ada.get("/mine")).status_code == (303 if usable else 503)


# --- storms ----------------------------------------------------------------------------------


async def test_a_storm_of_tokens_with_unknown_keys_is_one_request_for_keys() -> None:
    async with issuing() as issuer:
        at = behind(issuer, keys=None, jwks_url=f"{issuer.url}/keys")
        id = await page_of(at, issuer)
        other = RSAKey.generate_key(2048)
        storm = [
            jwt.encode({"alg": "RS256", "kid": f"k{number}"}, {"sub": "x"}, other, algorithms=["RS256"])
            for number in range(20)
        ]
        answers = await asyncio.gather(*(seen(at, id, [("x-assertion", token)]) for token in storm))
        assert {each.status_code for each in answers} <= {401, 429}
        assert issuer.fetches == 1
        kept = at.portal.identity._keys._fetched
        kept._clock = lambda: time.monotonic() + PROVIDER_AGAIN_SECONDS + 1
        await asyncio.gather(*(seen(at, id, [("x-assertion", token)]) for token in storm))
        assert issuer.fetches == 2, "one more for all of them, after a while"


class Broken(Issuer):
    """Answers nothing but 500."""

    tries = 0

    async def _metadata(self, request: Request) -> Response:
        self.tries += 1
        return JSONResponse({}, 500)

    _keys = _metadata


async def test_an_issuer_that_is_down_is_not_asked_by_every_visitor() -> None:
    async with issuing(kind=Broken) as issuer:
        assert isinstance(issuer, Broken)
        at = with_issuer(issuer.url)
        async with surfing(at) as ada:
            answers = await asyncio.gather(*(ada.get("/mine") for _ in range(20)))
            assert {each.status_code for each in answers} == {503}
            assert issuer.tries == 1
        proxied = behind(issuer, keys=None, jwks_url=f"{issuer.url}/keys")
        id = await page_of(proxied, issuer)
        for _ in range(10):
            assert (await seen(proxied, id, [("x-assertion", issuer.token("portal"))])).status_code == 401
        assert issuer.tries == 2


# --- metadata that points inwards ------------------------------------------------------------


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint", "jwks_uri", "end_session_endpoint"])
@pytest.mark.parametrize(
    "url", ["https://169.254.169.254/x", "https://10.0.0.1/x", "http://id.example.com/x", "file:///etc/passwd"]
)
async def test_an_issuer_whose_metadata_points_inwards_or_to_plain_http_is_not_used(
    name: str, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with issuing(metadata={name: url}) as issuer:
        async with surfing(with_issuer(issuer.url)) as ada:
            assert (await ada.get("/mine")).status_code == 503
    assert name in caplog.text


class Redirecting(Issuer):
    """Sends everyone who asks for its keys or a token elsewhere."""

    elsewhere = ""

    async def _keys(self, request: Request) -> Response:
        return RedirectResponse(self.elsewhere, 307)

    _token = _keys


@pytest.mark.parametrize("where", ["_keys", "_token"])
async def test_a_redirect_of_an_endpoint_is_not_followed(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with issuing() as inner, issuing(kind=Redirecting) as issuer:
        other = {"_keys": "_token", "_token": "_keys"}[where]
        monkeypatch.setattr(Redirecting, other, getattr(Issuer, other))
        issuer.elsewhere = f"{inner.url}/keys"
        at = with_issuer(issuer.url)
        async with surfing(at) as ada:
            assert (await ada.follow(f"/midcall/i/{await page_of(at, issuer)}")).status_code in (403, 503)
        assert inner.fetches == 0


# --- signing out -----------------------------------------------------------------------------


async def test_signing_out_ends_the_session_for_copies_of_the_cookie_on_every_replica() -> None:
    async with issuing() as issuer:
        at = with_issuer(issuer.url)
        elsewhere = Site(Portal(BASE, identity=Oidc(issuer.url, "portal")), at.store)
        id = await page_of(at, issuer)
        async with surfing(at) as ada, surfing(at) as thief, surfing(elsewhere) as there:
            assert (await ada.follow(f"/midcall/i/{id}")).status_code == 200
            for copy in (thief, there):
                copy.http.cookies.update(ada.http.cookies)
                assert (await copy.open(id)).status_code == 200, "as long as she is signed in"
            controls = await thief.controls(id)
            out = await ada.post("/sign-out", {})
            assert out.status_code == 303
            assert out.headers["clear-site-data"] == '"cache"'
            assert not [name for name in ada.http.cookies if "session" in name], "the cookie is gone"
            for somebody in (ada, thief, there):
                page = await somebody.open(id)
                assert page.status_code == 303
                assert "ACME" not in page.text
            assert (await thief.post(f"/i/{id}", {**controls, "do": "accept"})).status_code == 401
            assert (await thief.get("/mine")).status_code == 303
        assert await at.action(id) is None


async def test_pages_are_never_cached_so_that_back_shows_nothing() -> None:
    async with issuing() as issuer:
        at = with_issuer(issuer.url)
        async with surfing(at) as ada:
            page = await ada.follow(f"/midcall/i/{await page_of(at, issuer)}")
            assert page.headers["cache-control"] == "no-store"
            assert (await ada.get("/mine")).headers["cache-control"] == "no-store"


async def test_signing_out_goes_to_the_issuer_if_it_offers_that() -> None:
    async with issuing() as issuer:
        issuer.metadata = {"end_session_endpoint": f"{issuer.url}/logout?tenant=1"}
        at = with_issuer(issuer.url)
        async with surfing(at) as ada:
            mine = await ada.follow("/midcall/mine")
            assert "Sign out" in mine.text
            assert "form-action" not in mine.headers["content-security-policy"], "Chrome applies it to redirects"
            out = await ada.post("/sign-out", {})
            where = urlsplit(out.headers["location"])
            said = {name: values[0] for name, values in parse_qs(where.query).items()}
            assert f"{where.scheme}://{where.netloc}{where.path}" == f"{issuer.url}/logout"
            assert (said["tenant"], said["client_id"]) == ("1", "portal")
            assert said["post_logout_redirect_uri"] == f"{BASE}/signed-out"
            hint = jwt.decode(said["id_token_hint"], KeySet([issuer.key]))
            assert (hint.claims["sub"], hint.claims["aud"]) == ("ada", "portal")
            assert "You are signed out" in (await ada.get("/signed-out")).text
            again = await ada.post("/sign-out", {})
            assert again.headers["location"] == "/midcall/signed-out", "nobody is signed in any more"


async def test_the_store_has_the_id_token_only_encrypted() -> None:
    async with issuing(claims={"email": "ada@example.com"}) as issuer:
        at = with_issuer(issuer.url)
        async with surfing(at) as ada:
            assert (await ada.follow("/midcall/mine")).status_code == 200
        [session] = [record for record in at.store._records.values() if record.kind == "session"]
        assert "eyJ" not in session.data
        assert "ada@example.com" not in session.data


async def test_a_session_ends_with_its_time_even_if_the_cookie_says_otherwise() -> None:
    async with issuing() as issuer:
        at = with_issuer(issuer.url)
        async with surfing(at) as ada:
            assert (await ada.follow("/midcall/mine")).status_code == 200
            at.store._records.clear()
            assert (await ada.get("/mine")).status_code == 303


async def test_a_large_sign_out_is_refused() -> None:
    async with issuing() as issuer:
        at = with_issuer(issuer.url)
        async with surfing(at) as ada:
            assert (await ada.post("/sign-out", {"back": "x" * 1_100_000})).status_code == 413


def test_a_portal_without_sign_in_offers_no_sign_out() -> None:
    assert site().portal.identity.routes == ()


async def test_it_can_be_allowed_to_point_inwards() -> None:
    async with issuing() as issuer:
        port = httpx2.URL(issuer.url).port
        issuer.metadata = {"jwks_uri": f"http://localhost:{port}/keys"}
        at = with_issuer(issuer.url, internal=["localhost"])
        async with surfing(at) as ada:
            assert (await ada.follow(f"/midcall/i/{await page_of(at, issuer)}")).status_code == 200
