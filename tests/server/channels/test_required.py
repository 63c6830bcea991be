"""-32042 raised by midcall: over stateless HTTP, a visit becomes this error for clients known to retry."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import INVALID_PARAMS, URL_ELICITATION_REQUIRED, CallToolResult

import midcall
from midcall import (
    Accepted,
    InstallError,
    NoChannel,
    Question,
    UrlElicitationRequired,
    UserDeclined,
    Visit,
    approve,
    ask,
    ask_all,
    authorize,
    can_ask,
    complete,
    confirm,
    elicit,
    once,
    secret,
    visit,
)
from midcall.client import connect
from midcall.portal.app import Portal
from midcall.portal.oauth import Provider
from midcall.server.installation import installation_on
from midcall.server.resuming import visits as waiting
from midcall.stores.memory import Memory
from midcall.testing import Era
from midcall.testing import connect as stock
from midcall.web.local_server import LocalServer, bind
from tests.kinds import KINDS, Kind, server_with
from tests.portal.oauth.authorization_server import CLIENT, authorization_server
from tests.portal.people import Act, Attentive, Person, Surfer, presses
from tests.server.codes import code_of, go_on, shown

KEYS = ["k key of the tests: 0123456789abcdef"]
TOKEN = "ghp_not_for_the_client"
ENTERS = presses("accept", s0=TOKEN)
ERA: Era = "2025-11-25"
CODE, RETRIES = "midcall/code", "midcall/retries"
URL = "https://shop.example.com/checkout"


@asynccontextmanager
async def served(server: Any, *, json_response: bool = False, stateless: bool = True) -> AsyncIterator[str]:
    """The server over real HTTP, without a way back to its clients."""
    build = server.http_app if hasattr(server, "http_app") else server.streamable_http_app
    app = build(stateless_http=stateless, json_response=json_response)
    where = bind("127.0.0.1", 0)
    async with app.router.lifespan_context(app):
        listening = LocalServer(app, where)
        try:
            yield f"http://127.0.0.1:{where.getsockname()[1]}/mcp"
        finally:
            await listening.close()


@asynccontextmanager
async def stateless(
    *tools: Callable[..., Any], kind: Kind = "mcpserver", portal: Portal | None = None, **how: Any
) -> AsyncIterator[str]:
    """A stateless server with these tools, a store and a portal."""
    options = {"keys": KEYS, "store": Memory(), "portal": portal or Portal(), **how}
    server = server_with(*tools, kind=kind, **options)
    try:
        async with served(server) as url:
            yield url
    finally:
        installation = installation_on(server)
        assert installation is not None
        await installation.close()


async def refusal(client: Client, tool: str, **more: Any) -> MCPError:
    """The -32042 that this call gets."""
    with pytest.raises(MCPError) as caught:
        await client.call_tool(tool, {}, **more)
    assert caught.value.code == URL_ELICITATION_REQUIRED
    return caught.value


async def raw(client: Client, tool: str, code: str | None = None, **meta: Any) -> CallToolResult:
    """Send the same call as our client, without handling the result."""
    return await client.call_tool(tool, {}, meta={RETRIES: 3, **meta, **({CODE: code} if code else {})})


def code_in(error: MCPError) -> str:
    return error.data["_meta"][CODE]


async def go(error: MCPError, act: Act) -> None:
    """Somebody goes to where this error says."""
    person = Person(act)
    for each in error.data["elicitations"]:
        person.go(each["url"])
    await person.done()


class Repo:
    """A tool that needs a secret, and remembers how often it ran."""

    def __init__(self) -> None:
        self.runs = 0

    async def read_repo(self, name: str = "midcall") -> str:
        self.runs += 1
        return f"read {name} with {len(await secret('github', 'A token with repo scope'))} characters"


READ = f"read midcall with {len(TOKEN)} characters"


# --- our own client ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
async def test_our_client_is_sent_to_the_page_by_the_error_and_calls_again(kind: Kind, either: str) -> None:
    repo, person = Repo(), Attentive(ENTERS)
    async with stateless(repo.read_repo, kind=kind) as url, connect(url, person, era=ERA) as client:
        for _ in range(2):
            assert shown(await client.call_tool("read_repo", {"name": "midcall"})) == READ
    assert person.asked == ["A token with repo scope"], "the second time it is in the vault"
    assert repo.runs == (2 if either == "live" else 3)


async def test_a_client_of_fastmcp_that_we_are_attached_to_does_so_too() -> None:
    from fastmcp import Client as FastClient

    from midcall.client import attach

    person = Attentive(ENTERS)
    async with stateless(Repo().read_repo) as url:
        async with attach(FastClient(url, mode="legacy"), person) as client:
            assert READ in str(await client.call_tool("read_repo", {}))
    assert len(person.asked) == 1


async def test_a_client_that_does_not_declare_retries_gets_the_link() -> None:
    """Stateless HTTP can't deliver a notification to their client either."""
    person = Person(ENTERS)
    async with stateless(Repo().read_repo) as url, connect(url, person, era=ERA) as client:
        first = await client.call_tool("read_repo", {})
        assert "/i/" in shown(first)
        assert code_of(first)
    assert person.asked == []


