"""The portal examples, started as a newcomer would start them, with real clients and people."""

from __future__ import annotations

import asyncio
import runpy
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import fastmcp
import httpx2
import pytest
import pytest_asyncio
from mcp import Client

from midcall.client import CannotConnect, connect, fastmcp_handler
from midcall.testing import Era
from tests.browser import launch
from tests.chaos.proxy import Proxy, proxy
from tests.portal.identity.issuers import Issuer, issuing
from tests.portal.identity.signing_in import Kept, signs_in
from tests.portal.people import APPROVES, ENTERS, Act, Person, Surfer, connects, presses
from tests.portal.running import KEYS, Process, code_of, listening, mock_issuer, running, shown, start
from tests.serving import ROOT, environment, serving
from tests.skips import needs_chromium
from tests.warm import PYTHON

EXAMPLES = ROOT / "examples"
ERAS: tuple[Era, ...] = ("2025-11-25", "2026-07-28")

TOOLS: dict[str, tuple[Act, str]] = {
    "read_repo": (ENTERS, "Read midcall with a token of 14 characters."),
    "list_issues": (connects, "Open issues of midcall: #7 Ask before deleting, #12 Say which account is meant"),
    "pay": (APPROVES, "Paid 40 EUR to ACME."),
    "order": (presses("bank"), "Ordered: oak table. Order number "),
}


