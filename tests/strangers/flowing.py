"""Servers with something under way while they ask: time limits, tasks, threads, locks, files, transactions."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.from_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

from tests.strangers.confirming import Confirm
from tests.strangers.effects import Effects

SOON: Final = 0.3
"""How long tools wait for people who don't answer: long enough for a question to arrive on a busy machine."""


class Name(BaseModel):
    name: str


# --- time limits -----------------------------------------------------------------------------


def impatient(effects: Effects) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("impatient")

    @server.tool()
    async def wait_for(ctx: Context) -> str:
        effects.add("challenge made")
        try:
            answer = await asyncio.wait_for(ctx.elicit("Approve within a moment?", Confirm), SOON)
        except TimeoutError:
            effects.add("challenge expired")
            return "nobody answered"
        return answer.action

    @server.tool()
    async def move_on(ctx: Context) -> str:
        with anyio.move_on_after(SOON) as scope:
            await ctx.elicit("Any wishes?", Name)
        effects.add(f"default used: {scope.cancelled_caught}")
        return "default"

    @server.tool()
    async def in_time(ctx: Context) -> str:
        async with asyncio.timeout(30):
            first = await ctx.elicit("First name?", Name)
            effects.add("half")
            second = await ctx.elicit("Last name?", Name)
        effects.add("whole")
        return f"{first.action} {second.action}"

    return server


# --- several at once -------------------------------------------------------------------------


def parallel(effects: Effects) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("parallel")

    async def colour(ctx: Context, of: str) -> str:
        effects.add(f"looked up {of}")
        answer = await ctx.elicit(f"Colour of the {of}?", Name)
        if answer.action != "accept":
            raise ToolError(f"no colour for the {of}")
        return answer.data.name

    @server.tool()
    async def gathered(ctx: Context) -> list[str]:
        found = list(await asyncio.gather(colour(ctx, "roof"), colour(ctx, "door")))
        effects.add(f"painted {found}")
        return found

    @server.tool()
    async def tolerant(ctx: Context) -> list[str]:
        found = await asyncio.gather(colour(ctx, "roof"), colour(ctx, "door"), return_exceptions=True)
        effects.add("painted what there was")
        return [str(each) for each in found]

    @server.tool()
    async def grouped(ctx: Context) -> dict[str, str]:
        found: dict[str, str] = {}

        async def one(of: str) -> None:
            found[of] = await colour(ctx, of)
            effects.add(f"mixed {found[of]}")

        async with anyio.create_task_group() as group:
            for of in ("roof", "door"):
                group.start_soon(one, of)
        return dict(sorted(found.items()))

    return server


def background(effects: Effects) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("background")
    mails: set[asyncio.Task[None]] = set()

    async def guard() -> None:
        effects.add("guard started")
        try:
            await anyio.sleep_forever()
        finally:
            effects.add("guard stopped")

    @server.tool()
    async def guarded(ctx: Context) -> str:
        """A task watches over the session as long as the person thinks."""
        task = asyncio.create_task(guard())
        try:
            first = await ctx.elicit("Open the gate?", Confirm)
            second = await ctx.elicit("And the door?", Confirm)
        finally:
            task.cancel()
            await asyncio.wait([task])
        return f"{first.action} {second.action}"

    async def mail() -> None:
        await asyncio.sleep(0)
        effects.add("mail sent")

    @server.tool()
    async def mailing(ctx: Context) -> str:
        """Sends a mail in the background, no matter what the person answers."""
        mails.add(asyncio.create_task(mail()))
        answer = await ctx.elicit("Subscribe?", Confirm)
        return answer.action

    @server.tool()
    async def beside(ctx: Context) -> str:
        """The question is asked in a task, while the tool does something else."""
        question = asyncio.create_task(ctx.elicit("Format?", Name))
        await asyncio.sleep(0)
        effects.add("rendered")
        answer = await question
        return f"rendered as {answer.data.name}" if answer.action == "accept" else "rendered"

    return server


