"""Sampling and roots requests work like questions: part of the round on 2026-07-28, even mixed with `ctx.elicit`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.client.session import ClientRequestContext
from mcp.server.mcpserver import Context
from mcp_types import (
    REQUEST_TIMEOUT,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ListRootsRequest,
    ListRootsResult,
    Root,
    SamplingMessage,
    TextContent,
)
from pydantic import FileUrl

from midcall.testing import Era, connect
from tests.calling import Word, begin
from tests.kinds import server_with
from tests.rounds import text

pytestmark = [
    pytest.mark.filterwarnings("ignore:The sampling capability is deprecated"),
    pytest.mark.filterwarnings("ignore:The roots capability is deprecated"),
]

BOTH: list[Era] = ["2025-11-25", "2026-07-28"]
RUNS: list[str] = []


@pytest.fixture(autouse=True)
def fresh() -> None:
    RUNS.clear()


class Model:
    """The client's side: samples, and has roots."""

    def __init__(self) -> None:
        self.sampled: list[str] = []
        self.listed = 0

    async def sample(self, context: ClientRequestContext, params: CreateMessageRequestParams) -> CreateMessageResult:
        [message] = params.messages
        assert isinstance(message.content, TextContent)
        self.sampled.append(message.content.text)
        answer = TextContent(text=message.content.text.upper())
        return CreateMessageResult(role="assistant", content=answer, model="test")

    async def roots(self, context: ClientRequestContext) -> ListRootsResult:
        self.listed += 1
        return ListRootsResult(roots=[Root(uri=FileUrl("file:///home/ada"), name="home")])


@asynccontextmanager
async def client_of(server: Any, model: Model, era: Era = "2026-07-28", answers: Any = ()) -> AsyncIterator[Client]:
    options: dict[str, Any] = {"sampling_callback": model.sample, "list_roots_callback": model.roots}
    async with asyncio.timeout(20), connect(server, answers, era=era, **options) as client:
        yield client


async def sampled(ctx: Context, prompt: str) -> str:
    messages = [SamplingMessage(role="user", content=TextContent(text=prompt))]
    result = await ctx.session.create_message(messages, max_tokens=9)  # pyright: ignore[reportDeprecated]
    assert isinstance(result.content, TextContent)
    return result.content.text


async def rooted(ctx: Context) -> str:
    return ",".join(str(root.name) for root in (await ctx.session.list_roots()).roots)  # pyright: ignore[reportDeprecated]


async def elicited(ctx: Context, message: str) -> str:
    answer: Any = await ctx.elicit(message, Word)
    return answer.data.word


async def samples(ctx: Context) -> str:
    RUNS.append("run")
    return f"{await sampled(ctx, 'one')} {await sampled(ctx, 'two')}"


async def lists_roots(ctx: Context) -> str:
    RUNS.append("run")
    return await rooted(ctx)


async def mixes(ctx: Context) -> str:
    RUNS.append("run")
    first = await elicited(ctx, "a?")
    return f"{first} {await sampled(ctx, first)} {await rooted(ctx)} {await elicited(ctx, 'b?')}"


async def mixes_at_once(ctx: Context) -> str:
    RUNS.append("run")
    return " ".join(await asyncio.gather(elicited(ctx, "a?"), sampled(ctx, "hello"), rooted(ctx)))


ANSWERS = {"a?": "yes", "b?": "no"}
TOOLS: list[tuple[Any, str]] = [
    (samples, "ONE TWO"),
    (lists_roots, "home"),
    (mixes, "yes YES home no"),
    (mixes_at_once, "yes HELLO home"),
]


@pytest.mark.parametrize("era", BOTH)
@pytest.mark.parametrize(("tool", "expected"), TOOLS, ids=lambda value: getattr(value, "__name__", ""))
async def test_a_tool_that_samples_and_lists_roots_works_with_the_one_line(tool: Any, expected: str, era: Era) -> None:
    async with client_of(server_with(tool), Model(), era, ANSWERS) as client:
        result = await client.call_tool(tool.__name__, {})
    assert (text(result), bool(result.is_error)) == (expected, False)
    assert RUNS == ["run"]


@pytest.mark.parametrize(("tool", "expected"), TOOLS, ids=lambda value: getattr(value, "__name__", ""))
async def test_in_a_replay_their_results_come_from_the_journal(tool: Any, expected: str) -> None:
    model = Model()
    async with client_of(server_with(tool, live=False), model, answers=ANSWERS) as client:
        result = await client.call_tool(tool.__name__, {})
    assert text(result) == expected
    assert len(RUNS) > 1
    assert len(model.sampled) == len(set(model.sampled))
    assert model.listed <= 1


async def test_what_is_asked_at_once_leaves_in_one_round() -> None:
    async with client_of(server_with(mixes_at_once), Model()) as client:
        first = await begin(client, "mixes_at_once")
    kinds = {type(request) for request in first.requests.values()}
    assert kinds == {ElicitRequest, CreateMessageRequest, ListRootsRequest}


async def test_the_settings_of_a_sampling_request_reach_the_client() -> None:
    seen: list[CreateMessageRequestParams] = []

    class Noting(Model):
        async def sample(
            self, context: ClientRequestContext, params: CreateMessageRequestParams
        ) -> CreateMessageResult:
            seen.append(params)
            return await super().sample(context, params)

    async def tool(ctx: Context) -> str:
        messages = [SamplingMessage(role="user", content=TextContent(text="hello"))]
        await ctx.session.create_message(  # pyright: ignore[reportDeprecated]
            messages, max_tokens=77, system_prompt="Be brief.", temperature=0.5, stop_sequences=["."]
        )
        return "done"

    async with client_of(server_with(tool), Noting()) as client:
        assert text(await client.call_tool("tool", {})) == "done"
    [params] = seen
    assert (params.max_tokens, params.system_prompt, params.temperature) == (77, "Be brief.", 0.5)
    assert params.stop_sequences == ["."]


@pytest.mark.parametrize("tool", [samples, lists_roots], ids=lambda tool: tool.__name__)
async def test_a_client_that_can_neither_sample_nor_list_roots_says_the_same_on_both_versions(tool: Any) -> None:
    said: list[tuple[int, str]] = []
    for era in BOTH:
        async with asyncio.timeout(20), connect(server_with(tool), era=era) as client:
            with pytest.raises(MCPError, match="not supported") as refused:
                await client.call_tool(tool.__name__, {})
        said.append((refused.value.error.code, refused.value.error.message))
    assert said[0] == said[1]


@pytest.mark.parametrize("era", BOTH)
async def test_a_reply_that_takes_too_long_fails_as_in_the_sdk(era: Era) -> None:
    gave_up = asyncio.Event()

    class Slow(Model):
        async def sample(self, context: ClientRequestContext, params: CreateMessageRequestParams) -> Any:
            await gave_up.wait()
            return await super().sample(context, params)

    async def impatient(ctx: Context) -> str:
        message = SamplingMessage(role="user", content=TextContent(text="one"))
        request = CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=9))
        try:
            await ctx.session.send_request(request, CreateMessageResult, request_read_timeout_seconds=0.05)
        except MCPError as exc:
            return f"{exc.code} {exc.message}"
        finally:
            gave_up.set()
        return "answered"

    async with client_of(server_with(impatient), Slow(), era) as client:
        done = await client.call_tool("impatient", {})
    assert text(done) == f"{REQUEST_TIMEOUT} Request 'sampling/createMessage' timed out"
