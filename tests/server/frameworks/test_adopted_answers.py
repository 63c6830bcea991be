"""What an existing tool gets for an answer, or for none, is what it gets without midcall."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import anyio
import fastmcp
import pytest
from mcp import MCPError
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp.shared.message import SessionMessage
from mcp_types import (
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
    ErrorData,
    jsonrpc_message_adapter,
)
from pydantic import BaseModel, Field

import midcall
from midcall import ClientFailed, NoChannel, ask
from midcall.client.transport.target import ConnectOptions, reach
from midcall.testing import ERAS, Era, connect
from tests.comparing import Reply, Seen, accepting, seen
from tests.kinds import KINDS, Kind, bare_server, server_with
from tests.portal.sites import Visitor
from tests.rounds import text
from tests.server.channels.test_required import served
from tests.server.people import WITH_URLS, Person, installed
from tests.server.reaching import posted

PUSHED: tuple[Era, ...] = ("2025-06-18", "2025-11-25")


class Trip(BaseModel):
    city: str = Field(min_length=2)
    days: int = 3


async def by_model(ctx: Context) -> str:
    return repr(await ctx.elicit("Where to?", Trip))


async def catches(ctx: Context) -> str:
    try:
        return repr(await ctx.elicit("Where to?", Trip))
    except Exception as exc:
        return f"{type(exc).__name__} {exc} {type(exc.__cause__).__name__}"


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string", "minLength": 3}, "b": {"type": "integer"}},
    "required": ["a"],
}


async def by_schema(ctx: Context) -> str:
    return repr(await ctx.session.elicit_form("Raw?", SCHEMA, ctx.request_id))


async def fast_scalar(ctx: fastmcp.Context) -> str:
    return repr(await ctx.elicit("How many?", response_type=int))


async def fast_model(ctx: fastmcp.Context) -> str:
    return repr(await ctx.elicit("Where to?", response_type=Trip))


async def ask_trip() -> Elicit[Trip]:
    return Elicit("Where to?", Trip)


async def resolved(trip: Annotated[Trip, Resolve(ask_trip)]) -> str:
    return repr(trip)


async def plainly(tool: Callable[..., Any], reply: Reply | None, kind: Kind = "mcpserver", era: Era = ERAS[1]) -> Seen:
    """The call without midcall, on 2025-11-25 unless told otherwise: the SDK can't ask everything on 2026-07-28."""
    return await seen(bare_server(kind, tool), tool.__name__, reply, era=era)


def without_content(params: Any) -> ElicitResult:
    return ElicitResult(action="accept")


WRONG: dict[str, Reply] = {
    "not fitting": accepting(city="O", days=5),
    "of another type": accepting(city=7, value="x"),
    "nothing filled in": accepting(),
    "no content": without_content,
}


