"""secret, authorize and approve: what happens on a page, and what the tool, the client and the model see of it."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.requests import Request

from midcall import NoChannel, approve, ask, authorize, secret
from midcall.core.caller import Caller
from midcall.portal.app import Portal
from midcall.portal.oauth import Provider
from midcall.server.installation import installations
from midcall.server.resuming import visits
from midcall.stores.memory import Memory
from midcall.testing import ERAS, Era, connect
from tests.kinds import KINDS, Kind, server_with
from tests.mistakes import BROKEN, logged_mistake
from tests.portal.identity.test_loopback import linux, root
from tests.portal.oauth.authorization_server import CLIENT, AuthorizationServer, authorization_server
from tests.portal.sites import Visitor
from tests.server.codes import KEYS, code_of, shown
from tests.server.people import TOKEN, WITH_URLS, Person, connects, fills, installed, presses, read_repo
from tests.serving import serving

# --- secret ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", WITH_URLS)
async def test_a_secret_goes_from_the_page_to_the_tool_and_nowhere_else(
    kind: Kind, era: Era, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    person = Person(fills(TOKEN))
    store = Memory()
    async with installed(read_repo, kind=kind, store=store) as (server, portal):
        async with connect(server, person, era=era) as client:
            first = await client.call_tool("read_repo", {"name": "midcall"})
            assert shown(first) == f"read midcall with {len(TOKEN)} characters"
            again = await client.call_tool("read_repo", {"name": "other"})
            assert shown(again) == f"read other with {len(TOKEN)} characters"
        assert await portal.vault.get(portal.owner_of(Caller()), "github") == {"value": TOKEN}
    [asked] = person.asked
    assert TOKEN not in json.dumps([str(first), str(again), str(asked)])
    assert TOKEN not in repr(store.__dict__)
    assert TOKEN not in caplog.text


@pytest.mark.parametrize("era", WITH_URLS)
@pytest.mark.parametrize("button", ["decline", "cancel"])
async def test_declining_on_the_page_reaches_the_tool(era: Era, button: str) -> None:
    async with installed(read_repo) as (server, _), connect(server, Person(presses(button)), era=era) as client:
        result = await client.call_tool("read_repo", {})
        assert result.is_error
        assert ("declined" in shown(result)) is (button == "decline")


@pytest.mark.parametrize("era", WITH_URLS)
async def test_declining_the_address_reaches_the_tool(era: Era) -> None:
    person = Person(presses("accept"), agrees=False)
    async with installed(read_repo) as (server, _), connect(server, person, era=era) as client:
        result = await client.call_tool("read_repo", {})
        assert result.is_error
        assert "declined" in shown(result)


async def several() -> str:
    parts = await secret("mail", "Your mail account", fields={"user": "User name", "password": "Password"})
    return f"{parts['user']} {len(parts['password'])}"


async def test_a_secret_may_have_several_parts() -> None:
    async with installed(several) as (server, _), connect(server, Person(fills("ada", "hidden"))) as client:
        assert shown(await client.call_tool("several", {})) == "ada 6"


async def wrong_first(visitor: Visitor, id: str) -> None:
    wrong = await visitor.press(id, "accept", {"s0": "wrong"})
    assert "is not one of your tokens" in wrong.text
    await fills(TOKEN)(visitor, id)


async def test_a_secret_is_checked_before_it_is_accepted() -> None:
    seen: list[str] = []

    async def check(value: str) -> str | None:
        seen.append(value)
        return None if value == TOKEN else "is not one of your tokens"

    async def tool() -> str:
        return str(len(await secret("github", "A token", check=check)))

    async with installed(tool) as (server, _), connect(server, Person(wrong_first)) as client:
        assert shown(await client.call_tool("tool", {})) == str(len(TOKEN))
    assert seen == ["wrong", TOKEN]


async def test_a_check_need_not_be_async() -> None:
    async def tool() -> str:
        def check(value: str) -> str | None:
            return None if value == TOKEN else "is not one of your tokens"

        return str(len(await secret("github", "A token", check=check)))

    async with installed(tool) as (server, _), connect(server, Person(wrong_first)) as client:
        for _ in range(2):  # on its page, and from the vault
            assert shown(await client.call_tool("tool", {})) == str(len(TOKEN))


async def test_a_check_that_returns_a_boolean_gets_advice(caplog: pytest.LogCaptureFixture) -> None:
    checks: list[Any] = [lambda value: value == TOKEN]

    async def tool() -> str:
        return str(len(await secret("github", "A token", check=checks[0])))

    async def act(visitor: Visitor, id: str) -> None:
        refused = await visitor.press(id, "accept", {"s0": TOKEN})
        assert "could not be checked just now" in refused.text
        checks[0] = None
        await visitor.press(id, "decline")

    async with installed(tool) as (server, _), connect(server, Person(act)) as client:
        await client.call_tool("tool", {})
        assert "otherwise the problem as text; this one returned bool" in caplog.text
        assert TOKEN not in caplog.text
        checks[0] = "right"
        assert (await client.call_tool("tool", {})).is_error
        assert "check= takes a function of the secret" in caplog.text


async def test_a_secret_that_is_no_longer_right_is_asked_for_again() -> None:
    good, away = [TOKEN], [False]

    async def check(value: str) -> str | None:
        if away[0]:
            raise OSError("the service is away")
        return None if value in good else "was revoked"

    async def tool() -> str:
        return await secret("github", "A token", check=check)

    given = [TOKEN, "a newer one"]

    async def act(visitor: Visitor, id: str) -> None:
        await fills(given.pop(0))(visitor, id)

    person = Person(act)
    async with installed(tool) as (server, _), connect(server, person) as client:
        assert shown(await client.call_tool("tool", {})) == TOKEN
        away[0] = True
        assert shown(await client.call_tool("tool", {})) == TOKEN, "what cannot be checked now is not thrown away"
        away[0], good[:] = False, ["a newer one"]
        assert shown(await client.call_tool("tool", {})) == "a newer one"
    assert len(person.asked) == 2


async def test_a_secret_is_checked_by_the_tool_where_the_page_could_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page may be served by a replica that has not met the check."""
    monkeypatch.setattr(Portal, "add_check", lambda *_: None)
    given = ["wrong", TOKEN]

    async def check(value: str) -> str | None:
        return None if value == TOKEN else "is wrong"

    async def tool() -> str:
        return str(len(await secret("github", "A token", check=check)))

    async def act(visitor: Visitor, id: str) -> None:
        await fills(given.pop(0))(visitor, id)

    person = Person(act)
    async with installed(tool) as (server, _), connect(server, person) as client:
        assert shown(await client.call_tool("tool", {})) == str(len(TOKEN))
    assert len(person.asked) == 2


