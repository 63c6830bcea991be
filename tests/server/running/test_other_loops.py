"""Messy tools, and tools with threads, on the loops of `tests/loops.py`."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from mcp.server import MCPServer

from midcall.testing import Era, Run, replayed, run
from tests import messy
from tests.kinds import server_with
from tests.loops import Factory, on_every_loop
from tests.server.running.test_threads import ABC, SECONDS, TOOLS

pytestmark = pytest.mark.usefixtures("no_complaints")


def on(loop: Factory, work: Any) -> Run:
    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(asyncio.wait_for(work, SECONDS))


@on_every_loop
@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28", "one by one"])
@pytest.mark.parametrize("name", [each.name for each in messy.SCENARIOS])
def test_a_messy_tool_works_on_every_loop(
    name: str, era: Era | str, loop: Factory, messy_server: MCPServer[Any]
) -> None:
    scenario, token = next(each for each in messy.SCENARIOS if each.name == name), uuid.uuid4().hex
    way: dict[str, Any] = {"one_by_one": True} if era == "one by one" else {"era": era}
    done = on(loop, run(messy_server, name, {"token": token}, scenario.answers, **way))
    assert not done.failed, done.text
    assert "".join(done.text.split()) == "".join(scenario.expected.split())
    assert messy.COUNTS[token] == scenario.effects


@on_every_loop
@pytest.mark.timeout(2 * SECONDS)  # a loop that is stopped keeps no time
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.__name__)
def test_a_tool_asks_from_its_threads_on_every_loop(tool: Callable[..., Any], loop: Factory) -> None:
    done = on(loop, replayed(server_with(tool), tool.__name__, {}, {**ABC, "Sure?": True}))
    assert (done.text, done.failed) == (TOOLS[tool], False)