@pytest.mark.usefixtures("replaying")
async def test_what_the_caller_says_in_its_own_meta_goes_along_each_time() -> None:
    said: list[dict[str, Any]] = []

    async def tool(ctx: Context) -> str:
        meta = dict(ctx.request_context.meta or {})
        said.append({name: meta.get(name) for name in ("mine", RETRIES)})
        return str(len(await secret("github", "A token")))

    async with stateless(tool) as url, connect(url, Attentive(ENTERS), era=ERA) as client:
        await client.call_tool("tool", {}, meta={"mine": 1})
    assert said == [{"mine": 1, RETRIES: 3}] * 2


async def everything() -> str:
    """All that can be asked, one after the other, and an effect in between."""
    if not await approve("Pay 40 EUR", {"amount": 40}):
        return "no"
    paid = await once("pay", lambda: PAID.append(40) or len(PAID))
    match await elicit("How many?", int):
        case Accepted(value=count, via=via):
            return f"{paid} {count} {via}"
        case other:
            return f"{other}"


PAID: list[int] = []


async def test_approvals_and_forms_are_pages_too_and_effects_are_not_repeated() -> None:
    PAID.clear()

    async def act(surfer: Surfer) -> None:
        fields = [name for sheet in surfer.sheets for name in sheet.values if name.startswith("f")]
        await presses("accept", **dict.fromkeys(fields, "7"))(surfer)

    person = Attentive(act)
    async with stateless(everything) as url, connect(url, person, era=ERA) as client:
        assert shown(await client.call_tool("everything", {})) == "1 7 page"
    assert person.asked == ["Pay 40 EUR", "How many?"]
    assert PAID == [40]


async def test_a_visit_to_the_authors_own_page_resumes_when_it_is_done() -> None:
    seen: list[Any] = []

    async def order() -> str:
        seen.append((can_ask("url"), can_ask("form"), can_ask(via="required")))
        match await elicit(Visit("Look", URL)):
            case Accepted(via=via):
                seen.append(via)
            case _:
                pass
        return await visit("Check out", lambda id: f"{URL}/{id}", wait=True)

    class Buyer(Attentive):
        def go(self, url: str) -> None:
            if url != URL:
                self.visits.append(asyncio.ensure_future(self._buy(url)))

        async def _buy(self, url: str) -> None:
            await complete(url.rpartition("/")[2])

    person = Buyer(ENTERS)
    async with stateless(order) as url, connect(url, person, era=ERA) as client:
        id = shown(await client.call_tool("order", {}))
    assert len(id) >= 22
    assert person.asked == ["Look", "Check out"]
    assert seen[0] == (("required", "link"), ("page", "link"), ("required",))
    assert seen[-1] == "required"


