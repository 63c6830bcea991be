"""Servers with all sorts of forms, and with answers that don't fit them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, Field

from tests.strangers.confirming import Confirm
from tests.strangers.effects import Effects


class Booking(BaseModel):
    """A booking, with a field of each kind."""

    guest: str = Field(description="Full name", min_length=2, max_length=40, examples=["Ada"])
    email: str | None = Field(default=None, json_schema_extra={"format": "email"})
    nights: int = Field(default=2, ge=1, le=14, title="Number of nights")
    budget: float | None = Field(default=None, gt=0)
    room: Literal["single", "double"] = "single"
    breakfast: bool = True
    extras: list[Literal["sauna", "bike"]] = Field(default_factory=list[Literal["sauna", "bike"]], max_length=2)
    note: str = Field(default="", json_schema_extra={"x-rows": 3})


class Booked(BaseModel):
    guest: str
    nights: int
    total: float


class Login(BaseModel):
    email: str = Field(description="Address of your account")
    password: str = Field(description="Your password")


class Token(BaseModel):
    api_key: str


class Age(BaseModel):
    years: int


class Refined(BaseModel):
    query: str = Field(min_length=3)


def forms(effects: Effects) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("forms")

    @server.tool()
    async def book(ctx: Context) -> Booked:
        """Gives structured output."""
        answer = await ctx.elicit("Please complete your booking", Booking)
        if answer.action != "accept":
            raise ToolError("no booking")
        booking = answer.data
        effects.add(f"booked {booking!r}")
        return Booked(guest=booking.guest, nights=booking.nights, total=booking.nights * 80.0)

    @server.tool()
    async def log_in(ctx: Context) -> str:
        """Asks for a password, and has another way if that fails."""
        try:
            answer = await ctx.elicit("Sign in", Login)
        except Exception as error:
            effects.add("sent to the terminal")
            return f"Run the setup in a terminal ({type(error).__name__})"
        effects.add(f"logged in: {answer.action}")
        return answer.action

    @server.tool()
    async def add_key(ctx: Context) -> str:
        answer = await ctx.elicit("Paste your key", Token)
        effects.add(f"key stored: {answer.action}")
        return answer.action

    @server.tool()
    async def age(ctx: Context) -> str:
        answer = await ctx.elicit("How old are you?", Age)
        effects.add(f"age: {answer.action}")
        return answer.action

    @server.tool()
    async def search(query: str, ctx: Context) -> list[str]:
        """Asks only if the argument isn't good enough, and continues with the answer."""
        if len(query) < 3:
            effects.add("too short")
            answer = await ctx.elicit(f"'{query}' is too short. What do you look for?", Refined)
            if answer.action != "accept":
                return []
            query = answer.data.query
        effects.add(f"searched {query}")
        return [f"{query} 1", f"{query} 2"]

    @server.tool()
    async def persistent(ctx: Context) -> str:
        """Asks until the SDK is content with the answer."""
        for attempt in range(3):
            try:
                answer = await ctx.elicit("At least three letters", Refined)
            except ValueError as error:
                effects.add(f"attempt {attempt}: {error}")
                continue
            return f"{answer.action} at {attempt}"
        return "given up"

    @server.tool()
    async def interview(ctx: Context) -> dict[str, str]:
        """Eight questions in a row, each about the answer before it."""
        said: dict[str, str] = {}
        last = "begin"
        for number in range(8):
            answer = await ctx.elicit(f"{number}: after {last}?", Refined)
            last = answer.data.query if answer.action == "accept" else answer.action
            said[f"q{number}"] = last
            effects.add(f"saved {number}")
        return said

    @server.prompt()
    async def letter(to: str, ctx: Context) -> str:
        effects.add(f"opened the address book for {to}")
        answer = await ctx.elicit(f"Tone of the letter to {to}?", Refined)
        tone = answer.data.query if answer.action == "accept" else "neutral"
        return f"Write to {to} in a {tone} tone."

    @server.resource("report://{year}")
    async def report(year: str, ctx: Context) -> str:
        effects.add(f"loaded {year}")
        answer = await ctx.elicit(f"Show salaries of {year}?", Confirm)
        effects.add(f"shown: {answer.action}")
        return f"Report {year}: {answer.action}"

    @server.tool()
    async def summary(ctx: Context) -> str:
        """Reads a resource that asks, and asks as well."""
        contents = await ctx.read_resource("report://2024")
        text = "".join(str(each.content) for each in contents)
        answer = await ctx.elicit("Add a chart?", Confirm)
        effects.add(f"summed up, {answer.action}")
        return text

    return server


# --- versions --------------------------------------------------------------------------------

SURE: dict[str, Any] = {"properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"], "type": "object"}
"""In the SDK's own order, because it sorts what a tool returns for a round."""


class Guest(BaseModel):
    name: str


async def who() -> Elicit[Guest]:
    return Elicit("Who is it?", Guest)


def versions(effects: Effects) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("versions")

    @server.tool()
    async def old_enough(ctx: Context) -> str:
        if (ctx.protocol_version or "") < "2025-06-18":
            return "This client is too old."
        answer = await ctx.elicit("Go?", Confirm)
        effects.add(f"went: {answer.action}")
        return answer.action

    @server.tool()
    async def by_hand(path: str, ctx: Context) -> str | InputRequiredResult:
        """Makes its own rounds for clients that know them, and pushes to all others."""
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            if ctx.input_responses is None:
                params = ElicitRequestFormParams(message=f"Delete {path}?", requested_schema=SURE)
                return InputRequiredResult(input_requests={"sure": ElicitRequest(params=params)})
            answer = ctx.input_responses["sure"]
            assert isinstance(answer, ElicitResult)
        else:
            answer = await ctx.session.elicit_form(f"Delete {path}?", SURE, ctx.request_id)
        effects.add(f"delete {path}: {answer.action}")
        return f"{path} {answer.action} {answer.content}"

    @server.tool()
    async def welcome(guest: Annotated[Guest, Resolve(who)], ctx: Context) -> str:
        """One parameter is resolved by a question, and the tool asks another."""
        effects.add(f"door opened for {guest.name}")
        answer = await ctx.elicit(f"Tea, {guest.name}?", Confirm)
        effects.add(f"tea: {answer.action}")
        return f"Welcome, {guest.name}"

    return server
