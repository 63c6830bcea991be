"""Asking: which mode, which way, what comes back."""

from __future__ import annotations

import asyncio
import logging
from typing import Annotated, Any

import pytest
from mcp import MCPError
from mcp.server.mcpserver import MCPServer
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
)
from pydantic import BaseModel, Field

import midcall
from midcall import (
    STRONG,
    Cancelled,
    CannotAsk,
    Declined,
    NoChannel,
    Question,
    UserCancelled,
    UserDeclined,
    ask,
    ask_all,
    can_ask,
    confirm,
    elicit,
)
from midcall.portal.app import Portal
from midcall.stores.memory import Memory
from midcall.testing import ERAS, Era, connect, run
from tests.kinds import KINDS, Kind, server_with
from tests.rounds import accept, raw_call

PUSHED: tuple[Era, ...] = ("2025-06-18", "2025-11-25")


class Trip(BaseModel):
    destination: str
    days: Annotated[int, Field(ge=1, le=30)]


async def book() -> str:
    trip = await ask("Where to?", Trip)
    return f"{trip.days} days in {trip.destination}"


OSLO = {"Where to?": {"destination": "Oslo", "days": 3}}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_one_await_gives_a_typed_value_on_every_server_and_version(kind: Kind, era: Era) -> None:
    done = await run(server_with(book, kind=kind), "book", {}, OSLO, era=era)
    assert (done.text, done.failed) == ("3 days in Oslo", False)


async def reach() -> str:
    return f"form={can_ask('form')} url={can_ask('url')}"


@pytest.mark.parametrize(
    ("era", "modes", "expected"),
    [
        ("2025-06-18", ("form",), "form=('push',) url=()"),
        ("2025-06-18", ("form", "url"), "form=('push',) url=()"),
        ("2025-11-25", ("form", "url"), "form=('push',) url=('push',)"),
        ("2025-11-25", ("form",), "form=('push',) url=()"),
        ("2025-11-25", ("url",), "form=() url=('push',)"),
        ("2025-11-25", (), "form=() url=()"),
        ("2026-07-28", ("form", "url"), "form=('round',) url=('round',)"),
        ("2026-07-28", ("url",), "form=() url=('round',)"),
        ("2026-07-28", (), "form=() url=()"),
    ],
)
async def test_can_ask_returns_how_a_client_can_be_reached(era: Era, modes: Any, expected: str) -> None:
    assert (await run(server_with(reach), "reach", era=era, modes=modes)).text == expected


@pytest.mark.parametrize("era", PUSHED)
@pytest.mark.parametrize("modes", [(), ("url",)])
async def test_a_client_that_declared_no_forms_is_never_sent_one(era: Era, modes: Any) -> None:
    done = await run(server_with(book), "book", {}, OSLO, era=era, modes=modes)
    assert done.asked == []
    assert done.failed
    assert "cannot show questions" in done.text


@pytest.mark.parametrize("kind", KINDS)
async def test_on_the_newest_version_a_missing_capability_is_the_protocols_own_error(kind: Kind) -> None:
    with pytest.raises(MCPError) as caught:
        await run(server_with(book, kind=kind), "book", {}, OSLO, modes=())
    assert caught.value.code == MISSING_REQUIRED_CLIENT_CAPABILITY
    assert caught.value.data["requiredCapabilities"] == {"elicitation": {"form": {}}}


@pytest.mark.parametrize("modes", [("form", "url"), ()])
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
async def test_if_no_capability_would_help_the_model_reads_it_in_the_result(kind: Kind, era: Era, modes: Any) -> None:
    async def tool() -> str:
        return str(await ask("N?", int, via={"page", "link"}))

    done = await run(server_with(tool, kind=kind), "tool", {}, {"N?": 1}, era=era, modes=modes)
    assert done.failed
    assert "cannot show questions" in done.text


async def test_if_a_page_would_help_the_missing_capability_is_url_mode() -> None:
    async def tool() -> str:
        return str(await ask("N?", int, via="page"))  # pyright: ignore[reportArgumentType]

    server = server_with(tool, portal=Portal(), store=Memory())
    with pytest.raises(MCPError) as caught:
        await run(server, "tool", {}, {"N?": 1}, modes=("form",))
    assert caught.value.code == MISSING_REQUIRED_CLIENT_CAPABILITY
    assert caught.value.data["requiredCapabilities"] == {"elicitation": {"url": {}}}


