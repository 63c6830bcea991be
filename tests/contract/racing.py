"""Several processes that do something to a store, or to a page, at the same moment."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.contract import racer
from tests.serving import environment
from tests.warm import PYTHON

WITHIN = 60.0


class Racer:
    """Another process, which takes tasks one by one.

    Args:
        script: The script to run; by default the one that acts on stores.
    """

    def __init__(self, script: ModuleType = racer) -> None:
        command = [*PYTHON, str(Path(script.__file__ or ""))]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()
        )

    async def get_ready(self, url: str, action: str, given: dict[str, Any]) -> None:
        """Let it connect, and wait until it's ready."""
        self._write(json.dumps({"url": url, "action": action, "given": given}))
        assert await self._line() == "ready"

    def go(self) -> None:
        self._write("go")

    async def result(self) -> Any:
        return json.loads(await self._line())

    def end(self) -> None:
        self._process.kill()
        self._process.communicate(timeout=10)

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    async def _line(self) -> str:
        assert self._process.stdout is not None
        async with asyncio.timeout(WITHIN):
            return (await asyncio.to_thread(self._process.stdout.readline)).strip()


async def race(
    racers: Sequence[Racer], url: str | Sequence[str], action: str, givens: Sequence[dict[str, Any]]
) -> list[Any]:
    """Run this in all processes at once, at one URL or each at its own, and return the results."""
    running = racers[: len(givens)]
    urls = [url] * len(givens) if isinstance(url, str) else url
    tasks = zip(running, urls, givens, strict=True)
    await asyncio.gather(*(each.get_ready(where, action, given) for each, where, given in tasks))
    for each in running:
        each.go()
    return await asyncio.gather(*(each.result() for each in running))