@pytest.mark.parametrize("reply", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("tool", [by_model, catches, by_schema])
@pytest.mark.parametrize("era", ERAS)
async def test_a_wrong_answer_fails_as_it_fails_in_the_sdk(era: Era, tool: Callable[..., Any], reply: Reply) -> None:
    got = await seen(server_with(tool), tool.__name__, reply, era=era)
    assert got == await plainly(tool, reply)
    assert len(got.asked) == 1


@pytest.mark.parametrize("reply", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("tool", [fast_scalar, fast_model])
@pytest.mark.parametrize("era", ERAS)
async def test_a_wrong_answer_fails_as_it_fails_in_fastmcp(era: Era, tool: Callable[..., Any], reply: Reply) -> None:
    got = await seen(server_with(tool, kind="fastmcp"), tool.__name__, reply, era=era)
    assert got == await plainly(tool, reply, "fastmcp")
    assert len(got.asked) == 1


@pytest.mark.parametrize("reply", [*WRONG.values(), None], ids=[*WRONG, "cannot be asked"])
@pytest.mark.parametrize("era", ERAS)
async def test_resolve_parameters_are_left_to_the_sdk(era: Era, reply: Reply | None) -> None:
    got = await seen(server_with(resolved), "resolved", reply, era=era)
    assert got == await plainly(resolved, reply, era=era)
    assert len(got.asked) == (reply is not None)


@pytest.mark.parametrize("content", [{"a": "x", "b": None, "more": [], "c": 1.5}, {"a": "", "b": "7"}])
@pytest.mark.parametrize("era", ERAS)
async def test_a_session_returns_the_answer_as_the_client_sent_it(era: Era, content: dict[str, Any]) -> None:
    got: list[ElicitResult] = []

    async def tool(ctx: Context) -> str:
        got.append(await ctx.session.elicit_form("Raw?", SCHEMA, ctx.request_id))
        return "done"

    def reply(params: Any) -> ElicitResult:
        return ElicitResult.model_validate({"action": "accept", "content": content, "_meta": {"by": "hand"}})

    await seen(server_with(tool), "tool", reply, era=era)
    assert got[-1].content == content
    assert (got[-1].meta or {}).get("by") == "hand"


@pytest.mark.parametrize("answer", [{"action": "reject"}, {}, {"action": "accept", "content": {"city": {}}}], ids=str)
async def test_an_answer_that_the_sdk_refuses_is_refused_for_the_tool_too(answer: dict[str, Any]) -> None:
    adopted = await answered_with(answer, server_with(catches), "catches")
    assert adopted == await answered_with(answer, bare_server("mcpserver", catches), "catches")
    assert "ValidationError" in adopted


async def answered_with(answer: dict[str, Any], server: Any, tool: str) -> str:
    """What the tool says after this, which no client of the SDK's would send."""
    async with reach(server, ConnectOptions()).transport as (read, write):

        async def send(**message: Any) -> None:
            await write.send(SessionMessage(jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", **message})))

        async def receive(has: str) -> Any:
            while True:
                item: Any = await read.receive()
                if hasattr(item.message, has):
                    return item.message

        me = {"name": "by hand", "version": "1"}
        hello: dict[str, Any] = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": me}
        await send(id=1, method="initialize", params=hello)
        await receive(has="result")
        await send(method="notifications/initialized")
        await send(id=2, method="tools/call", params={"name": tool, "arguments": {}})
        await send(id=(await receive(has="method")).id, result=answer)
        return text((await receive(has="result")).result)


async def test_a_field_that_is_required_and_has_a_default_takes_it_if_it_is_left_out() -> None:
    class Stay(BaseModel):
        name: str
        nights: int = Field(json_schema_extra={"default": 3})
        breakfast: bool = False

    async def tool(ctx: Context) -> str:
        return repr(await ctx.elicit("Stay?", Stay))

    for era in ERAS:
        got = await seen(server_with(tool), "tool", accepting(name="Bo"), era=era)
        assert got.text == "AcceptedElicitation(action='accept', data=Stay(name='Bo', nights=3, breakfast=False))"


@pytest.mark.parametrize("era", ERAS)
async def test_nothing_else_is_filled_in(era: Era) -> None:
    properties = {
        "required": {"type": "integer", "default": 3},
        "null": {"type": "integer", "default": 3},
        "optional": {"type": "integer", "default": 3},
    }
    schema = {"type": "object", "properties": properties, "required": ["required", "null"]}

    async def tool(ctx: Context) -> str:
        return str((await ctx.session.elicit_form("Raw?", schema, ctx.request_id)).content)

    got = await seen(server_with(tool), "tool", accepting(null=None), era=era)
    assert got.text == "{'null': None, 'required': 3}"


@pytest.mark.parametrize("era", WITH_URLS)
async def test_a_page_used_instead_of_the_client_answers_as_a_client_does(era: Era) -> None:
    pages = iter([{"city": "Oslo", "days": 4}, {"a": "abc", "b": 2}])

    async def act(visitor: Visitor, id: str) -> None:
        page = (await visitor.open(id)).text
        await visitor.press(id, "accept", posted(page, next(pages)))

    async with (
        installed(by_model, by_schema) as (server, _),
        connect(server, Person(act), era=era, modes=["url"]) as client,
    ):
        assert "data=Trip(city='Oslo', days=4)" in text(await client.call_tool("by_model"))
        assert "content={'a': 'abc', 'b': 2}" in text(await client.call_tool("by_schema"))


# --- nobody to ask ---------------------------------------------------------------------------


async def reports(ctx: Context) -> str:
    try:
        return repr(await ctx.elicit("Where to?", Trip))
    except MCPError as exc:
        return f"{type(exc).__mro__} {exc.code} {exc} {exc.message} {exc.data}"


async def reports_url(ctx: Context) -> str:
    try:
        return repr(await ctx.elicit_url("Sign in", "https://example.com/in", "1"))
    except MCPError as exc:
        return f"{type(exc).__mro__} {exc.code} {exc} {exc.message} {exc.data}"


@pytest.mark.parametrize("tool", [reports, reports_url, by_model])
@pytest.mark.parametrize("era", ERAS)
async def test_for_a_client_that_cannot_be_asked_the_error_is_that_of_the_sdk(
    era: Era, tool: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    server = server_with(tool)
    got = [await seen(server, tool.__name__, None, era=era) for _ in range(2)]
    assert got == [await plainly(tool, None)] * 2
    assert "Elicitation not supported" in got[0].text
    [advice] = [record.getMessage() for record in caplog.records if record.name == "midcall"]
    assert "the client did not declare elicitation" in advice or "protocol 2025-06-18 has no url" in advice
    assert "Portal()" in advice


async def test_in_fastmcp_too() -> None:
    for era in ERAS:
        got = await seen(server_with(fast_scalar, kind="fastmcp"), "fast_scalar", None, era=era)
        assert got == await plainly(fast_scalar, None, "fastmcp")


@pytest.mark.parametrize("tool", [reports, reports_url])
async def test_for_a_connection_without_a_back_channel_the_error_is_that_of_the_sdk(tool: Callable[..., Any]) -> None:
    results: list[str] = []
    for server in (bare_server("mcpserver", tool), server_with(tool, keys=["k key of the tests: 0123456789abcdef"])):
        async with served(server) as url, connect(url, era="2025-11-25") as client:
            results.append(text(await client.call_tool(tool.__name__)))
    assert results[0] == results[1]
    assert "NoBackChannelError" in results[0]


@pytest.mark.parametrize("era", ERAS)
async def test_what_a_verb_says_of_it_is_short_and_has_no_advice(era: Era) -> None:
    found: list[NoChannel] = []

    async def tool() -> str:
        try:
            return await ask("Where to?", str)
        except NoChannel as exc:
            found.append(exc)
            return str(exc)

    got = await seen(server_with(tool), "tool", None, era=era)
    assert got.text == "The user cannot be asked: the client did not declare elicitation."
    assert "Portal()" in found[-1].advice
    assert found[-1].reasons["default"] == "the question has no default"


@pytest.mark.parametrize("era", PUSHED)
async def test_a_request_that_takes_too_long_fails_as_it_fails_in_the_sdk(era: Era) -> None:
    async def hurries(ctx: Context) -> str:
        request = ElicitRequest(params=ElicitRequestFormParams(message="Now?", requested_schema=SCHEMA))
        try:
            await ctx.session.send_request(request, ElicitResult, request_read_timeout_seconds=0.01)
        except MCPError as exc:
            return f"{type(exc).__name__} {exc.code} {exc}"
        return "answered"

    async def never(params: Any) -> ElicitResult:
        await anyio.sleep_forever()
        raise AssertionError

    with anyio.fail_after(20):
        got = await seen(server_with(hurries), "hurries", never, era=era)
        assert got == await plainly(hurries, never, era=era)
    assert got.text.startswith("MCPError -32001 ")


# --- a client's own error --------------------------------------------------------------------

QUOTA = ErrorData(code=-32001, message="Quota of forms used up", data={"resets": "tomorrow"})


def quota(params: Any) -> ErrorData:
    return QUOTA


@pytest.mark.parametrize("tool", [by_model, reports, reports_url, catches])
@pytest.mark.parametrize("era", PUSHED)
async def test_a_clients_own_error_reaches_the_tool_and_the_caller(era: Era, tool: Callable[..., Any]) -> None:
    era = "2025-11-25" if tool is reports_url else era
    got = await seen(server_with(tool), tool.__name__, quota, era=era)
    assert got == await plainly(tool, quota, era=era)
    assert QUOTA.message in got.text


@pytest.mark.parametrize("kind", KINDS)
async def test_a_verb_raises_client_failed_with_the_clients_code_message_and_data(kind: Kind) -> None:
    found: list[ClientFailed] = []

    async def tool() -> str:
        try:
            return await ask("Where to?", str)
        except ClientFailed as exc:
            found.append(exc)
            raise

    got = await seen(server_with(tool, kind=kind), "tool", quota)
    [failed] = found
    assert (failed.code, failed.message, failed.data) == (QUOTA.code, QUOTA.message, QUOTA.data)
    assert got.failed
    assert QUOTA.message in got.text


async def test_a_prompt_passes_the_clients_error_on_to_its_caller() -> None:
    server: MCPServer[Any] = MCPServer("test")
    midcall.install(server)

    @server.prompt()
    async def plan() -> str:
        return await ask("Where to?", str)

    from mcp import Client

    async def answer(context: Any, params: Any) -> ErrorData:
        return QUOTA

    async with Client(server, mode="legacy", elicitation_callback=answer) as client:
        with pytest.raises(MCPError) as caught:
            await client.get_prompt("plan")
    assert caught.value.error == QUOTA


# --- -32042 ----------------------------------------------------------------------------------


async def requires() -> str:
    visit = ElicitRequestURLParams(message="Connect", url="https://example.com/c", elicitation_id="id-1")
    raise UrlElicitationRequiredError([visit], "Connect first")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_without_any_way_to_send_the_user_the_required_visit_reaches_the_caller_unchanged(
    kind: Kind, era: Era
) -> None:
    got = await seen(server_with(requires, kind=kind), "requires", None, era=era)
    assert got == await plainly(requires, None, kind, era)
