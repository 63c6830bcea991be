"""Random tools give the same result pushed, in rounds, and one answer at a time.

`make test` runs a few, and always the same; `make fuzz` others each time, as many as MIDCALL_FUZZ says.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Generator
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from midcall.testing import Run, run
from tests.garbage import collected
from tests.kinds import KINDS, Kind, server_with
from tests.loops import Factory, on_every_loop
from tests.programs import Program, World, answer, calm, risky, tool_of

SECONDS = 30
FUZZ = os.environ.get("MIDCALL_FUZZ")
WAYS = (
    {"era": "2025-11-25"},
    {"live": True},
    {"live": True, "one_by_one": True},
    {"live": False},
    {"live": False, "one_by_one": True},
)
CANCELLING = ("grouped", "grouped_by_anyio")
MISMATCH = "This call could not be resumed"
OF_ENDED_RUNS = ("exception was never retrieved", "Task was destroyed but it is pending")
"""What asyncio logs about tasks whose result a tool had not retrieved when its run ended."""

many = settings(
    max_examples=int(FUZZ or 30),
    suppress_health_check=list(HealthCheck),
)


class Loud(logging.Handler):
    """What is said aloud while a tool runs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


@contextmanager
def listening() -> Generator[list[str]]:
    loud = Loud()
    logging.getLogger().addHandler(loud)
    try:
        yield loud.said
    finally:
        logging.getLogger().removeHandler(loud)


def outcome(
    program: Program, kind: Kind, world: World, loop: Factory | None = None, *, live: bool = True, **way: object
) -> tuple[str, list[str]]:
    """What this program returns, asked in this way, and what was said about it."""

    async def call() -> Run:
        server = server_with(tool_of(program, world), kind=kind, max_rounds=None, live=live)
        return await asyncio.wait_for(run(server, "tool", {}, answer, **way), SECONDS)  # type: ignore[arg-type]

    with listening() as said, collected(), asyncio.Runner(loop_factory=loop) as runner:
        done = runner.run(call())
    mismatch = not live and done.text.startswith(MISMATCH) and cancels_threads(program)
    assert not done.failed or mismatch, done.text
    return done.text, said if live else [each for each in said if not any(words in each for words in OF_ENDED_RUNS)]


def said_without_us(program: Program) -> list[str]:
    """What asyncio says of this program where all answers are there at once, and nobody asks."""
    with listening() as said, collected():
        asyncio.run(asyncio.wait_for(tool_of(program, World(all_known=True))(), SECONDS))
    return said


def shields(program: Program) -> bool:
    """Whether a branch may live on behind a shield when what stood beside it has failed: it is told if it asks then."""
    return program.kind == "shielded" or any(shields(part) for part in program.parts)


def cancels_threads(program: Program) -> bool:
    """Whether a thread's branch may be cancelled.

    Only a thread that has begun by then asks. If it did so in one run and not in the next, the replay took another way.
    """
    return (program.kind in CANCELLING and threads(program)) or any(cancels_threads(part) for part in program.parts)


def threads(program: Program) -> bool:
    return program.kind == "asks_in_thread" or any(threads(part) for part in program.parts)


@pytest.mark.timeout(0)
@many
@given(calm(), st.sampled_from(KINDS))
def test_a_tool_in_which_nothing_fails_does_everything_once(program: Program, kind: Kind) -> None:
    does_everything_once(program, kind)


@pytest.mark.timeout(0)
@on_every_loop
@many
@given(program=calm(), kind=st.sampled_from(KINDS))
def test_so_it_does_on_other_loops(program: Program, kind: Kind, loop: Factory) -> None:
    does_everything_once(program, kind, loop)


def does_everything_once(program: Program, kind: Kind, loop: Factory | None = None) -> None:
    results: list[str] = []
    for way in WAYS:
        world = World()
        result, said = outcome(program, kind, world, loop, **way)
        results.append(result)
        assert (said, world.open) == ([], 0), way
        assert set(world.effects.values()) <= {1}, way
    assert len(set(results)) == 1, results


@pytest.mark.timeout(0)
@many
@given(risky(), st.sampled_from(KINDS))
def test_a_tool_in_which_branches_fail_ends_alike(program: Program, kind: Kind) -> None:
    results: list[str] = []
    said: list[list[str]] = []
    for way in WAYS:
        world = World()
        result, aloud = outcome(program, kind, world, **way)
        if result.startswith(MISMATCH):
            continue
        results.append(result)
        said.append([each for each in aloud if not (shields(program) and "NoCall(" in each)])
        assert world.open == 0, way
        assert set(world.effects.values()) <= {1}, way
    assert len(set(results)) == 1, results
    assert not any(said) or said[0] or said_without_us(program), said  # then it is what the author has left behind


@pytest.mark.parametrize("turns", range(9))
@pytest.mark.parametrize("around", ["grouped", "grouped_by_anyio", "gathered"])
def test_a_failure_behind_a_shield_is_retrieved_in_any_turn_a_live_round_leaves(around: str, turns: int) -> None:
    """A question waits for a few turns of the loop, for others to join it. Right then, the shield begins."""
    for later in range(3):
        shielded = Program("shielded", (Program("fails", turns=later),), turns)
        _, said = outcome(Program(around, (Program("asks"), shielded)), "mcpserver", World())
        assert said == [], later


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize("turns", range(12))
def test_a_question_cancelled_while_its_round_leaves_is_not_an_empty_round(turns: int, live: bool) -> None:
    group = Program("grouped", (Program("asks", turns=3), Program("fails", turns=turns)))
    assert outcome(group, "mcpserver", World(), live=live)[0] == "caught"


@pytest.mark.parametrize("turns", range(12))
def test_a_question_cancelled_while_a_later_round_is_decided_is_not_an_empty_round(turns: int) -> None:
    asks = Program("one_by_one", (Program("asks"), Program("asks")))
    program = Program("grouped", (asks, Program("gathered", (Program("fails", turns=turns),))))
    assert len({outcome(program, "mcpserver", World(), **way)[0] for way in WAYS}) == 1
