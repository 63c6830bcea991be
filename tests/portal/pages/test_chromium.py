"""Every page and every notice in a real browser, as a person sees them, and as an attacker uses them."""

from __future__ import annotations

import asyncio
import datetime
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route

from midcall.core.text import reveal
from midcall.portal.identity import Caller, Oidc
from midcall.portal.oauth import Provider
from midcall.settings.web import FAILED_OPENS
from midcall.stores.interactions import Kind
from midcall.web.local_server import LocalServer, bind
from tests.browser import launch
from tests.portal.identity.issuers import issuing, provider_mock
from tests.portal.oauth.authorization_server import CLIENT, authorization_server
from tests.portal.sites import ADA, BOB, SECONDS, Site, served, site
from tests.skips import needs_chromium

pytestmark = [needs_chromium(), pytest.mark.asyncio(loop_scope="module")]

KINDS: list[Kind] = ["secret", "authorize", "approve", "form"]
PHONE = {"viewport": {"width": 375, "height": 740}, "has_touch": True, "is_mobile": True}
YES = {"secret": "Save", "approve": "Approve", "form": "Send"}
DONE = {"secret": "Saved", "approve": "Approved", "form": "Sent"}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser() -> AsyncIterator[Any]:
    async with launch() as browser:
        yield browser


class Seen:
    """A tab, and what went wrong in it."""

    def __init__(self, context: Any, page: Any) -> None:
        self.context = context
        self.page = page
        self.errors: list[str] = []
        self.hosts: set[str] = set()
        context.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))
        page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)

    async def go(self, url: str) -> int:
        answer = await self.page.goto(url)
        return answer.status

    async def press(self, name: str) -> int:
        async with self.page.expect_navigation() as coming:
            await self.page.get_by_role("button", name=name, exact=True).click()
        return (await coming.value).status

    @property
    async def heading(self) -> str:
        return await self.page.get_by_role("heading", level=1).inner_text()


@asynccontextmanager
async def looking(browser: Any, user: str | None = ADA, *, js: bool = True, **how: Any) -> AsyncIterator[Seen]:
    headers = {"x-test-user": user, "x-test-name": "ada@example.com"} if user else {}
    context = await browser.new_context(java_script_enabled=js, extra_http_headers=headers, **how)
    context.set_default_timeout(SECONDS * 1000)
    try:
        yield Seen(context, await context.new_page())
    finally:
        await context.close()


async def fill(page: Any, kind: Kind) -> None:
    if kind == "secret":
        await page.get_by_label("github", exact=True).fill("swordfish")
    elif kind == "form":
        await page.get_by_label("Full name").fill("Ada Lovelace")
        await page.get_by_label("Days").fill("4")


# --- as a person meets them ------------------------------------------------------------------


@pytest.mark.parametrize("js", [True, False])
@pytest.mark.parametrize("kind", ["secret", "approve", "form"])
async def test_a_page_is_answered(browser: Any, kind: Kind, js: bool) -> None:
    async with served() as at, looking(browser, js=js) as seen:
        id = await at.begin(kind)
        assert await seen.go(at.portal.address(id)) == 200
        await fill(seen.page, kind)
        assert await seen.press(YES[kind]) == 200
        assert await seen.heading == DONE[kind]
        assert await at.action(id) == "accept"
        assert seen.errors == []
        assert seen.hosts == {urlsplit(at.portal.url).netloc}, "nothing is loaded from elsewhere"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("button", ["Decline", "Cancel"])
async def test_a_page_can_be_declined_and_cancelled(browser: Any, kind: Kind, button: str) -> None:
    async with served() as at, looking(browser, js=False) as seen:
        id = await at.begin(kind)
        await seen.go(at.portal.address(id))
        assert await seen.press(button) == 200
        assert await seen.heading == {"Decline": "You declined", "Cancel": "Cancelled"}[button]
        assert await at.action(id) == button.lower()
        assert seen.errors == []


