"""A message that changes in every run can't be replayed: the second change ends the call with an error."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from midcall import ask, from_thread
from midcall.testing import connect
from tests.kinds import server_with

numbers = count()


async def gathered() -> str:
    return str(await asyncio.gather(ask(f"At {next(numbers)}?", str)))


async def waited_for() -> str:
    return await asyncio.wait_for(ask(f"At {next(numbers)}?", str), 30)


def in_a_thread() -> str:
    return from_thread.ask(f"At {next(numbers)}?", str)


async def in_the_tool() -> str:
    return await ask(f"At {next(numbers)}?", str)


TOOLS = [gathered, waited_for, in_a_thread, in_the_tool]


@pytest.mark.parametrize("tool", TOOLS)
async def test_replayed_it_is_a_mismatch_at_the_second_divergence(
    tool: Callable[[], Any], caplog: pytest.LogCaptureFixture
) -> None:
    async with connect(server_with(tool, live=False), ["x"] * 20) as client:
        result = await client.call_tool(tool.__name__, {})
    assert result.is_error
    mistakes = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert len(mistakes) == 1
    assert mistakes[0].startswith(f"ReplayMismatch in '{tool.__name__}'")


@pytest.mark.parametrize("tool", TOOLS)
async def test_live_it_is_asked_once(tool: Callable[[], Any]) -> None:
    async with connect(server_with(tool, live=True), ["x"]) as client:
        result = await client.call_tool(tool.__name__, {})
    assert not result.is_error


async def test_the_first_divergence_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async with connect(server_with(in_the_tool, live=False), ["x"] * 20) as client:
        await client.call_tool("in_the_tool", {})
    said = [record.getMessage() for record in caplog.records if "answers were dropped" in record.getMessage()]
    assert len(said) == 1
