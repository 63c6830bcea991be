"""Ask n questions in sequence: midcall and every other way, on every transport."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Final

from bench.candidates import CANDIDATES, PUSH, ROUNDS, Candidate, Era
from bench.clients import Caller, Transport, connected
from bench.measure import WALL, Check, Step, best_of, cpu_clock
from bench.report import Target, heading, milliseconds, ratio, row

Best = dict[tuple[str, int], float]

_BASES: Final[dict[str, tuple[str, ...]]] = {
    "rounds": ("by-hand", "resolve"),
    "replayed": ("by-hand", "resolve"),
    "push": ("bare", "elicit", "fastmcp"),
}
"""The baselines."""

_TURNS: Final = {1: 80, 5: 50, 20: 24, 100: 10}
_PROCESS_TURNS: Final = {1: 60, 5: 40, 20: 30, 100: 30}
_SHORT_TURNS: Final = {1: 20, 5: 14, 20: 10}
_SERVERS: Final[dict[Transport, int]] = {"memory": 3, "stdio": 1, "http": 1}
"""Servers per candidate: the memory layout of a single one shifts results by as much as we want to detect."""
_AT_LEAST: Final = 30
_FEW: Final = 3
_SECONDS: Final[dict[Transport, float]] = {"memory": 60.0, "stdio": 30.0, "http": 60.0}
"""Seconds to spend on one n; with n = 100, even if that allows only a few turns."""
_SLOW: Final = ("resolve", 100)
"""Takes seconds per call: it gets few turns in memory and none elsewhere."""


async def compare(transport: Transport, sizes: Sequence[int], *, short: bool) -> list[Target]:
    """Measure and print this part of the table."""
    best: Best = {}
    turns: dict[int, int] = {}
    async with AsyncExitStack() as stack:
        callers = [
            await stack.enter_async_context(connected(each, transport))
            for each in CANDIDATES
            for _ in range(_SERVERS[transport])
        ]
        for n in sizes:
            turns[n] = await _measure(callers, transport, n, best, short)
    for era in (ROUNDS, PUSH):
        _print(transport, era, sizes, best, turns)
    return _targets(sizes, best) if transport == "memory" else []


async def _measure(callers: list[Caller], transport: Transport, n: int, best: Best, short: bool) -> int:
    clock = cpu_clock() if transport == "memory" else WALL
    servers = _SERVERS[transport]
    fast = [caller for caller in callers if (caller.candidate.name, n) != _SLOW]
    found, turns = await best_of(
        (_SHORT_TURNS if short else _TURNS if transport == "memory" else _PROCESS_TURNS)[n],
        {each: _step(each, n) for each in fast},
        clock,
        at_least=_FEW if n > 20 else _AT_LEAST // servers,
        budget=_SECONDS[transport],
    )
    if transport == "memory":
        slow = [each for each in callers if each not in fast]
        found |= (await best_of(_FEW, {each: _step(each, n) for each in slow[:1]}, clock))[0]
    for caller, seconds in found.items():
        key = caller.candidate.name, n
        best[key] = min(seconds, best.get(key, seconds))
    return turns * servers


def _step(caller: Caller, n: int) -> tuple[Step, Check]:
    return partial(caller.call, caller.candidate.tool(n), {"n": n}), partial(caller.check, n)


def _print(transport: Transport, era: Era, sizes: Sequence[int], best: Best, turns: dict[int, int]) -> None:
    where = {"memory": "in memory", "stdio": "over stdio", "http": "over HTTP"}[transport]
    print(heading(f"{era} {where}, ms per call", sizes))
    for candidate in _of(era):
        print(row(candidate.label, [milliseconds(best.get((candidate.name, n))) for n in sizes]))
    us = next(name for name in _BASES if _named(name).era == era)
    for base in _BASES[us]:
        cells = [ratio(best.get((us, n)), best.get((base, n))) for n in sizes]
        print(row(f"= midcall / {_named(base).label}", cells))
    print(row("best of", [str(turns[n]) for n in sizes]), flush=True)
    if ("resolve", 100) in best and era == ROUNDS:
        print(f"  ({_named('resolve').label} with n = 100: best of {_FEW})")


def _of(era: Era) -> list[Candidate]:
    return [candidate for candidate in CANDIDATES if candidate.era == era]


def _named(name: str) -> Candidate:
    return next(candidate for candidate in CANDIDATES if candidate.name == name)


def _targets(sizes: Sequence[int], best: Best) -> list[Target]:
    targets: list[Target] = []
    for n in sizes:
        names = ("rounds", "replayed", "by-hand", "push", "bare")
        rounds, replayed, by_hand, push, bare = (best[name, n] for name in names)
        targets.append(Target(f"rounds, live / hand-written, n = {n}", rounds / by_hand, 1.05 if n > 20 else 0.95))
        targets.append(
            Target(f"rounds, replayed / hand-written, n = {n}", replayed / by_hand, 1.35 if n > 20 else 1.15)
        )
        if n == 20:
            resolve = best["resolve", n]
            label = f"Resolve / rounds, as a part of Resolve / hand-written, n = {n}"
            targets.append(Target(label, by_hand / rounds, 1.0, at_least=True, floor=resolve / rounds))
        targets.append(Target(f"push / bare request, n = {n}", push / bare, 1.3))
        targets.append(Target(f"push / ctx.elicit, n = {n}", push / best["elicit", n], 0.9 if n == 1 else 0.65))
    return targets
