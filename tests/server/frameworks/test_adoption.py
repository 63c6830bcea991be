"""Existing tools work unchanged after one line, and so do handlers that manage their own rounds."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

import fastmcp
import pytest
from fastmcp import FastMCP
from fastmcp.dependencies import Depends
from mcp import MCPError
from mcp.client._input_required import DEFAULT_INPUT_REQUIRED_MAX_ROUNDS
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp_types import (
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from pydantic import BaseModel, Field

import midcall
from midcall import Cancelled, Declined, Question, ask, can_ask, from_thread
from midcall.client import Script as Answering
from midcall.client import connect as connect_as_client
from midcall.core.journal import Journal, encode
from midcall.errors import MidcallError
from midcall.stores.memory import Memory
from midcall.testing import ERAS, Era, connect, run
from tests.kinds import server_with
from tests.rounds import accept, raw_call, text


class Trip(BaseModel):
    """An ordinary model of an existing server."""

    city: str = Field(description="Where to", min_length=2)
    days: int = Field(default=3, ge=1, le=30)
    seat: Literal["window", "aisle"] = "window"
    price: float | None = None


# --- ctx.elicit on MCPServer -----------------------------------------------------------------


async def existing(ctx: Context) -> str:
    answer = await ctx.elicit("Where to?", Trip)
    if answer.action != "accept":
        return answer.action
    sure = await ctx.elicit(f"{answer.data.city}, sure?", Sure)
    return f"{answer.data!r} {sure.action}"


class Sure(BaseModel):
    sure: bool


@pytest.mark.parametrize("era", ERAS)
async def test_ctx_elicit_works_on_every_version(era: Era) -> None:
    answers = {"Where to?": {"city": "Oslo", "days": 5, "seat": "aisle"}, "Oslo, sure?": True}
    done = await run(server_with(existing), "existing", {}, answers, era=era)
    assert done.text == "Trip(city='Oslo', days=5, seat='aisle', price=None) accept"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("answer", "expected"), [(Declined(), "decline"), (Cancelled(), "cancel")])
async def test_ctx_elicit_returns_a_decline(era: Era, answer: Any, expected: str) -> None:
    assert (await run(server_with(existing), "existing", {}, [answer], era=era)).text == expected


async def test_without_adoption_ctx_elicit_is_what_it_was() -> None:
    server = server_with(existing, adopt=False)
    assert (await run(server, "existing", {}, [Declined()], era="2025-11-25")).text == "decline"
    with pytest.raises(Exception, match="back-channel"):
        await run(server, "existing", {}, [Declined()])


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_ctx_elicit_url_works_on_every_version_that_has_urls(era: Era) -> None:
    async def go(ctx: Context) -> str:
        return (await ctx.elicit_url("Sign in", "https://example.com/x", "my-id")).action

    done = await run(server_with(go), "go", {}, ["go"], era=era)
    assert done.text == "accept"
    assert done.asked[0].id == "my-id"


@pytest.mark.parametrize("era", ERAS)
async def test_a_schema_that_our_forms_refuse_still_leaves_as_the_sdk_would_send_it(era: Era) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"n": {"type": "integer", "exclusiveMinimum": 0}},
        "required": ["n"],
    }

    async def raw(ctx: Context) -> str:
        result = await ctx.session.elicit_form("N?", schema, ctx.request_id)
        return f"{result.action} {result.content}"

    done = await run(server_with(raw), "raw", {}, [4], era=era)
    assert done.text == "accept {'n': 4}"
    assert done.asked[0].schema == schema


# --- rounds of others ------------------------------------------------------------------------


class Name(BaseModel):
    name: str


async def ask_name() -> Elicit[Name]:
    return Elicit("Your name?", Name)


async def resolved(name: Annotated[Name, Resolve(ask_name)], city: str) -> str:
    return f"{name.name} in {city}"


async def resolved_and_asks(name: Annotated[Name, Resolve(ask_name)], city: str) -> str:
    days = await ask(f"How long in {city}, {name.name}?", int)
    more = await ask("Anything else?", str)
    return f"{name.name} in {city}, {days} days, {more}"


@pytest.mark.parametrize("era", ERAS)
async def test_resolve_parameters_keep_working(era: Era) -> None:
    done = await run(server_with(resolved), "resolved", {"city": "Oslo"}, ["Ada"], era=era)
    assert done.text == "Ada in Oslo"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("one_by_one", [False, True])
async def test_resolve_parameters_and_ask_work_in_one_call(era: Era, one_by_one: bool) -> None:
    answers = {"Your name?": "Ada", "How long in Oslo, Ada?": 3, "Anything else?": "no"}
    done = await run(
        server_with(resolved_and_asks), "resolved_and_asks", {"city": "Oslo"}, answers, era=era, one_by_one=one_by_one
    )
    assert done.text == "Ada in Oslo, 3 days, no"
    assert [asked.message for asked in done.asked] == list(answers)


def round_of(key: str, message: str, state: str) -> InputRequiredResult:
    schema = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
    request = ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))
    return InputRequiredResult(input_requests={key: request}, request_state=state)


def content(ctx: Context, key: str) -> str | None:
    response = (ctx.input_responses or {}).get(key)
    return str((response.content or {})["x"]) if isinstance(response, ElicitResult) else None


async def by_hand(ctx: Context) -> str | InputRequiredResult:
    if ctx.request_state is None:
        return round_of("one", "First?", "state 1")
    if ctx.request_state == "state 1":
        return round_of("two", "Second?", f"state 2 {content(ctx, 'one')}")
    return f"{ctx.request_state} {content(ctx, 'two')}"


async def by_hand_then_asks(ctx: Context) -> str | InputRequiredResult:
    if (first := content(ctx, "one")) is None:
        return round_of("one", "First?", "state 1")
    second = await ask("Second?", str)
    third = await ask("Third?", str)
    return f"{first} {second} {third} {ctx.request_state}"


async def asks_then_by_hand(ctx: Context) -> str | InputRequiredResult:
    first = await ask("First?", str)
    if (second := content(ctx, "two")) is None:
        return round_of("two", "Second?", "state 2")
    third = await ask("Third?", str)
    return f"{first} {second} {third} {ctx.request_state}"


ABC = {"First?": "1", "Second?": "2", "Third?": "3"}


@pytest.mark.parametrize("one_by_one", [False, True])
@pytest.mark.parametrize(
    ("tool", "expected"),
    [(by_hand, "state 2 1 2"), (by_hand_then_asks, "1 2 3 state 1"), (asks_then_by_hand, "1 2 3 state 2")],
)
async def test_hand_written_rounds_keep_working_even_beside_ask(
    tool: Callable[..., Any], expected: str, one_by_one: bool
) -> None:
    done = await run(server_with(tool), tool.__name__, {}, ABC, one_by_one=one_by_one)
    assert not done.failed, done.text
    assert done.text == expected


async def three_by_hand_between_questions(ctx: Context, asks: int) -> str | InputRequiredResult:
    await ask("First?", str)
    done = int(ctx.request_state or 0)
    if done < 3 or content(ctx, "k2") is None:
        return round_of(f"k{done}", f"By hand {done}?", str(min(done + 1, 3)))
    return " ".join([await ask(f"Question {n}?", str) for n in range(asks)])


@pytest.mark.parametrize(("asks", "fits"), [(5, True), (6, False)])
async def test_rounds_written_by_hand_count_too_after_the_first_question(asks: int, fits: bool, either: str) -> None:
    server = server_with(three_by_hand_between_questions)
    async with connect(server, lambda asked: "x", max_rounds=DEFAULT_INPUT_REQUIRED_MAX_ROUNDS) as client:
        result = await client.call_tool("three_by_hand_between_questions", {"asks": asks})
    assert bool(result.is_error) is not fits


async def test_a_tool_that_only_writes_rounds_by_hand_may_have_as_many_as_its_client_takes() -> None:
    async def many(ctx: Context) -> str | InputRequiredResult:
        done = int(ctx.request_state or 0)
        return round_of(f"k{done}", "More?", str(done + 1)) if done < 15 else "done"

    assert (await run(server_with(many), "many", {}, lambda asked: "x")).text == "done"


@pytest.mark.parametrize("size", [10, 40_000, 70_000])
async def test_a_state_that_is_not_ours_may_be_large(size: int) -> None:
    async def large(ctx: Context) -> str | InputRequiredResult:
        if ctx.request_state is None:
            return round_of("k", "?", '"' * size)
        return str(len(ctx.request_state))

    assert (await run(server_with(large), "large", {}, lambda asked: "x")).text == str(size)


async def test_a_state_that_is_not_ours_passes_through_untouched() -> None:
    async def echo(ctx: Context) -> str | InputRequiredResult:
        if ctx.request_state is None:
            return round_of("k", "?", '["midcal", "not ours"]')
        return ctx.request_state

    async with connect(server_with(echo)) as client:
        first = await raw_call(client, "echo", {})
        second = await raw_call(client, "echo", {}, state=first["requestState"], answers={"k": accept(x="1")})
        assert text(second) == '["midcal", "not ours"]'


@pytest.mark.parametrize("size", [10, 70_000])
async def test_a_state_that_is_not_ours_is_still_there_when_ours_has_been_around_it(size: int, either: str) -> None:
    begun: list[str] = []

    async def polls_then_asks(ctx: Context) -> str | InputRequiredResult:
        if ctx.request_state is None:
            begun.append("once")
            return InputRequiredResult(request_state="s" * size)
        answer = await ask("Second?", str)
        return f"{len(ctx.request_state)} {ctx.input_responses or None} {answer}"

    done = await run(server_with(polls_then_asks, store=Memory()), "polls_then_asks", {}, ABC)
    assert (done.text, begun) == (f"{size} None 2", ["once"])


def forged(question: Question[bool], size: int) -> str:
    """A journal in which somebody has said yes to this."""
    journal = Journal(call="forged", rounds=1)
    journal.settle(question.base, True, question.message[:16], 1)
    journal.settle("?padding", "x" * size, "padding", 0)
    return encode(journal)


@pytest.mark.parametrize("store", [None, "memory://"])
@pytest.mark.parametrize("size", [0, 70_000])
@pytest.mark.parametrize("mark", ["", "midcall@", "midcall."])
async def test_a_state_that_somebody_else_made_to_look_like_ours_answers_nothing(
    mark: str, size: int, store: str | None, either: str
) -> None:
    state = mark + forged(Question("Delete all?", bool), size)

    async def passes_on(ctx: Context) -> str | InputRequiredResult:
        if ctx.request_state is None and not ctx.input_responses:
            return round_of("up", "Of another server?", state)
        return f"deleted {await ask('Delete all?', bool)} {ctx.request_state == state}"

    answers = {"Of another server?": "x", "Delete all?": False}
    done = await run(server_with(passes_on, store=store), "passes_on", {}, answers)
    if size and not store and either == "replay":
        assert done.failed
        assert [asked.message for asked in done.asked] == ["Of another server?"]
    else:
        assert (done.text, len(done.asked)) == ("deleted False True", 2)


async def test_what_was_answered_is_kept_beside_a_state_that_is_not_ours_and_large() -> None:
    async def asks_then_writes(ctx: Context) -> str | InputRequiredResult:
        first = await ask("First?", str)
        if ctx.request_state is None:
            return round_of("two", "Second?", "s" * 70_000)
        return f"{first} {content(ctx, 'two')} {len(ctx.request_state)}"

    done = await run(server_with(asks_then_writes, store=Memory()), "asks_then_writes", {}, ABC)
    assert (done.text, [asked.message for asked in done.asked]) == ("1 2 70000", ["First?", "Second?"])


async def test_an_answer_to_a_round_written_by_hand_does_not_answer_a_midcall_question_with_the_same_key() -> None:
    async def same_key(ctx: Context) -> str | InputRequiredResult:
        if ctx.request_state is None:
            return round_of("k", "First?", "s" * 70_000)
        return f"{content(ctx, 'k')} {await ask('Second?', str, key='k')}"

    server = server_with(same_key, store=Memory(), answers_ahead=True)
    done = await run(server, "same_key", {}, ABC)
    assert (done.text, [asked.message for asked in done.asked]) == ("1 2", ["First?", "Second?"])


async def test_answers_that_a_handler_takes_unasked_are_still_there_when_ours_have_come() -> None:
    async def takes_and_asks(ctx: Context) -> str:
        answer = await ask("Second?", str, key="ours")
        return f"{content(ctx, 'its')} {answer}"

    async with connect(server_with(takes_and_asks)) as client:
        first = await raw_call(client, "takes_and_asks", {}, answers={"its": accept(x="1")})
        state = first["requestState"]
        done = await raw_call(client, "takes_and_asks", {}, state=state, answers={"ours": accept(answer="2")})
        assert text(done) == "1 2"


# --- FastMCP ---------------------------------------------------------------------------------


class FastTrip(BaseModel):
    city: str
    days: int = 3


async def fast_existing(ctx: fastmcp.Context) -> str:
    name = await ctx.elicit("Name?", response_type=str)
    if name.action != "accept":
        return name.action
    trip = await ctx.elicit("Trip?", response_type=FastTrip)
    seat = await ctx.elicit("Seat?", response_type=["window", "aisle"])
    level = await ctx.elicit("Level?", response_type={"low": {"title": "Low"}, "high": {"title": "High"}})
    assert trip.action == seat.action == level.action == "accept"
    return f"{name.data} {trip.data.city} {seat.data} {level.data}"


FAST = {"Name?": "Ada", "Trip?": {"city": "Oslo", "days": 2}, "Seat?": "aisle", "Level?": "high"}


def fast(*tools: Callable[..., Any], **options: Any) -> FastMCP[Any]:
    return server_with(*tools, kind="fastmcp", **options)


@pytest.mark.parametrize("era", ERAS)
async def test_fastmcps_ctx_elicit_works_on_every_version(era: Era) -> None:
    done = await run(fast(fast_existing), "fast_existing", {}, FAST, era=era)
    assert done.text == "Ada Oslo aisle high"


@pytest.mark.parametrize("era", ERAS)
async def test_fastmcps_ctx_elicit_returns_a_decline(era: Era) -> None:
    assert (await run(fast(fast_existing), "fast_existing", {}, [Declined()], era=era)).text == "decline"


async def fast_many(ctx: fastmcp.Context) -> str:
    plain = await ctx.elicit("Tags?", response_type=[["x", "y", "z"]])
    titled = await ctx.elicit("Levels?", response_type=[{"low": {"title": "Low"}, "high": {"title": "High"}}])
    assert plain.action == titled.action == "accept"
    return f"{plain.data} {titled.data}"


@pytest.mark.parametrize("era", ERAS)
async def test_fastmcps_lists_of_choices_reach_our_own_client_on_every_version(era: Era) -> None:
    script = Answering({"Tags?": ["x", "z"], "Levels?": ["high"]})
    async with connect_as_client(fast(fast_many), script, era=era) as client:
        result = await client.call_tool("fast_many", {})
    assert (result.is_error, result.content[0].text) == (False, "['x', 'z'] ['high']")


async def test_a_fastmcp_server_without_midcall_is_left_alone() -> None:
    fast(fast_existing)
    plain: FastMCP[Any] = FastMCP("plain")
    plain.tool(fast_existing)
    done = await run(plain, "fast_existing", {}, FAST)
    assert done.failed
    assert "unavailable on 2026-07-28" in done.text


def current_user() -> str:
    return "ada"


async def asked_user() -> str:
    return await ask("Who are you?", str)


@pytest.mark.parametrize("era", ERAS)
async def test_fastmcp_dependencies_work_and_may_ask(era: Era) -> None:
    async def tool(user: str = Depends(current_user), who: str = Depends(asked_user)) -> str:
        return f"{user} {who} {await ask('Days?', int)}"

    done = await run(fast(tool), "tool", {}, {"Who are you?": "Eve", "Days?": 2}, era=era)
    assert done.text == "ada Eve 2"


@pytest.mark.parametrize("era", ERAS)
async def test_tools_of_a_mounted_server_ask_through_the_one_that_has_midcall(era: Era) -> None:
    async def inner(ctx: fastmcp.Context) -> str:
        name = await ctx.elicit("Name?", response_type=str)
        assert name.action == "accept"
        return f"{name.data} {await ask('Days?', int)}"

    child: FastMCP[Any] = FastMCP("child")
    child.tool(inner)
    parent = fast()
    parent.mount(child, namespace="sub")
    done = await run(parent, "sub_inner", {}, {"Name?": "Ada", "Days?": 2}, era=era)
    assert not done.failed, done.text
    assert done.text == "Ada 2"


async def name_of_user() -> str:
    return await ask("Name?", str)


async def seen_user() -> str:
    return str(can_ask())


def threaded_user() -> str:
    return from_thread.ask("Name?", str)


def unaware_user() -> str:
    return str(ask("Name?", str))


@pytest.mark.parametrize("installed", ["on the mounted server", "nowhere"])
@pytest.mark.parametrize("tool", [name_of_user, seen_user, threaded_user, unaware_user])
@pytest.mark.parametrize("era", ERAS)
async def test_if_the_outer_server_lacks_midcall_the_log_says_so_once_and_the_model_gets_a_server_error(
    era: Era, tool: Callable[..., Any], installed: str, caplog: pytest.LogCaptureFixture
) -> None:
    child: FastMCP[Any] = FastMCP("child")
    child.tool(tool, name="tool")
    if installed != "nowhere":
        midcall.install(child)
    parent: FastMCP[Any] = FastMCP("parent")
    parent.mount(child, namespace="sub")
    with caplog.at_level(logging.WARNING), _heard("fastmcp", caplog.handler):
        done = await run(parent, "sub_tool", {}, {"Name?": "Ada"}, era=era)
    assert done.failed
    assert done.text == MidcallError.for_model
    lines = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    [line] = [each for each in lines if "mounted in a server" not in each]
    assert "outside an MCP call" in line
    assert "clients connect to" in line


@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize("era", ERAS)
async def test_if_only_the_mounted_server_has_midcall_the_log_says_why_ctx_elicit_is_not_adopted(
    era: Era, installed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def tool(ctx: fastmcp.Context) -> str:
        return (await ctx.elicit("Name?", response_type=str)).action

    midcall.install(FastMCP("another in this process"))
    child: FastMCP[Any] = FastMCP("child")
    child.tool(tool)
    if installed:
        midcall.install(child)
    parent: FastMCP[Any] = FastMCP("parent")
    parent.mount(child, namespace="sub")
    async with connect(parent, {"Name?": "Ada"}, era=era) as client:
        results = [text(await client.call_tool("sub_tool", {})) for _ in range(2)]
    refused = era == "2026-07-28"
    assert [result == "accept" for result in results] == [not refused] * 2
    told = [record.getMessage() for record in caplog.records if record.name == "midcall"]
    assert ["A call came to child, which is mounted in a server without midcall" in line for line in told] == (
        [True] if refused and installed else []
    )


@pytest.mark.parametrize("era", ERAS)
async def test_prompts_and_resources_of_a_server_that_lacks_midcall_say_it_so_too(
    era: Era, caplog: pytest.LogCaptureFixture
) -> None:
    server: FastMCP[Any] = FastMCP("plain")
    server.prompt(name_of_user, name="prompt")
    server.resource("user://{id}")(name_of_user_with)
    async with connect(server, {"Name?": "Ada"}, era=era) as client:
        with caplog.at_level(logging.WARNING), _heard("fastmcp", caplog.handler):
            for asks in (client.get_prompt("prompt", {}), client.read_resource("user://1")):
                with pytest.raises(MCPError) as caught:
                    await asks
                assert caught.value.message == MidcallError.for_model
    loud = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(loud) == 2
    assert all("outside an MCP call" in line for line in loud)


async def name_of_user_with(id: str) -> str:
    return await name_of_user()


@contextmanager
def _heard(name: str, handler: logging.Handler) -> Iterator[None]:
    """FastMCP hands nothing on to the root logger."""
    logger = logging.getLogger(name)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


@pytest.mark.parametrize("era", ERAS)
async def test_a_proxied_server_asks_through_a_proxy_that_has_midcall(era: Era) -> None:
    async def inner() -> str:
        return f"{await ask('Name?', str)} {await ask('Days?', int)}"

    backend = fast(inner, name="backend")
    proxy = fastmcp.server.create_proxy(backend, name="proxy")
    midcall.install(proxy)
    done = await run(proxy, "inner", {}, {"Name?": "Ada", "Days?": 2}, era=era)
    assert not done.failed, done.text
    assert done.text == "Ada 2"


@pytest.mark.parametrize("era", ERAS)
async def test_fastmcp_prompts_and_resources_ask_too(era: Era) -> None:
    server = fast()

    @server.prompt
    async def plan() -> str:
        return f"Plan {await ask('Days?', int)} days"

    @server.resource("city://{name}")
    async def city(name: str) -> str:
        return f"{name} in {await ask('Season?', str)}"

    async with connect(server, {"Days?": 3, "Season?": "May"}, era=era) as client:
        assert "Plan 3 days" in str((await client.get_prompt("plan")).messages[0].content)
        assert getattr((await client.read_resource("city://oslo")).contents[0], "text", "") == "oslo in May"


@pytest.mark.parametrize("outcome", [Declined(), Cancelled(), None], ids=["declined", "cancelled", "cannot be asked"])
@pytest.mark.parametrize("mounted", [False, True])
@pytest.mark.parametrize("era", ERAS)
async def test_a_decline_in_a_fastmcp_prompt_or_resource_is_logged_without_a_traceback(
    era: Era, mounted: bool, outcome: Any, caplog: pytest.LogCaptureFixture
) -> None:
    server, prefix = _asking_fastmcp(mounted)
    modes = () if outcome is None else None
    async with connect(server, lambda _: outcome, era=era, modes=modes) as client:
        with caplog.at_level(logging.DEBUG), _heard("fastmcp", caplog.handler):
            for asks in (
                client.get_prompt(f"{prefix}plan", {}),
                client.read_resource(f"city://{prefix.replace('_', '/')}oslo"),
                client.read_resource(f"town://{prefix.replace('_', '/')}here"),
            ):
                with pytest.raises(MCPError):
                    await asks
    assert "call ended" in caplog.text
    assert not [record.getMessage() for record in caplog.records if record.exc_info]


@pytest.mark.parametrize("mounted", [False, True])
@pytest.mark.parametrize("era", ERAS)
async def test_an_error_of_the_author_in_a_fastmcp_prompt_or_resource_keeps_its_traceback(
    era: Era, mounted: bool, caplog: pytest.LogCaptureFixture
) -> None:
    server, prefix = _asking_fastmcp(mounted)
    async with connect(server, {"Days?": 0, "Season?": "never"}, era=era) as client:
        with caplog.at_level(logging.DEBUG), _heard("fastmcp", caplog.handler):
            for fails in (
                client.get_prompt(f"{prefix}plan", {}),
                client.read_resource(f"city://{prefix.replace('_', '/')}oslo"),
            ):
                caplog.clear()
                with pytest.raises(MCPError):
                    await fails
                assert [record for record in caplog.records if record.exc_info]


def _asking_fastmcp(mounted: bool) -> tuple[FastMCP[Any], str]:
    """One whose prompt and resources ask, and what comes before their names."""
    asking: FastMCP[Any] = FastMCP("asking")

    @asking.prompt
    async def plan() -> str:
        return f"Plan {1 / await ask('Days?', int)}"

    @asking.resource("city://{name}")
    async def city(name: str) -> str:
        return {"May": f"{name} in May"}[await ask("Season?", str)]

    @asking.resource("town://here")
    async def town() -> str:
        return await ask("Season?", str)

    server: FastMCP[Any] = FastMCP("outer") if mounted else asking
    if mounted:
        server.mount(asking, namespace="sub")
    midcall.install(server)
    return server, "sub_" if mounted else ""


async def test_fastmcps_own_client_answers_us() -> None:
    async def tool() -> str:
        return f"{await ask('Name?', str)} {await ask('Days?', int)}"

    async def handler(message: str, response_type: Any, params: Any, context: Any) -> Any:
        return (
            {"Name?": "Ada", "Days?": 2}[message]
            if response_type is None
            else response_type(**{"Name?": {"answer": "Ada"}, "Days?": {"answer": 2}}[message])
        )

    for mode in ("legacy", "auto"):
        async with fastmcp.Client(fast(tool), elicitation_handler=handler, mode=mode) as client:
            result = await client.call_tool("tool")
            assert str(result.data) == "Ada 2"
