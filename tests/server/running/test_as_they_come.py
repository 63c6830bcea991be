"""Tools that take results from their branches as they arrive, in an order that the tool doesn't control."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from midcall import Declined, UserDeclined, ask, confirm, once
from midcall.testing import Asked, run
from tests.kinds import KINDS, Kind, server_with

pytestmark = pytest.mark.usefixtures("both_modes")

WAYS: list[dict[str, Any]] = [{"era": "2025-11-25"}, {}, {"one_by_one": True}]


def answer(asked: Asked) -> Any:
    return True if asked.message.startswith("Keep") else asked.message[:2]


async def two() -> str:
    return await ask("a1?", str) + await ask("a2?", str)


async def one() -> str:
    return await ask("b1?", str)


async def from_a_queue(take: Callable[[str], Awaitable[str]]) -> str:
    results: asyncio.Queue[str] = asyncio.Queue()

    async def put(branch: Callable[[], Awaitable[str]]) -> None:
        await results.put(await branch())

    async with asyncio.TaskGroup() as group:
        for branch in (two, one):
            group.create_task(put(branch))
        return " ".join(sorted([await take(await results.get()) for _ in range(2)]))


async def from_a_stream(take: Callable[[str], Awaitable[str]]) -> str:
    send, receive = anyio.create_memory_object_stream[str](2)

    async def put(branch: Callable[[], Awaitable[str]]) -> None:
        await send.send(await branch())

    with send, receive:
        async with anyio.create_task_group() as group:
            for branch in (two, one):
                group.start_soon(put, branch)
            taken = sorted([await take(await receive.receive()) for _ in range(2)])
    return " ".join(taken)


async def by_wait(take: Callable[[str], Awaitable[str]]) -> str:
    pending = {asyncio.create_task(two()), asyncio.create_task(one())}
    taken: list[str] = []
    while pending:
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        taken += [await take(text) for text in sorted(task.result() for task in done)]
    return " ".join(sorted(taken))


async def by_as_completed(take: Callable[[str], Awaitable[str]]) -> str:
    return " ".join(sorted([await take(await each) for each in asyncio.as_completed([two(), one()])]))


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("taken", [from_a_queue, from_a_stream, by_wait, by_as_completed])
async def test_it_does_something_with_each_and_does_it_once(
    taken: Callable[[Callable[[str], Awaitable[str]]], Awaitable[str]], kind: Kind, way: dict[str, Any]
) -> None:
    saved: list[str] = []

    def save(what: str) -> str:
        saved.append(what)
        return what

    async def tool() -> str:
        return await taken(lambda text: once("save", save, text))

    done = await run(server_with(tool, kind=kind), "tool", {}, answer, **way)
    assert done.text == "a1a2 b1"
    assert sorted(saved) == ["a1a2", "b1"]


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("taken", [from_a_queue, from_a_stream, by_wait, by_as_completed])
async def test_it_asks_about_each_and_asks_once(
    taken: Callable[[Callable[[str], Awaitable[str]]], Awaitable[str]], way: dict[str, Any]
) -> None:
    async def keep(text: str) -> str:
        return text if await confirm(f"Keep {text}?") else ""

    async def tool() -> str:
        return await taken(keep)

    done = await run(server_with(tool), "tool", {}, answer, **way)
    assert done.text == "a1a2 b1"
    assert sorted(asked.message for asked in done.asked) == ["Keep a1a2?", "Keep b1?", "a1?", "a2?", "b1?"]


async def by_gather() -> None:
    await asyncio.gather(ask("a?", str), ask("b?", str))


async def by_wait_for() -> None:
    await asyncio.wait_for(ask("a?", str), 60)


@pytest.mark.parametrize("both_modes", ["replay"], indirect=True)
@pytest.mark.parametrize("way", [{}, {"one_by_one": True}], ids=str)
@pytest.mark.parametrize("first", [by_gather, by_wait_for])
async def test_an_effect_that_changes_after_all_branches_have_ended_is_a_mismatch_before_it_is_done_again(
    first: Callable[[], Awaitable[None]], way: dict[str, Any]
) -> None:
    paid: list[int] = []

    def pay(amount: int) -> int:
        paid.append(amount)
        return amount

    async def tool() -> str:
        await first()
        await once("pay", pay, len(paid))
        return await ask("c?", str) + await ask("d?", str)

    done = await run(server_with(tool), "tool", {}, answer, **way)
    assert done.failed
    assert "Call the tool again to start over" in done.text
    assert paid == [0]


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_branch_that_ends_the_tool_before_its_earlier_steps_is_not_a_mismatch(
    way: dict[str, Any],
) -> None:
    booked: list[int] = []

    def book() -> int:
        booked.append(1)
        return 1

    async def declines() -> None:
        await ask("no?", str)

    async def tool() -> str:
        ended = "declined"
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(declines())
                for _ in range(4):
                    await asyncio.sleep(0)
                await once("book", book)
                await ask("b1?", str)
                ended = "booked"
        except* UserDeclined:
            pass
        return ended

    done = await run(server_with(tool), "tool", {}, lambda asked: Declined() if asked.message == "no?" else "x", **way)
    assert done.text == "declined"
    assert len(booked) <= 1


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_question_in_a_scope_that_was_cancelled_is_not_asked(way: dict[str, Any]) -> None:
    async def tool() -> str:
        name = "nobody"
        with anyio.CancelScope() as scope:
            scope.cancel()
            try:
                await anyio.sleep_forever()
            finally:
                name = await ask("Name?", str)
        return f"{name} {await ask('Other?', str)}"

    done = await run(server_with(tool), "tool", {}, answer, **way)
    assert done.text == "nobody Ot"
    assert [asked.message for asked in done.asked] == ["Other?"]


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_question_of_a_branch_whose_group_has_failed_is_not_asked(way: dict[str, Any]) -> None:
    async def tool() -> str:
        name = "nobody"

        async def works() -> None:
            nonlocal name
            try:
                await anyio.sleep_forever()
            finally:
                name = await ask("Undo?", str)

        async def fails() -> None:
            await ask("Go?", str)
            raise ValueError

        try:
            async with anyio.create_task_group() as group:
                group.start_soon(works)
                group.start_soon(fails)
        except* ValueError:
            pass
        for _ in range(20):  # a round would leave by then
            await asyncio.sleep(0)
        return name

    done = await run(server_with(tool), "tool", {}, answer, **way)
    assert done.text == "nobody"
    assert [asked.message for asked in done.asked] == ["Go?"]
