"""The server for the official MCP conformance suite: all scenarios with elicitation.

    python examples/conformance_server.py --port 3000      # serves http://127.0.0.1:3000/mcp

The suite fixes the name, the message and the keys of each tool and prompt. Questions for the user go
through midcall; requests to the client's model and roots use the SDK.
"""

from __future__ import annotations

import argparse
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
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
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

import midcall
from midcall import Choice, Choices, Flag, Form, Number, Text, ask, can_ask, elicit

mcp = MCPServer("midcall-conformance")
# One scenario answers a question by its key before it is asked, which midcall refuses by default.
midcall.install(mcp, answers_ahead=True)


# --- questions for the user: pushed on 2025-11-25, in rounds on 2026-07-28 ----------------------


@mcp.tool()
async def test_elicitation(message: str) -> str:
    """Scenario tools-call-elicitation."""
    answer = await elicit(
        message,
        Form(Text("username", description="User's response"), Text("email", description="User's email address")),
    )
    return f"User response: {answer}"


@mcp.tool()
async def test_elicitation_sep1034_defaults() -> str:
    """Scenario elicitation-sep1034-defaults: a default on every kind of field."""
    answer = await elicit(
        "Please check your details",
        Form(
            Text("name", default="John Doe"),
            Number("age", integer=True, default=30),
            Number("score", default=95.5),
            Choice("status", ["active", "inactive", "pending"], default="active"),
            Flag("verified", default=True),
        ),
    )
    return f"Elicitation completed: {answer}"


@mcp.tool()
async def test_elicitation_sep1330_enums() -> str:
    """Scenario elicitation-sep1330-enums: the five wire shapes of a choice."""
    options = ["option1", "option2", "option3"]
    titled = {"value1": "First Option", "value2": "Second Option", "value3": "Third Option"}
    legacy = {"opt1": "Option One", "opt2": "Option Two", "opt3": "Option Three"}
    answer = await elicit(
        "Please choose",
        Form(
            Choice("untitledSingle", options, required=False),
            Choice("titledSingle", titled, required=False),
            Choice("legacyEnum", legacy, legacy=True, required=False),
            Choices("untitledMulti", options, required=False),
            Choices("titledMulti", titled, required=False),
        ),
    )
    return f"Elicitation completed: {answer}"


@mcp.tool()
async def test_input_required_result_elicitation() -> str:
    """Scenarios basic-elicitation, missing-input-response, result-type, ignore-extra-params, validate-input."""
    answer = await ask("What is your name?", Form(Text("name")), key="user_name")
    return f"Hello, {answer['name']}!"


@mcp.tool()
async def test_input_required_result_request_state() -> str:
    """Scenario request-state: the state comes back unchanged."""
    await ask("Please confirm", Form(Flag("ok")), key="confirm")
    return "state-ok"


@mcp.tool()
async def test_input_required_result_tampered_state() -> str:
    """Scenario tampered-state: a state that this server didn't seal is refused."""
    await ask("Please confirm", Form(Flag("ok")), key="confirm")
    return "confirmed"


@mcp.tool()
async def test_input_required_result_multi_round() -> str:
    """Scenario multi-round: two questions, one after the other."""
    name = await ask("Step 1: What is your name?", Form(Text("name")), key="step1")
    color = await ask("Step 2: What is your favorite color?", Form(Text("color")), key="step2")
    return f"{name['name']} likes {color['color']}."


@mcp.prompt()
async def test_input_required_result_prompt() -> str:
    """Scenario non-tool-request: a prompt that asks."""
    answer = await ask("What context should the prompt use?", Form(Text("context")), key="user_context")
    return f"Use this context: {answer['context']}"


# --- 2026-07-28: questions for the client's model and roots, not for the user -------------------


@mcp.tool()
async def test_input_required_result_sampling(ctx: Context) -> str | InputRequiredResult:
    """Scenario basic-sampling."""
    match responses(ctx).get("capital_question"):
        case CreateMessageResult(content=TextContent(text=text)):
            return text
        case _:
            return questions(ctx, capital_question=sample("What is the capital of France?", max_tokens=100))


@mcp.tool()
async def test_input_required_result_list_roots(ctx: Context) -> str | InputRequiredResult:
    """Scenario basic-list-roots."""
    match responses(ctx).get("client_roots"):
        case ListRootsResult(roots=roots):
            return "Roots: " + ", ".join(str(root.uri) for root in roots)
        case _:
            return questions(ctx, client_roots=ListRootsRequest())


@mcp.tool()
async def test_input_required_result_multiple_inputs(ctx: Context) -> str | InputRequiredResult:
    """Scenario multiple-input-requests: the user, the model and the roots in one round."""
    answers = responses(ctx)
    match accepted(ctx, "user_name"), answers.get("greeting"), answers.get("client_roots"):
        case {"name": name}, CreateMessageResult(content=TextContent(text=greeting)), ListRootsResult(roots=roots):
            return f"{greeting} {name}, you have {len(roots)} root(s)."
        case _:
            return questions(
                ctx,
                user_name=form("What is your name?", name="string"),
                greeting=sample("Generate a greeting", max_tokens=50),
                client_roots=ListRootsRequest(),
                state="asked for all three",
            )


@mcp.tool()
async def test_input_required_result_capabilities(ctx: Context) -> str | InputRequiredResult:
    """Scenario capability-check: only what this client declares."""
    if can_ask("form"):
        answer = await ask("What is your name?", Form(Text("name")), key="user_name")
        return f"Hello, {answer['name']}!"
    if responses(ctx):
        return "Thank you."
    if ctx.client_capabilities and ctx.client_capabilities.sampling:
        return questions(ctx, greeting=sample("Generate a greeting", max_tokens=50))
    return "This client can answer nothing."


# --- shortcuts for the SDK's rounds -------------------------------------------------------------


def form(message: str, **types: str) -> ElicitRequest:
    properties = {name: {"type": type_} for name, type_ in types.items()}
    requested: dict[str, Any] = {"type": "object", "properties": properties, "required": list(properties)}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=requested))


def sample(text: str, max_tokens: int) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(text=text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=max_tokens))


def questions(ctx: Context, state: str | None = None, **requests: InputRequest) -> InputRequiredResult:
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:  # the SDK would refuse the result, and the whole call
        raise ToolError(f"A round by hand needs 2026-07-28, and this client speaks {ctx.protocol_version}.")
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
