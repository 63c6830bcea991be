"""Random tools: tasks, groups, threads, cleanup and questions in any combination.

A program is data, and `tool_of` runs it like an ordinary tool. Its result depends only on the answers, never on which
branch wakes first, so it must be the same on every channel.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import anyio
from hypothesis import strategies as st

from midcall import Declined, UserDeclined, ask, from_thread, once
from midcall.testing import Asked

__all__ = ["Program", "World", "answer", "calm", "risky", "tool_of"]


class Program(NamedTuple):
    kind: str
    parts: tuple[Program, ...] = ()
    turns: int = 0
    """Turns of the loop to wait first, so that other branches get ahead or fall behind."""

    def __repr__(self) -> str:
        turns = f"{self.turns} " if self.turns else ""
        return f"{self.kind}({turns}{', '.join(map(repr, self.parts))})"


@dataclass
class World:
    """What a program's runs have done."""

    effects: Counter[str] = field(default_factory=Counter)
    open: int = 0
    """What was entered but not left."""
    all_known: bool = False
    """Whether every question and effect is recorded, as in the last run of a call."""


def answer(asked: Asked) -> object:
    return Declined() if asked.message.startswith("no ") else f"<{asked.message}>"


def tool_of(program: Program, world: World) -> Callable[[], Awaitable[str]]:
    async def tool() -> str:
        return await _caught(_Run(world), (program,), "")

    return tool


# --- running one -----------------------------------------------------------------------------


class _Run(NamedTuple):
    world: World

    async def __call__(self, program: Program, path: str) -> str:
        for _ in range(program.turns):
            await asyncio.sleep(0)
        return await _KINDS[program.kind](self, program.parts, path)

    async def ask(self, message: str) -> str:
        return _known(message) if self.world.all_known else await ask(message, str)

    def all(self, parts: Sequence[Program], path: str) -> list[Awaitable[str]]:
        return [self(part, f"{path}.{index}") for index, part in enumerate(parts)]


Kind: TypeAlias = Callable[[_Run, Sequence[Program], str], Awaitable[str]]


def _known(message: str) -> str:
    if message.startswith("no "):
        raise UserDeclined("no")
    return f"<{message}>"


async def _asks(run: _Run, parts: Sequence[Program], path: str) -> str:
    return await run.ask(f"q{path}?")


async def _is_refused(run: _Run, parts: Sequence[Program], path: str) -> str:
    try:
        return await run.ask(f"no q{path}?")
    except UserDeclined:
        return "no"


async def _declined(run: _Run, parts: Sequence[Program], path: str) -> str:
    return await run.ask(f"no q{path}?")


async def _asks_in_thread(run: _Run, parts: Sequence[Program], path: str) -> str:
    if run.world.all_known:
        return await asyncio.to_thread(_known, f"q{path}?")
    return await asyncio.to_thread(from_thread.ask, f"q{path}?", str)


async def _effect(run: _Run, parts: Sequence[Program], path: str) -> str:
    async def act() -> str:
        run.world.effects[path] += 1
        for _ in range(3):
            await asyncio.sleep(0)
        return f"e{path}"

    return f"e{path}" if run.world.all_known else await once(f"e{path}", act)


async def _fails(run: _Run, parts: Sequence[Program], path: str) -> str:
    raise ValueError(path)


async def _plain(run: _Run, parts: Sequence[Program], path: str) -> str:
    return "."


async def _one_by_one(run: _Run, parts: Sequence[Program], path: str) -> str:
    return " ".join([await run(part, f"{path}.{index}") for index, part in enumerate(parts)])


async def _gathered(run: _Run, parts: Sequence[Program], path: str) -> str:
    return " ".join(await asyncio.gather(*run.all(parts, path)))


async def _gathered_with_failures(run: _Run, parts: Sequence[Program], path: str) -> str:
    ended = await asyncio.gather(*run.all(parts, path), return_exceptions=True)
    return " ".join(each if isinstance(each, str) else "failed" for each in ended)


async def _grouped(run: _Run, parts: Sequence[Program], path: str) -> str:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(each) for each in run.all(parts, path)]  # type: ignore[arg-type]
    return " ".join(task.result() for task in tasks)


async def _grouped_by_anyio(run: _Run, parts: Sequence[Program], path: str) -> str:
    results: dict[int, str] = {}

    async def keep(index: int, part: Program) -> None:
        results[index] = await run(part, f"{path}.{index}")

    async with anyio.create_task_group() as group:
        for index, part in enumerate(parts):
            group.start_soon(keep, index, part)
    return " ".join(results[index] for index in range(len(parts)))


async def _waited_for(run: _Run, parts: Sequence[Program], path: str) -> str:
    tasks = [asyncio.create_task(_caught(run, (part,), f"{path}.{index}")) for index, part in enumerate(parts)]
    await asyncio.wait(tasks)
    return " ".join(task.result() for task in tasks)


async def _failures_waited_for(run: _Run, parts: Sequence[Program], path: str) -> str:
    tasks = [asyncio.create_task(each) for each in run.all(parts, path)]  # type: ignore[arg-type]
    await asyncio.wait(tasks)
    return " ".join("failed" if task.exception() else task.result() for task in tasks)


