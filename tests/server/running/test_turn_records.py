"""A turn's record is bound to that turn: even someone who can write to the store can't swap it for another."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from mcp.server.mcpserver import MCPServer

import midcall
from midcall.core.journal import Head
from midcall.errors import RecordRefused
from midcall.server.running.handover import Claim, Handover
from midcall.server.running.turn import Given, Outcome
from midcall.stores import Record
from midcall.stores.memory import Memory

YES = Given({"q": {"action": "accept", "content": {"sure": True}}})
NO = Given({"q": {"action": "decline"}})


@asynccontextmanager
async def replica(store: Memory) -> AsyncGenerator[Handover]:
    installation = midcall.install(MCPServer("test"), keys="k key of the tests: 0123456789abcdef", store=store)
    handover = installation.runs.handover
    assert handover is not None
    async with asyncio.timeout(10):
        yield handover
    await installation.close()


async def settled(at: Handover, head: Head, given: Given, result: str) -> Record:
    """The record of a turn that was continued there and came to this."""
    claim = await at.claim(head, given, here=True)
    assert isinstance(claim, Claim)
    assert await at.settle(claim, Outcome({"text": result}))
    return claim.record


async def test_the_outcome_of_another_turn_is_refused() -> None:
    store = Memory()
    async with replica(store) as a, replica(store) as b:
        await settled(a, Head("one", 1, a.me), YES, "paid")
        await settled(a, Head("two", 1, a.me), NO, "kept")
        outcome = await b.claim(Head("two", 1, a.me), NO, here=False)
        assert outcome == Outcome({"text": "kept"})
        written, found = (record for record in vars(store)["_records"].values() if record.kind == "turn")
        await store.change(replace(found, outcome=written.outcome), found.version)
        with pytest.raises(RecordRefused):
            await b.claim(Head("two", 1, a.me), NO, here=False)


async def test_the_answers_of_another_turn_are_not_taken() -> None:
    store = Memory()
    async with replica(store) as a, replica(store) as b:
        offers: list[Record] = []
        waiting: list[asyncio.Task[Claim | Outcome]] = []
        await a.beat()
        for call, given in (("one", YES), ("two", NO)):
            waiting.append(asyncio.create_task(b.claim(Head(call, 1, a.me), given, here=False)))
            offered = await a.offer_of(call, 1)
            assert offered is not None
            offers.append(offered)
        yes, no = (json.loads(offered.data) for offered in offers)
        no[3] = yes[3]  # what was answered, sealed
        forged = replace(offers[1], data=json.dumps(no))
        assert await a.claim_offered(forged) is None
        claim = await a.claim_offered(offers[1])
        assert claim is not None
        assert claim.given == NO
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting)