async def test_problems_are_shown_values_are_kept_and_secrets_are_not(browser: Any) -> None:
    async def check(value: str) -> str | None:
        return "was refused" if value == "swordfish" else None

    async with served(checks={"github": check}) as at, looking(browser, js=False) as seen:
        form, secret = await at.begin("form"), await at.begin("secret")
        await seen.go(at.portal.address(form))
        await seen.page.get_by_label("Full name").fill("Ada Lovelace")
        await seen.page.get_by_label("Days").fill("many")
        assert await seen.press("Send") == 422
        assert "Days must be a whole number." in await seen.page.get_by_role("alert").inner_text()
        assert await seen.page.get_by_label("Full name").input_value() == "Ada Lovelace"
        await seen.page.get_by_label("Days").fill("4")
        assert await seen.press("Send") == 200
        await seen.go(at.portal.address(secret))
        await fill(seen.page, "secret")
        assert await seen.press("Save") == 422
        assert "github was refused." in await seen.page.get_by_role("alert").inner_text()
        assert await seen.page.get_by_label("github", exact=True).input_value() == ""
        assert "swordfish" not in await seen.page.content()


async def test_everything_works_with_the_keyboard_alone(browser: Any) -> None:
    async with served() as at, looking(browser) as seen:
        keyboard = seen.page.keyboard
        secret, approval = await at.begin("secret"), await at.begin("approve")
        await seen.go(at.portal.address(secret))
        await keyboard.type("swordfish")  # the field has the focus
        async with seen.page.expect_navigation():
            await keyboard.press("Enter")
        assert await seen.heading == "Saved"
        await seen.go(at.portal.address(approval))
        order: list[str] = []
        while "Cancel" not in order:
            await keyboard.press("Tab")
            order.append(await seen.page.evaluate("document.activeElement.innerText"))
            assert len(order) < 10
        assert order[-3:] == ["Approve", "Decline", "Cancel"]
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert await seen.page.evaluate(outline) == "solid", "the focus can be seen"
        await keyboard.press("Shift+Tab")
        async with seen.page.expect_navigation():
            await keyboard.press("Space")
        assert await at.action(approval) == "decline"


@pytest.mark.parametrize("kind", KINDS)
async def test_a_screen_reader_finds_its_way(browser: Any, kind: Kind) -> None:
    async with served() as at, looking(browser) as seen:
        fields = [
            {"name": "user", "title": "Account", "description": "As you sign in"},
            {"name": "key", "title": "Key"},
        ]
        await seen.go(at.portal.address(await at.begin(kind, **({"fields": fields} if kind == "secret" else {}))))
        tree = await seen.page.locator("body").aria_snapshot()
        assert tree.count("heading") == 1
        for part in ("banner", "main", "term: Server", "definition: Travel desk", "blockquote", 'button "Decline"'):
            assert part in tree, tree
        assert await seen.page.evaluate("document.documentElement.lang") == "en"
        assert await seen.page.title() == await seen.heading
        unnamed = """[...document.querySelectorAll('input:not([type=hidden]), select, textarea, button')]
            .filter(each => !each.labels?.length && !each.innerText.trim()).length"""
        assert await seen.page.evaluate(unnamed) == 0
        if kind == "secret":
            line = seen.page.get_by_label("Account")
            assert await line.get_attribute("aria-describedby") == "s0-about"
            await seen.press("Save")
            problem = await seen.page.get_by_label("Key").get_attribute("aria-describedby")
            assert await seen.page.locator(f"#{problem}").inner_text() == "Key is required."
        if kind == "approve":
            assert 'table "Exactly this will be done"' in tree
            assert 'rowheader "amount"' in tree


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_page_fits_a_phone_in_light_and_dark(browser: Any, scheme: str) -> None:
    async with served() as at, looking(browser, color_scheme=scheme, **PHONE) as seen:
        await at.portal.vault.keep(ADA, "a-name-that-has-no-end" * 5, {"value": "x"}, now=1.0)
        long = {"details": {"a-long-name" * 9: "x" * 400, "nested": {"y" * 90: ["z" * 90]}}}
        urls = [at.portal.address(await at.begin(kind)) for kind in KINDS]
        urls += [at.portal.address(await at.begin("approve", **long)), f"{at.portal.url}/mine", f"{at.portal.url}/none"]
        for url in urls:
            await seen.go(url)
            assert await seen.page.evaluate("document.documentElement.scrollWidth") <= 375, url
            body = await seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (sum(map(int, body[4:-1].split(","))) < 200) is (scheme == "dark")
            for button in await seen.page.get_by_role("button").all():
                box = await button.bounding_box()
                assert box is None or box["height"] >= 40, "large enough for a finger"