@pytest.mark.parametrize("era", WITH_URLS)
async def test_without_a_portal_a_secret_says_what_is_missing(era: Era) -> None:
    found: list[str] = []

    async def tool() -> str:
        try:
            return await secret("github", "A token")
        except NoChannel as exc:
            found.append(exc.advice)
            return "no"

    async with connect(server_with(tool), era=era) as client:
        assert shown(await client.call_tool("tool", {})) == "no"
    assert "portal=Portal(...)" in found[0]


# --- authorize -------------------------------------------------------------------------------


async def list_issues() -> str:
    return f"with a token of {len(await authorize('acme')) > 0}"


@asynccontextmanager
async def with_acme(kind: Kind = "mcpserver") -> AsyncIterator[tuple[Any, AuthorizationServer]]:
    async with authorization_server() as acme:
        provider = Provider.discover("acme", issuer=acme.url, client_id=CLIENT[0], client_secret=CLIENT[1])
        async with installed(list_issues, kind=kind, providers=[provider]) as (server, _):
            yield server, acme


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", WITH_URLS)
async def test_a_token_comes_from_the_provider_once_and_then_from_the_vault(kind: Kind, era: Era) -> None:
    async with with_acme(kind) as (server, acme):
        person = Person(connects(acme))
        async with connect(server, person, era=era) as client:
            for _ in range(2):
                assert shown(await client.call_tool("list_issues", {})) == "with a token of True"
        assert len(person.asked) == 1
        assert not person.asked[0].url.startswith(acme.url), "the visited address is ours"


@pytest.mark.parametrize("era", WITH_URLS)
async def test_who_declines_at_the_provider_declines_to_the_tool(era: Era) -> None:
    async with with_acme() as (server, acme):
        acme.answers = "access_denied"
        async with connect(server, Person(connects(acme)), era=era) as client:
            result = await client.call_tool("list_issues", {})
            assert result.is_error
            assert "declined" in shown(result)


