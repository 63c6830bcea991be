"""Best of many: candidates in random order, each warmed up by a call."""

import gc
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

Key = TypeVar("Key")
Step = Callable[[], Awaitable[Any]]
Check = Callable[[Any], None]
Clock = Callable[[], float]


def cpu_clock() -> Clock:
    """CPU time, for work in one process: other programs don't count."""
    fine = time.get_clock_info("process_time").resolution <= 1e-6
    return time.process_time if fine else time.perf_counter


WALL: Final[Clock] = time.perf_counter


async def best_of(
    times: int,
    candidates: Mapping[Key, tuple[Step, Check]],
    clock: Clock,
    *,
    at_least: int = 1,
    budget: float = float("inf"),
) -> tuple[dict[Key, float], int]:
    """Return the seconds of each candidate's fastest call, and the number of turns.

    After `budget` seconds, and at least `at_least` turns, no further turn starts.
    """
    best = dict.fromkeys(candidates, float("inf"))
    order = list(candidates)
    ends = time.monotonic() + budget
    gc.collect()
    gc.freeze()  # keep the setup's objects out of later collections
    turn = 0
    for turn in range(1, times + 1):
        random.shuffle(order)
        for key in order:
            call, check = candidates[key]
            check(await call())
            begun = clock()
            result = await call()
            took = clock() - begun
            check(result)
            best[key] = min(best[key], took)
        if turn >= at_least and time.monotonic() > ends:
            break
    gc.unfreeze()
    return best, turn
