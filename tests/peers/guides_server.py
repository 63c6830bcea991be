"""A server whose tools ask as those of the SDKs' guides do. It serves stdio, or with `--http PORT` HTTP."""

from __future__ import annotations

import argparse
import json

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

import midcall
from midcall import (
    Accepted,
    Cancelled,
    Choice,
    Choices,
    Declined,
    Flag,
    Form,
    Number,
    Text,
    TimedOut,
    ask,
    can_ask,
    confirm,
    elicit,
    visit,
)

META = {"example.com/trace": {"id": 7, "tags": ["a"]}}
COLOURS = {"r": "Red", "g": "Green"}
SHAPES = Form(
    Choice("plain", ["red", "green"]),
    Choice("titled", COLOURS),
    Choice("legacy", COLOURS, legacy=True),
    Choices("many", ["red", "green"]),
    Choices("many_titled", COLOURS),
)
KINDS = Form(
    Text("name", title="Display name", description="As in the passport", min_length=3, max_length=50),
    Text("mail", format="email"),
    Text("site", format="uri"),
    Text("day", format="date"),
    Text("moment", format="date-time"),
    Number("weight", minimum=0.5, maximum=100),
    Number("age", integer=True, minimum=18),
    Flag("news", default=False),
)
PLAY = {"type": "object", "properties": {"Answer": {"type": "boolean"}}, "required": ["Answer"]}
PROJECT = {
    "type": "object",
    "properties": {
        "projectName": {"type": "string", "description": "What to call it", "minLength": 1},
        "framework": {"type": "string", "enum": ["react", "none"], "default": "none"},
        "includeTests": {"type": "boolean", "default": True},
    },
    "required": ["projectName"],
}

mcp = MCPServer("guides", log_level="WARNING")
midcall.install(mcp)


@mcp.tool()
async def shapes() -> str:
    """Asks for a choice of every shape."""
    return json.dumps(await ask("Which?", SHAPES))


@mcp.tool()
async def kinds() -> str:
    """Asks for a value of every kind."""
    return json.dumps(await ask("Who?", KINDS))


@mcp.tool()
async def play() -> str:
    """Asks in a schema of the author's own."""
    match await elicit("Do you want to play a game?", PLAY):
        case Accepted(value={"Answer": True}):
            return "Let's play."
        case _:
            return "Maybe next time!"


@mcp.tool()
async def project() -> str:
    """Tells apart what the user did."""
    match await elicit("Please provide the project details.", PROJECT):
        case Accepted(value=value):
            return json.dumps(value)
        case Declined():
            return "The user declined."
        case Cancelled():
            raise ToolError("cancelled by the user")


@mcp.tool()
async def process(data: str) -> str:
    """Asks only about a lot of data."""
    if len(data) > 100 and not await confirm(f"The data is {len(data)} characters. Proceed?"):
        return "The user chose not to proceed."
    return f"Processed {len(data)} characters"


@mcp.tool()
async def noted() -> str:
    """Sends something along with a form and a visit."""
    await ask("Name?", str, meta=META)
    return await visit("Go there.", "https://example.com/go", id="an-id-of-the-author", meta=META)


@mcp.tool()
async def login() -> str:
    """Asks for a secret in a form, by mistake."""
    return str(await ask("Sign in", Form(Text("user"), Text("password"))))


@mcp.tool()
async def careful() -> str:
    """Has something else to do if it can't ask."""
    return await ask("Your town?", str) if can_ask() else "Oslo, since nobody can be asked."


@mcp.tool()
async def hurried() -> str:
    """Doesn't wait for long."""
    try:
        return await ask("Your town?", str, timeout=0.5)
    except TimedOut:
        return "The user didn't answer in time."


@mcp.prompt()
async def plan() -> str:
    """A prompt that asks."""
    return f"Plan {await ask('How many days?', int)} days."


@mcp.resource("city://{name}")
async def city(name: str) -> str:
    """A resource that asks."""
    return f"{name} in {await ask('Which season?', str)}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", type=int)
    if (port := parser.parse_args().http) is not None:
        mcp.run("streamable-http", port=port)
    else:
        mcp.run()


if __name__ == "__main__":
    main()
