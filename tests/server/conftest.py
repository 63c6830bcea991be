"""For tests that only show something where nothing was logged."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from mcp.server import MCPServer

from midcall.server.channels.apps import channel
from midcall.server.resuming import visits
from tests import messy

OF_ENDED_RUNS = "finished exception=CancelledError()"
"""What asyncio says of a future that a tool had not awaited yet when its run was ended."""


@pytest.fixture
def no_complaints(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing is logged that somebody would have to look at."""
    yield
    loud = [record.getMessage() for record in caplog.get_records("call") if record.levelno >= logging.WARNING]
    assert not [each for each in loud if OF_ENDED_RUNS not in each], loud


@pytest.fixture(scope="module")
def messy_server() -> MCPServer[Any]:
    """A server with all messy tools. A token identifies the effects of each run."""
    return messy.build()


@pytest.fixture(params=["live", "replay"])
def both_modes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The same with runs that stay in memory between rounds, and with runs that are ended and replayed."""
    monkeypatch.setenv("MIDCALL_LIVE", "1" if request.param == "live" else "0")
    return request.param


@pytest.fixture
def brief_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request with a code doesn't wait for long until the user has answered: here they never do meanwhile."""
    monkeypatch.setattr(visits, "BRIEF_HOLD_SECONDS", 0.02)


@pytest.fixture
def never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host shows Apps only with the result."""
    monkeypatch.setattr(channel, "APP_SECONDS", 0.02)
