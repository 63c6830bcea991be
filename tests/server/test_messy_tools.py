"""Tools as people write them give the same result pushed, in rounds, and one answer at a time."""

from __future__ import annotations

import logging
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.client.stdio import StdioServerParameters
from mcp_types import TextContent

from midcall.testing import ERAS, Era, Script, connect, run
from tests import messy

SERVER = Path(messy.__file__)
NAMES = [each.name for each in messy.SCENARIOS]


@pytest.fixture(autouse=True)
def no_complaints(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    yield
    loud = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert not loud, loud


def find(name: str) -> messy.Scenario:
    return next(each for each in messy.SCENARIOS if each.name == name)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("name", NAMES)
async def test_a_messy_tool_works_on_every_version(name: str, era: Era) -> None:
    scenario, token = find(name), uuid.uuid4().hex
    done = await run(messy.build(), name, {"token": token}, scenario.answers, era=era)
    assert not done.failed, done.text
    assert "".join(done.text.split()) == "".join(scenario.expected.split())
    assert messy.COUNTS[token] == scenario.effects


@pytest.mark.parametrize("name", NAMES)
async def test_a_messy_tool_works_when_every_round_brings_one_answer(name: str) -> None:
    scenario, token = find(name), uuid.uuid4().hex
    done = await run(messy.build(), name, {"token": token}, scenario.answers, one_by_one=True)
    assert not done.failed, done.text
    assert "".join(done.text.split()) == "".join(scenario.expected.split())
    assert messy.COUNTS[token] == scenario.effects
