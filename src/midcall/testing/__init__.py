"""Test a tool that asks, with real clients and scripted answers.

    from midcall import testing

    async def test_booking():
        run = await testing.replayed(mcp, "book", {"destination": "Oslo"}, {"How many days?": 3})
        assert run.text == "3 days in Oslo"

`replayed` runs the tool three times: with questions pushed, in rounds, and in rounds that bring one
answer each, so that every question suspends and every round runs the tool again. A tool that is
not replayable gives different results, and fails there, in your test suite.
"""

from __future__ import annotations

from midcall.testing.pressing import press
from midcall.testing.running import ERAS, Era, NotReplayable, Run, connect, replayed, run
from midcall.testing.script import Answers, Asked, Script

__all__ = ["ERAS", "Answers", "Asked", "Era", "NotReplayable", "Run", "Script", "connect", "press", "replayed", "run"]
