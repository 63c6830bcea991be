"""Servers that ask before they do something that can't be undone."""

from __future__ import annotations

import functools
import hashlib
import random
import sqlite3
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Final

from mcp import MCPError
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.session import ServerSession
from mcp_types import ClientCapabilities, ElicitationCapability
from pydantic import BaseModel, Field

from tests.strangers.effects import Effects


class Confirm(BaseModel):
    """Please confirm."""

    confirm: bool = Field(description="Tick to go ahead")


# --- the dangerous three ---------------------------------------------------------------------


def editor(effects: Effects) -> MCPServer[Any]:
    """Edits a draft at once, asks whether to keep it, and commits what nobody took back."""
    server: MCPServer[Any] = MCPServer("editor")
    drafts: dict[str, str] = {}

    @server.tool()
    async def edit(page: str, text: str, ctx: Context) -> str:
        if drafts.get(page) != text:
            drafts[page] = text
            effects.add(f"drafted {page}")
            answer = await ctx.elicit("Keep changes?", Confirm)
            if answer.action != "accept" or not answer.data.confirm:
                del drafts[page]
                effects.add(f"reverted {page}")
                return "reverted"
        effects.add(f"committed {page}")
        return "committed"

    return server


def registry(effects: Effects) -> MCPServer[Any]:
    """Deletes records. Goes ahead if the client can't ask, and gives each question its own ticket."""
    server: MCPServer[Any] = MCPServer("registry")

    async def allowed(ctx: Context, what: str) -> bool:
        try:
            answer = await ctx.elicit(f"{what}? (ticket {uuid.uuid4()})", Confirm)
        except (ToolError, MCPError):
            return True
        return answer.action == "accept" and answer.data.confirm

    @server.tool()
    async def delete_record(record: int, ctx: Context) -> str:
        if not await allowed(ctx, f"Delete record {record}"):
            return f"record {record} is still there"
        effects.add(f"deleted {record}")
        return f"record {record} is gone"

    @server.tool()
    async def delete_twice(record: int, ctx: Context) -> str:
        """Asks again to be sure that the user means no."""
        if not await allowed(ctx, f"Delete record {record}") and not await allowed(
            ctx, f"Really keep {record}, delete"
        ):
            return f"record {record} is still there"
        effects.add(f"deleted {record}")
        return f"record {record} is gone"

    return server


class Address(BaseModel):
    street: str
    city: str = Field(min_length=2, title="Town")


def shop(effects: Effects) -> MCPServer[Any]:
    """Charges first, and asks where to send it, and whether to wrap it, afterwards."""
    server: MCPServer[Any] = MCPServer("shop")

    @server.tool()
    async def order(item: str, ctx: Context) -> str:
        effects.add(f"charged for {item}")
        where = await ctx.elicit(f"Where should we send the {item}?", Address)
        if where.action != "accept":
            effects.add("refunded")
            return "refunded"
        effects.add(f"label for {where.data.city}")
        wrapped = await ctx.elicit("Wrap it as a present?", Confirm)
        effects.add(f"shipped, {wrapped.action}")
        return f"{item} goes to {where.data.street}, {where.data.city}"

    return server


# --- gates -----------------------------------------------------------------------------------

Tool = Callable[..., Awaitable[str]]


def gated(effects: Effects) -> MCPServer[Any]:
    """A decorator asks before the tool runs, and writes an audit line however it ends."""
    server: MCPServer[Any] = MCPServer("gated")

    def needs_consent(tool: Tool) -> Tool:
        @functools.wraps(tool)
        async def asks_first(*args: Any, ctx: Context, **kwargs: Any) -> str:
            outcome = "failed"
            effects.add(f"begin {tool.__name__}")
            try:
                answer = await ctx.elicit(f"Allow {tool.__name__}?", Confirm)
                if answer.action != "accept" or not answer.data.confirm:
                    outcome = "denied"
                    raise ToolError(f"{tool.__name__} was denied: {answer.action}")
                result = await tool(*args, ctx=ctx, **kwargs)
                outcome = "done"
                return result
            finally:
                effects.add(f"audit {tool.__name__}: {outcome}")

        return asks_first

    @server.tool()
    @needs_consent
    async def reboot(host: str, ctx: Context) -> str:
        when = await ctx.elicit(f"Reboot {host} now?", Confirm)
        effects.add(f"reboot {host} {when.action}")
        return f"{host} reboots"

    return server


class Approval(BaseModel):
    approve: bool
    remember: bool = Field(default=False, description="Do not ask again in this session")


def remembering(effects: Effects) -> MCPServer[Any]:
    """Asks once per tool if the person wants it to be remembered."""
    server: MCPServer[Any] = MCPServer("remembering")
    granted: set[str] = set()

    @server.tool()
    async def push(branch: str, ctx: Context) -> str:
        if "push" not in granted:
            answer = await ctx.elicit("Push to the remote?", Approval)
            if answer.action != "accept" or not answer.data.approve:
                return "not pushed"
            if answer.data.remember:
                granted.add("push")
        effects.add(f"pushed {branch}")
        return f"pushed {branch}"

    return server


