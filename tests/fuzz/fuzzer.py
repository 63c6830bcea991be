"""Runs inputs against a target, and reports each that it doesn't survive.

A target survives an input if nothing unexpected is raised, no error is logged, no secret appears anywhere, and it takes
less than a second of CPU time. Input number 17 of seed 5 is always the same one.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import time
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from random import Random
from types import FrameType
from typing import Any, Final

from midcall.errors import MidcallError

CPU_SECONDS: Final = 1.0
"""How long an input may keep the processor busy."""
STOPPED_AFTER: Final = 5
"""After so many times as long, a target that doesn't come back is interrupted."""
WALL_SECONDS: Final = 60.0
"""How long a target may wait for something, on a machine that has other things to do."""

LONGEST_SHOWN: Final = 20_000

CANARY: Final = "canary-5f1d9c0a7b3e"
"""A secret that targets hold. Nobody may ever see it."""

REJECTED: Final = "rejected"
"""An input that didn't get past the door."""

Take = Callable[[Any], Awaitable[str | list[str]]]
"""Gives the target an input. Returns how far it got; of an input with several messages, each of them."""


class Finding(AssertionError):
    """Something that must not happen."""


class TooSlow(BaseException):
    """Raised inside a target that doesn't come back. Nothing may catch it."""


@dataclass(frozen=True)
class Target:
    """Something that strangers can send inputs to.

    Args:
        name: What it's called on the command line.
        make: Makes an input: plain data, so that its repr can be pasted into a test.
        open: Opens the target for many inputs.
        short: How many inputs CI gives it.
        share: How many of all inputs it gets, compared with other targets.
        must: What some of its inputs must reach. If none does, the target tests nothing behind its door.
        seconds: How long one input may keep the processor busy.
    """

    name: str
    make: Callable[[Random], Any]
    open: Callable[[], AbstractAsyncContextManager[Take]]
    short: int
    share: int
    must: tuple[str, ...] = ()
    seconds: float = CPU_SECONDS


@dataclass
class Failure:
    """An input that a target didn't survive."""

    target: str
    seed: str
    number: int
    input: Any
    why: str
    kind: str

    def __str__(self) -> str:
        shown = repr(self.input)
        again = f"python -m tests.fuzz {self.target} --seed {self.seed} --first {self.number} --inputs 1"
        return (
            f"{self.target}, input {self.number} of seed {self.seed}:\n{self.why}\nThe input, for a regression test:\n"
            f"{shown if len(shown) < LONGEST_SHOWN else 'too long to show'}\nTo run it again: {again}"
        )


@dataclass
class Report:
    """How it went."""

    target: str
    inputs: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    reached: Counter[str] = field(default_factory=Counter[str])
    failures: list[Failure] = field(default_factory=list[Failure])

    @property
    def deep(self) -> int:
        """How many got past the door."""
        return self.inputs - self.reached[REJECTED]

    def __str__(self) -> str:
        rate = self.inputs / self.seconds if self.seconds else 0.0
        deep = self.deep / max(1, self.inputs)
        reached = ", ".join(f"{name} {count:,}" for name, count in self.reached.most_common())
        return (
            f"{self.target:10} {self.inputs:>9,} inputs, {rate:>7,.0f}/s, {deep:>4.0%} deep, "
            f"slowest {self.slowest:.2f} s, {len(self.failures)} failures ({reached})"
        )


def fuzz(
    target: Target,
    inputs: int,
    seed: str = "0",
    *,
    first: int = 0,
    seconds: float = float("inf"),
    most: int = 1,
    tell: Callable[[Failure], None] = lambda failure: None,
) -> Report:
    """Give this target so many inputs, for at most so many seconds, and up to `most` different failures."""
    return asyncio.run(_fuzz(target, inputs, seed, first, seconds, most, tell))


def survive(target: Target, made: Any) -> None:
    """Give this target one input, and raise if it doesn't survive it."""

    async def run() -> None:
        with listening() as said:
            async with target.open() as take:
                failure = await _try(take, made, said, Report(target.name), target.seconds)
        if failure is not None or said:
            raise Finding(failure[1] if failure is not None else said[0])

    asyncio.run(run())