async def test_without_a_portal_a_secret_misses_no_capability() -> None:
    async def tool() -> str:
        return await midcall.secret("github", "A token")

    assert (await run(server_with(tool), "tool", modes=("form",))).failed


async def test_an_empty_elicitation_capability_means_forms_only() -> None:
    from midcall.client.transport.offer import Offer
    from midcall.client.transport.target import ConnectOptions
    from midcall.client.transport.target import reach as reached

    for era in ERAS:
        transport = Offer(reached(server_with(reach), ConnectOptions()).transport, modes=("form",), bare=True)
        assert (await run(transport, "reach", era=era)).text.endswith("url=()")


async def test_a_question_can_refuse_weak_channels() -> None:
    async def pay() -> str:
        return str(await confirm("Pay?", default=True, via=STRONG))

    assert (await run(server_with(pay), "pay", era="2025-11-25", modes=())).failed
    assert (await run(server_with(pay), "pay", {}, [True])).text == "True"


async def test_no_channel_says_why_each_channel_did_not_serve() -> None:
    found: list[NoChannel] = []

    async def tool() -> str:
        try:
            return await ask("?", str)
        except NoChannel as exc:
            found.append(exc)
            return "no"

    await run(server_with(tool), "tool", era="2025-11-25", modes=())
    assert found[0].reasons["push"] == "the client did not declare elicitation"
    assert "push: the client did not declare elicitation" in found[0].advice
    assert "default: the question has no default" in found[0].advice
    assert "can_ask()" in found[0].advice
    assert isinstance(found[0], CannotAsk)


