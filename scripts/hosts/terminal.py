"""A person at the keys of a host in tmux: three questions, and an approval on a page."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scripts.filling import approve
from scripts.hosts.hosts import Host, Room

SECONDS: Final = 60.0
"""How long the person waits for what should be on the screen."""
PAUSE: Final = 0.6
"""How long a screen takes to settle."""


@dataclass(frozen=True)
class Keys:
    """What a person presses. A text that begins with `=` is typed."""

    text: Sequence[str]
    choice: Sequence[str]
    yes: Sequence[str]
    opened: Sequence[str]


KEYS: Final[Mapping[str, Keys]] = {
    "Claude Code": Keys(
        ["=Ada", "Enter", "Enter"],
        ["Right", "Down", "Enter", "Enter"],
        ["Space", "Enter", "Enter"],
        ["Right", "Enter"],
    ),
    "Codex": Keys(["=Ada", "Enter"], ["Down", "Enter"], ["Enter"], ["=done", "Enter"]),
    "GitHub Copilot CLI": Keys(["=Ada", "Enter"], ["Down", "Enter"], ["Enter"], ["Enter"]),
}


async def try_out(host: Host, room: Room, env: Mapping[str, str]) -> str:
    """What came of it, in a few words. What was on the screen at last is in `screen.txt`."""
    assert host.terminal is not None
    keys = KEYS[host.name]
    screen = Screen(room, env)
    await screen.start(host.terminal(room))
    try:
        await asyncio.sleep(10)  # there is no sign that all hosts give when they are ready
        form = await _ask(screen, keys, room)
        page = await _approve(screen, keys, room)
    finally:
        (room.home / "screen.txt").write_text(await screen.read())
        await screen.tmux("kill-server")
    return f"forms: {form}; an approval: {page}"


async def _ask(screen: Screen, keys: Keys, room: Room) -> str:
    await screen.say('CALL book {"city": "Oslo"}')
    for wanted, pressed in (("Who is travelling", keys.text), ("Which seat", keys.choice), ("Book it for", keys.yes)):
        if not await screen.shows(wanted):
            return f"“{wanted}…” was not shown"
        await screen.press(pressed)
    return "✓ shown and answered" if await _told(room, "Booked for Ada, seat a") else "shown, and not taken as answered"


async def _approve(screen: Screen, keys: Keys, room: Room) -> str:
    await screen.say('CALL pay {"euros": 5, "to": "Ada"}')
    if not await screen.shows("Pay 5 EUR"):
        return "not shown"
    addresses = re.findall(r"http://127\.0\.0\.1:\d+(?:/\w+)?/i/\w+", room.wire.read_text())
    if not addresses:
        return "shown without an address"
    await approve(addresses[-1])
    await screen.press(keys.opened)
    return "✓ opened and approved" if await _told(room, "Paid 5 EUR to Ada") else "opened, and not taken as approved"


async def _told(room: Room, text: str) -> bool:
    """Whether the server has said this within the time."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        if text in room.wire.read_text():
            return True
        await asyncio.sleep(PAUSE)
    return False


class Screen:
    """A terminal of tmux, on a socket of its own."""

    def __init__(self, room: Room, env: Mapping[str, str]) -> None:
        self._room, self._env = room, {**env, "COLORTERM": "truecolor", "TMUX_TMPDIR": str(room.home)}

    async def tmux(self, *args: str) -> str:
        process = await asyncio.create_subprocess_exec(
            "tmux", "-L", "host", "-f", os.devnull, *args, env=self._env, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await process.communicate()
        return out.decode()

    async def start(self, command: Sequence[str]) -> None:
        where = str(self._room.work)
        await self.tmux("new-session", "-d", "-s", "host", "-x", "110", "-y", "40", "-c", where, *command)

    async def read(self) -> str:
        return await self.tmux("capture-pane", "-p", "-t", "host")

    async def shows(self, text: str) -> bool:
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            if text in re.sub(r"\s+", " ", await self.read()):
                await asyncio.sleep(PAUSE)
                return True
            await asyncio.sleep(PAUSE)
        return False

    async def press(self, keys: Sequence[str]) -> None:
        for key in keys:
            await self.tmux("send-keys", "-t", "host", *(["-l", key[1:]] if key.startswith("=") else [key]))
            await asyncio.sleep(PAUSE)

    async def say(self, text: str) -> None:
        await self.press([f"={text}", "Enter"])