def locked(effects: Effects) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("locked")
    lock, busy = asyncio.Lock(), set[str]()

    @server.tool()
    async def migrate(to: str, ctx: Context) -> str:
        """One migration at a time: the others wait, even while somebody is asked."""
        effects.add(f"{to} is here")
        async with lock:
            effects.add(f"{to} locked")
            answer = await ctx.elicit(f"Migrate to {to}?", Confirm)
            effects.add(f"{to} {answer.action}")
        return to

    @server.tool()
    async def export(who: str, ctx: Context) -> str:
        """Nobody waits: a second export is refused."""
        if busy:
            effects.add(f"{who} refused")
            raise ToolError("An export is running already")
        busy.add(who)
        effects.add(f"{who} runs")
        try:
            answer = await ctx.elicit(f"Export for {who}?", Confirm)
            return f"{who} {answer.action}"
        finally:
            busy.discard(who)

    return server


def threaded(effects: Effects) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("threaded")

    @server.tool()
    def scan(ctx: Context) -> str:
        """A `def` tool, which asks through the loop that its thread came from."""
        effects.add("scanner warmed up")
        answer = anyio.from_thread.run(ctx.elicit, "Which tray?", Name)
        assert answer.action == "accept"
        effects.add(f"scanned from {answer.data.name}")
        again = anyio.from_thread.run(ctx.elicit, "Another page?", Confirm)
        return f"{answer.data.name}, {again.action}"

    @server.tool()
    async def install(ctx: Context) -> str:
        """A blocking installer in a thread, with a callback that asks."""
        loop = asyncio.get_running_loop()

        def accepts(licence: str) -> bool:
            asked = asyncio.run_coroutine_threadsafe(ctx.elicit(f"Accept {licence}?", Confirm), loop)
            return asked.result().action == "accept"

        def installer() -> str:
            effects.add("downloaded")
            return "installed" if accepts("MIT") and accepts("BSD") else "removed"

        done = await asyncio.to_thread(installer)
        effects.add(done)
        return done

    return server


# --- what is open while somebody is asked ----------------------------------------------------

TENANT: ContextVar[str] = ContextVar("TENANT", default="nobody")


def open_things(effects: Effects) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("open")

    @server.tool()
    async def upload(ctx: Context) -> str:
        with tempfile.TemporaryDirectory() as home:
            draft = Path(home) / "draft"
            draft.write_text("one")
            effects.add("draft written")
            answer = await ctx.elicit("Add a line?", Name)
            added = answer.data.name if answer.action == "accept" else ""
            draft.write_text(draft.read_text() + f", {added}")
            final = await ctx.elicit(f"Upload '{draft.read_text()}'?", Confirm)
            effects.add(f"uploaded {draft.read_text()}, {final.action}")
        effects.add("draft removed")
        return "done"

    @server.tool()
    async def book(ctx: Context) -> str:
        """A transaction that is open while the person chooses, and is rolled back if they don't."""
        database = sqlite3.connect(":memory:", isolation_level=None)
        database.execute("create table seats (name text)")
        try:
            database.execute("begin")
            database.execute("insert into seats values ('12A')")
            answer = await ctx.elicit("Take 12A?", Confirm)
            database.execute("commit" if answer.action == "accept" and answer.data.confirm else "rollback")
            effects.add(f"seats: {database.execute('select count(*) from seats').fetchone()[0]}")
        except BaseException as error:
            effects.add(f"crashed: {type(error).__name__}")
            raise
        finally:
            database.close()
        return answer.action

    @server.tool()
    async def tenancy(ctx: Context) -> str:
        token = TENANT.set("acme")
        answer = await ctx.elicit("Continue?", Confirm)
        effects.add(f"for {TENANT.get()}, {answer.action}")
        TENANT.reset(token)
        return TENANT.get()

    return server


def delegating(effects: Effects) -> MCPServer[Any]:
    """A worker that lives as long as the server does the work, and asks on behalf of the calls."""
    jobs: asyncio.Queue[tuple[Context, asyncio.Future[str]]] = asyncio.Queue()

    async def work() -> None:
        while True:
            ctx, done = await jobs.get()
            effects.add("job begun")
            answer = await ctx.elicit("Print it?", Confirm)
            effects.add(f"job ended: {answer.action}")
            done.set_result(answer.action)

    @asynccontextmanager
    async def lifespan(server: MCPServer[Any]) -> AsyncGenerator[str]:
        effects.add("printer on")
        worker = asyncio.create_task(work())
        try:
            yield "printer 1"
        finally:
            worker.cancel()
            await asyncio.wait([worker])
            effects.add("printer off")

    server: MCPServer[Any] = MCPServer("delegating", lifespan=lifespan)

    @server.tool()
    async def print_page(ctx: Context) -> str:
        done: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        await jobs.put((ctx, done))
        return f"{await done} on {ctx.request_context.lifespan_context}"

    return server


