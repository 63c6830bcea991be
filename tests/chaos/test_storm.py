"""Kill replicas at random while people and clients use them. One round here; `make chaos ROUNDS=20` runs more.

A client resends a round that got no response; a person reopens a page that broke. Then, no matter which replica died
when:

- nothing is paid twice, and nothing is paid that nobody approved;
- each result is true: if it says paid, the payment is in the ledger;
- nobody is asked twice, and no call is lost: at worst it ends with "unknown".
"""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from tests.chaos.calling import Calling, calling
from tests.chaos.replicas import THREE, Replicas, replicas
from tests.portal.people import APPROVES, ENTERS, WITHIN, Act, Person, Refused, Surfer, connects, presses

ROUNDS = int(os.environ.get("MIDCALL_CHAOS_ROUNDS", "1"))
SEED = int(os.environ.get("MIDCALL_CHAOS_SEED", "0")) or random.randrange(1, 1_000_000)
KILLS = 2
SPREAD = 1.0
"""Seconds within which a kill comes."""

DONE = {"read_repo": "Read", "list_issues": "Open issues", "pay": "Paid 40", "order": "Ordered"}
ACTS: dict[str, Act] = {"read_repo": ENTERS, "list_issues": connects, "pay": APPROVES, "order": presses("delivery")}
UNKNOWN = ("nobody knows whether", "The user's decision was already used, and it is unknown whether")
"""A replica died while it paid, or with a decision that it had used: what it did then can't be known."""
GONE = 410
MAY_BE = {
    409: "somebody was first: the first try, most likely",
    GONE: "it is done with",
    502: "the replica has died",
}


class Stubborn(Person):
    """Reopens the page if it broke, until it reports that it's done."""

    async def _visit(self, url: str) -> None:
        async with asyncio.timeout(2 * WITHIN), httpx2.AsyncClient(follow_redirects=True, timeout=WITHIN) as http:
            while not await self._is_over(Surfer(http, self._sub), url):
                await asyncio.sleep(0.1)

    async def _is_over(self, surfer: Surfer, url: str) -> bool:
        try:
            page = await surfer.open(url)
            if page.status_code == 200:
                await self.act(surfer)
                return "/shop/" in url
            raise Refused(page)
        except httpx2.HTTPError:
            return False
        except Refused as refused:
            if refused.status not in MAY_BE:
                raise
            return refused.status == GONE


async def one_call(call: Calling, person: Person) -> str:
    """The outcome of a call, and of the person it sent to a page."""
    said = await call.whole()
    await person.done()
    assert len(call.questions) <= 1, "asked twice"
    return said


@asynccontextmanager
async def connected(at: Replicas, tools: Sequence[str], sub: str) -> AsyncIterator[list[tuple[Calling, Person]]]:
    """A client and a person for each. Nothing is killed while the SDK connects."""
    async with AsyncExitStack() as stack:
        people = [Stubborn(ACTS[tool], sub=sub) for tool in tools]
        ways = [calling(at, tool, person, sub) for tool, person in zip(tools, people, strict=True)]
        yield [(await stack.enter_async_context(way), person) for way, person in zip(ways, people, strict=True)]


async def kill_some(at: Replicas, dice: random.Random) -> None:
    """Kill two of the three at random moments, and start each again."""
    moments = [dice.random() * SPREAD for _ in range(KILLS)]
    victims = dice.sample(THREE, KILLS)
    await asyncio.gather(*(kill(at, number, moment) for number, moment in zip(victims, moments, strict=True)))


async def kill(at: Replicas, number: int, moment: float) -> None:
    await asyncio.sleep(moment)
    at.kill(number)
    await at.restart(number)


@pytest.mark.timeout(120 + 60 * ROUNDS)
@pytest.mark.parametrize("kind", ["postgres", "redis"])
async def test_no_kill_loses_or_repeats_anything(kind: str, tmp_path: Path) -> None:
    dice, became = random.Random(SEED), Counter[str]()
    async with replicas(kind, tmp_path, hold=2.0) as at:
        for number in range(ROUNDS):
            at.issuer.sub = sub = f"user-{number}"
            tools = [*DONE, "pay", "pay"]
            dice.shuffle(tools)
            async with connected(at, tools, sub) as ready:
                calls = (one_call(*each) for each in ready)
                _, *said = await asyncio.gather(kill_some(at, dice), *calls, return_exceptions=True)
            became += judged(
                at,
                [(tool, each if isinstance(each, str) else repr(each)) for tool, each in zip(tools, said, strict=True)],
            )
            (tmp_path / "ledger").unlink(missing_ok=True)
        assert "ghp_0123456789" not in at.logs
    print(f"\n{kind}, seed {SEED}, {ROUNDS} rounds of {KILLS} kills: {dict(became)}")


def judged(at: Replicas, results: Sequence[tuple[str, str]]) -> Counter[str]:
    """How many calls are done, and how many unknown; the ledger agrees."""
    wrong = [said for tool, said in results if not (said.startswith(DONE[tool]) or is_unknown(said))]
    assert not wrong, (SEED, wrong)
    unknown = sum(is_unknown(said) for _, said in results)
    paid = sum(said.startswith(DONE["pay"]) for _, said in results)
    assert len(at.payments) == len(set(at.payments)), (SEED, "paid twice")
    assert paid <= len(at.payments) <= paid + unknown, (SEED, results, at.payments)
    return Counter(done=len(results) - unknown, unknown=unknown)


def is_unknown(said: str) -> bool:
    return any(each in said for each in UNKNOWN)
