"""What the official MCP conformance suite asks of a server that elicits.

    python examples/conformance_server.py --port 3000      # serves http://127.0.0.1:3000/mcp

Each tool or prompt is named, worded and keyed as the suite's scenario wants it.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
    TextContent,
)

mcp = MCPServer("midcall-conformance")

Properties = dict[str, dict[str, Any]]


# --- 2025-11-25: the server pushes elicitation/create and waits ---------------------------------


async def push(ctx: Context, message: str, properties: Properties, required: list[str]) -> str:
    result = await ctx.session.elicit_form(message, schema(properties, required), ctx.request_context.request_id)
    return f"action={result.action}, content={json.dumps(result.content)}"


@mcp.tool()
async def test_elicitation(message: str, ctx: Context) -> str:
    """Scenario tools-call-elicitation."""
    answer = await push(
        ctx,
        message,
        {
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"},
        },
        required=["username", "email"],
    )
    return f"User response: {answer}"


@mcp.tool()
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Scenario elicitation-sep1034-defaults: a default on every kind of field."""
    answer = await push(
        ctx,
        "Please check your details",
        {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": True},
        },
        required=[],
    )
    return f"Elicitation completed: {answer}"


@mcp.tool()
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Scenario elicitation-sep1330-enums: the five wire shapes of a choice."""
    options = ["option1", "option2", "option3"]
    titles = {"value1": "First Option", "value2": "Second Option", "value3": "Third Option"}
    titled = [{"const": value, "title": title} for value, title in titles.items()]
    answer = await push(
        ctx,
        "Please choose",
        {
            "untitledSingle": {"type": "string", "enum": options},
            "titledSingle": {"type": "string", "oneOf": titled},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled}},
        },
        required=[],
    )
    return f"Elicitation completed: {answer}"


# --- 2026-07-28: the call returns its questions, and is called again with the answers -----------


@mcp.tool()
async def test_input_required_result_elicitation(ctx: Context) -> str | InputRequiredResult:
    """Scenarios basic-elicitation, missing-input-response, result-type, ignore-extra-params, validate-input."""
    if answer := accepted(ctx, "user_name"):
        return f"Hello, {answer['name']}!"
    return questions(user_name=form("What is your name?", name="string"))


@mcp.tool()
async def test_input_required_result_request_state(ctx: Context) -> str | InputRequiredResult:
    """Scenario request-state: the state comes back as it left."""
    if accepted(ctx, "confirm") and ctx.request_state == "asked to confirm":
        return "state-ok"
    return questions(confirm=form("Please confirm", ok="boolean"), state="asked to confirm")


@mcp.tool()
async def test_input_required_result_tampered_state(ctx: Context) -> str | InputRequiredResult:
    """Scenario tampered-state: the SDK seals the state, and refuses one that it did not seal."""
    if accepted(ctx, "confirm"):
        return "confirmed"
    return questions(confirm=form("Please confirm", ok="boolean"), state="asked to confirm")


@mcp.tool()
async def test_input_required_result_multi_round(ctx: Context) -> str | InputRequiredResult:
    """Scenario multi-round: two questions, one after the other."""
    if color := accepted(ctx, "step2"):
        return f"{ctx.request_state} likes {color['color']}."
    if name := accepted(ctx, "step1"):
        state = str(name["name"])
        return questions(step2=form("Step 2: What is your favorite color?", color="string"), state=state)
    return questions(step1=form("Step 1: What is your name?", name="string"), state="nothing yet")


@mcp.prompt()
async def test_input_required_result_prompt(ctx: Context) -> str | InputRequiredResult:
    """Scenario non-tool-request: a prompt asks, too."""
    if answer := accepted(ctx, "user_context"):
        return f"Use this context: {answer['context']}"
    return questions(user_context=form("What context should the prompt use?", context="string"))


# --- 2026-07-28: what is asked of the client's model and of its roots, not of the user ----------


@mcp.tool()
async def test_input_required_result_sampling(ctx: Context) -> str | InputRequiredResult:
    """Scenario basic-sampling."""
    match responses(ctx).get("capital_question"):
        case CreateMessageResult(content=TextContent(text=text)):
            return text
        case _:
            return questions(capital_question=sample("What is the capital of France?", max_tokens=100))


@mcp.tool()
async def test_input_required_result_list_roots(ctx: Context) -> str | InputRequiredResult:
    """Scenario basic-list-roots."""
    match responses(ctx).get("client_roots"):
        case ListRootsResult(roots=roots):
            return "Roots: " + ", ".join(str(root.uri) for root in roots)
        case _:
            return questions(client_roots=ListRootsRequest())


@mcp.tool()
async def test_input_required_result_multiple_inputs(ctx: Context) -> str | InputRequiredResult:
    """Scenario multiple-input-requests: the user, the model and the roots in one round."""
    answers = responses(ctx)
    match accepted(ctx, "user_name"), answers.get("greeting"), answers.get("client_roots"):
        case {"name": name}, CreateMessageResult(content=TextContent(text=greeting)), ListRootsResult(roots=roots):
            return f"{greeting} {name}, you have {len(roots)} root(s)."
        case _:
            return questions(
                user_name=form("What is your name?", name="string"),
                greeting=sample("Generate a greeting", max_tokens=50),
                client_roots=ListRootsRequest(),
                state="asked for all three",
            )


@mcp.tool()
async def test_input_required_result_capabilities(ctx: Context) -> str | InputRequiredResult:
    """Scenario capability-check: only what this client says that it can answer."""
    if responses(ctx):
        return "Thank you."
    can = ctx.client_capabilities
    wanted: dict[str, InputRequest] = {}
    if can and can.elicitation:
        wanted["user_name"] = form("What is your name?", name="string")
    if can and can.sampling:
        wanted["greeting"] = sample("Generate a greeting", max_tokens=50)
    return InputRequiredResult(input_requests=wanted) if wanted else "This client can answer nothing."


# --- the wire, in short --------------------------------------------------------------------------


def schema(properties: Properties, required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


def form(message: str, **types: str) -> ElicitRequest:
    properties = {name: {"type": type_} for name, type_ in types.items()}
    requested = schema(properties, required=list(properties))
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=requested))


def sample(text: str, max_tokens: int) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(text=text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=max_tokens))


def questions(state: str | None = None, **requests: InputRequest) -> InputRequiredResult:
    return InputRequiredResult(input_requests=requests, request_state=state)


def responses(ctx: Context) -> dict[str, Any]:
    return dict(ctx.input_responses or {})


def accepted(ctx: Context, key: str) -> dict[str, Any] | None:
    response = responses(ctx).get(key)
    return response.content if isinstance(response, ElicitResult) and response.action == "accept" else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=3000)
    mcp.run("streamable-http", port=parser.parse_args().port)


if __name__ == "__main__":
    main()