@pytest.mark.parametrize("how", ["together", "gathered"])
async def test_what_is_needed_at_once_is_in_one_error(how: str) -> None:
    async def tool() -> str:
        if how == "together":
            return " ".join(map(str, await ask_all(Question("One?", int), Question("Two?", int))))
        both = await asyncio.gather(secret("one", "The first"), secret("two", "The second"))
        return " ".join(str(len(each)) for each in both)

    act = ENTERS if how == "gathered" else fills_a_number
    person = Attentive(act)
    async with stateless(tool) as url, connect(url, person, era=ERA) as client:
        async with stock(url, era=ERA) as other:
            error = await refusal(other, "tool", meta={RETRIES: 3})
        assert len(error.data["elicitations"]) == 2
        assert shown(await client.call_tool("tool", {})) in ("5 5", f"{len(TOKEN)} {len(TOKEN)}")
    assert len(person.asked) == 2


async def fills_a_number(surfer: Surfer) -> None:
    fields = [name for sheet in surfer.sheets for name in sheet.values if name.startswith("f")]
    await presses("accept", **dict.fromkeys(fields, "5"))(surfer)


@pytest.mark.parametrize("button", ["decline", "cancel"])
async def test_declining_on_the_page_reaches_the_tool(button: str, either: str) -> None:
    repo, person = Repo(), Attentive(presses(button))
    async with stateless(repo.read_repo) as url, connect(url, person, era=ERA) as client:
        result = await client.call_tool("read_repo", {})
    assert result.is_error
    assert ("declined" in shown(result)) is (button == "decline")
    assert repo.runs == (1 if either == "live" else 2)


async def test_declining_the_address_ends_the_call_at_the_client() -> None:
    repo, person = Repo(), Attentive(ENTERS, agrees=False)
    async with stateless(repo.read_repo) as url, connect(url, person, era=ERA) as client:
        with pytest.raises(UserDeclined):
            await client.call_tool("read_repo", {})
    assert repo.runs == 1


async def test_a_retry_that_comes_too_early_is_held_and_then_resumes_with_a_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(waiting, "HOLD_SECONDS", 0.05)
    ready = asyncio.Event()

    class Hasty(Person):
        async def wait(self, waiting: Any) -> bool:
            return True

    person = Hasty(ENTERS, ready=ready)
    async with stateless(Repo().read_repo) as url, connect(url, person, era=ERA) as client:
        first = await client.call_tool("read_repo", {})
        assert "not finished on the web page yet" in shown(first)
        ready.set()
        await person.done()
        assert shown(await go_on(client, first)) == READ
    assert len(person.asked) == 1


async def test_prompts_and_resources_are_served_so_too() -> None:
    server: MCPServer[Any] = MCPServer("test")
    installation = midcall.install(server, keys=KEYS, store=Memory(), portal=Portal())

    @server.prompt()
    async def greet() -> str:
        return f"a token of {len(await secret('github', 'A token'))}"

    @server.resource("repo://{name}")
    async def repo(name: str) -> str:
        return f"{name} {await ask('How many?', int)}"

    person = Attentive(ENTERS)
    async with served(server) as url, connect(url, person, era=ERA) as client:
        assert f"a token of {len(TOKEN)}" in str(await client.get_prompt("greet"))
        person.act = fills_a_number
        assert "midcall 5" in str(await client.read_resource("repo://midcall"))
    await installation.close()


async def test_after_three_times_the_rest_goes_by_links() -> None:
    async def four() -> str:
        return " ".join([str(len(await secret(f"s{number}", f"Number {number}"))) for number in range(4)])

    person = Attentive(ENTERS)
    async with stateless(four) as url, connect(url, person, era=ERA) as client:
        first = await client.call_tool("four", {})
        assert "Number 3" in shown(first)
        [address] = [line.strip() for line in shown(first).splitlines() if line.startswith("  http")]
        person.go(address)
        await person.done()
        assert shown(await go_on(client, first)) == " ".join([str(len(TOKEN))] * 4)
    assert person.asked == ["Number 0", "Number 1", "Number 2"]