async def _fuzz(
    target: Target,
    inputs: int,
    seed: str,
    first: int,
    seconds: float,
    most: int,
    tell: Callable[[Failure], None],
) -> Report:
    report, number, begun = Report(target.name), first, time.process_time()
    with listening() as said:
        while report.inputs < inputs and len(report.failures) < most and report.seconds < seconds:
            async with target.open() as take:  # again after each failure: the target may be broken now
                failure = None
                while report.inputs < inputs and failure is None and report.seconds < seconds:
                    made = target.make(Random(f"{target.name} {seed} {number}"))
                    failure = await _try(take, made, said, report, target.seconds)
                    report.seconds = time.process_time() - begun
                    number += 1
            if failure is None and said:  # about one of the last inputs
                failure = said[0], said.pop(0)
            if failure is not None:
                kind, why = failure
                found = Failure(target.name, seed, number - 1, made, why, kind)
                if kind not in {each.kind for each in report.failures}:
                    report.failures.append(found)
                    tell(found)
    return report


async def _try(take: Take, made: Any, said: list[str], report: Report, seconds: float) -> tuple[str, str] | None:
    """Give the target this input. What kind of failure it is, and all about it; None if it went well."""
    start = time.process_time()
    reached: str | list[str] = []
    try:
        with _interrupted(seconds * STOPPED_AFTER) as stuck:
            async with asyncio.timeout(WALL_SECONDS):
                reached = await take(made)
        if said:
            raise Finding(said[0])
    except (Exception, TooSlow) as error:
        kind, why = _describe(error)
    else:
        kind = why = ""
    took = time.process_time() - start
    if stuck:
        kind, why = f"stuck {stuck[-1][-1].strip()}", f"It didn't come back:\n{''.join(stuck[-1])}"
    elif not kind and took > seconds:
        kind, why = "slow", f"It took {took:.2f} s of CPU time."
    said.clear()
    labels = [reached] if isinstance(reached, str) else reached or ["failed"]
    report.reached.update(labels)
    report.inputs += len(labels)
    report.slowest = max(report.slowest, took)
    return (kind, why) if kind else None


def _describe(error: BaseException) -> tuple[str, str]:
    """What kind of error it is (its type and where it was raised), and its traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    text = str(error).partition("\n")[0][:60] if isinstance(error, Finding) else ""
    lines = "".join(traceback.format_exception(error)).splitlines()
    return f"{type(error).__name__} {where} {text}", "\n".join(line[:500] for line in lines[-30:])


@contextmanager
def _interrupted(seconds: float) -> Generator[list[list[str]]]:
    """Raise `TooSlow` once this took so much CPU time. Collects the stacks at that moment."""
    stacks: list[list[str]] = []
    if not hasattr(signal, "SIGPROF"):  # Windows
        yield stacks
        return

    def stop(_: int, frame: FrameType | None) -> None:
        stacks.append(traceback.format_stack(frame, 12))
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        yield stacks
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# --- what is logged ----------------------------------------------------------------------------


class _Listener(logging.Handler):
    """Collects what must not be logged: secrets, errors that aren't ours, and complaints of asyncio."""

    def __init__(self, said: list[str]) -> None:
        super().__init__()
        self._said = said
        self._format = logging.Formatter("%(name)s %(levelname)s: %(message)s").format

    def emit(self, record: logging.LogRecord) -> None:
        ours = record.name.partition(".")[0] in ("midcall", "asyncio")
        error = record.exc_info[1] if record.exc_info else None
        text = self._format(record)
        if CANARY in text:
            self._said.append(f"A secret was logged: {text}")
        elif ours and not isinstance(error, MidcallError) and (error is not None or record.levelno >= logging.ERROR):
            self._said.append(f"An error was logged: {text}")


@contextmanager
def listening() -> Iterator[list[str]]:
    """What is logged meanwhile, and must not be."""
    said: list[str] = []
    listener, root = _Listener(said), logging.getLogger()
    root.addHandler(listener)
    try:
        yield said
    finally:
        root.removeHandler(listener)


def check_output(text: str) -> None:
    """What a user, a model or a client is shown contains no secret and no traceback."""
    if CANARY in text:
        raise Finding(f"a secret is in the output: {text[:2000]!r}")
    if "Traceback (most recent call last)" in text:
        raise Finding(f"a traceback is in the output: {text[:2000]!r}")
