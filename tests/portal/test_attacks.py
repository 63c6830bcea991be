"""Attacks on a portal. Each test fails if its defence is removed."""

from __future__ import annotations

import logging
import re
import time
from base64 import b64encode
from hashlib import sha256
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette

from midcall.portal.logs import mask
from midcall.settings.web import FAILED_OPENS, FAILED_OPENS_SECONDS, MAX_FAILED_SOURCES
from midcall.stores.interactions import Kind, short
from midcall.web.security import HEADERS, FailureLimit, network
from tests.portal.sites import ADA, BASE, BOB, Site, site, visiting

KINDS: list[Kind] = ["secret", "authorize", "approve", "form"]
FILLED = {"f0": "Ada Lovelace", "f1": "4", "s0": "swordfish"}


@pytest.mark.parametrize("path", ["/i/{}", "/mine"])
async def test_a_cookie_of_many_backslashes_does_not_hang_the_portal(path: str) -> None:
    at = site()
    id = await at.begin("form", owner=ADA)
    async with visiting(at, ADA) as ada:
        cookies = f'a="{chr(92) * 60_000}"; b="{(chr(92) + chr(34)) * 20_000}"'
        start = time.process_time()
        assert (await ada.get(path.format(id), headers={"cookie": cookies})).status_code == 200
        assert time.process_time() - start < 2


# --- another user ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
async def test_another_signed_in_user_sees_nothing_and_it_stays_pending(kind: Kind) -> None:
    """One user sends another, who is signed in, their own link."""
    at = site()
    id = await at.begin(kind, owner=ADA)
    async with visiting(at, BOB) as bob:
        page = await bob.open(id)
        assert page.status_code == 403
        assert "This page is for somebody else" in page.text
        for hidden in ("repositories", "github", "ACME", "Full name", "Chat Client", 'name="token"'):
            assert hidden not in page.text
        posted = await bob.post(f"/i/{id}", {**FILLED, "do": "accept", "digest": await at.digest(id)})
        assert posted.status_code == 403
    assert await at.action(id) is None
    assert await at.portal.vault.names(BOB) == []
    async with visiting(at, ADA) as ada:
        assert (await ada.press(id, "decline")).status_code == 200


@pytest.mark.parametrize("kind", KINDS)
async def test_identity_is_checked_again_when_the_page_is_posted(kind: Kind) -> None:
    """The same browser, with its good token, after somebody else has signed in, or nobody is."""
    at = site()
    id = await at.begin(kind)
    async with visiting(at, None) as browser:
        browser.http.headers["x-test-user"] = ADA
        controls = {**await browser.controls(id), **FILLED, "do": "accept"}
        browser.http.headers["x-test-user"] = BOB
        assert (await browser.post(f"/i/{id}", controls)).status_code == 403
        del browser.http.headers["x-test-user"]
        assert (await browser.post(f"/i/{id}", controls)).status_code == 401
    assert await at.action(id) is None
    assert await at.portal.vault.names(ADA) == await at.portal.vault.names(BOB) == []


async def test_without_sign_in_a_page_shows_nothing() -> None:
    at = site()
    id = await at.begin("approve")
    async with visiting(at, None) as nobody:
        page = await nobody.open(id)
    assert page.status_code == 401
    assert "Please sign in first" in page.text
    assert "ACME" not in page.text


# --- another site ----------------------------------------------------------------------------


async def refused(at: Site, id: str, answer: httpx2.Response) -> None:
    assert answer.status_code == 403
    assert await at.action(id) is None


async def test_a_post_without_the_token_of_this_browser_is_rejected() -> None:
    at = site()
    id, other = await at.begin(), await at.begin()
    async with visiting(at) as ada, visiting(at) as elsewhere:
        controls = {**await ada.controls(id), **FILLED, "do": "accept"}
        theirs = await elsewhere.controls(id)
        for token in ("", "forged", theirs["token"], (await ada.controls(other))["token"], controls["token"][:-1]):
            await refused(at, id, await ada.post(f"/i/{id}", {**controls, "token": token}))
        await refused(at, id, await ada.post(f"/i/{id}", {k: v for k, v in controls.items() if k != "token"}))
        ada.http.cookies.clear()
        await refused(at, id, await ada.post(f"/i/{id}", controls))


