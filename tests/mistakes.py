"""A bug in a tool: the call fails even if the tool catches it, the model sees no details, and it's logged once."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

import pytest

from midcall.errors import MidcallError
from midcall.testing import Answers, Era, run
from tests.kinds import Kind, server_with

BROKEN: Final = MidcallError.for_model
"""What the model reads."""


async def mistake_in(
    tool: Callable[..., Any],
    caplog: pytest.LogCaptureFixture,
    answers: Answers = (),
    *,
    kind: Kind = "mcpserver",
    era: Era = "2026-07-28",
    asked: int = 0,
) -> str:
    """Call this tool, which has one bug after so many questions, and return what the log says about it."""
    done = await run(server_with(tool, kind=kind), tool.__name__, {}, answers, era=era)
    assert (done.failed, done.text, len(done.asked)) == (True, BROKEN, asked)
    return logged_mistake(caplog)


def logged_mistake(caplog: pytest.LogCaptureFixture) -> str:
    """The only bug in the log."""
    (message,) = (each.getMessage() for each in caplog.records if _is_mistake(each))
    return message


def _is_mistake(record: logging.LogRecord) -> bool:
    return record.name == "midcall" and record.levelno >= logging.ERROR