async def _as_completed(run: _Run, parts: Sequence[Program], path: str) -> str:
    tasks = [_caught(run, (part,), f"{path}.{index}") for index, part in enumerate(parts)]
    return " ".join(sorted([await each for each in asyncio.as_completed(tasks)]))


async def _awaited_later(run: _Run, parts: Sequence[Program], path: str) -> str:
    tasks = [asyncio.create_task(_caught(run, (part,), f"{path}.{index}")) for index, part in enumerate(parts[1:])]
    first = await run(parts[0], f"{path}.first")
    return " ".join([first, *[await task for task in tasks]])


async def _awaited_in_finally(run: _Run, parts: Sequence[Program], path: str) -> str:
    tasks = [asyncio.create_task(_caught(run, (part,), f"{path}.{index}")) for index, part in enumerate(parts[1:])]
    try:
        first = await run(parts[0], f"{path}.first")
    finally:
        await asyncio.wait(tasks) if tasks else None
    return " ".join([first, *[task.result() for task in tasks]])


async def _shielded(run: _Run, parts: Sequence[Program], path: str) -> str:
    return await asyncio.shield(_one_by_one(run, parts, path))


async def _timed(run: _Run, parts: Sequence[Program], path: str) -> str:
    return await asyncio.wait_for(_one_by_one(run, parts, path), 60)


async def _in_scopes(run: _Run, parts: Sequence[Program], path: str) -> str:
    async with asyncio.timeout(60):
        with anyio.fail_after(60):
            return await _one_by_one(run, parts, path)


async def _cleaned_up(run: _Run, parts: Sequence[Program], path: str) -> str:
    @asynccontextmanager
    async def entered() -> AsyncGenerator[None]:
        run.world.open += 1
        try:
            yield
        finally:
            try:
                await asyncio.sleep(0)  # cut off if an anyio scope is cancelled
            finally:
                run.world.open -= 1

    async with entered():
        return await _one_by_one(run, parts, path)


async def _generated(run: _Run, parts: Sequence[Program], path: str) -> str:
    async def values() -> AsyncGenerator[str]:
        for index, part in enumerate(parts):
            yield await run(part, f"{path}.{index}")

    return " ".join([value async for value in values()])


async def _caught(run: _Run, parts: Sequence[Program], path: str) -> str:
    try:
        return await _one_by_one(run, parts, path)
    except Exception:
        return "caught"


async def _all_caught(run: _Run, parts: Sequence[Program], path: str) -> str:
    try:
        return await _one_by_one(run, parts, path)
    except:
        return "all caught"


_LEAVES: dict[str, Kind] = {
    "asks": _asks,
    "effect": _effect,
    "is_refused": _is_refused,
    "asks_in_thread": _asks_in_thread,
    "plain": _plain,
}
_FAILURES: dict[str, Kind] = {"fails": _fails, "declined": _declined}
_AROUND: dict[str, Kind] = {
    "one_by_one": _one_by_one,
    "gathered": _gathered,
    "grouped": _grouped,
    "grouped_by_anyio": _grouped_by_anyio,
    "waited_for": _waited_for,
    "as_completed": _as_completed,
    "awaited_later": _awaited_later,
    "awaited_in_finally": _awaited_in_finally,
    "shielded": _shielded,
    "timed": _timed,
    "in_scopes": _in_scopes,
    "cleaned_up": _cleaned_up,
    "generated": _generated,
}
_CONTAINING: dict[str, Kind] = {
    "caught": _caught,
    "all_caught": _all_caught,
    "gathered_with_failures": _gathered_with_failures,
    "failures_waited_for": _failures_waited_for,
}
"""Catch every failure in these."""
_KINDS = _LEAVES | _FAILURES | _AROUND | _CONTAINING


# --- drawing one -----------------------------------------------------------------------------

_TURNS = st.sampled_from([0, 0, 0, 1, 2, 3, 5, 9])
Programs: TypeAlias = st.SearchStrategy[Program]


def _leaves(*kinds: str) -> Programs:
    return st.builds(Program, st.sampled_from(kinds), st.just(()), _TURNS)


def _around(kinds: Sequence[str], parts: Programs) -> Programs:
    return st.builds(Program, st.sampled_from(kinds), st.lists(parts, min_size=1, max_size=3).map(tuple), _TURNS)


_ANSWERED = _leaves("asks", "asks", "asks", *_LEAVES)
_FAILING = _leaves(*_FAILURES)


def calm() -> Programs:
    """Programs that catch every failure on the spot, so that it ends nothing else."""

    def around(parts: Programs) -> Programs:
        return _around([*_AROUND], parts) | _around([*_CONTAINING], parts | _FAILING)

    return around(st.recursive(_ANSWERED, around, max_leaves=9))


def risky() -> Programs:
    """Programs in which a branch may fail next to others.

    They don't wait for failures: asyncio would report those if the program itself is ended.
    """

    def around(parts: Programs) -> Programs:
        return _around([*_AROUND, "caught", "all_caught", "gathered_with_failures"], parts)

    return around(st.recursive(_ANSWERED | _FAILING, around, max_leaves=9))
