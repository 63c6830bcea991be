"""Test a tool that asks, with real clients and scripted answers.

    from midcall import testing

    async def test_booking():
        run = await testing.replayed(mcp, "book", {"destination": "Oslo"}, {"How many days?": 3})
        assert run.text == "3 days in Oslo"

`replayed` calls the tool with pushed questions, in rounds with the run kept in memory, in rounds that
run the tool again from the top, and in such rounds that bring one answer each. A tool that isn't
replayable gives different results, and fails there, in your test suite.
"""

from __future__ import annotations

from midcall.testing.page import press
from midcall.testing.replaying import replayed
from midcall.testing.running import ERAS, Era, NotReplayable, Run, connect, run
from midcall.testing.script import Answers, Asked, Script
from midcall.testing.vault import fill_vault

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
