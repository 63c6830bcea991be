"""What issuers and providers publish and sign may be of any type. It never becomes an error page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from midcall.portal.identity import Oidc
from midcall.portal.identity.visitors import key_of
from midcall.portal.oauth import Provider, ProviderFailed
from midcall.stores.memory import Memory
from midcall.web.fetching import Reach, Unavailable
from midcall.web.local_server import LocalServer, bind
from tests.portal.identity.issuers import Issuer, issuing
from tests.portal.oauth.authorization_server import authorization_server
from tests.portal.oauth.connecting import Clock, Replica, discovered
from tests.portal.sites import HOME, Site, site

ODD: list[Any] = [5, -1, 1e300, True, False, "", "x", "\ud800", "\0", [], [1], [None], [[]], [{}], {}, {"a": 1}]
URLS = [
    "https://ä..example/t",
    "https://a.example/" + "a" * 70_000,
    "https://a.example/\ud800",
    "https://[x/",
    "https://",
]
METADATA = [
    "issuer",
    "authorization_endpoint",
    "token_endpoint",
    "jwks_uri",
    "end_session_endpoint",
    "revocation_endpoint",
    "id_token_signing_alg_values_supported",
    "token_endpoint_auth_methods_supported",
    "code_challenge_methods_supported",
    "authorization_response_iss_parameter_supported",
]
CLAIMS = [
    *("iss", "sub", "aud", "exp", "iat", "nbf", "nonce", "azp", "at_hash", "auth_time", "acr", "amr"),
    *("email", "preferred_username", "name"),
]


class Odd(Issuer):
    """Publishes text that JSON libraries can't write."""

    async def _metadata(self, request: Request) -> Response:
        said = await super()._metadata(request)
        return Response(json.dumps(json.loads(bytes(said.body)) | self.odd), media_type="application/json")

    @property
    def odd(self) -> dict[str, Any]:
        return self.__dict__.get("given", {})


async def statuses(at: Site, issuer: Issuer) -> list[int]:
    """What a browser sees: our page, our callback, and the page again."""
    id = await at.begin("secret", owner=f"{issuer.url} ada")
    transport = httpx2.ASGITransport(at.app, client=("203.0.113.5", 1), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url=HOME) as http, httpx2.AsyncClient() as out:
        seen = [await http.get(f"/midcall/i/{id}")]
        if seen[-1].status_code == 303 and seen[-1].headers["location"].startswith(issuer.url):
            back = await out.get(seen[-1].headers["location"])
            seen.append(await http.get(back.headers["location"].removeprefix(HOME)))
            seen.append(await http.get(f"/midcall/i/{id}"))
            seen.append(await http.get("/midcall/mine"))
        return [each.status_code for each in seen]


@pytest.mark.parametrize("name", METADATA)
async def test_metadata_of_any_type_is_refused_without_an_error_page(name: str) -> None:
    async with issuing(Odd) as issuer:
        for odd in [*ODD, *URLS]:
            issuer.__dict__["given"] = {name: odd}
            for secret in (None, "a-secret-of-the-portal"):
                found = await statuses(site(identity=Oidc(issuer.url, "portal", secret)), issuer)
                assert 500 not in found, (name, odd, secret)


@pytest.mark.parametrize("name", CLAIMS)
async def test_claims_of_any_type_are_refused_without_an_error_page(name: str) -> None:
    async with issuing() as issuer:
        at = site(identity=Oidc(issuer.url, "portal"))
        for odd in [*ODD, "x" * 100_000]:
            issuer.claims = {name: odd}
            assert 500 not in await statuses(at, issuer), (name, odd)


@pytest.mark.parametrize(
    ("claims", "status"),
    [
        ({}, 303),
        ({"aud": ["portal"], "azp": "portal"}, 303),
        ({"email": "ada@example.com", "auth_time": 1.5, "amr": ["pwd"], "acr": "1"}, 303),
        ({"email": {"a": 1}, "name": 5}, 303),
        ({"at_hash": {"a": 1}}, 403),
        ({"at_hash": 5}, 403),
        ({"exp": True}, 403),
        ({"exp": "9999999999"}, 403),
        ({"iat": [1]}, 403),
        ({"aud": {"portal": 1}}, 403),
        ({"aud": ["portal", 5]}, 403),
        ({"azp": ["portal"]}, 403),
        ({"sub": 5}, 403),
        ({"sub": "a\0b"}, 403),
    ],
)
async def test_claims_that_count_must_have_their_type(claims: dict[str, Any], status: int) -> None:
    async with issuing() as issuer:
        issuer.claims = claims
        assert (await statuses(site(identity=Oidc(issuer.url, "portal")), issuer))[1] == status


@pytest.mark.parametrize("name", METADATA)
async def test_metadata_of_a_provider_of_any_type_is_a_provider_that_failed(name: str) -> None:
    given: dict[str, Any] = {}

    async def publish(request: Request) -> Response:
        async with httpx2.AsyncClient() as http:
            said = (await http.get(f"{acme.url}/.well-known/oauth-authorization-server")).json()
        return Response(json.dumps(said | {"issuer": url} | given), media_type="application/json")

    where = bind("127.0.0.1", 0)
    url = f"http://127.0.0.1:{where.getsockname()[1]}"
    serving = LocalServer(Starlette(routes=[Route("/.well-known/openid-configuration", publish)]), where)
    async with authorization_server() as acme:
        for odd in [*ODD, *URLS]:
            given = {name: odd}
            provider = Provider.discover("acme", issuer=url, client_id="client-1", client_secret="a-secret-of-ours")
            try:
                begun = await Replica(Memory(), Clock(), provider).begin("acme")
            except ProviderFailed:
                continue
            assert begun.startswith(("http://127.0.0.1", "https://a.example/", "https://ä")), (name, odd)
    await serving.close()


@pytest.mark.parametrize("body", ["[1]", "5", "null", '"x"', '{"access_token": {"a": 1}}', "[" * 50_000])
async def test_a_token_response_of_any_type_is_a_provider_that_failed(body: str) -> None:
    async with authorization_server() as acme:

        async def said() -> Response:
            return Response(body, media_type="application/json")

        acme.token_answer = said
        with pytest.raises(ProviderFailed):
            await Replica(Memory(), Clock(), discovered(acme)).connect()


@pytest.mark.parametrize("url", URLS, ids=range(len(URLS)))
def test_a_url_that_cannot_be_one_is_refused(url: str) -> None:
    with pytest.raises(Unavailable, match="token_endpoint"):
        Reach("https://id.example.com").check(url, "token_endpoint")


@pytest.mark.parametrize(
    "claims", [{"oid": 5}, {"oid": None}, {"oid": ["a"]}, {}, {"oid": "\ud800"}, {"oid": "a\0"}], ids=range(6)
)
def test_a_key_that_cannot_be_made_of_the_claims_is_nobody(claims: Mapping[str, Any]) -> None:
    assert key_of(claims, lambda claims: claims["oid"].lower()) == ""