async def test_a_provider_that_is_not_known_is_the_authors_mistake(caplog: pytest.LogCaptureFixture) -> None:
    async with installed(list_issues) as (server, _), connect(server) as client:
        assert (await client.call_tool("list_issues", {})).is_error
    assert "The portal has no provider 'acme'" in caplog.text


@pytest.mark.parametrize("name", ["oauth:github", " OAuth:github", "", "  ", None])
async def test_a_secret_cannot_be_called_like_a_connected_account_or_nothing(
    name: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def tool() -> str:
        return await secret(name, "A token")

    person = Person(fills(TOKEN))
    async with installed(tool) as (server, portal), connect(server, person) as client:
        await portal.vault.keep(portal.owner_of(Caller()), "oauth:github", {"access": TOKEN}, now=1.0)
        assert shown(await client.call_tool("tool", {})) == BROKEN
    assert ("authorize()" in logged_mistake(caplog)) is bool(name and name.strip())
    assert person.asked == []


@pytest.mark.parametrize("message", ["", " ", None, 5])
@pytest.mark.parametrize("verb", ["secret", "approve"])
async def test_a_page_without_a_message_is_the_authors_mistake_and_never_begins(
    verb: str, message: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def tool() -> str:
        return str(await (secret("github", message) if verb == "secret" else approve(message)))

    store, person = Memory(), Person(fills(TOKEN))
    async with installed(tool, store=store) as (server, _), connect(server, person) as client:
        assert shown(await client.call_tool("tool", {})) == BROKEN
    assert "A question needs a message" in logged_mistake(caplog)
    assert person.asked == []
    assert verb not in {record.kind for record in store._records.values()}


async def test_a_name_that_is_longer_than_stores_take_is_the_authors_mistake(caplog: pytest.LogCaptureFixture) -> None:
    async def tool(name: str) -> str:
        return str(len(await secret(name, "A token")))

    person = Person(fills(TOKEN))
    async with installed(tool) as (server, _), connect(server, person) as client:
        assert shown(await client.call_tool("tool", {"name": "é" * 201})) == BROKEN
        assert "has 402 bytes, and 400 is the limit" in logged_mistake(caplog)
        assert person.asked == []
        assert shown(await client.call_tool("tool", {"name": "é" * 200})) == str(len(TOKEN))


# --- approve ---------------------------------------------------------------------------------


class Bank:
    def __init__(self) -> None:
        self.paid: list[int] = []

    async def pay(self, amount: int = 40) -> str:
        if not await approve("Pay ACME", {"amount": amount, "currency": "EUR"}):
            return "not paid"
        self.paid.append(amount)
        return f"paid {amount}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", WITH_URLS)
@pytest.mark.parametrize(
    ("button", "expected"), [("accept", "paid 40"), ("decline", "not paid"), ("cancel", "not paid")]
)
async def test_an_approval_is_a_decision_on_exactly_these_details(
    kind: Kind, era: Era, button: str, expected: str
) -> None:
    bank = Bank()
    pages: list[str] = []

    async def act(visitor: Visitor, id: str) -> None:
        pages.append((await visitor.open(id)).text)
        assert (await visitor.press(id, button)).status_code < 400

    async with installed(bank.pay, kind=kind) as (server, _), connect(server, Person(act), era=era) as client:
        assert shown(await client.call_tool("pay", {"amount": 40})) == expected
    assert "EUR" in pages[0]
    assert bank.paid == ([40] if button == "accept" else [])


@pytest.mark.parametrize(
    ("details", "told"),
    [
        (["a"], "must be a mapping of labels to values, not list"),
        ([], "must be a mapping of labels to values, not list"),
        ("12 EUR", "must be a mapping of labels to values, not str"),
        ({"amount": object()}, "must be plain data: Object of type object"),
        ({1: "to Ada", "1": "to Eve"}, "the label '1' appears twice"),
        ({"rows": [{True: 1, "true": 2}]}, "the label 'true' appears twice"),
        ({"amount": float("nan")}, "must be plain data"),
        ({"memo": "x" * 100_001}, "more than anybody reads"),
    ],
)
async def test_details_that_cannot_be_shown_are_refused_before_anybody_is_asked(
    details: Any, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def tool() -> str:
        return str(await approve("Pay", details))

    person = Person(presses("accept"))
    async with installed(tool) as (server, _), connect(server, person) as client:
        assert shown(await client.call_tool("tool", {})) == BROKEN
    assert told in logged_mistake(caplog)
    assert person.asked == []


async def test_an_approval_is_taken_once_even_if_its_state_is_sent_again() -> None:
    from tests.rounds import raw_call, text

    bank = Bank()
    act = presses("accept")
    async with installed(bank.pay) as (server, _), connect(server) as client:
        first = await raw_call(client, "pay", {})
        [(key, request)] = first["inputRequests"].items()
        person = Person(act)
        await person._visit(request["params"]["url"])  # pyright: ignore[reportPrivateUsage]
        for _ in range(2):
            last = await raw_call(client, "pay", {}, state=first["requestState"], answers={key: {"action": "accept"}})
            assert text(last) == "paid 40"
    assert bank.paid == [40]


# --- waiting ---------------------------------------------------------------------------------


@pytest.mark.parametrize("era", WITH_URLS)
async def test_a_person_who_takes_long_resumes_with_the_code_and_is_asked_once(
    era: Era, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visits, "HOLD_SECONDS", 0.02)
    late = asyncio.Event()

    async def act(visitor: Visitor, id: str) -> None:
        await late.wait()
        await fills(TOKEN)(visitor, id)

    person = Person(act)
    async with installed(read_repo) as (server, _), connect(server, person, era=era, max_rounds=10) as client:
        first = await client.call_tool("read_repo", {"name": "midcall"})
        code = code_of(first)
        late.set()
        await person.tasks[0]
        last = await client.call_tool("midcall_continue", {"code": code})
        assert shown(last) == f"read midcall with {len(TOKEN)} characters"
    assert len(person.asked) == 1


@pytest.mark.parametrize("era", WITH_URLS)
@pytest.mark.parametrize("answered", [True, False])
async def test_a_code_resumes_after_a_restart_even_if_the_portal_has_another_address(
    era: Era, answered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Memory()
    late = asyncio.Event()

    async def act(visitor: Visitor, id: str) -> None:
        await late.wait()
        await fills(TOKEN)(visitor, id)

    async def look(visitor: Visitor, id: str) -> None:
        assert (await visitor.open(id)).status_code == 410

    person = Person(act)
    with monkeypatch.context() as patch:
        patch.setattr(visits, "HOLD_SECONDS", 0.02)
        async with installed(read_repo, store=store) as (server, _):
            async with connect(server, person, era=era, max_rounds=10) as client:
                code = code_of(await client.call_tool("read_repo", {"name": "midcall"}))
                if answered:
                    late.set()
                    await person.tasks[0]
                else:
                    person.tasks[0].cancel()
    again = Person(look if answered else fills(TOKEN))
    async with installed(read_repo, store=store) as (server, _), connect(server, again, era=era) as client:
        last = await client.call_tool("midcall_continue", {"code": code})
        assert shown(last) == f"read midcall with {len(TOKEN)} characters"
        await asyncio.gather(*again.tasks)


async def test_a_page_that_was_not_answered_in_time_ends_the_tool() -> None:
    async def nothing(visitor: Visitor, id: str) -> None: ...

    async with installed(read_repo, ttl=0.05) as (server, _), connect(server, Person(nothing)) as client:
        result = await client.call_tool("read_repo", {})
        assert result.is_error
        assert "not finished on the web page" in shown(result)


async def test_a_secret_and_questions_go_together() -> None:
    async def tool() -> str:
        name = await ask("Name?", str)
        token = await secret("github", "A token")
        return f"{name} {len(token)} {await ask('More?', str)}"

    person = Person(fills(TOKEN))
    async with installed(tool) as (server, _), connect(server, person) as client:
        assert shown(await client.call_tool("tool", {})) == f"x {len(TOKEN)} x"
    assert [asked.mode for asked in person.asked] == ["form", "url", "form"]


async def test_an_approval_that_was_given_in_time_counts_also_when_the_call_comes_for_it_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(visits, "HOLD_SECONDS", 0.01)
    bank = Bank()
    person = Person(presses("accept"))
    async with installed(bank.pay, ttl=60) as (server, _), connect(server, era="2025-11-25", modes=()) as client:
        first = await client.call_tool("pay", {})
        [address] = [line.strip() for line in shown(first).splitlines() if line.startswith("  http")]
        await person._visit(address)  # pyright: ignore[reportPrivateUsage]
        later = time.time() + 61
        monkeypatch.setattr(time, "time", lambda: later)  # the page has closed by now
        assert shown(await client.call_tool("midcall_continue", {"code": code_of(first)})) == "paid 40"


@pytest.mark.parametrize("client", [("203.0.113.5", 4711), ("127.0.0.1", 4711), None])
async def test_a_caller_who_is_not_a_program_of_this_user_is_not_taken_for_them(client: Any) -> None:
    """Over HTTP without sign-in: from another machine, from a connection that is not there, from who knows where."""
    async with installed(read_repo) as (_, portal):
        scope = {"type": "http", "client": client, "server": ("127.0.0.1", 1), "headers": [(b"host", b"127.0.0.1")]}
        assert owner_of(portal, Request(scope)) == ""
        assert portal.why_not("secret", "") is not None


@pytest.mark.parametrize("header", ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"])
async def test_a_call_that_a_proxy_has_passed_on_is_not_taken_for_one_of_this_machine(header: str) -> None:
    """A tunnel or a proxy on this machine brings anybody, and all of them from its loopback address."""
    async with installed(read_repo) as (_, portal):
        with connection() as (client, server):
            home = (b"host", b"127.0.0.1")
            scope = {"type": "http", "client": client, "server": server, "headers": [home]}
            assert owner_of(portal, Request(scope)) == portal.owner_of(Caller())
            assert owner_of(portal, Request({**scope, "headers": [home, (header.encode(), b"x")]})) == ""


def owner_of(portal: Portal, request: Request) -> str:
    [installation] = [each for each in installations if each.portal is portal]
    return installation.owner(SimpleNamespace(request=request))  # pyright: ignore[reportArgumentType]


@contextmanager
def connection() -> Iterator[tuple[Any, Any]]:
    """The ends of a connection within this program."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        yield client.getsockname(), server.getsockname()


SERVER = """
import sys
from mcp.server import MCPServer
import midcall
from midcall.portal import Portal

mcp = MCPServer("repos")
midcall.install(mcp, portal=Portal())

@mcp.tool()
async def read_repo() -> str:
    return await midcall.secret("github", "A token, please.")

mcp.run("streamable-http", port=int(sys.argv[2]), stateless_http=True, json_response=True)
"""

CALL = """
import encodings.idna, os, sys, urllib.request  # all of it now: the other user may not read our Python
if len(sys.argv) > 2:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
body = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read_repo", "arguments": {}}}'
print(urllib.request.urlopen(urllib.request.Request(sys.argv[1], body, headers), timeout=20).read().decode())
"""


@linux
@root
def test_another_user_of_this_machine_who_calls_a_tool_is_not_taken_for_the_servers(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(SERVER)

    def called(*more: str) -> str:
        done = subprocess.run([sys.executable, "-c", CALL, url, *more], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    with serving(script, tmp_path / "log") as url:
        assert "/i/" in called(), "the user is shown a page"
        refused = called("nobody")
    assert "/i/" not in refused
    assert "would have to do this on a web page" in refused


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("portal", [False, True], ids=["no portal", "nobody identified"])
async def test_without_a_page_the_model_reads_what_was_to_be_asked_and_no_more_than_a_few_lines(
    era: Era, portal: bool
) -> None:
    async def pay() -> str:
        return str(await approve("Pay 5 EUR to Ada?", {"Amount": "5 EUR"}))

    async def key() -> str:
        return await secret("github", f"A token of GitHub{'.' * 5_000}")

    async def connect_mail() -> str:
        return await authorize("mail", "Let the assistant read your mail.")

    async def connect_any() -> str:
        return await authorize("mail")

    tools = (pay, key, connect_mail, connect_any)
    options: dict[str, Any] = {"portal": Portal("https://pages.example.com"), "store": Memory()} if portal else {}
    server = server_with(*tools, keys=KEYS, **options)
    async with connect(server, era=era) as client:
        said = [shown(await client.call_tool(tool.__name__, {})) for tool in tools]
    asked = [
        "Pay 5 EUR to Ada?",
        "A token of GitHub.....",
        "Let the assistant read",
        "Please authorize access to mail.",
    ]
    for text, question in zip(said, asked, strict=True):
        assert "this server is not set up for that" in text
        assert f"Its question was: {question}" in text
        assert len(text) < 600