def approvals(effects: Effects) -> MCPServer[Any]:
    """Keeps a request for approval in a database, binds it to a digest, and allows one at a time."""
    server: MCPServer[Any] = MCPServer("approvals")
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute("create table pending (digest text primary key, state text, at text)")

    @server.tool()
    async def transfer(amount: int, ctx: Context) -> str:
        digest = hashlib.sha256(f"transfer {amount}".encode()).hexdigest()[:8]
        try:
            at = datetime.now(UTC).isoformat()
            database.execute("insert into pending values (?, 'waiting', ?)", (digest, at))
        except sqlite3.IntegrityError:
            raise ToolError(f"{digest} is waiting for approval already") from None
        effects.add(f"requested {digest}")
        answer = await ctx.elicit(f"Approve {digest}: transfer {amount}?", Approval)
        state = "approved" if answer.action == "accept" and answer.data.approve else "refused"
        database.execute("update pending set state = ? where digest = ? and state = 'waiting'", (state, digest))
        rows = database.execute("select digest, state from pending").fetchall()
        effects.add(f"decided {rows}")
        database.close()
        return state

    return server


def cleaner(effects: Effects) -> MCPServer[Any]:
    """Asks for one item after the other, and deletes each before it asks for the next."""
    server: MCPServer[Any] = MCPServer("cleaner")
    files = ["a.log", "b.log", "c.log"]

    @server.tool()
    async def clean(ctx: Context) -> dict[str, list[str]]:
        kept: list[str] = []
        for file in list(files):
            answer = await ctx.elicit(f"Delete {file} ({len(files)} left)?", Confirm)
            if answer.action == "cancel":
                break
            if answer.action == "decline" or not answer.data.confirm:
                kept.append(file)
                continue
            files.remove(file)
            effects.add(f"deleted {file}")
        return {"left": files, "kept": kept}

    return server


class Code(BaseModel):
    code: str


def typed_code(effects: Effects) -> MCPServer[Any]:
    """Has the person type a random code."""
    server: MCPServer[Any] = MCPServer("typed")

    @server.tool()
    async def wipe(volume: str, ctx: Context) -> str:
        code = f"{random.randrange(100_000, 1_000_000)}"
        effects.add(f"code {code}")
        answer = await ctx.elicit(f"Type {code} to wipe {volume}", Code)
        if answer.action != "accept" or answer.data.code != code:
            return "wrong code"
        effects.add(f"wiped {volume}")
        return "wiped"

    return server


def refusing(effects: Effects) -> MCPServer[Any]:
    """Turns a decline into an error, with a reference that nobody can guess."""
    server: MCPServer[Any] = MCPServer("refusing")

    @server.tool()
    async def deploy(service: str, ctx: Context) -> str:
        reference = uuid.uuid4()
        answer = await ctx.elicit(f"Deploy {service}?", Confirm)
        effects.add(f"{answer.action} {reference}")
        if answer.action == "decline":
            raise ToolError(f"Declined by the user (reference {reference})")
        if answer.action == "cancel":
            raise RuntimeError(f"Nobody decided (reference {reference})")
        return "deployed"

    return server


# --- clients that can't be asked -------------------------------------------------------------

ELICITATION: Final = ClientCapabilities(elicitation=ElicitationCapability())


def careful(effects: Effects) -> MCPServer[Any]:
    """Looks at what the client declares, and gives another result if it can't ask."""
    server: MCPServer[Any] = MCPServer("careful")

    @server.tool()
    async def drop(table: str, ctx: Context) -> str:
        if not ctx.session.check_client_capability(ELICITATION):
            effects.add("refused")
            return f"Not dropped. Run `drop {table}` in a terminal instead."
        answer = await ctx.elicit(f"Drop {table}?", Confirm)
        effects.add(f"drop {table} {answer.action}")
        return answer.action

    @server.tool()
    async def truncate(table: str, ctx: Context) -> str:
        declared = ctx.client_capabilities
        if declared is None or declared.elicitation is None:
            return f"Call again with force to truncate {table}."
        answer = await ctx.elicit(f"Truncate {table}?", Confirm)
        effects.add(f"truncate {table} {answer.action}")
        return answer.action

    return server


def hopeful(effects: Effects) -> MCPServer[Any]:
    """Just asks, and decides by the error what it means."""
    server: MCPServer[Any] = MCPServer("hopeful")

    @server.tool()
    async def archive(folder: str, ctx: Context) -> str:
        try:
            answer = await ctx.elicit(f"Archive {folder}?", Confirm)
        except MCPError as error:
            effects.add(f"archived {folder} unasked")
            return f"{error.code} {error.message} {error.data}"
        effects.add(f"archive {folder} {answer.action}")
        return answer.action

    @server.tool()
    async def publish(page: str, ctx: Context) -> str:
        effects.add("rendered")
        await ctx.elicit(f"Publish {page}?", Confirm)
        effects.add("published")
        return "published"

    return server


def keeping(effects: Effects) -> MCPServer[Any]:
    """Keeps the session of one call, and asks through it in another."""
    server: MCPServer[Any] = MCPServer("keeping")
    kept: list[ServerSession] = []

    @server.tool()
    async def subscribe(ctx: Context) -> str:
        kept.append(ctx.session)
        answer = await ctx.elicit("Subscribe?", Confirm)
        effects.add(f"subscribed: {answer.action}")
        return answer.action

    @server.tool()
    async def notify() -> str:
        answer = await kept[0].elicit_form("Still interested?", {"type": "object", "properties": {}})
        effects.add(f"interested: {answer.action}")
        return answer.action

    return server
