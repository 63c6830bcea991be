"""A run belongs to its event loop: at a server that serves several, it counts as not here on the others."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from midcall.testing import connect
from tests.calling import Elicit, Round, asking, begin, finish

ANSWERS = {"a?": "1"}
SECONDS = 20


@contextmanager
def another_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop that runs in its own thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(SECONDS)
        loop.close()


async def test_a_run_of_another_event_loop_counts_as_not_here_and_the_call_is_replayed() -> None:
    runs: Counter[int] = Counter()

    async def tool(elicit: Elicit) -> str:
        runs[threading.get_ident()] += 1
        return await elicit("a?")

    server = asking("mcpserver", tool)
    began: Future[Round] = Future()

    async def elsewhere(leave: asyncio.Event) -> None:
        async with connect(server) as client:
            began.set_result(await begin(client, "tool"))
            await leave.wait()

    with another_loop() as loop:
        leave = asyncio.Event()
        waiting: Any = asyncio.run_coroutine_threadsafe(elsewhere(leave), loop)
        async with asyncio.timeout(SECONDS), connect(server) as client:
            first = await asyncio.wrap_future(began)
            assert await finish(client, first, ANSWERS) == "1"
        loop.call_soon_threadsafe(leave.set)
        await asyncio.wrap_future(waiting)
    assert sorted(runs.values()) == [1, 1]
