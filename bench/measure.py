"""Best of many, the candidates shuffled and each one warmed by a call of its own."""

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
    """For what happens in one process: it leaves out what others do with the machine meanwhile."""
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
    """For each candidate the seconds of its fastest call, and how often all were called.

    After `budget` seconds no further turn begins, once there were `at_least`.
    """
    best = dict.fromkeys(candidates, float("inf"))
    order = list(candidates)
    ends = time.monotonic() + budget
    gc.collect()
    gc.freeze()  # what the setup left behind is not looked through again
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