async def test_after_three_times_a_prompt_has_no_channel_left() -> None:
    server: MCPServer[Any] = MCPServer("test")
    installation = midcall.install(server, keys=KEYS, store=Memory(), portal=Portal())
    found: list[str] = []

    @server.prompt()
    async def greet() -> str:
        try:
            return " ".join([await secret(f"s{number}", f"Number {number}") for number in range(4)])
        except NoChannel as exc:
            found.append(exc.advice)
            raise

    person = Attentive(ENTERS)
    async with served(server) as url, connect(url, person, era=ERA) as client:
        with pytest.raises(MCPError, match="cannot show questions"):
            await client.get_prompt("greet")
    assert "required: the client has retried the call as often as it does" in found[0]
    await installation.close()


async def test_a_tool_that_raises_the_error_itself_resumes_where_it_stopped() -> None:
    connected: list[str] = []
    asked: list[str] = []

    async def tool() -> str:
        token = await secret("github", "A token")
        sent = await once("send", lambda: asked.append("sent") or len(asked))
        if not connected:
            raise UrlElicitationRequired([Visit("Connect", lambda id: f"https://example.com/{id}")])
        return f"{len(token)} {sent}"

    class Connecting(Attentive):
        def go(self, url: str) -> None:
            if "example.com" in url:
                connected.append(url)
            else:
                super().go(url)

    person = Connecting(ENTERS)
    async with stateless(tool) as url, connect(url, person, era=ERA) as client:
        assert shown(await client.call_tool("tool", {})) == f"{len(TOKEN)} 1"
    assert person.asked == ["A token", "Connect"]
    assert asked == ["sent"]


# --- the code of a retry -------------------------------------------------------------------------


async def test_a_retry_resumes_once(either: str) -> None:
    repo = Repo()
    async with stateless(repo.read_repo) as url, stock(url, era=ERA) as client:
        error = await refusal(client, "read_repo", meta={RETRIES: 3})
        await go(error, ENTERS)
        assert shown(await raw(client, "read_repo", code_in(error))) == READ
        again = await raw(client, "read_repo", code_in(error))
        assert again.is_error
        assert "This code does not work" in shown(again)
    assert repo.runs == (1 if either == "live" else 2)


async def test_a_retry_is_for_the_request_that_was_sent_away_and_for_no_other() -> None:
    repo = Repo()

    async def other() -> str:
        return "other"

    async with stateless(repo.read_repo, other) as url, stock(url, era=ERA) as client:
        for tool, arguments in (("other", {}), ("read_repo", {"name": "another"})):
            code = code_in(await refusal(client, "read_repo", meta={RETRIES: 3}))
            result = await client.call_tool(tool, arguments, meta={CODE: code})
            assert "This code does not work" in shown(result)
    assert repo.runs == 2


async def test_the_code_of_a_retry_does_not_work_for_the_model_nor_the_other_way_round() -> None:
    repo = Repo()
    async with stateless(repo.read_repo) as url, stock(url, era=ERA) as client:
        code = code_in(await refusal(client, "read_repo", meta={RETRIES: 3}))
        result = await client.call_tool("midcall_continue", {"code": code})
        assert "This code does not work" in shown(result)
        linked = code_of(await client.call_tool("read_repo", {}))
        assert "This code does not work" in shown(await raw(client, "read_repo", linked))
    assert repo.runs == 2


async def test_a_retry_is_for_the_user_who_was_sent_away() -> None:
    who = ["ada"]
    portal = Portal("https://mcp.example.com/midcall", identity=_nobody_here)
    async with stateless(Repo().read_repo, portal=portal, principal=lambda ctx: who[0]) as url:
        async with stock(url, era=ERA) as client:
            code = code_in(await refusal(client, "read_repo", meta={RETRIES: 3}))
            who[0] = "bob"
            assert "This code does not work" in shown(await raw(client, "read_repo", code))


async def _nobody_here(request: Any) -> str | None:
    return None


