"""A server's effects, recorded in order."""

from __future__ import annotations

from pathlib import Path

import anyio


class Effects:
    """One list per server, so that runs don't mix. A server in another process writes to a `mirror`."""

    def __init__(self, mirror: Path | None = None) -> None:
        self._done: list[str] = []
        self._mirror = mirror
        self._changed = anyio.Event()

    @property
    def done(self) -> list[str]:
        return self._done if self._mirror is None else self._mirror.read_text().splitlines()

    def add(self, what: str) -> None:
        self._done.append(what)
        self._changed.set()
        self._changed = anyio.Event()
        if self._mirror is not None:
            with self._mirror.open("a") as file:
                file.write(what + "\n")

    async def until(self, what: str) -> None:
        """Wait for this effect."""
        while what not in self._done:
            await self._changed.wait()