async def test_on_the_newest_version_nothing_is_pushed_and_the_result_has_requests_and_state() -> None:
    async with connect(server_with(book)) as client:
        raw = await raw_call(client, "book", {})
        assert raw["resultType"] == "input_required"
        [request] = raw["inputRequests"].values()
        assert request["method"] == "elicitation/create"
        assert request["params"]["mode"] == "form"
        assert raw["requestState"]
        assert raw["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "test"


async def test_prompts_and_resource_templates_ask_too() -> None:
    server: MCPServer[Any] = MCPServer("test")
    midcall.install(server)

    @server.prompt()
    async def plan() -> str:
        return f"Plan {await ask('Days?', int)} days"

    @server.resource("city://{name}")
    async def city(name: str) -> str:
        return f"{name} in {await ask('Season?', str)}"

    for era in ERAS:
        async with connect(server, {"Days?": 3, "Season?": "May"}, era=era) as client:
            prompt = await client.get_prompt("plan")
            assert "Plan 3 days" in str(prompt.messages[0].content)
            read = await client.read_resource("city://oslo")
            assert getattr(read.contents[0], "text", "") == "oslo in May"


async def test_a_prompt_that_is_declined_ends_with_an_error_that_says_so() -> None:
    server: MCPServer[Any] = MCPServer("test")
    midcall.install(server)

    @server.prompt()
    async def plan() -> str:
        return await ask("Days?", str)

    for era in ERAS:
        async with connect(server, [Declined()], era=era) as client:
            with pytest.raises(MCPError, match="declined"):
                await client.get_prompt("plan")


async def test_listing_never_asks() -> None:
    async with connect(server_with(book)) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["book"]


async def test_keys_are_unique_within_a_call_and_stable_over_replays() -> None:
    async def four() -> str:
        answers = await asyncio.gather(*(ask("Same?", str) for _ in range(3)), ask("Other?", str, key="other"))
        return ",".join(answers)

    async with connect(server_with(four)) as client:
        first = await raw_call(client, "four", {})
        keys = list(first["inputRequests"])
        assert len(set(keys)) == 4
        assert "other" in keys
        again = await raw_call(client, "four", {}, state=first["requestState"], answers={keys[0]: accept(answer="x")})
        assert list(again["inputRequests"]) == keys[1:]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_accept_decline_and_cancel_reach_the_tool_as_three_things(kind: Kind, era: Era) -> None:
    async def tool() -> str:
        seen: list[str] = []
        for number in range(3):
            outcome = await elicit(f"{number}?", str)
            seen.append(f"{type(outcome).__name__}:{bool(outcome)}:{outcome.via}")
        return " ".join(seen)

    done = await run(server_with(tool, kind=kind), "tool", {}, ["x", Declined(), Cancelled()], era=era)
    via = "round" if era == "2026-07-28" else "push"
    assert done.text == f"Accepted:True:{via} Declined:False:{via} Cancelled:False:{via}"


@pytest.mark.parametrize(
    ("answer", "error", "told"),
    [(Declined(), UserDeclined, "declined"), (Cancelled(), UserCancelled, "dismissed the question")],
)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_an_uncaught_no_ends_the_tool_with_a_polite_result(
    kind: Kind, era: Era, answer: Any, error: type[Exception], told: str, caplog: pytest.LogCaptureFixture
) -> None:
    done = await run(server_with(book, kind=kind), "book", {}, {"Where to?": answer}, era=era)
    assert done.failed
    assert told in done.text
    assert "Traceback" not in done.text
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.parametrize("kind", KINDS)
async def test_a_tool_can_catch_what_asking_raises(kind: Kind) -> None:
    async def tool() -> str:
        try:
            return await ask("?", str)
        except UserDeclined:
            return "then not"

    for era in ERAS:
        assert (await run(server_with(tool, kind=kind), "tool", {}, [Declined()], era=era)).text == "then not"


@pytest.mark.parametrize("era", ERAS)
async def test_confirm_sends_one_required_boolean_and_takes_no_for_no(era: Era) -> None:
    async def tool() -> str:
        return str([await confirm(f"{number}?") for number in range(4)])

    done = await run(server_with(tool), "tool", {}, [True, False, Declined(), Cancelled()], era=era)
    assert done.text == "[True, False, False, False]"
    schema = done.asked[0].schema
    assert schema
    [(name, field)] = schema["properties"].items()
    assert field["type"] == "boolean"
    assert schema["required"] == [name]


@pytest.mark.parametrize("era", ERAS)
async def test_ask_all_leaves_in_one_round_and_gives_a_tuple_or_a_dict(era: Era) -> None:
    async def tool() -> str:
        name, days = await ask_all(Question("Name?", str), Question("Days?", int))
        more = await ask_all({"x": Question("X?", bool), "y": Question("Y?", str)})
        return f"{name} {days + 1} {more}"

    answers = {"Name?": "Ada", "Days?": 2, "X?": True, "Y?": "y"}
    done = await run(server_with(tool), "tool", {}, answers, era=era)
    assert done.text == "Ada 3 {'x': True, 'y': 'y'}"
    assert done.rounds == (2 if era == "2026-07-28" else 0)


async def test_branches_that_await_nothing_else_share_one_round() -> None:
    async def tool() -> str:
        async def branch(name: str) -> str:
            return await ask(f"{name}?", str)

        async def nested() -> list[str]:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(branch(name)) for name in "cd"]
            return [task.result() for task in tasks]

        a, b, more = await asyncio.gather(branch("a"), asyncio.wait_for(branch("b"), 9), nested())
        return "".join([a, b, *more])

    done = await run(server_with(tool), "tool", {}, lambda asked: asked.message[0])
    assert (done.text, done.rounds) == ("abcd", 1)


@pytest.mark.parametrize("era", ERAS)
async def test_ask_all_raises_for_the_first_that_was_not_answered(era: Era) -> None:
    async def tool() -> str:
        try:
            await ask_all(Question("a?", str), Question("b?", str), Question("c?", str))
        except UserDeclined:
            return "declined"
        return "answered"

    done = await run(server_with(tool), "tool", {}, {"a?": "1", "b?": Declined(), "c?": "3"}, era=era)
    assert done.text == "declined"
    assert len(done.asked) == (3 if era == "2026-07-28" else 2)


async def test_stateless_http_before_2026_has_no_channel_and_says_what_to_do() -> None:
    found: list[str] = []

    async def tool() -> str:
        try:
            return await ask("?", str)
        except NoChannel as exc:
            found.append(exc.with_advice)
            raise

    server = server_with(tool)
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    app = server.streamable_http_app(stateless_http=True, json_response=True)
    async with app.router.lifespan_context(app):
        http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1:8000")
        transport = streamable_http_client("http://127.0.0.1:8000/mcp", http_client=http)
        done = await run(transport, "tool", {}, ["x"], era="2025-11-25")
    assert done.failed
    assert "stateless HTTP" in found[0]
    assert "stateful HTTP or protocol 2026-07-28" in found[0]
