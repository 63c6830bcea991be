"""Settings of a client that are wrong are told where they are given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp.server import MCPServer

from midcall.client import connect
from midcall.client.automatic.script import Script
from midcall.client.connection.callback import callback, fastmcp_handler
from midcall.client.guard import Guard, Rate
from midcall.client.pending import Pending
from tests.client.answerers import Answers


@pytest.mark.parametrize(
    ("modes", "error", "told"),
    [
        ("form", TypeError, r"modes='form': write modes as a tuple, such as \('form', 'url'\)"),
        (5, TypeError, "modes=5: write modes as a tuple"),
        (("forms",), ValueError, "modes: 'forms' is not a mode; use 'form' or 'url'"),
    ],
)
async def test_unknown_modes_are_reported(modes: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        Pending(modes=modes)
    with pytest.raises(error, match=told):
        callback(Answers(modes=modes))
    with pytest.raises(error, match=told):
        callback(Answers(), modes=modes)
    with pytest.raises(error, match=told):
        async with connect(MCPServer("x"), Answers(modes=modes)):
            pass


@pytest.mark.parametrize("seconds", [0, -1, "5", True, float("nan"), float("inf")])
async def test_invalid_seconds_are_reported(seconds: Any) -> None:
    told = "timeout=.*: it takes a positive number of seconds, or None for no limit"
    for give in (callback, fastmcp_handler):
        with pytest.raises((TypeError, ValueError), match=f"^{told}"):
            give(Answers(), timeout=seconds)
    for name in ("timeout", "connect_timeout", "patience"):
        with pytest.raises((TypeError, ValueError), match=f"^{name}={seconds!r}: it takes a positive"):
            async with connect(MCPServer("x"), Answers(), **{name: seconds}):
                pass


@pytest.mark.parametrize("rate", ["5/min", 5, (5, 60)])
def test_an_invalid_rate_is_reported(rate: Any) -> None:
    with pytest.raises(TypeError, match=r"write Rate\(5, per=60\)"):
        Guard(Answers(), rate=rate)


@pytest.mark.parametrize(("count", "per"), [("5", 60), (5, "min"), (True, 60)])
def test_a_rate_is_made_of_numbers(count: Any, per: Any) -> None:
    with pytest.raises(ValueError, match="at least one question in a positive time"):
        Rate(count, per=per)


@pytest.mark.parametrize("answers", [5, None, "answers.yaml", b"x", Path("answers.yaml"), {1, 2}])
def test_an_invalid_script_is_reported(answers: Any) -> None:
    with pytest.raises(TypeError, match="takes a dict, a list or a function"):
        Script(answers)


@pytest.mark.parametrize("limit", [0, -1, "5", None, True])
def test_a_limit_below_one_is_refused(limit: Any) -> None:
    with pytest.raises(ValueError, match=r"limit=.*at least 1"):
        Pending(limit=limit)
