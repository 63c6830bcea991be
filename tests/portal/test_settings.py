"""A portal with unsafe or invalid settings does not start."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from midcall.core.caller import ServerIdentity
from midcall.errors import InstallError, Misuse
from midcall.portal.app import Portal
from midcall.portal.identity import Caller, Loopback, Oidc, ProxyJwt
from midcall.portal.identity.visitors import Nobody
from midcall.portal.oauth import Provider
from midcall.stores.memory import Memory
from tests.portal.sites import BASE, KEY, by_header, site

ACME = Provider("acme", authorize_url="https://a.example/a", token_url="https://a.example/t", client_id="c")


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://mcp.example.com/midcall", "https"),
        ("ftp://mcp.example.com", "full URL"),
        ("/midcall", "full URL"),
        ("mcp.example.com", "full URL"),
        ("https://", "full URL"),
        ("https://a.example/x?y=1", "no query"),
        ("https://a.example/x#y", "no query"),
        ("https://u:p@a.example/", "no query"),
        ("https://a.example:port/", "Port"),
        ("https://[::1", "IPv6"),
        ("", "full URL"),
    ],
)
def test_an_invalid_base_url_is_rejected(url: str, why: str) -> None:
    with pytest.raises(InstallError, match=why):
        Portal(url)


@pytest.mark.parametrize(
    "how",
    [
        {"ttl": 0},
        {"templates": "/nowhere/at/all"},
        {"identity": "ada"},
        {"identity": lambda request: "ada"},
        {"identity": Loopback()},
        {"checks": {"github": "x"}},
    ],
)
def test_an_invalid_setting_fails_at_once(how: dict[str, Any]) -> None:
    with pytest.raises(InstallError):
        Portal(BASE, **how)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"port": 99999}, "port=99999 must be a whole number from 0 to 65535"),
        ({"port": -1}, "port=-1 must be"),
        ({"port": "80a"}, "port='80a' must be"),
        ({"port": 80.5}, "port=80.5 must be"),
        ({"port": True}, "port=True must be"),
        ({"ttl": "1h"}, "ttl='1h' must be a positive number of seconds"),
        ({"ttl": float("inf")}, "ttl=inf must be"),
        ({"ttl": float("nan")}, "ttl=nan must be"),
        ({"providers": "x"}, r"providers= takes a list, \[Provider\(\.\.\.\)\], not str"),
        ({"providers": ACME}, r"providers= takes a list, .* not Provider"),
        ({"providers": ["x"]}, r"providers= takes a list of Provider\(\.\.\.\), but it contains str"),
        ({"hosts": "x"}, "hosts= takes a list of texts, .* not str"),
        ({"hosts": [7]}, "hosts= takes a list of texts"),
        ({"checks": ["github"]}, "checks= takes a mapping .* not list"),
        ({"checks": []}, "checks= takes a mapping"),
        ({"checks": {"github": "x"}}, "checks= must be functions, one for each secret: github"),
    ],
)
def test_a_setting_of_the_wrong_type_fails_when_the_portal_is_created(how: dict[str, Any], told: str) -> None:
    with pytest.raises(InstallError, match=told):
        Portal(**how)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Oidc("http://id.example.com", "portal"),
        lambda: Oidc("https://id.example.com", ""),
        lambda: Oidc("https://id.example.com", "portal", scopes=["email"]),
        lambda: Oidc("https://id.example.com", "portal", session=0),
        lambda: ProxyJwt("x-jwt", issuer="i", audience="a"),
        lambda: ProxyJwt("x-jwt", issuer="i", audience="", keys={"keys": []}),
        lambda: ProxyJwt("x-jwt", issuer="i", audience="a", jwks_url="http://proxy.example.com/keys"),
        lambda: ProxyJwt("x-jwt", issuer="i", audience="a", jwks_url="https://p.example/k", algorithms=["none"]),
        lambda: ProxyJwt("x-jwt", issuer="i", audience="a", jwks_url="https://p.example/k", algorithms=["HS256"]),
        lambda: ProxyJwt("x-jwt", issuer="i", audience="a", keys={"not": "keys"}),
    ],
)
def test_an_identity_that_proves_nothing_is_rejected(make: Any) -> None:
    with pytest.raises(InstallError):
        make()


def test_it_is_closed_by_default() -> None:
    assert isinstance(Portal(BASE).identity, Nobody)
    assert isinstance(Portal().identity, Loopback)
    assert isinstance(Portal("http://127.0.0.1:8000/midcall").identity, Loopback)
    assert Portal(BASE).owner_of(Caller("https://id.example.com", "ada")) == ""
    assert "identity=" in (Portal(BASE).why_not("approve", "") or "")
    assert Portal(BASE, identity=by_header).why_not("approve", "") is not None
    assert Portal(BASE, identity=by_header).why_not("approve", "i s") is None


@pytest.mark.parametrize("issuer", ["nonsense", "http://id.example.com", "https://id.example.com?x=1", "https://[::1"])
def test_an_invalid_issuer_url_is_named_in_the_error(issuer: str) -> None:
    with pytest.raises(InstallError, match="An issuer cannot be at"):
        Oidc(issuer, "portal")
    with pytest.raises(InstallError, match="The key set of a proxy cannot be at"):
        ProxyJwt("x-jwt", issuer="https://id.example.com", audience="a", jwks_url=issuer.replace("?", "#"))


def test_keys_that_are_too_short_are_rejected() -> None:
    with pytest.raises(InstallError, match="32"):
        Portal(BASE).bind(store=Memory(), identity=ServerIdentity("t"), server_name="t", keys=["short"])


async def test_it_must_be_installed_exactly_once() -> None:
    portal = Portal(BASE)
    with pytest.raises(Misuse, match="install"):
        _ = portal.interactions
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(portal), base_url="https://mcp.example.com") as http:
        assert (await http.get("/health")).status_code == 503
    portal.bind(store=Memory(), identity=ServerIdentity("t"), server_name="t", keys=[KEY])
    with pytest.raises(InstallError, match="already"):
        portal.bind(store=Memory(), identity=ServerIdentity("t"), server_name="t", keys=[KEY])


async def test_a_mounted_portal_has_its_address_at_once_and_does_not_listen() -> None:
    at = site()
    await at.portal.start()
    assert at.portal.url == BASE
    await at.portal.close()
    assert at.portal.url == BASE


async def test_anyone_can_ask_for_health_and_learns_nothing_else() -> None:
    at = site()
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(at.app), base_url="http://10.0.0.7:8080") as http:
        answer = await http.get("/midcall/health")
        assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
        assert (await http.get("/midcall/mine")).status_code == 421
        for path in (
            "/midcall/i/health",
            "/midcall/x/health",
            "/midcall/i/x/health",
            "/midcall//health",
            "/midcall/health/",
        ):
            assert (await http.get(path)).status_code == 421, path


def test_providers_get_the_redirect_uri() -> None:
    at = site(providers=[ACME])
    assert at.portal.oauth.provider("acme") is ACME
    assert at.portal.redirect_uri("acme") == f"{BASE}/callback/acme"