PLACES = """cell => {
    const found = [], texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) {
        for (let at = 0; at < texts.currentNode.length; at++) {
            const range = new Range()
            range.setStart(texts.currentNode, at)
            range.setEnd(texts.currentNode, at + 1)
            found.push([texts.currentNode.data[at], range.getBoundingClientRect().x])
        }
    }
    return found.sort((one, other) => one[1] - other[1]).map(each => each[0]).join("")
}"""
"""The characters of a cell as they come from left to right."""


async def test_what_is_approved_is_seen_whole_and_in_one_order(browser: Any) -> None:
    values = [
        "AC\u202eME",
        "1\u05d0",
        "\u05d01",
        "\u05d0 1 \u05d1 2",
        "\u0661 + \u0662",
        "\u0662 + \u0661",
        "x" * 9_000,
    ]
    async with served() as at, looking(browser, **PHONE) as seen:
        details = {f"value {number}": value for number, value in enumerate(values)}
        await seen.go(at.portal.address(await at.begin("approve", details=details)))
        assert await seen.page.evaluate("document.documentElement.scrollWidth") <= 375
        *short, long = await seen.page.locator("td").all()
        assert [await cell.evaluate(PLACES) for cell in short] == [reveal(value) for value in values[:-1]]
        assert await long.inner_text() == values[-1]
        for cell in (*short, long):
            hidden = await cell.evaluate(
                "cell => [cell.scrollHeight - cell.clientHeight, cell.scrollWidth - cell.clientWidth]"
            )
            assert max(hidden) <= 1, "no part of it is behind an edge"


# --- refusals --------------------------------------------------------------------------------


async def test_each_refusal_says_what_to_do(browser: Any) -> None:
    async with served() as at, looking(browser, js=False) as seen, looking(browser, None, js=False) as nobody:
        gone, bobs = await at.begin(lasts=-1), await at.begin("secret", owner=BOB)
        for url, status, heading in (
            (at.portal.address(gone), 410, "This page has expired"),
            (at.portal.address(bobs), 403, "This page is for somebody else"),
            (at.portal.address("nothing-of-this-kind-is-here"), 404, "There is no such page"),
            (f"{at.portal.url}/callback/acme?state=x&code=y", 403, "The account was not connected"),
        ):
            assert await seen.go(url) == status
            assert await seen.heading == heading
            assert await seen.page.locator(".lead").inner_text()
        assert await nobody.go(at.portal.address(bobs)) == 401
        assert await nobody.heading == "Please sign in first"
        for _ in range(FAILED_OPENS):
            await nobody.go(at.portal.address("nothing-of-this-kind-is-here"))
        assert await nobody.heading == "There is no such page"
        assert await nobody.go(at.portal.address("nothing-of-this-kind-is-here")) == 429
        assert await nobody.heading == "Too many attempts"
        assert await nobody.go(at.portal.address(bobs)) == 401, "nobody is locked out of a page that exists"
        assert await at.action(bobs) is None