async def called(client: Client, person: Person, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    await person.done()
    return shown(result)


# --- for the user of this machine -----------------------------------------------------------------


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The server without an issuer. It remembers what was entered, until a test forgets it."""
    home = tmp_path_factory.mktemp("home")
    options = ["--store", f"sqlite://{home}/store.db"]
    how: dict[str, Any] = {"flag": "--port", "warm": False, "MIDCALL_KEYS": KEYS}
    with serving(EXAMPLES / "portal_server.py", home / "log", *options, **how) as url:
        yield url
    assert_clean(home / "log")


@pytest.fixture(params=ERAS)
def at_home(request: pytest.FixtureRequest, home: str) -> tuple[Era, str]:
    return request.param, home


async def forget(url: str) -> None:
    """What the other tests have left."""
    async with httpx2.AsyncClient(follow_redirects=True) as http:
        user = Surfer(http, "")
        await user.open(url.removesuffix("/mcp") + "/midcall/mine")
        for sheet in user.sheets:
            if "delete" in sheet.buttons:
                await user.press("delete")


def assert_clean(log: Path) -> None:
    text = log.read_text()
    assert "Traceback" not in text, text
    assert "ERROR" not in text, text
    assert "ghp_0123456789" not in text


@pytest.mark.parametrize("tool", TOOLS)
async def test_each_tool_sends_the_user_to_a_page_once_and_continues(tool: str, at_home: tuple[Era, str]) -> None:
    era, url = at_home
    await forget(url)
    act, expected = TOOLS[tool]
    person = Person(act)
    async with connect(url, person, era=era) as client:
        assert (await called(client, person, tool)).startswith(expected)
        assert len(person.asked) == 1
        if tool in ("read_repo", "list_issues"):  # they are kept
            assert (await called(client, person, tool)).startswith(expected)
            assert len(person.asked) == 1


@pytest.mark.parametrize("button", ["decline", "cancel"])
async def test_a_payment_without_approval_is_not_made(button: str, at_home: tuple[Era, str]) -> None:
    era, url = at_home
    person = Person(presses(button))
    async with connect(url, person, era=era) as client:
        assert await called(client, person, "pay") == "Nothing was paid."


async def test_the_page_names_the_server_by_its_title_the_client_and_what_it_is_about(at_home: tuple[Era, str]) -> None:
    era, url = at_home
    pages: list[str] = []

    async def reads(surfer: Surfer) -> None:
        pages.append(surfer.page.text)
        await APPROVES(surfer)

    person = Person(reads)
    async with connect(url, person, era=era) as client:
        await called(client, person, "pay", euros=7, to="Grace")
    [page] = pages
    assert all(words in page for words in ("Portal example", "midcall", "Pay 7 EUR to Grace"))
    assert "portal-example" not in page


async def test_a_user_who_does_not_open_the_address_is_left_alone(at_home: tuple[Era, str]) -> None:
    era, url = at_home
    person = Person(APPROVES, agrees=False)
    async with connect(url, person, era=era) as client:
        assert await called(client, person, "pay") == "Nothing was paid."
    assert not person.visits


async def test_a_server_that_stops_returns_the_code_of_a_pushed_call_first(tmp_path: Path) -> None:
    process = start(tmp_path / "log", f"sqlite://{tmp_path}/store.db")
    person = Person(APPROVES, ready=asyncio.Event())  # who never gets there
    with running([process]):
        async with asyncio.timeout(30), connect(process.mcp, person, era="2025-11-25") as client:
            call = asyncio.create_task(client.call_tool("pay", {}))
            while not person.visits:
                await asyncio.sleep(0.01)
            process.popen.terminate()
            assert code_of(await call)
        await asyncio.to_thread(process.popen.wait, 10)
    for visit in person.visits:
        visit.cancel()


async def test_access_denied_at_the_provider_is_a_decline(at_home: tuple[Era, str]) -> None:
    era, url = at_home
    await forget(url)

    async def denies(surfer: Surfer) -> None:
        await APPROVES(surfer)
        await presses("deny")(surfer)

    person = Person(denies)
    async with connect(url, person, era=era) as client:
        assert "declined" in await called(client, person, "list_issues")


async def test_an_unsigned_callback_finishes_no_order(at_home: tuple[Era, str]) -> None:
    era, url = at_home
    paid = url.removesuffix("/mcp") + "/shop/paid"

    async def forges(surfer: Surfer) -> None:
        id = str(surfer.page.url).rpartition("/")[2]
        for query in ("", f"?id={id}", f"?id={id}&until=9999999999&signature=x", "?until=nonsense&signature="):
            assert (await surfer.http.post(f"{paid}{query}")).status_code == 403
        await presses("delivery")(surfer)

    person = Person(forges)
    async with connect(url, person, era=era) as client:
        assert (await called(client, person, "order")).startswith("Ordered")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("tool", ["pay", "order"])
async def test_the_fastmcp_client_works_too(mode: Any, tool: str, at_home: tuple[Era, str]) -> None:
    _, url = at_home
    act, expected = TOOLS[tool]
    person = Person(act)
    async with fastmcp.Client(url, elicitation_handler=fastmcp_handler(person), mode=mode) as client:
        result = await client.call_tool(tool, {})
        await person.done()
    assert result.content[0].text.startswith(expected)
    assert len(person.asked) == 1


@pytest.mark.parametrize("era", ERAS)
async def test_the_same_tools_work_over_stdio(era: Era, tmp_path: Path) -> None:
    python = [sys.executable] if era == ERAS[0] else PYTHON
    command = [*python, str(EXAMPLES / "portal_stdio.py"), "--store", f"sqlite://{tmp_path}/store.db"]
    person, env = Person(APPROVES), environment(MIDCALL_KEYS=KEYS)
    with (tmp_path / "log").open("w") as log:
        async with connect(command, person, era=era, errlog=log, env=env) as client:
            for person.act, expected, tool in ((*TOOLS[tool], tool) for tool in TOOLS):
                assert (await called(client, person, tool)).startswith(expected)
    assert len(person.asked) == len(TOOLS)
    assert_clean(tmp_path / "log")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--keys", "short"], "Key 1 (of keys=, or MIDCALL_KEYS) has 5 bytes"),
        (["--store", "nonsense"], "The URL of the store cannot be read"),
        (["--store", "redis://127.0.0.1:1"], "Set the same MIDCALL_KEYS wherever this server runs"),
        (["--base-url", "http://mcp.example.com"], "must be an https URL"),
        (["--issuer", "nonsense"], "nonsense"),
    ],
)
def test_a_wrong_option_is_one_sentence_and_not_a_traceback(
    options: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("MIDCALL_KEYS", raising=False)
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setattr(sys, "argv", ["portal_server.py", "--port", "1", *options])
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(EXAMPLES / "portal_server.py"), run_name="__main__")
    sentence = str(end.value.code)
    assert sentence.startswith("portal_server: ")
    assert said in sentence
    assert "\n" not in sentence
    assert capsys.readouterr() == ("", "")


def test_after_a_wrong_option_the_program_ends_with_1() -> None:
    command = [sys.executable, str(EXAMPLES / "portal_server.py"), "--port", "1", "--keys", "short"]
    env = {name: value for name, value in environment().items() if name != "MIDCALL_KEYS"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, env=env)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("portal_server: Key 1 (of keys=, or MIDCALL_KEYS) has 5 bytes")
    assert done.stderr.count("\n") == 1


# --- for users who sign in ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with mock_issuer(tmp_path_factory.mktemp("issuer") / "log") as url:
        yield url


@pytest.fixture(scope="module")
def server(issuer: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """The server with an issuer. Each test has its own people."""
    home = tmp_path_factory.mktemp("signed-in")
    third = ["--provider-issuer", issuer, "--provider-client-secret", "x", "--provider-scopes", "openid email"]
    options = ["--issuer", issuer, *third, "--provider-api", f"{issuer}/userinfo"]
    found = start(home / "log", f"sqlite://{home}/store.db", *options)
    with running([found]):
        yield found
    assert_clean(found.log)


@pytest.mark.parametrize("era", ERAS)
async def test_the_user_who_signed_in_at_the_client_signs_in_at_the_page(era: Era, server: Process) -> None:
    """The client gets its token from the issuer, as MCP authorization says; so does the portal."""
    person = Person(ENTERS, sub=f"ada-{era}")
    async with connect(server.mcp, person, era=era, auth=signs_in(server.mcp, f"ada-{era}")) as client:
        assert await called(client, person, "read_repo") == TOOLS["read_repo"][1]
        assert person.surfer is not None
        assert any("/oauth2/authorize" in url for url in person.surfer.been)
        person.act = connects_at_issuer
        assert '"sub": "ada-at-the-tracker"' in await called(client, person, "list_issues")


async def connects_at_issuer(surfer: Surfer) -> None:
    """The issuer is the third party here, where the same person has another name."""
    surfer.sub = "ada-at-the-tracker"
    await APPROVES(surfer)
    assert surfer.is_at_sign_in
    await surfer.press("", sub=surfer.sub)
    assert surfer.page.status_code == 200, surfer.page.text


async def test_another_user_who_is_signed_in_gets_nothing_and_changes_nothing(server: Process) -> None:
    refused = asyncio.Event()

    async def bob_first(surfer: Surfer) -> None:
        async with httpx2.AsyncClient(follow_redirects=True) as http:
            page = await Surfer(http, "bob").open(str(surfer.page.url))
        assert page.status_code == 403
        assert "40 EUR" not in page.text
        refused.set()
        await APPROVES(surfer)

    person = Person(bob_first)
    async with connect(server.mcp, person, era="2026-07-28", auth=signs_in(server.mcp, "ada")) as client:
        assert await called(client, person, "pay") == "Paid 40 EUR to ACME."
    assert refused.is_set()


async def test_a_user_of_two_clients_is_one_person_and_another_user_is_not(server: Process) -> None:
    for sub, asked in (("grace", 1), ("grace", 0), ("alan", 1)):
        person = Person(ENTERS, sub=sub)
        async with connect(server.mcp, person, era="2026-07-28", auth=signs_in(server.mcp, sub)) as client:
            assert await called(client, person, "read_repo") == TOOLS["read_repo"][1]
        assert len(person.asked) == asked


@asynccontextmanager
async def with_jwts(tmp_path: Path) -> AsyncIterator[tuple[Issuer, Process]]:
    async with issuing() as issuer:
        server = start(tmp_path / "log", f"sqlite://{tmp_path}/store.db", "--issuer", issuer.url)
        with running([server]):
            yield issuer, server
        assert_clean(server.log)


async def test_a_token_counts_only_if_the_issuer_made_it_for_this_server(tmp_path: Path) -> None:
    async with with_jwts(tmp_path) as (issuer, server):
        good = issuer.token(server.mcp)
        assert await status(server, good) == 200
        wrong = {
            "no token": None,
            "nonsense": "nonsense",
            "of an unknown key": f"{good[:-20]}{'A' * 20}",
            "for another server": issuer.token("https://other.example.com/mcp"),
            "for the portal, as an id token is": issuer.token("portal", nonce="n"),
            "by another issuer": issuer.token(server.mcp, iss="https://other.example.com"),
            "too old": issuer.token(server.mcp, exp=1_000_000),
            "of nobody": issuer.token(server.mcp, sub=None),
            "not signed": unsigned(issuer, server.mcp),
        }
        assert {why: await status(server, token) for why, token in wrong.items()} == dict.fromkeys(wrong, 401)


def unsigned(issuer: Issuer, audience: str) -> str:
    return Issuer(issuer.url, header={"alg": "none"}).token(audience)


async def status(server: Process, token: str | None) -> int:
    """What a client gets that brings this token."""
    headers = {"authorization": f"Bearer {token}"} if token is not None else {}
    try:
        async with connect(server.mcp, Person(APPROVES), era="2026-07-28", headers=headers) as client:
            await client.list_tools()
    except CannotConnect as exc:
        return 401 if "401" in str(exc) else 0
    return 200


async def test_a_client_without_a_token_learns_where_to_get_one(server: Process, issuer: str) -> None:
    async with httpx2.AsyncClient() as http:
        refused = await http.post(server.mcp, json={})
        assert refused.status_code == 401
        about = f"{server.url}/.well-known/oauth-protected-resource/mcp"
        assert f'resource_metadata="{about}"' in refused.headers["www-authenticate"]
        assert (await http.get(about)).json()["authorization_servers"] == [issuer]


@needs_chromium()
async def test_somebody_with_a_real_browser_signs_in_and_approves(server: Process) -> None:
    async with launch() as browser:

        class InChromium(Person):
            async def _visit(self, url: str) -> None:
                page = await browser.new_page()
                await page.goto(url)
                await page.fill("input[name=sub]", "ada")
                await page.click("text=Authorize >> nth=-1")
                assert "40 EUR" in await page.inner_text("main")
                await page.click("button[value=accept]")
                await page.wait_for_selector("text=Approved")

        person = InChromium(APPROVES)
        async with connect(server.mcp, person, era="2026-07-28", auth=signs_in(server.mcp, "ada")) as client:
            assert await called(client, person, "pay") == "Paid 40 EUR to ACME."
        await browser.close()


# --- people are slow --------------------------------------------------------------------------------


@asynccontextmanager
async def impatient(tmp_path: Path, hold: float) -> AsyncIterator[Proxy]:
    """The server with short holds, behind a proxy that counts calls."""
    async with proxy() as front:
        server = start(tmp_path / "log", f"sqlite://{tmp_path}/store.db", "--base-url", front.url, hold=hold)
        front.replicas = [server.url]
        with running([server]):
            yield front
        assert_clean(server.log)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hurried(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Proxy]:
    """One whose holds are over before anybody has acted."""
    async with impatient(tmp_path_factory.mktemp("hurried"), 0.02) as front:
        yield front


async def test_a_person_who_takes_several_holds_needs_one_call(tmp_path: Path) -> None:
    ready = asyncio.Event()
    person = Person(APPROVES, ready=ready)
    async with impatient(tmp_path, 4.0) as front:
        async with connect(f"{front.url}/mcp", person, era="2026-07-28") as client:
            begun = len(front.served)
            call = asyncio.create_task(called(client, person, "pay"))
            await front.met("POST", "/mcp", begun + 3)  # the call, the consent, and a round that only holds
            ready.set()
            assert await call == "Paid 40 EUR to ACME."
    assert person.asked == ["Pay 40 EUR to ACME"]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("era", ERAS)
async def test_a_person_who_takes_longer_than_a_call_resumes_it(era: Era, hurried: Proxy) -> None:
    ready = asyncio.Event()
    person = Person(APPROVES, ready=ready)
    async with connect(f"{hurried.url}/mcp", person, era=era) as client:
        result = await client.call_tool("pay", {})
        result = await client.call_tool("midcall_continue", {"code": code_of(result)})
        code = code_of(result)  # not yet, either
        ready.set()
        await person.done()
        assert await called(client, person, "midcall_continue", code=code) == "Paid 40 EUR to ACME."
    assert person.asked == ["Pay 40 EUR to ACME"]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_same_with_the_fastmcp_client(mode: Any, hurried: Proxy) -> None:
    ready = asyncio.Event()
    person = Person(presses("delivery"), ready=ready)
    handler = fastmcp_handler(person)
    async with fastmcp.Client(f"{hurried.url}/mcp", elicitation_handler=handler, mode=mode) as client:
        first = await client.call_tool("order", {}, raise_on_error=False)
        ready.set()
        await person.done()
        code = (first.meta or {})["midcall/code"]
        last = await client.call_tool("midcall_continue", {"code": code})
        assert last.content[0].text.startswith("Ordered: oak table.")
    assert len(person.asked) == 1


async def test_a_call_resumes_after_the_server_was_restarted(issuer: str, tmp_path: Path) -> None:
    async with proxy() as front:
        options = ["--issuer", issuer, "--base-url", front.url]
        store, log, kept = f"sqlite://{tmp_path}/store.db", tmp_path / "log", Kept()
        ready = asyncio.Event()
        person = Person(APPROVES, ready=ready)
        first = start(log, store, *options, hold=0.02)
        front.replicas = [first.url]
        listening(first)
        try:
            async with connect(f"{front.url}/mcp", person, auth=signs_in(f"{front.url}/mcp", "ada", kept)) as client:
                code = code_of(await client.call_tool("pay", {}))
        finally:
            first.kill()
        second = start(log, store, *options)
        front.replicas = [second.url]
        with running([second]):
            ready.set()
            await person.done()
            async with connect(f"{front.url}/mcp", person, auth=signs_in(f"{front.url}/mcp", "ada", kept)) as client:
                assert await called(client, person, "midcall_continue", code=code) == "Paid 40 EUR to ACME."
    assert len(person.asked) == 1