async def test_every_page_has_a_new_token() -> None:
    at = site()
    id = await at.begin()
    async with visiting(at) as ada:
        assert (await ada.controls(id))["token"] != (await ada.controls(id))["token"]


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://mcp.example.com"},
        {"origin": "https://mcp.example.com.evil.example"},
        {"origin": "https://mcp.example.com:8443"},
        {"origin": None},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
async def test_a_post_from_another_origin_is_rejected(headers: dict[str, Any]) -> None:
    """Even with everything else in place."""
    at = site()
    id = await at.begin()
    async with visiting(at) as ada:
        controls = {**await ada.controls(id), **FILLED, "do": "accept"}
        await refused(at, id, await ada.post(f"/i/{id}", controls, headers=headers))
        assert (await ada.post(f"/i/{id}", controls)).status_code == 200


async def test_a_rejected_host_is_logged_once_and_only_a_few_are(caplog: pytest.LogCaptureFixture) -> None:
    """An operator whose proxy changes the name finds it there; made-up names do not fill the log."""
    at = site()
    async with visiting(at) as ada:
        for host in ("inside:8080", "inside:8080", *(f"made-up-{n}.example" for n in range(50))):
            assert (await ada.get("/mine", headers={"host": host})).status_code == 421
    told = [record.getMessage() for record in caplog.records if record.name == "midcall.portal"]
    assert len(told) == 10
    assert "'inside:8080'" in told[0]
    assert "mcp.example.com" in told[0]
    assert "hosts=" in told[0]


@pytest.mark.parametrize(
    "host", ["evil.example", "mcp.example.com:8443", "mcp.example.com.evil.example", "127.0.0.1", ""]
)
async def test_another_name_that_resolves_to_us_is_rejected(host: str) -> None:
    at = site()
    id = await at.begin("approve")
    async with visiting(at) as ada:
        for answer in (
            await ada.open(id, headers={"host": host}),
            await ada.post(f"/i/{id}", {"do": "accept"}, headers={"host": host}),
            await ada.get("/mine", headers={"host": host}),
        ):
            assert answer.status_code == 421
            assert "ACME" not in answer.text
    assert await at.action(id) is None


@pytest.mark.parametrize("host", ["mcp.example.com", "MCP.example.com", "mcp.example.com:443", "internal:8080"])
async def test_its_own_names_are_accepted(host: str) -> None:
    at = site(hosts=["internal:8080"])
    id = await at.begin()
    async with visiting(at) as ada:
        page = await ada.open(id, headers={"host": host})
    assert page.status_code == 200
    assert "internal" not in page.text
    assert 'action="/midcall/i/' in page.text


async def test_addresses_come_from_the_base_url_wherever_it_is_mounted() -> None:
    """Behind a proxy that strips the path, under another mount, with any Host that is let through."""
    at = site("https://mcp.example.com/deep/path/", hosts=["inside"])
    id = await at.begin()
    at.app = Starlette()
    at.app.mount("/x/y", at.portal)
    async with visiting(at) as ada:
        page = await ada.http.get(f"/x/y/i/{id}", headers={"host": "inside", "x-forwarded-host": "evil.example"})
    assert page.status_code == 200
    assert f'action="/deep/path/i/{id}"' in page.text
    assert 'href="/deep/path/static/style.css"' in page.text
    assert at.portal.address(id) == f"https://mcp.example.com/deep/path/i/{id}"


# --- headers and cookies ---------------------------------------------------------------------


