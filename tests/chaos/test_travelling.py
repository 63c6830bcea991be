"""Existing `ctx.elicit` tools on three replicas that are killed and stopped while people answer.

A few calls here; `make chaos` makes 500. Clients resend requests that got no response, some send them to two replicas
at once, and some send another answer afterwards. Then, no matter what was done to the replicas:

- no effect with `once` happens twice, even after stopped replicas continue;
- no effect without it happens twice, unless its process died, was stopped, got no CPU or was shut down;
- no call hangs: each ends with its result, or reports that the last effect is unknown.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError
from mcp_types import INTERNAL_ERROR

from midcall.testing import connect
from tests.chaos.fleet import NAMES, Fleet, Line, fleet
from tests.rounds import accept, raw_call, text

LONG = "MIDCALL_CHAOS_ROUNDS" in os.environ
CALLS = 500 if LONG else 60
SEED = int(os.environ.get("MIDCALL_CHAOS_SEED", "0")) or random.randrange(1, 1_000_000)
CLIENTS = 8
PATIENCE = 5.0
"""Seconds after which a client resends its request: longer than it takes for a replica to count as gone."""
STOPPED = 3.0
WITHIN = 90.0
"""Seconds after which a call counts as hanging."""

ANSWERS = ("tea", "home")
UNKNOWN = "nobody knows whether"
CONTINUED = "already continued with other answers"
ACCEPTED = 3


class Customer:
    """Makes calls one by one, and answers their questions."""

    def __init__(self, client: Client, dice: random.Random) -> None:
        self._client = client
        self._dice = dice
        self.repeated = 0

    async def order(self, call: str) -> str:
        """The call's outcome."""
        said = await self._first(call)
        for answer in ANSWERS:
            call = said["call"]
            said = {**await self._round(call, said, answer), "call": call}
        return text(said)

    async def _first(self, call: str) -> dict[str, Any]:
        """A first request has no turn, so resending it starts another call."""
        for attempt in itertools.count():
            name = f"{call}.{attempt}"
            said = await self._try(self._send(name, None, None))
            if said is not None:
                return {**said, "call": name}
            self.repeated += 1
        raise AssertionError

    async def _round(self, call: str, asked: dict[str, Any], answer: str) -> dict[str, Any]:
        [key] = asked["inputRequests"]
        state, given = asked["requestState"], {key: accept(word=answer)}
        copies = 2 if self._dice.random() < 0.25 else 1
        while True:
            sent = [self._try(self._send(call, state, given)) for _ in range(copies)]
            said = [each for each in await asyncio.gather(*sent) if each is not None]
            if said:
                assert all(_asks(each) == _asks(said[0]) for each in said), "two outcomes of one turn"
                break
            self.repeated += 1
        if self._dice.random() < 0.15:
            await self._refused(call, state, {key: accept(word="poison")})
        return said[0]

    async def _refused(self, call: str, state: str, other: dict[str, Any]) -> None:
        """Another answer to a continued state."""
        with pytest.raises(MCPError, match=CONTINUED):
            await self._surely(call, state, other)

    async def _surely(self, call: str, state: str, answers: dict[str, Any]) -> None:
        while await self._try(self._send(call, state, answers)) is None:
            pass

    async def _send(self, call: str, state: str | None, answers: dict[str, Any] | None) -> dict[str, Any]:
        return await raw_call(self._client, "order", {"call": call}, state=state, answers=answers)

    async def _try(self, sending: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any] | None:
        """The answer; None if nobody answers."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await sending
        except (TimeoutError, httpx2.HTTPError):
            return None
        except MCPError as exc:
            if exc.code != INTERNAL_ERROR:  # how the SDK reports a 502, or a server that is shutting down
                raise
            await asyncio.sleep(0.1)
            return None


def _asks(said: dict[str, Any]) -> Any:
    """An outcome without its encrypted state, which always differs."""
    return {name: value for name, value in said.items() if name != "requestState"}


async def hurt(at: Fleet, dice: random.Random) -> None:
    """A random replica, or one that has just claimed a turn and is working."""
    number = dice.randrange(len(NAMES))
    if dice.random() < 0.6:
        async with asyncio.timeout(WITHIN):
            number = at.number_of(await at.next_line("between", "after", "charged"))
    ways: list[Callable[[], Coroutine[Any, Any, None]]] = [
        lambda: at.kill(number),
        lambda: at.stop(number, STOPPED),
        lambda: at.end(number),
    ]
    await dice.choice(ways)()


async def hurt_twice(at: Fleet) -> None:
    """Kill one and pause one, each working on a turn that it has claimed."""
    killed = at.number_of(await at.next_line("between", "after"))
    restarting = asyncio.create_task(at.kill(killed))
    while (stopped := at.number_of(await at.next_line("between", "after"))) == killed:
        pass
    await at.stop(stopped, STOPPED)
    await restarting


async def keep_hurting(at: Fleet, dice: random.Random) -> None:
    while True:
        await asyncio.sleep(dice.random() * 2)
        await hurt(at, dice)


async def make_calls(at: Fleet, dice: random.Random, numbers: Any, became: Counter[str]) -> None:
    async with connect(at.mcp) as client:
        customer = Customer(client, dice)
        for number in numbers:
            async with asyncio.timeout(WITHIN):
                said = await customer.order(f"call-{number}")
            became["unknown" if UNKNOWN in said else "done" if said.startswith("tea to home for") else said] += 1
        became["sent again"] += customer.repeated


@pytest.mark.timeout(900 if LONG else 120)
@pytest.mark.parametrize("kind", ["postgres", "redis"])
async def test_effects_happen_once_unless_their_process_was_disturbed_and_with_once_always(
    kind: str, tmp_path: Path
) -> None:
    dice, became, numbers = random.Random(SEED), Counter[str](), iter(range(CALLS))
    async with fleet(kind, tmp_path) as at:
        hurting = asyncio.create_task(keep_hurting(at, dice) if LONG else hurt_twice(at))
        async with asyncio.TaskGroup() as group:
            for _ in range(CLIENTS):
                group.create_task(make_calls(at, dice, numbers, became))
        if not LONG:
            await hurting
        hurting.cancel()
        await asyncio.gather(hurting, return_exceptions=True)
        await asyncio.sleep(STOPPED)  # paused replicas continue, and may try what another has done
        lines = at.lines
        report = f"{kind}, seed {SEED}, {CALLS} calls, {dict(Counter(at.done))}: {dict(became)}"
        print(f"\n{report}, {judge(at, lines)} effects again")
    assert became["done"] + became["unknown"] == CALLS, report
    assert became["unknown"] <= max(ACCEPTED, CALLS // 10), report


def judge(at: Fleet, lines: list[Line]) -> int:
    """How often an effect without `once` was repeated, each time for a known reason."""
    calls: defaultdict[str, list[Line]] = defaultdict(list)
    for line in lines:
        calls[line.call].append(line)
    calls.pop("-", None)
    again = 0
    for call, done in calls.items():
        count = Counter(line.effect for line in done)
        assert count["charged"] <= 1, (SEED, call, done)
        repeats = max(count.values()) - 1
        hits = at.hits({line.pid for line in done}, done[0].begun - 1, done[-1].ended)
        assert repeats <= hits, (SEED, call, done, at.faults)
        again += sum(count.values()) - len(count)
    return again
