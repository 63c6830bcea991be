"""Servers written with FastMCP: scalars as forms, middleware, dependencies, state, mounted servers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

from fastmcp import Context, FastMCP
from fastmcp.dependencies import CurrentContext, Depends
from fastmcp.exceptions import ToolError
from fastmcp.server import create_proxy
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import ToolResult
from mcp import MCPError
from mcp_types import CallToolRequestParams

from tests.strangers.effects import Effects


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Project:
    """What the project is called, and of which kind it is."""

    name: str
    kind: Literal["web", "cli"] = "web"


def scalars(effects: Effects) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("scalars")

    @server.tool
    async def plain(ctx: Context) -> list[str]:
        kinds: list[Any] = [bool, int, float, str, Literal["a", "b"], Colour]
        said: list[str] = []
        for kind in kinds:
            answer = await ctx.elicit(f"A {getattr(kind, '__name__', 'choice')}?", kind)
            said.append(repr(answer.data) if answer.action == "accept" else answer.action)
            effects.add(said[-1])
        return said

    @server.tool
    async def choices(ctx: Context) -> list[Any]:
        titles = {"low": {"title": "Low priority"}, "high": {"title": "High priority"}}
        one = await ctx.elicit("One of these?", ["x", "y"], response_title="Letter", response_description="Only one")
        titled = await ctx.elicit("One with a title?", titles)
        several = await ctx.elicit("Several?", [["x", "y", "z"]])
        project = await ctx.elicit("Which project?", Project)
        answers = [one, titled, several, project]
        effects.add("all chosen")
        return [str(answer.data) if answer.action == "accept" else answer.action for answer in answers]

    return server


class Confirming(Middleware):
    """Asks before tools that write, fails closed, and counts what is left of a budget."""

    def __init__(self, effects: Effects, budget: int) -> None:
        self.effects, self.budget = effects, budget

    async def on_call_tool(
        self, context: MiddlewareContext[CallToolRequestParams], call_next: CallNext[CallToolRequestParams, ToolResult]
    ) -> ToolResult:
        ctx, name = context.fastmcp_context, context.message.name
        assert ctx is not None
        self.budget -= 1
        self.effects.add(f"{name}: {self.budget} left")
        if self.budget < 0:
            raise ToolError("Nothing left")
        if name.startswith("read"):
            return await call_next(context)
        try:
            answer = await ctx.elicit(f"Run {name}?", bool)
        except MCPError as error:
            self.effects.add("client can't ask")
            raise ToolError(f"{name} needs a confirmation: {error}") from error
        if answer.action != "accept" or answer.data is not True:
            self.effects.add(f"{name} declined")
            raise ToolError(f"{name} was declined ({answer.action})")
        result = await call_next(context)
        self.effects.add(f"{name} ran")
        return result


class Redacting(Middleware):
    """Asks about each field of a result, after the tool ran."""

    def __init__(self, effects: Effects) -> None:
        self.effects = effects

    async def on_call_tool(
        self, context: MiddlewareContext[CallToolRequestParams], call_next: CallNext[CallToolRequestParams, ToolResult]
    ) -> ToolResult:
        result = await call_next(context)
        ctx, shown = context.fastmcp_context, dict[str, Any]()
        assert ctx is not None
        for field, value in (result.structured_content or {}).items():
            answer = await ctx.elicit(f"Show {field}?", bool)
            if answer.action == "accept" and answer.data:
                shown[field] = value
        self.effects.add(f"shown: {sorted(shown)}")
        return ToolResult(structured_content=shown)


def confirming(effects: Effects) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("confirming", middleware=[Confirming(effects, budget=2)])

    @server.tool
    async def write_page(text: str) -> str:
        effects.add(f"wrote {text}")
        return text

    @server.tool
    async def read_page() -> str:
        effects.add("read")
        return "page"

    return server


def redacting(effects: Effects) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("redacting", middleware=[Redacting(effects)])

    @server.tool
    async def person(id: int) -> dict[str, str]:
        effects.add(f"loaded {id}")
        return {"name": "Ada", "phone": "123"}

    return server


def depending(effects: Effects) -> FastMCP[Any]:
    """Gets a connection injected, which is closed when the tool is done."""
    server: FastMCP[Any] = FastMCP("depending")

    @asynccontextmanager
    async def connection() -> AsyncGenerator[list[str]]:
        effects.add("connected")
        rows: list[str] = []
        try:
            yield rows
        finally:
            effects.add(f"closed with {rows}")

    @server.tool
    async def add_rows(ctx: Context, rows: list[str] = Depends(connection)) -> str:  # noqa: B008
        for number in (1, 2):
            answer = await ctx.elicit(f"Row {number}?", str)
            if answer.action != "accept":
                raise ToolError(f"row {number}: {answer.action}")
            rows.append(answer.data)
            effects.add(f"inserted {answer.data}")
        return ",".join(rows)

    return server


def consenting(effects: Effects) -> FastMCP[Any]:
    """A dependency asks, and the tool gets its answer."""
    server: FastMCP[Any] = FastMCP("consenting")

    async def consent(ctx: Context = CurrentContext()) -> bool:  # noqa: B008
        effects.add("policy read")
        answer = await ctx.elicit("Share your location?", bool)
        return answer.action == "accept" and answer.data

    @server.tool
    async def weather(ctx: Context, shared: bool = Depends(consent)) -> str:
        effects.add(f"shared: {shared}")
        answer = await ctx.elicit("In which unit?", ["C", "F"])
        return f"{shared} {answer.action}"

    return server


def gateway(effects: Effects) -> FastMCP[Any]:
    """Passes calls on to another server, and its questions back."""
    behind: FastMCP[Any] = FastMCP("behind")

    @behind.tool
    async def pay(amount: int, ctx: Context) -> str:
        effects.add(f"reserved {amount}")
        answer = await ctx.elicit(f"Pay {amount}?", bool)
        effects.add(f"paid: {answer.action}")
        return answer.action

    return create_proxy(behind, name="gateway")


def mounted(effects: Effects) -> FastMCP[Any]:
    """A server in a server, with a prompt, a resource and state that lasts for the call."""
    child: FastMCP[Any] = FastMCP("child")

    @child.tool
    async def deploy(ctx: Context) -> str:
        await ctx.set_state("step", "asked")
        await ctx.info("before")
        await ctx.report_progress(1, 2)
        answer = await ctx.elicit("Deploy now?", bool)
        await ctx.report_progress(2, 2)
        await ctx.info("after")
        effects.add(f"{await ctx.get_state('step')}: {answer.action}")
        again = await ctx.elicit("Tell everybody?", bool)
        effects.add(f"told: {again.action}")
        return "deployed"

    @child.prompt
    async def plan(ctx: Context) -> str:
        effects.add("calendar read")
        answer = await ctx.elicit("For how many days?", int)
        return f"Plan {answer.data if answer.action == 'accept' else 'some'} days."

    @child.resource("notes://{topic}")
    async def notes(topic: str, ctx: Context) -> str:
        effects.add(f"opened {topic}")
        answer = await ctx.elicit(f"Unlock {topic}?", bool)
        return f"{topic}: {answer.action}"

    parent: FastMCP[Any] = FastMCP("parent")
    parent.mount(child, namespace="ops")
    return parent