async def test_every_response_carries_the_headers_and_loads_nothing_from_elsewhere() -> None:
    at = site()
    ids = [await at.begin(kind) for kind in KINDS]
    async with visiting(at) as ada:
        paths = [
            *(f"/i/{id}" for id in ids),
            "/mine",
            "/health",
            "/static/style.css",
            "/i/none-of-these-is-there",
            "/no",
        ]
        answers = [await ada.get(path) for path in paths]
        answers += [await ada.open(ids[0], headers={"host": "evil.example"}), await ada.press(ids[3], "cancel")]
        answers += [await ada.http.request(method, f"/midcall/i/{ids[0]}") for method in ("PUT", "OPTIONS", "HEAD")]
        answers += [await ada.post(f"/i/{ids[0]}", {}), await ada.post("/mine", {}), await ada.get("/callback/acme")]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        if answer.text:  # there's none in response to HEAD
            assert scripts_in(answer.text) == allowed_scripts(policy), (
                "no script runs but ours, and that has no address"
            )
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers.get_list("cross-origin-resource-policy") == ["same-origin"]
        assert answer.headers.get_list("cross-origin-opener-policy") == ["same-origin"]
        assert answer.headers["strict-transport-security"]
        assert not re.search(r"""(?:src|href|action)=["'](?:[a-z]+:)?//""", answer.text)
        assert "url(" not in answer.text
        assert "@import" not in answer.text


def scripts_in(page: str) -> list[str]:
    """How a policy names the scripts of a page."""
    found = re.findall(r'<script data-pause="0.7">(.*?)</script>', page, re.DOTALL)
    assert page.count("<script") == len(found)
    return [f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in found]


def allowed_scripts(policy: str) -> list[str]:
    return [word for part in policy.split("; ") if part.startswith("script-src ") for word in part.split()[1:]]


async def test_only_the_page_that_redirects_to_a_provider_may_post_elsewhere() -> None:
    at = site()
    async with visiting(at) as ada:
        for kind in KINDS:
            policy = (await ada.open(await at.begin(kind))).headers["content-security-policy"]
            assert ("form-action 'self'" in policy) is (kind != "authorize")
    assert "form-action 'self'" in HEADERS["content-security-policy"]


async def test_cookies_are_host_bound_secure_http_only_lax_and_signed() -> None:
    at = site()
    async with visiting(at) as ada:
        [cookie] = (await ada.open(await at.begin())).headers.get_list("set-cookie")
        assert cookie.startswith("__Host-midcall-")
        for part in ("Path=/", "Secure", "HttpOnly", "SameSite=lax"):
            assert part in cookie
        assert "Domain" not in cookie
        name, _, value = cookie.partition(";")[0].partition("=")
        id = await at.begin()
        ada.http.cookies.set(name, value[:-2] + "xx", domain="mcp.example.com", path="/")
        assert (await ada.open(id)).headers.get_list("set-cookie"), "a forged mark is replaced"


async def test_portals_on_one_host_have_different_cookies() -> None:
    names: set[str] = set()
    for base in (BASE, "https://mcp.example.com/other"):
        at = site(base)
        async with visiting(at) as ada:
            [cookie] = (await ada.open(await at.begin())).headers.get_list("set-cookie")
            names.add(cookie.partition("=")[0])
    assert len(names) == 2


# --- too much --------------------------------------------------------------------------------


async def test_an_edited_address_opens_nothing_and_guessing_is_slowed_down() -> None:
    passed = [0.0]
    at = site(clock=lambda: time.time() + passed[0])
    id = await at.begin("form", owner="")
    edited = f"{id[:-1]}{'a' if id[-1] != 'a' else 'b'}"
    async with visiting(at, None, address="198.51.100.7") as guesser, visiting(at, None) as somebody:
        for _ in range(FAILED_OPENS):
            assert (await guesser.open(edited)).status_code == 404
        for id_like in (edited, "short", "x" * 300):
            stopped = await guesser.open(id_like)
            assert stopped.status_code == 429
            assert int(stopped.headers["retry-after"]) > 0
            assert "Too many attempts" in stopped.text
        assert (await somebody.open(edited)).status_code == 404
        passed[0] = 61
        assert (await guesser.open(edited)).status_code == 404