async def test_a_code_that_leads_nowhere_is_an_error_to_a_prompt() -> None:
    server: MCPServer[Any] = MCPServer("test")
    midcall.install(server, keys=KEYS, store=Memory())

    @server.prompt()
    async def greet() -> str:
        raise AssertionError("it must not run")

    async with served(server) as url, stock(url, era=ERA) as client:
        with pytest.raises(MCPError, match="This code does not work") as caught:
            await client.get_prompt("greet", meta={CODE: "rubbish"})
    assert caught.value.code == INVALID_PARAMS


# --- clients that are not known to call again ----------------------------------------------------


async def test_a_stock_client_gets_the_link() -> None:
    async with stateless(Repo().read_repo) as url, stock(url, era=ERA) as client:
        first = await client.call_tool("read_repo", {})
        [address] = [line.strip() for line in shown(first).splitlines() if line.startswith("  http")]
        person = Person(ENTERS)
        person.go(address)
        await person.done()
        assert shown(await go_on(client, first)) == READ


@pytest.mark.parametrize("kind", KINDS)
async def test_if_the_author_says_that_all_clients_retry_a_stock_client_gets_the_error(kind: Kind) -> None:
    async with stateless(Repo().read_repo, kind=kind, required=True) as url, stock(url, era=ERA) as client:
        error = await refusal(client, "read_repo")
        [only] = error.data["elicitations"]
        assert set(only) == {"mode", "message", "url", "elicitationId"}
        assert only["mode"] == "url"
        assert only["url"].endswith(only["elicitationId"])
        assert "_meta" not in error.data, "it would not bring the code back"
        await go(error, ENTERS)
        assert shown(await client.call_tool("read_repo", {})) == READ


async def test_an_account_is_connected_so_too() -> None:
    async def list_issues() -> str:
        return f"with a token: {len(await authorize('acme')) > 0}"

    async with authorization_server() as acme:
        provider = Provider.discover("acme", issuer=acme.url, client_id=CLIENT[0], client_secret=CLIENT[1])
        async with stateless(list_issues, required=True, portal=Portal(providers=[provider])) as url:
            async with stock(url, era=ERA) as client:
                await go(await refusal(client, "list_issues"), presses("accept"))
                assert shown(await client.call_tool("list_issues", {})) == "with a token: True"


async def test_such_a_client_is_sent_to_what_the_store_knows_by_its_id() -> None:
    async def order(id: str = "order-7") -> str:
        return await visit("Check out", f"{URL}/{id}", id=id, wait=True)

    async with stateless(order, required=True) as url, stock(url, era=ERA) as client:
        error = await refusal(client, "order")
        assert [each["elicitationId"] for each in error.data["elicitations"]] == ["order-7"]
        await refusal(client, "order")
        assert await complete("order-7")
        assert shown(await client.call_tool("order", {})) == "order-7"


@pytest.mark.parametrize(
    "ask_it",
    [
        lambda: approve("Pay", {"amount": 40}),
        lambda: visit("Look", URL),
        lambda: visit("Look", URL, id="named"),
        lambda: visit("Look", URL, wait=True),
        lambda: ask("How many?", int),
        lambda: confirm("Sure?"),
    ],
)
async def test_such_a_client_is_not_sent_to_what_a_fresh_call_would_not_find_done(ask_it: Callable[[], Any]) -> None:
    async def tool() -> str:
        return str(await ask_it())

    async with stateless(tool, required=True) as url, stock(url, era=ERA) as client:
        assert "NOT FINISHED YET" in shown(await client.call_tool("tool", {}))


async def test_such_a_client_gets_no_error_if_an_effect_would_run_twice() -> None:
    charged: list[int] = []

    async def tool() -> str:
        await once("charge", lambda: charged.append(1) or 1)
        return str(len(await secret("github", "A token")))

    async with stateless(tool, required=True) as url, stock(url, era=ERA) as client:
        first = await client.call_tool("tool", {})
        [address] = [line.strip() for line in shown(first).splitlines() if line.startswith("  http")]
        person = Person(ENTERS)
        person.go(address)
        await person.done()
        assert shown(await go_on(client, first)) == str(len(TOKEN))
    assert charged == [1]


