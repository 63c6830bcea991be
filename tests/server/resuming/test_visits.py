"""URL mode: visits, their ids, completion, and the -32042 way."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    URL_ELICITATION_REQUIRED,
    ElicitCompleteNotification,
    ElicitRequestURLParams,
)

import midcall
from midcall import Cancelled, Declined, UrlElicitationRequired, Visit, ask, complete, protocol, visit
from midcall.errors import InvalidQuestion, UserCancelled, UserDeclined
from midcall.server.installation import installation_on
from midcall.server.resuming import visits
from midcall.stores.memory import Memory
from midcall.testing import Era, Script, connect, run
from tests.kinds import KINDS, Kind, server_with
from tests.rounds import raw_call, text
from tests.server.codes import go_on, shown

WITH_URLS: tuple[Era, ...] = ("2025-11-25", "2026-07-28")


async def sign_in() -> str:
    return await visit("Please sign in", lambda id: f"https://example.com/connect/{id}")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", WITH_URLS)
async def test_a_visit_returns_its_id_at_consent(kind: Kind, era: Era) -> None:
    done = await run(server_with(sign_in, kind=kind), "sign_in", {}, ["go"], era=era)
    [asked] = done.asked
    assert asked.mode == "url"
    assert asked.url == f"https://example.com/connect/{done.text}"
    assert asked.id == done.text  # on 2026-07-28 too: a client drops the question without it
    assert len(done.text) >= 22
    assert done.text.isalnum()


@pytest.mark.parametrize("era", WITH_URLS)
async def test_accepting_is_consent_and_not_completion(era: Era) -> None:
    async def tool() -> str:
        id = await visit("Go", "https://example.com/x")
        return f"{await complete(id)} {await complete(id)}"

    assert (await run(server_with(tool), "tool", {}, ["go"], era=era)).text == "True False"


@pytest.mark.parametrize("era", WITH_URLS)
@pytest.mark.parametrize(("answer", "raised"), [(Declined(), UserDeclined), (Cancelled(), UserCancelled)])
async def test_a_visit_can_be_refused(era: Era, answer: Any, raised: type[UserDeclined | UserCancelled]) -> None:
    async def refused() -> str:
        try:
            return await sign_in()
        except (UserDeclined, UserCancelled) as refusal:
            return str(isinstance(refusal, raised))

    done = await run(server_with(refused), "refused", {}, [answer], era=era)
    assert done.text == "True"
    done = await run(server_with(sign_in), "sign_in", {}, [answer], era=era)
    assert done.failed
    assert raised.for_model in done.text


@pytest.mark.parametrize("era", WITH_URLS)
async def test_the_id_is_minted_once_per_call_and_is_the_authors_if_given(era: Era) -> None:
    async def tool() -> str:
        first = await visit("One", lambda id: f"https://example.com/{id}")
        second = await visit("Two", lambda id: f"https://example.com/{id}")
        mine = await visit("Three", "https://example.com/3", id="my-own-id")
        await ask("then?", str)
        return f"{first} {second} {mine}"

    answers = {"One": 1, "Two": 1, "Three": 1, "then?": "x"}
    done = await run(server_with(tool), "tool", {}, answers, era=era)
    first, second, mine = done.text.split()
    assert first != second
    assert mine == "my-own-id"
    urls = [asked.url for asked in done.asked if asked.mode == "url"]
    assert urls == [f"https://example.com/{first}", f"https://example.com/{second}", "https://example.com/3"]
    other = await run(server_with(tool), "tool", {}, answers, era=era)
    assert other.text.split()[0] != first


async def test_a_client_without_url_mode_is_never_sent_one() -> None:
    pushed = await run(server_with(sign_in), "sign_in", {}, ["go"], era="2025-11-25", modes=("form",))
    assert pushed.failed
    assert pushed.asked == []
    old = await run(server_with(sign_in), "sign_in", {}, ["go"], era="2025-06-18")
    assert old.failed
    assert old.asked == []
    with pytest.raises(MCPError) as caught:
        await run(server_with(sign_in), "sign_in", {}, ["go"], modes=("form",))
    assert caught.value.code == MISSING_REQUIRED_CLIENT_CAPABILITY
    assert caught.value.data["requiredCapabilities"] == {"elicitation": {"url": {}}}


@pytest.mark.parametrize(
    "url",
    [
        "example.com/path",
        "/path",
        "http://example.com/",
        "ftp://example.com/",
        "javascript:alert(1)",
        "https://user:pw@example.com/",
        "https://user@example.com/",
        "https:///nohost",
        "https://example.com/?access_token=abc",
        "https://example.com/?password=abc",
        "https://example.com/?a=1&api_key=abc",
        "https://exa mple.com/",
        "https://example.com/\n",
        "https://[::1/",
        "https://example.com:port/",
        "",
    ],
)
async def test_a_url_that_is_not_fit_to_be_visited_is_refused(url: str) -> None:
    with pytest.raises(InvalidQuestion, match="cannot be visited"):
        Visit("Go", url)

    async def tool() -> str:
        return await visit("Go", lambda id: url)

    done = await run(server_with(tool), "tool", {}, ["go"])
    assert done.failed
    assert done.asked == []


@pytest.mark.parametrize(
    "url", ["https://example.com/a?id=1", "http://localhost:8000/x", "http://127.0.0.1/x", "http://[::1]:1/"]
)
def test_https_and_loopback_may_be_visited(url: str) -> None:
    assert Visit("Go", url).url == url


@pytest.mark.parametrize("era", WITH_URLS)
async def test_an_id_that_is_regenerated_on_every_run_names_the_same_visit(era: Era) -> None:
    async def tool(ctx: Context) -> str:
        id = uuid.uuid4().hex
        action = (await ctx.elicit_url("Sign in", f"https://example.com/{id}", id)).action
        return f"{action} {await ask('then?', str)}"

    done = await run(server_with(tool), "tool", {}, {"Sign in": "go", "then?": "x"}, era=era)
    assert done.text == "accept x"
    assert len(done.asked) == 2


async def test_a_decline_of_a_required_visit_with_a_new_id_every_run_counts() -> None:
    async def tool() -> str:
        id = uuid.uuid4().hex
        raise UrlElicitationRequired(
            [ElicitRequestURLParams(message="Connect", url=f"https://example.com/{id}", elicitation_id=id)]
        )

    done = await run(server_with(tool), "tool", {}, [Declined()])
    assert done.failed
    assert len(done.asked) == 1


async def test_a_visits_timeout_is_one_deadline_over_all_rounds(either: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "HOLD_SECONDS", 0.01)

    async def tool() -> str:
        try:
            return await visit("Go", "https://example.com/x", wait=True, timeout=60)
        except midcall.TimedOut:
            return "timed out"

    async with connect(server_with(tool)) as client:
        first = await raw_call(client, "tool", {})
        [key] = first["inputRequests"]
        held = await raw_call(client, "tool", {}, state=first["requestState"], answers={key: {"action": "accept"}})
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + 30)
        held = await raw_call(client, "tool", {}, state=held["requestState"])
        assert held["resultType"] == "input_required"
        monkeypatch.setattr(time, "time", lambda: now + 75)
        assert text(await raw_call(client, "tool", {}, state=held["requestState"])) == "timed out"


# --- waiting for completion ------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", WITH_URLS)
async def test_with_wait_it_comes_back_at_completion(kind: Kind, era: Era) -> None:
    done: list[str] = []

    async def tool() -> str:
        id = await visit("Go", lambda id: f"https://example.com/{id}", wait=True)
        done.append("finished")
        return id

    server = server_with(tool, kind=kind)

    class Visitor(Script):
        async def __call__(self, context: Any, params: Any) -> Any:
            result = await super().__call__(context, params)
            asyncio_later(params.url.rpartition("/")[2], group, done)
            return result

    async with anyio.create_task_group() as group:
        async with connect(server, Visitor(["go"]), era=era) as client:
            result = await client.call_tool("tool")
    assert not result.is_error
    assert done == ["visited", "finished"]


def asyncio_later(id: str, group: Any, done: list[str]) -> None:
    async def finish() -> None:
        await anyio.sleep(0.05)
        done.append("visited")
        await complete(id)

    group.start_soon(finish)


async def test_a_visit_that_takes_more_than_one_hold_continues_in_the_next_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(visits, "HOLD_SECONDS", 0.02)

    async def tool() -> str:
        return await visit("Go", lambda id: f"https://example.com/{id}", wait=True)

    async with connect(server_with(tool)) as client:
        first = await raw_call(client, "tool", {})
        [(key, request)] = first["inputRequests"].items()
        id = request["params"]["url"].rpartition("/")[2]
        second = await raw_call(client, "tool", {}, state=first["requestState"], answers={key: {"action": "accept"}})
        assert second["inputRequests"] == {}
        assert second["content"] == []
        assert second["requestState"]
        assert second["resultType"] == "input_required"
        await complete(id)
        third = await raw_call(client, "tool", {}, state=second["requestState"])
        assert text(third) == id


async def test_the_last_round_is_never_spent_on_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "HOLD_SECONDS", 0.01)

    async def tool() -> str:
        return await visit("Go", "https://example.com/x", wait=True)

    async with connect(server_with(tool), ["go"], max_rounds=10) as client:
        result = await client.call_tool("tool")
    assert result.is_error
    assert "not finished on the web page yet" in text(result)


@pytest.mark.parametrize("store", [None, Memory], ids=["without a store", "with a store"])
async def test_a_call_is_held_in_two_rounds_at_most_and_then_gives_a_code(
    store: type[Memory] | None, either: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visits, "HOLD_SECONDS", 0.01)

    async def tool() -> str:
        first = await visit("First", "https://example.com/1", id="first", wait=True)
        second = await visit("Second", "https://example.com/2", id="second", wait=True)
        return f"{first} {second}"

    rounds: list[dict[str, Any]] = []
    server = server_with(tool, store=store() if store else None)
    async with connect(server) as client:
        result = await raw_call(client, "tool", {})
        while result["resultType"] == "input_required":
            rounds.append(result)
            answers = {key: {"action": "accept"} for key in result["inputRequests"]}
            if len(rounds) == 3:
                await complete("first")
            result = await raw_call(client, "tool", {}, state=result["requestState"], answers=answers)
        assert [len(each["inputRequests"]) for each in rounds] == [1, 0, 0, 1]
        await complete("second")
        code = result["_meta"][protocol.CODE]
        assert code.isalnum()
        assert text(await raw_call(client, protocol.CONTINUE, {"code": code})) == "first second"


async def test_the_client_that_was_asked_is_notified_of_the_completion() -> None:
    heard: list[str] = []
    told = anyio.Event()

    async def watch(message: Any) -> None:
        if isinstance(message, ElicitCompleteNotification):
            heard.append(message.params.elicitation_id)
            told.set()

    installed: Any = None

    async def tool() -> str:
        return await visit("Go", "https://example.com/x")

    server = server_with(tool)
    async with (
        Client(server, mode="legacy", elicitation_callback=Script(["go"]), message_handler=watch) as client,
        Client(server, mode="legacy", elicitation_callback=Script(["go"]), message_handler=watch),
    ):
        id = text(await client.call_tool("tool"))
        assert await complete(id)
        with anyio.fail_after(5):
            await told.wait()
        assert not await complete(id)
    assert heard == [id]
    del installed


# --- -32042 ----------------------------------------------------------------------------------


@pytest.fixture
def short_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "HOLD_SECONDS", 0.02)


connected: set[str] = set()


def required_tool(*, sdk: bool = False) -> Any:
    async def needs_account(who: str) -> str:
        if who not in connected:
            if sdk:
                raise UrlElicitationRequiredError(
                    [ElicitRequestURLParams(message="Connect", url="https://example.com/c", elicitation_id=f"id-{who}")]
                )
            raise UrlElicitationRequired(
                [Visit("Connect", lambda id: f"https://example.com/c/{id}")], message="Connect your account first"
            )
        return f"hello {who}"

    return needs_account


@pytest.mark.parametrize("sdk", [False, True])
@pytest.mark.parametrize("kind", KINDS)
async def test_on_the_version_that_has_it_the_error_reaches_the_client(
    kind: Kind, sdk: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(MCPError) as caught:
        await run(server_with(required_tool(sdk=sdk), kind=kind), "needs_account", {"who": "a"}, era="2025-11-25")
    assert caught.value.code == URL_ELICITATION_REQUIRED
    [elicitation] = caught.value.data["elicitations"]
    assert elicitation["mode"] == "url"
    assert elicitation["elicitationId"]
    if not sdk:
        assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
        assert caught.value.message == "Connect your account first"
        assert elicitation["url"].endswith(elicitation["elicitationId"])


@pytest.mark.parametrize("sdk", [False, True])
@pytest.mark.parametrize("kind", KINDS)
async def test_on_the_newest_version_the_error_becomes_a_round(kind: Kind, sdk: bool) -> None:
    who = f"{kind}-{sdk}"

    def go(asked: Any) -> str:
        connected.add(who)
        return "go"

    done = await run(server_with(required_tool(sdk=sdk), kind=kind), "needs_account", {"who": who}, go)
    assert done.text == f"hello {who}"
    [asked] = done.asked
    assert asked.mode == "url"


@pytest.mark.parametrize("kind", KINDS)
async def test_after_consent_the_request_is_held_until_the_visit_is_done(kind: Kind, either: str) -> None:
    asked: list[str] = []

    async def needs_account() -> str:
        if not connected & {f"held-{kind}-{either}"}:
            raise UrlElicitationRequired([Visit("Connect", lambda id: f"https://example.com/c/{id}")])
        return "hello"

    class Visitor(Script):
        async def __call__(self, context: Any, params: Any) -> Any:
            asked.append(params.url)
            group.start_soon(finish, params.url.rpartition("/")[2])
            return await super().__call__(context, params)

    async def finish(id: str) -> None:
        async with asyncio.timeout(5):
            while not installation.visits._held:  # pyright: ignore[reportPrivateUsage]
                await asyncio.sleep(0)
        connected.add(f"held-{kind}-{either}")
        await complete(id)

    server = server_with(needs_account, kind=kind)
    installation: Any = installation_on(server)
    async with anyio.create_task_group() as group:
        async with connect(server, Visitor(["go"])) as client:
            assert text(await client.call_tool("needs_account")) == "hello"
    assert len(asked) == 1


@pytest.mark.usefixtures("short_holds")
async def test_a_visit_that_is_done_and_still_required_is_asked_for_again_and_a_decline_ends_it(either: str) -> None:
    answers = iter(["go", Declined()])
    asked: list[Any] = []
    server = server_with(required_tool())
    async with connect(server, lambda question: asked.append(question) or next(answers)) as client:
        first = await client.call_tool("needs_account", {"who": "never"})
        assert "NOT FINISHED YET" in shown(first)
        second = await go_on(client, first)
        assert "NOT FINISHED YET" in shown(second)
        assert len(asked) == 1, "the user is still there"
        await complete(asked[0].id)
        third = await go_on(client, second)
    assert third.is_error
    assert "declined" in shown(third)
    assert len(asked) == 2


@pytest.mark.usefixtures("short_holds")
@pytest.mark.parametrize("sdk", [False, True])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_visit_that_is_not_done_is_asked_for_once_and_the_call_can_be_resumed(
    kind: Kind, sdk: bool, caplog: pytest.LogCaptureFixture
) -> None:
    server = server_with(required_tool(sdk=sdk), kind=kind)
    done = await run(server, "needs_account", {"who": "never"}, lambda asked: "go")
    assert done.failed
    assert "NOT FINISHED YET" in done.text
    assert "The user has not finished on the web page yet." in done.text
    assert len(done.asked) == 1
    if not sdk:  # that of the SDK itself is logged by FastMCP
        assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.usefixtures("short_holds")
async def test_a_prompt_that_requires_a_visit_cannot_be_resumed() -> None:
    server: MCPServer[Any] = MCPServer("test")
    midcall.install(server)

    @server.prompt()
    async def greet() -> str:
        raise UrlElicitationRequired([Visit("Connect", "https://example.com/c", id="prompted")])

    async with connect(server, ["go"]) as client:
        with pytest.raises(MCPError, match="has not finished on the web page yet"):
            await client.get_prompt("greet")


@pytest.mark.usefixtures("short_holds")
@pytest.mark.parametrize("store", [None, Memory()], ids=["no store", "store"])
async def test_a_call_that_requires_a_visit_is_resumed_when_that_is_done(store: Memory | None, either: str) -> None:
    server = server_with(required_tool(), store=store)
    who = f"slow-{either}-{store is None}"
    asked: list[Any] = []
    async with connect(server, lambda question: asked.append(question) or "go") as client:
        first = await client.call_tool("needs_account", {"who": who})
        assert "NOT FINISHED YET" in shown(first)
        second = await go_on(client, first)
        assert "The user has not finished on the web page yet." in shown(second)
        connected.add(who)
        assert shown(await go_on(client, second)) == f"hello {who}"
    assert len(asked) == 1


async def test_a_server_that_stops_holds_no_required_visit() -> None:
    server = server_with(required_tool())
    installation: Any = installation_on(server)
    async with asyncio.timeout(10), connect(server) as client:
        first = await raw_call(client, "needs_account", {"who": "stopped"})
        answers = {key: {"action": "accept"} for key in first["inputRequests"]}
        installation.stop()
        done = await raw_call(client, "needs_account", {"who": "stopped"}, state=first["requestState"], answers=answers)
    assert "NOT FINISHED YET" in text(done)


async def test_other_visits_than_there_are_rounds_for_end_with_a_resume_code() -> None:
    steps = iter(range(9))

    async def endless() -> str:
        raise UrlElicitationRequired([Visit(f"Step {next(steps)}", "https://example.com/step", id="step")])

    async with connect(server_with(endless, max_rounds=3), lambda asked: "go") as client:
        result = await client.call_tool("endless", {})
    assert "midcall_continue" in text(result)
    assert next(steps) == 4


@pytest.mark.parametrize(("era", "modes"), [("2025-06-18", None), ("2025-11-25", ("form",))])
async def test_a_client_that_cannot_visit_is_not_sent_the_error(era: Era, modes: Any) -> None:
    done = await run(server_with(required_tool()), "needs_account", {"who": "x"}, era=era, modes=modes)
    assert done.failed
    assert "cannot show questions" in done.text


async def test_a_stateless_server_can_still_require_a_visit() -> None:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    app = server_with(required_tool(), keys="k key of the tests: 0123456789abcdef").streamable_http_app(
        stateless_http=True, json_response=True
    )
    async with app.router.lifespan_context(app):
        http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1:8000")
        transport = streamable_http_client("http://127.0.0.1:8000/mcp", http_client=http)
        with pytest.raises(MCPError) as caught:
            await run(transport, "needs_account", {"who": "z"}, era="2025-11-25")
    assert caught.value.code == URL_ELICITATION_REQUIRED


def test_required_needs_at_least_one_visit_with_an_id() -> None:
    with pytest.raises(InvalidQuestion):
        UrlElicitationRequired([])
    with pytest.raises(InvalidQuestion, match="its own id"):
        UrlElicitationRequired([Visit("Go", "https://example.com/")])
    error = UrlElicitationRequired([Visit("Go", "https://example.com/", id="x")])
    assert isinstance(error, UrlElicitationRequiredError)
    assert error.elicitations[0].elicitation_id == "x"


def test_the_sdk_and_we_mean_the_same_error() -> None:
    assert issubclass(midcall.UrlElicitationRequired, UrlElicitationRequiredError)
