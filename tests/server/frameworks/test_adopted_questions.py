"""What an existing tool asks reaches its client as it would without midcall."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal

import fastmcp
import pytest
from mcp.server.mcpserver import Context
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult
from pydantic import BaseModel, ConfigDict, Field

import midcall
from midcall import ask
from midcall.testing import ERAS, Era
from tests.comparing import Reply, accepting, seen
from tests.kinds import Kind, bare_server, server_with


class Strict(BaseModel):
    """A heading and a sentence below it."""

    model_config = ConfigDict(extra="forbid", title="Your trip")

    city: str = Field(title="Where to", description="A town", min_length=2)
    days: Annotated[int, Field(gt=0, multiple_of=2)] = 4
    mail: str = Field("a@example.com", json_schema_extra={"format": "email"})
    seat: Literal["window", "aisle"] = "window"
    sure: bool = False


RAW: dict[str, Any] = {
    "title": "Raw",
    "$defs": {"unused": {"type": "null"}},
    "description": "By hand",
    "required": ["b", "a"],
    "additionalProperties": False,
    "properties": {
        "b": {"type": "integer", "exclusiveMinimum": 0, "x-ours": {"nothing": None}},
        "a": {"oneOf": [{"const": "x", "title": "X"}], "type": "string", "default": None},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["p", "q"]}, "default": ["p"]},
    },
    "type": "object",
    "$schema": "https://json-schema.org/draft/2020-12/schema",
}


async def by_model(ctx: Context) -> str:
    return (await ctx.elicit("Where to?", Strict)).action


async def by_schema(ctx: Context) -> str:
    return (await ctx.session.elicit_form("Raw?", RAW, ctx.request_id)).action


async def with_meta(ctx: Context) -> str:
    params = ElicitRequestFormParams.model_validate({"message": "Raw?", "requestedSchema": RAW, "_meta": {"k": 1}})
    return (await ctx.session.send_request(ElicitRequest(params=params), ElicitResult)).action


async def without_message(ctx: Context) -> str:
    return (await ctx.session.elicit_form("", RAW, ctx.request_id)).action


def declining(params: Any) -> ElicitResult:
    return ElicitResult(action="decline")


async def as_without(tool: Callable[..., Any], era: Era, kind: Kind = "mcpserver", reply: Reply = declining) -> None:
    """The client sees the same questions, to the order of their keys, as from a plain server that pushes them."""
    plain = await seen(bare_server(kind, tool), tool.__name__, reply)
    adopted = await seen(server_with(tool, kind=kind), tool.__name__, reply, era=era)
    assert (adopted.text, adopted.failed) == (plain.text, plain.failed)
    assert plain.asked
    assert list(map(json.dumps, adopted.asked)) == list(map(json.dumps, plain.asked))


@pytest.mark.parametrize("tool", [by_model, by_schema, with_meta, without_message])
@pytest.mark.parametrize("era", ERAS)
async def test_a_schema_travels_as_it_was_written(era: Era, tool: Callable[..., Any]) -> None:
    await as_without(tool, era)


class Level(Enum):
    LOW = "low"
    HIGH = "high"


@dataclass
class Booking:
    """A booking."""

    city: str
    days: int = 3


TYPES = [bool, int, float, str, Level, Literal["a", "b"], list[Level], list[Literal["a", "b"]], Booking]
SHORTHANDS = [["a", "b"], [["a", "b"]], {"a": {"title": "A"}}, [{"a": {"title": "A"}}]]


@pytest.mark.parametrize("response_type", [*TYPES, *SHORTHANDS], ids=str)
@pytest.mark.parametrize("era", ERAS)
async def test_fastmcps_ctx_elicit_sends_the_schema_that_fastmcp_sends(era: Era, response_type: Any) -> None:
    async def tool(ctx: fastmcp.Context) -> str:
        return (await ctx.elicit("Which?", response_type=response_type)).action

    await as_without(tool, era, "fastmcp")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_fastmcps_client_reads_the_types_that_its_server_was_given(mode: Literal["legacy", "auto"]) -> None:
    async def tool(ctx: fastmcp.Context) -> str:
        trip = await ctx.elicit("Trip?", response_type=Booking)
        sure = await ctx.elicit("Sure?", response_type=bool)
        assert trip.action == "accept"
        assert sure.action == "accept"
        return f"{trip.data.city} {sure.data}"

    async def names(server: Any, mode: Literal["legacy", "auto"]) -> list[str]:
        names: list[str] = []

        async def handler(message: str, response_type: Any, params: Any, context: Any) -> Any:
            names.append(response_type.__name__)
            return {"city": "Oslo"} if message == "Trip?" else {"value": True}

        async with fastmcp.Client(server, elicitation_handler=handler, mode=mode) as client:
            assert (await client.call_tool("tool")).data == "Oslo True"
        return names

    plain = await names(bare_server("fastmcp", tool), "legacy")
    assert plain[0] == "Booking"
    assert await names(server_with(tool, kind="fastmcp"), mode) == plain


@pytest.mark.parametrize("era", ERAS)
async def test_an_empty_message_is_a_mistake_only_in_a_verb(era: Era) -> None:
    async def verb() -> str:
        return await ask("", str)

    refused = await seen(server_with(verb), "verb", accepting(answer="x"), era=era)
    assert (refused.failed, refused.asked) == (True, [])


# --- forms that name a secret ----------------------------------------------------------------


class Login(BaseModel):
    user: str
    password: str = Field(title="Your password")


async def log_in(ctx: Context) -> str:
    answer = await ctx.elicit("Log in", Login)
    return answer.data.password if answer.action == "accept" else answer.action


async def log_in_by_schema(ctx: Context) -> str:
    schema = {"type": "object", "properties": {"api_key": {"type": "string", "contentEncoding": "base64"}}}
    answer = await ctx.session.elicit_form("Key?", schema, ctx.request_id)
    return str((answer.content or {})["api_key"])


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize(
    ("tool", "field", "content"),
    [(log_in, "password", {"user": "ada", "password": "x"}), (log_in_by_schema, "api_key", {"api_key": "x"})],
)
@pytest.mark.parametrize("era", ERAS)
async def test_a_form_that_names_a_secret_still_works_and_is_warned_about_once(
    era: Era, tool: Callable[..., Any], field: str, content: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    server = server_with(tool)
    for _ in range(2):
        assert (await seen(server, tool.__name__, accepting(**content), era=era)).text == "x"
    [line] = told(caplog)
    assert field in line
    assert "secret()" in line
    assert "install(..., not_secret=" in line


@pytest.mark.parametrize("era", ERAS)
async def test_a_strict_server_refuses_a_form_that_names_a_secret(era: Era) -> None:
    refused = await seen(server_with(log_in, strict=True), "log_in", accepting(user="ada", password="x"), era=era)
    assert refused.failed
    assert refused.asked == []


@pytest.mark.parametrize("strict", [False, True])
async def test_a_reason_given_to_install_silences_the_warning(strict: bool, caplog: pytest.LogCaptureFixture) -> None:
    server = server_with(log_in, strict=strict, not_secret="the name of a vault entry")
    assert (await seen(server, "log_in", accepting(user="ada", password="x"))).text == "x"
    assert told(caplog) == []


async def test_doctor_names_the_forms_that_asked_for_a_secret() -> None:
    from midcall.doctor.checks.options import check_secrets
    from midcall.doctor.inspection import Setup

    server = bare_server("mcpserver", log_in)
    installation = midcall.install(server)
    assert await check_secrets(Setup(installation)) == []
    await seen(server, "log_in", accepting(user="ada", password="x"))
    [finding] = await check_secrets(Setup(installation))
    assert finding.state == "doubtful"
    assert "password" in finding.text
    assert "secret()" in finding.advice
    assert "not_secret=" in finding.advice