async def test_the_author_can_say_so_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCALL_REQUIRED", "1")
    async with stateless(Repo().read_repo) as url, stock(url, era=ERA) as client:
        await refusal(client, "read_repo")
    async with stateless(Repo().read_repo, required=False) as url, stock(url, era=ERA) as client:
        assert "NOT FINISHED YET" in shown(await client.call_tool("read_repo", {}))
    monkeypatch.setenv("MIDCALL_REQUIRED", "perhaps")
    with pytest.raises(InstallError, match="MIDCALL_REQUIRED='perhaps' must be 1 or 0"):
        server_with()


# --- where it has no place -----------------------------------------------------------------------


async def test_with_a_back_channel_the_question_is_pushed() -> None:
    server = server_with(Repo().read_repo, keys=KEYS, store=Memory(), portal=Portal(), required=True)
    person = Attentive(ENTERS)
    async with connect(server, person, era=ERA) as client:
        assert shown(await client.call_tool("read_repo", {})) == READ
    installation = installation_on(server)
    assert installation is not None
    await installation.close()


@pytest.mark.parametrize("era", ["2025-06-18", "2026-07-28"])
async def test_other_versions_do_not_have_the_error(era: Era) -> None:
    async with stateless(Repo().read_repo, required=True) as url:
        async with stock(url, era=era, modes=()) as client:
            assert "NOT FINISHED YET" in shown(await raw(client, "read_repo"))


async def test_a_client_that_is_known_to_lack_url_mode_is_not_sent_it() -> None:
    """JSON responses can't carry requests to the client either, but a session knows what the client declared."""
    server = server_with(Repo().read_repo, keys=KEYS, store=Memory(), portal=Portal(), required=True)
    async with served(server, json_response=True, stateless=False) as url:
        async with stock(url, era=ERA, modes=["form"]) as client:
            assert "NOT FINISHED YET" in shown(await raw(client, "read_repo"))
        async with stock(url, era=ERA, modes=["url"]) as client:
            await refusal(client, "read_repo")
    installation = installation_on(server)
    assert installation is not None
    await installation.close()


async def test_a_question_can_refuse_it() -> None:
    async def tool() -> str:
        return await visit("Look", URL, via={"link"})

    async with stateless(tool) as url, stock(url, era=ERA) as client:
        assert "NOT FINISHED YET" in shown(await raw(client, "tool"))


@pytest.mark.parametrize("verb", [lambda: secret("github", "A token"), lambda: approve("Pay", {"amount": 40})])
async def test_if_nobody_can_be_identified_only_forms_are_pages(verb: Callable[[], Any]) -> None:
    found: list[str] = []

    async def tool() -> str:
        try:
            return str(await verb())
        except NoChannel as exc:
            found.append(str(exc))
            return str(await ask("How many?", int))

    async with stateless(tool, portal=Portal("https://mcp.example.com/midcall"), required=True) as url:
        async with stock(url, era=ERA) as client:
            error = await refusal(client, "tool", meta={RETRIES: 3})
    assert "This portal cannot tell who is looking" in found[0]
    assert [each["message"] for each in error.data["elicitations"]] == ["How many?"]


async def test_without_a_store_it_says_what_is_missing() -> None:
    found: list[str] = []

    async def tool() -> str:
        try:
            return await visit("Look", URL)
        except NoChannel as exc:
            found.append(exc.advice)
            return "no"

    async with served(server_with(tool, keys=KEYS, required=True)) as url, stock(url, era=ERA) as client:
        assert shown(await raw(client, "tool")) == "no"
    assert "required: there is no store (install(..., store=...))" in found[0]


@pytest.mark.parametrize("said", [0, -1, True, "3", None, 2.5])
async def test_rubbish_in_its_place_is_not_a_word_that_the_client_comes_back(said: Any) -> None:
    async with stateless(Repo().read_repo) as url, stock(url, era=ERA) as client:
        result = await client.call_tool("read_repo", {}, meta={RETRIES: said})
        assert "NOT FINISHED YET" in shown(result)
