"""Test a tool that asks, with real clients and scripted answers.

    from midcall import testing

    async def test_booking():
        run = await testing.replayed(mcp, "book", {"destination": "Oslo"}, {"How many days?": 3})
        assert run.text == "3 days in Oslo"

`replayed` calls the tool with pushed questions, in rounds with the run kept in memory, in rounds that
run the tool again from the top, and in such rounds that bring one answer each. A tool that isn't
replayable gives different results, and fails there, in your test suite.

Each name is imported when it's first used: pytest loads this package everywhere, for its fixture.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from midcall.testing.page import press
    from midcall.testing.replaying import replayed
    from midcall.testing.running import ERAS, Era, NotReplayable, Run, connect, run
    from midcall.testing.script import Answers, Asked, Script
    from midcall.testing.vault import fill_vault

_HOMES = {
    "midcall.testing.page": ("press",),
    "midcall.testing.replaying": ("replayed",),
    "midcall.testing.running": ("ERAS", "Era", "NotReplayable", "Run", "connect", "run"),
    "midcall.testing.script": ("Answers", "Asked", "Script"),
    "midcall.testing.vault": ("fill_vault",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "ERAS",
    "Answers",
    "Asked",
    "Era",
    "NotReplayable",
    "Run",
    "Script",
    "connect",
    "fill_vault",
    "press",
    "replayed",
    "run",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'midcall.testing' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return list(__all__)