async def test_a_second_tab_is_too_late(browser: Any) -> None:
    async with served() as at, looking(browser) as seen:
        id = await at.begin("approve")
        await seen.go(at.portal.address(id))
        second = Seen(seen.context, await seen.context.new_page())
        await second.go(at.portal.address(id))
        assert await seen.press("Approve") == 200
        assert await second.press("Decline") == 409
        assert await second.heading == "This was answered already"
        assert await second.go(at.portal.address(id)) == 410
        await seen.page.reload()
        assert await seen.heading == "This was answered already", "a reload posts again"
        assert await at.action(id) == "accept"


async def test_stored_values_are_deleted_after_a_confirmation(browser: Any) -> None:
    async with served(pause=0) as at, looking(browser, js=False) as seen:
        for name in ("github", "jira", "trello"):
            await at.portal.vault.keep(ADA, name, {"value": "x"}, now=1.0)
        await seen.go(at.portal.address(await at.begin("form")))
        await seen.page.get_by_role("link", name="What is stored about me").click()
        assert await seen.press("Delete jira") == 200
        assert await seen.page.get_by_role("status").inner_text() == "Deleted: jira."
        assert not await seen.page.get_by_role("button", name="Yes, delete all 2").is_visible()
        await seen.page.get_by_text("Delete everything").click()
        assert await seen.press("Yes, delete all 2") == 200
        assert await at.portal.vault.names(ADA) == []
        assert seen.errors == []


# --- as an attacker uses them ----------------------------------------------------------------


@asynccontextmanager
async def evil(html: str) -> AsyncIterator[str]:
    """A page of another site."""
    where = bind("127.0.0.1", 0)
    app = Starlette(routes=[Route("/", lambda request: HTMLResponse(html))])
    listening = LocalServer(app, where)
    try:
        yield f"http://localhost:{where.getsockname()[1]}/"
    finally:
        await listening.close()


async def test_a_page_cannot_be_framed(browser: Any) -> None:
    async with served() as at, looking(browser) as seen:
        id = await at.begin("approve")
        async with evil(f'<iframe src="{at.portal.address(id)}"></iframe>') as url:
            await seen.go(url)
            await seen.page.wait_for_load_state("networkidle")
            framed = seen.page.frames[1]
            assert await framed.get_by_role("button").count() == 0
            assert any("frame-ancestors" in error for error in seen.errors)


@pytest.mark.parametrize("sandboxed", [False, True])
async def test_another_site_cannot_answer_for_the_user(browser: Any, sandboxed: bool) -> None:
    """With a browser that has our cookie, and even with a token that the attacker has got hold of."""
    async with served() as at, looking(browser) as seen:
        id = await at.begin("approve")
        await seen.go(at.portal.address(id))
        token = await seen.page.locator("[name=token]").get_attribute("value")
        form = f"""<form method="post" action="{at.portal.address(id)}" target="_top">
            <input name="token" value="{token}"><input name="digest" value="{await at.digest(id)}">
            <button name="do" value="accept">Win a prize</button></form>"""
        if sandboxed:
            inside = form.replace('"', "&quot;")
            form = f'<iframe sandbox="allow-forms allow-top-navigation" srcdoc="{inside}"></iframe>'
        async with evil(form) as url:
            await seen.go(url)
            place = seen.page.frame_locator("iframe") if sandboxed else seen.page
            async with seen.page.expect_navigation() as coming:
                await place.get_by_role("button").click()
            assert (await coming.value).status == 403
        assert await seen.heading == "This request did not come from our page"
        assert await at.action(id) is None


# --- sign in, and continue to a provider -----------------------------------------------------


