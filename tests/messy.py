"""Real tools are messy. Each of these is written the way people write tools, and must work on every version.

Run as a script, it serves them over stdio, or with `--http PORT` over HTTP.
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
from mcp.server.mcpserver import Context
from pydantic import BaseModel

import midcall
from midcall import ask, ask_all, choose, confirm, elicit, from_thread, once, suspending
from midcall.core.question import Question
from midcall.testing import Answers
from tests.kinds import Kind, server_with

COUNTS: Counter[str] = Counter()


def count(token: str) -> int:
    COUNTS[token] += 1
    return COUNTS[token]


async def slow_count(token: str) -> int:
    await asyncio.sleep(0.02)
    return count(token)


@dataclass(frozen=True)
class Scenario:
    tool: Callable[..., Awaitable[Any]] | Callable[..., Any]
    answers: Answers
    expected: str
    effects: int = 0

    @property
    def name(self) -> str:
        return self.tool.__name__

    @property
    def is_portable(self) -> bool:
        """Whether every kind of server supports it: it takes no context, needs no thread and returns plain text."""
        plain = inspect.iscoroutinefunction(self.tool) and self.tool.__annotations__["return"] == "str"
        return plain and "ctx" not in self.tool.__annotations__


SCENARIOS: list[Scenario] = []


def scenario(answers: Answers, expected: str, *, effects: int = 0) -> Callable[[Any], Any]:
    def register(tool: Any) -> Any:
        SCENARIOS.append(Scenario(tool, answers, expected, effects))
        return tool

    return register


ABC = {"a?": "1", "b?": "2", "c?": "3", "d?": "4"}


@scenario(ABC, "1 2 3")
async def straight_line(token: str) -> str:
    return f"{await ask('a?', str)} {await ask('b?', str)} {await ask('c?', str)}"


@scenario(ABC, "1")
async def broad_except(token: str) -> str:
    try:
        return await ask("a?", str)
    except Exception:
        return "caught"


@scenario(ABC, "1")
async def bare_except(token: str) -> str:
    try:
        return await ask("a?", str)
    except:
        return "caught"


@scenario(ABC, "1 2")
async def try_finally(token: str) -> str:
    trail: list[str] = []
    try:
        trail.append(await ask("a?", str))
        trail.append(await ask("b?", str))
    finally:
        await asyncio.sleep(0)
        if not suspending():
            COUNTS[token] += 10
    assert COUNTS[token] == 10, COUNTS[token]
    COUNTS[token] = 0
    return " ".join(trail)


@asynccontextmanager
async def resource() -> AsyncIterator[list[str]]:
    opened: list[str] = ["open"]
    try:
        yield opened
    finally:
        await asyncio.sleep(0)
        opened.clear()


@scenario(ABC, "open 1 2")
async def async_with(token: str) -> str:
    async with resource() as held:
        a = await ask("a?", str)
        async with resource():
            b = await ask("b?", str)
        return f"{held[0]} {a} {b}"


@scenario(ABC, "1")
async def three_calls_down(token: str) -> str:
    async def one() -> str:
        return await two()

    async def two() -> str:
        return await three()

    async def three() -> str:
        return await ask("a?", str)

    return await one()


@scenario({"Guess": [3, 9, 7]}, "7 after 3")
async def loop_until_satisfied(token: str) -> str:
    guesses = 0
    while True:
        guesses += 1
        guess = await ask("Guess", int)
        if guess == 7:
            return f"{guess} after {guesses}"


@scenario({"Guess": [3, 9, 7]}, "7")
async def loop_around_except(token: str) -> str:
    while True:
        try:
            guess = await ask("Guess", int)
            if guess == 7:
                return str(guess)
            raise ValueError("wrong")
        except Exception:
            continue


@scenario(ABC, "1 2 3")
async def gathered(token: str) -> str:
    return " ".join(await asyncio.gather(ask("a?", str), ask("b?", str), ask("c?", str)))


RUNS: Counter[str] = Counter()


@scenario(ABC, "a1 b2 c3 d4 | 1 2 3 4", effects=4)
async def branches_with_io(token: str) -> str:
    """Branches wake in another order on every run; answers and effects stay with their own."""
    RUNS[token] += 1
    shift = RUNS[token]

    async def branch(index: int, name: str) -> tuple[str, str]:
        await asyncio.sleep(0.004 * ((index + shift) % 4))
        answer = await ask(f"{name}?", str)
        await asyncio.sleep(0.004 * ((index * 3 + shift) % 4))

        def effect(which: str) -> str:
            count(token)
            return ABC[f"{which}?"]

        return f"{name}{answer}", await once("effect", effect, name)

    pairs = await asyncio.gather(*(branch(i, name) for i, name in enumerate("abcd")))
    return " ".join(pair[0] for pair in pairs) + " | " + " ".join(pair[1] for pair in pairs)


@scenario({**ABC, "b?": midcall.Declined()}, "1 UserDeclined 3")
async def gather_return_exceptions(token: str) -> str:
    results = await asyncio.gather(ask("a?", str), ask("b?", str), ask("c?", str), return_exceptions=True)
    return " ".join(type(r).__name__ if isinstance(r, BaseException) else r for r in results)


@scenario(ABC, "1 2")
async def asyncio_task_group(token: str) -> str:
    async with asyncio.TaskGroup() as group:
        a = group.create_task(ask("a?", str))
        b = group.create_task(ask("b?", str))
    return f"{a.result()} {b.result()}"


@scenario(ABC, "1 2 3 4")
async def nested_task_groups(token: str) -> str:
    answers: dict[str, str] = {}

    async def put(name: str) -> None:
        answers[name] = await ask(f"{name}?", str)

    async def inner() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(put, "c")
            group.start_soon(put, "d")

    async with anyio.create_task_group() as outer:
        outer.start_soon(put, "a")
        outer.start_soon(inner)
        await put("b")
    return " ".join(answers[name] for name in "abcd")


@scenario(ABC, "1 2")
async def waited(token: str) -> str:
    tasks = [asyncio.create_task(ask("a?", str)), asyncio.create_task(ask("b?", str))]
    await asyncio.wait(tasks)
    return " ".join(task.result() for task in tasks)


@scenario(ABC, "1 2")
async def as_completed(token: str) -> str:
    found = [await next_one for next_one in asyncio.as_completed([ask("a?", str), ask("b?", str)])]
    return " ".join(sorted(found))


@scenario(ABC, "1")
async def wait_for(token: str) -> str:
    return await asyncio.wait_for(ask("a?", str), timeout=30)


@scenario(ABC, "1")
async def shielded(token: str) -> str:
    return await asyncio.shield(ask("a?", str))


@scenario(ABC, "1 1", effects=1)
async def once_and_ask_gathered(token: str) -> str:
    effect, answer = await asyncio.gather(once("effect", slow_count, token), ask("a?", str))
    return f"{effect} {answer}"


@scenario(ABC, "1 1 2", effects=1)
async def once_between_asks(token: str) -> str:
    a = await ask("a?", str)
    number = await once("effect", slow_count, token)
    return f"{a} {number} {await ask('b?', str)}"


async def questions() -> AsyncIterator[str]:
    for name in "abc":
        yield await ask(f"{name}?", str)


@scenario(ABC, "1 2 3")
async def async_generator(token: str) -> str:
    return " ".join([answer async for answer in questions()])


@scenario(ABC, "1 2")
async def ask_while_iterating(token: str) -> str:
    async def names() -> AsyncIterator[str]:
        for name in "ab":
            await asyncio.sleep(0)
            yield name

    return " ".join([await ask(f"{name}?", str) async for name in names()])


@scenario(ABC, "1 2")
async def nested_tool_call(token: str, ctx: Context) -> str:
    a = await ask("a?", str)
    inner: Any = await ctx.mcp_server.call_tool("inner_tool", {})
    return f"{a} {inner.content[0].text}"


async def inner_tool() -> str:
    """Asks on behalf of the tool that calls it."""
    return await ask("b?", str)


@scenario(ABC, "1 2 1", effects=1)
def sync_tool(token: str) -> str:
    a = from_thread.ask("a?", str)
    number = from_thread.once("effect", count, token)
    b = from_thread.ask("b?", str)
    return f"{a} {b} {number}"


class Booking(BaseModel):
    seat: str
    days: int


@scenario({"Seat?": "w", "Days?": 3}, '{"seat":"w","days":3}')
async def output_schema(token: str) -> Booking:
    return Booking(
        seat=await choose("Seat?", {"w": "Window", "a": "Aisle"}),
        days=await ask("Days?", int),
    )


@scenario(ABC, "1 2")
async def reports_progress(token: str, ctx: Context) -> str:
    await ctx.report_progress(1, 3, "first")
    a = await ask("a?", str)
    await ctx.report_progress(2, 3, "second")
    b = await ask("b?", str)
    await ctx.report_progress(3, 3, "third")
    return f"{a} {b}"


@scenario({**ABC, "Sure?": True}, "1 2 True")
async def asked_together(token: str) -> str:
    a, b = await ask_all(Question("a?", str), Question("b?", str))
    return f"{a} {b} {await confirm('Sure?')}"


@scenario({**ABC, "b?": midcall.Cancelled()}, "Accepted Cancelled")
async def outcomes_matched(token: str) -> str:
    return f"{type(await elicit('a?', str)).__name__} {type(await elicit('b?', str)).__name__}"


@scenario({"Age?": [12, 30]}, "30")
async def asked_again(token: str) -> str:
    from typing import Annotated

    from pydantic import Field

    return str(await ask("Age?", Annotated[int, Field(ge=18)]))


@scenario({"Name?": "Ada", "Days?": 2}, "Ada 2 accept")
async def adopted(token: str, ctx: Context) -> str:
    class Name(BaseModel):
        name: str

    answer = await ctx.elicit("Name?", Name)
    assert answer.action == "accept"
    return f"{answer.data.name} {await ask('Days?', int)} {answer.action}"


async def fails() -> None:
    await asyncio.sleep(0)
    raise OSError("out of stock")


@scenario(ABC, "1")
async def group_failed_before(token: str) -> str:
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(fails())
    except* OSError:
        pass
    return await ask("a?", str)


@scenario(ABC, "1 2")
async def group_failed_before_branches(token: str) -> str:
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(fails())
    except* OSError:
        pass
    return " ".join(await asyncio.gather(ask("a?", str), ask("b?", str)))


@scenario(ABC, "out of stock 2")
async def branch_fails_beside_an_ask(token: str) -> str:
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(fails())
            group.create_task(ask("a?", str))
    except* OSError as failed:
        [reason] = failed.exceptions
    return f"{reason} {await ask('b?', str)}"


@scenario(ABC, "1 2")
async def swallows_a_cancel_of_its_own(token: str) -> str:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        pass
    first = await ask("a?", str)
    return f"{first} {await ask('b?', str)}"


@scenario(ABC, "1 2 3")
async def gather_awaited_late(token: str) -> str:
    both = asyncio.gather(ask("a?", str), ask("b?", str))
    third = await ask("c?", str)
    return " ".join([*await both, third])


@scenario(ABC, "1 2")
async def gather_shielded(token: str) -> str:
    return " ".join(await asyncio.shield(asyncio.gather(ask("a?", str), ask("b?", str))))


@scenario(ABC, "1 2")
async def gather_waited_for(token: str) -> str:
    both = asyncio.gather(ask("a?", str), ask("b?", str))
    await asyncio.wait([both])
    return " ".join(both.result())


@scenario(ABC, "1 2 timeouts")
async def asyncio_timeouts(token: str) -> str:
    async with asyncio.timeout(30):
        a = await ask("a?", str)
    with anyio.fail_after(30):
        b = await ask("b?", str)
    return f"{a} {b} timeouts"


def scenarios(kind: Kind = "mcpserver") -> list[Scenario]:
    """The tools that this kind of server supports."""
    return [each for each in SCENARIOS if kind == "mcpserver" or each.is_portable]


def build(kind: Kind = "mcpserver", *, live: bool | None = None) -> Any:
    tools = [each.tool for each in scenarios(kind)]
    return server_with(*tools, inner_tool, effects, kind=kind, name="messy", max_rounds=100, live=live)


def effects(token: str) -> int:
    """How often each effect of this run happened."""
    return COUNTS[token]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", type=int)
    parser.add_argument("--kind", default="mcpserver", choices=("mcpserver", "fastmcp"))
    arguments = parser.parse_args()
    server = build(arguments.kind)
    if arguments.http is None:
        server.run("stdio")
    else:
        server.run("streamable-http", port=arguments.http)


if __name__ == "__main__":
    main()