@pytest.mark.parametrize("kind", ["form", "secret", "approve"])
async def test_nobody_is_locked_out_by_someone_who_guesses_at_the_same_address_or_under_another_name(
    kind: Kind,
) -> None:
    at = site()
    id, open_to_all = await at.begin(kind), await at.begin("form", owner="")
    async with visiting(at, None) as stranger, visiting(at, BOB) as bob, visiting(at) as ada:
        for guesser in (stranger, bob, ada):  # a page that ada has open may send requests in her name
            for n in range(FAILED_OPENS + 1):
                last = await guesser.open(f"nothing-of-this-kind-{n}")
            assert last.status_code == 429
        assert (await bob.open(id)).status_code == 429, "not his page"
        assert (await stranger.open(id)).status_code == 401, "asked to sign in"
        assert (await stranger.open(open_to_all)).status_code == 200
        assert (await ada.press(id, "decline")).status_code == 200
    assert await at.action(id) == "decline"


def test_the_number_of_remembered_failures_is_bounded() -> None:
    bad = FailureLimit()
    for n in range(MAX_FAILED_SOURCES + 100):
        bad.note(f"source-{n}", 0.0)
    assert len(bad) == MAX_FAILED_SOURCES
    for _ in range(FAILED_OPENS - 1):
        assert bad.wait(f"source-{n}", 2.0) == 0.0
        bad.note(f"source-{n}", 1.0)
    assert bad.wait(f"source-{n}", 2.0) == FAILED_OPENS_SECONDS - 2.0
    assert bad.wait(f"source-{n}", FAILED_OPENS_SECONDS) == 0.0


def test_one_ipv6_network_is_one_source() -> None:
    assert network("2001:db8::1") == network("2001:db8::ffff:1") != network("2001:db8:0:1::1")
    assert network("::ffff:192.0.2.1") == network("192.0.2.1") == "192.0.2.1"
    assert network("testclient") == "testclient"


async def test_more_than_a_form_can_hold_is_not_read() -> None:
    at = site()
    id = await at.begin()
    async with visiting(at) as ada:
        controls = await ada.controls(id)
        assert (await ada.post(f"/i/{id}", {**controls, "f0": "x" * 1_100_000, "do": "accept"})).status_code == 413
        many = "&".join(["f0=x"] * 30_000)
        answer = await ada.http.post(f"/midcall/i/{id}", content=many, headers={"origin": ada.origin})
        assert answer.status_code == 413
        rubbish = await ada.http.post(f"/midcall/i/{id}", content=b"\xff\x00=%zz&&&", headers={"origin": ada.origin})
        assert rubbish.status_code == 403
    assert await at.action(id) is None


# --- logs ------------------------------------------------------------------------------------


async def test_logs_hold_no_id_and_no_value(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    at = site()
    ids = [await at.begin("secret"), await at.begin("form"), "an-id-that-is-not-there-at-all"]
    async with visiting(at) as ada, visiting(at, BOB) as bob:
        await ada.press(ids[0], "accept", FILLED)
        await ada.press(ids[1], "accept", FILLED)
        for id in ids:
            await bob.open(id)
            await ada.open(id)
    ours = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("midcall"))
    assert short(ids[0]) in ours
    for hidden in (*ids, "swordfish", "Lovelace"):
        assert hidden not in ours


async def test_the_access_log_of_the_server_around_us_is_masked(caplog: pytest.LogCaptureFixture) -> None:
    at = site()
    id = await at.begin()
    with caplog.at_level(logging.INFO, "uvicorn.access"):
        logging.getLogger("uvicorn.access").info(
            '%s - "%s %s HTTP/%s" %d', "1", "GET", f"/midcall/i/{id}?x", "1.1", 200
        )
    assert id not in caplog.text
    assert short(id) in caplog.text
    assert mask("/midcall/callback/acme?code=c0de&state=st4te") == "/midcall/callback/acme?…"
    assert mask("/other/path?x=1") == "/other/path?x=1"


async def test_an_internal_error_reveals_nothing(caplog: pytest.LogCaptureFixture) -> None:
    at = site()
    id = await at.begin("form", schema={"type": "object", "properties": {"a": {"type": "nonsense", "title": "hush"}}})
    async with visiting(at) as ada:
        failed = await ada.open(id)
    assert failed.status_code == 500
    assert "Something went wrong" in failed.text
    assert failed.headers["content-security-policy"]
    assert "hush" not in caplog.text
    assert "Traceback" not in failed.text + caplog.text