async def test_sign_in_and_switch_accounts_with_a_real_provider(browser: Any) -> None:
    async with provider_mock() as issuer, served(identity=Oidc(issuer, "portal", "hush"), pause=0) as at:
        id = await at.begin("approve", owner=at.portal.owner_of(Caller(issuer, "ada@example.com")))
        async with looking(browser, None, js=False) as seen:
            for user in ("bob@example.com", "ada@example.com"):
                if user.startswith("bob"):
                    await seen.go(at.portal.address(id))
                await seen.page.get_by_placeholder("sub").fill(user)
                await seen.page.get_by_role("button", name="Authorize").click()
                await seen.page.get_by_text(f"Signed in as {user}").wait_for()
                if user.startswith("bob"):
                    assert await seen.heading == "This page is for somebody else"
                    await seen.page.get_by_role("button", name="Sign in as somebody else").click()
            assert await seen.press("Approve") == 200
            assert [error for error in seen.errors if "Content Security Policy" in error] == []
        assert await at.action(id) == "accept"


async def test_after_signing_out_the_back_button_shows_nothing(browser: Any) -> None:
    """Chrome would also stop the redirect to the issuer, if the page's policy kept forms on our own site."""
    async with (
        issuing(claims={"email": "ada@example.com"}) as issuer,
        served(identity=Oidc(issuer.url, "portal")) as at,
    ):
        issuer.metadata = {"end_session_endpoint": f"{issuer.url}/logout"}
        id = await at.begin("approve", owner=at.portal.owner_of(Caller(issuer.url, "ada")))
        async with looking(browser, None) as seen:
            assert await seen.go(at.portal.address(id)) == 200
            assert "ACME" in await seen.page.content()
            await seen.go(f"{at.portal.url}/mine")
            await seen.page.get_by_role("button", name="Sign out").click()
            await seen.page.get_by_role("heading", name="You are signed out").wait_for()
            assert issuer.is_out
            for _ in range(2):
                await seen.page.go_back()
                assert await seen.page.inner_text("body") == "Please sign in"
            assert [error for error in seen.errors if "Content Security Policy" in error] == []
        assert await at.action(id) is None


async def test_connecting_an_account_leads_to_the_provider_and_back(browser: Any) -> None:
    """Chrome would stop the redirect of a form that may only be posted to our own site."""
    async with authorization_server() as acme:
        provider = Provider.discover(
            "acme", issuer=acme.url, client_id=CLIENT[0], client_secret=CLIENT[1], title="ACME"
        )
        async with served(providers=[provider]) as at, looking(browser, js=False) as seen:
            id = await at.begin("authorize")
            await seen.go(at.portal.address(id))
            await seen.page.get_by_role("button", name="Continue to ACME").click()
            await seen.page.get_by_role("heading", name="Connected").wait_for()
            assert seen.errors == []
            assert await at.portal.oauth.token("acme", ADA) is not None
        assert await at.action(id) == "accept"


# --- https -----------------------------------------------------------------------------------


def certificate(into: Path) -> tuple[str, str]:
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    (into / "key.pem").write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    (into / "cert.pem").write_bytes(made.public_bytes(pem))
    return str(into / "key.pem"), str(into / "cert.pem")


@asynccontextmanager
async def over_https(into: Path) -> AsyncIterator[Site]:
    key, cert = certificate(into)
    with socket.create_server(("127.0.0.1", 0)) as where:
        at = site(f"https://localhost:{where.getsockname()[1]}/midcall")
        config = uvicorn.Config(at.app, log_config=None, lifespan="off", ssl_keyfile=key, ssl_certfile=cert)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[where]))
        try:
            yield at
        finally:
            server.should_exit = True
            await serving


async def test_a_browser_accepts_the_cookies_on_https(browser: Any, tmp_path: Path) -> None:
    async with over_https(tmp_path) as at, looking(browser, ignore_https_errors=True) as seen:
        id = await at.begin("approve")
        await seen.go(at.portal.address(id))
        [cookie] = await seen.context.cookies()
        assert cookie["name"].startswith("__Host-midcall-")
        assert (cookie["secure"], cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, True, "Lax", "/")
        assert await seen.press("Approve") == 200
        assert await at.action(id) == "accept"