def retrying(effects: Effects) -> MCPServer[Any]:
    """Begins again from the top, questions included, if the network fails."""
    server: MCPServer[Any] = MCPServer("retrying")
    failures = iter([True, False])

    async def attempt(ctx: Context) -> str:
        answer = await ctx.elicit("Send it?", Confirm)
        effects.add(f"sending: {answer.action}")
        if next(failures):
            raise ConnectionError("reset by peer")
        return "sent"

    @server.tool()
    async def send(ctx: Context) -> str:
        for number in range(3):
            try:
                return await attempt(ctx)
            except ConnectionError as error:
                effects.add(f"attempt {number}: {error}")
        raise ToolError("no network")

    return server


@dataclass(eq=False)
class Cleanup:
    effects: Effects
    name: str

    async def __aenter__(self) -> str:
        self.effects.add(f"open {self.name}")
        return self.name

    async def __aexit__(self, kind: type[BaseException] | None, error: Any, traceback: Any) -> None:
        self.effects.add(f"close {self.name}, {kind.__name__ if kind else 'fine'}")


def stacked(effects: Effects) -> MCPServer[Any]:
    """Cleans up in order, and compensates what it did if it is stopped half way."""
    server: MCPServer[Any] = MCPServer("stacked")

    @server.tool()
    async def provision(ctx: Context) -> str:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(Cleanup(effects, "network"))
            await stack.enter_async_context(Cleanup(effects, "machine"))
            answer = await ctx.elicit("How many disks?", Name)
            if answer.action != "accept":
                raise ToolError("no disks, no machine")
            return f"machine with {answer.data.name} disks"

    @asynccontextmanager
    async def saga() -> AsyncGenerator[list[str]]:
        undo: list[str] = []
        try:
            yield undo
        except BaseException:
            for step in reversed(undo):
                effects.add(f"undo {step}")
            raise

    @server.tool()
    async def travel(ctx: Context) -> str:
        async with saga() as undo:
            for step in ("flight", "hotel"):
                effects.add(f"book {step}")
                undo.append(step)
                if (await ctx.elicit(f"Keep the {step}?", Confirm)).action != "accept":
                    raise ToolError(f"no {step}")
        return "bon voyage"

    return server


def counting(effects: Effects) -> MCPServer[Any]:
    """Counts, logs and reports before, between and after its questions."""
    server: MCPServer[Any] = MCPServer("counting")
    counts = {"calls": 0, "answers": 0}

    @server.tool()
    async def survey(ctx: Context) -> dict[str, int]:
        counts["calls"] += 1
        await ctx.info(f"survey {counts['calls']} begins")  # pyright: ignore[reportDeprecated]
        for at, what in enumerate(("age", "height", "weight")):
            await ctx.report_progress(at, 3, f"asking for {what}")
            answer = await ctx.elicit(f"Your {what}?", Name)
            counts["answers"] += 1
            effects.add(f"stored {what} as number {counts['answers']}, {answer.action}")
            await ctx.debug({what: answer.action})  # pyright: ignore[reportDeprecated]
        await ctx.report_progress(3, 3)
        await ctx.warning("survey ends")  # pyright: ignore[reportDeprecated]
        return counts

    return server


@dataclass(eq=False)
class Machine:
    name: str


def restless(effects: Effects) -> MCPServer[Any]:
    """Whatever makes one run differ from the next."""
    server: MCPServer[Any] = MCPServer("restless")
    machines = {Machine(f"web-{number}") for number in range(6)}

    @server.tool()
    async def restart(ctx: Context) -> list[str]:
        """Goes through a set of objects, whose order is that of their addresses."""
        for machine in {Machine(each.name) for each in machines}:
            answer = await ctx.elicit(f"Restart {machine.name}?", Confirm)
            effects.add(f"{machine.name} {answer.action}")
        return ["all asked"]

    @server.tool()
    async def stamp(ctx: Context) -> str:
        """Says in each question when it was asked."""
        for what in ("start", "end"):
            answer = await ctx.elicit(f"{what.title()}? It is {datetime.now(UTC).isoformat()}", Confirm)
            effects.add(f"{what} {answer.action}")
        return "stamp"

    return server
