"""Tools as people write them give the same result pushed, in rounds, and one answer at a time."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.server import MCPServer
from mcp_types import TextContent

from midcall.testing import ERAS, Era, Script, connect, run
from tests import messy
from tests.kinds import Kind
from tests.serving import serving, stdio

SERVER = Path(messy.__file__)
NAMES = [each.name for each in messy.SCENARIOS]


pytestmark = pytest.mark.usefixtures("no_complaints")


@pytest.fixture(scope="module", params=["live", "replay"])
def messy_server(request: pytest.FixtureRequest) -> MCPServer[Any]:
    return messy.build(live=request.param == "live")


def find(name: str) -> messy.Scenario:
    return next(each for each in messy.SCENARIOS if each.name == name)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("name", NAMES)
async def test_a_messy_tool_works_on_every_version(name: str, era: Era, messy_server: MCPServer[Any]) -> None:
    scenario, token = find(name), uuid.uuid4().hex
    done = await run(messy_server, name, {"token": token}, scenario.answers, era=era)
    assert not done.failed, done.text
    assert "".join(done.text.split()) == "".join(scenario.expected.split())
    assert messy.COUNTS[token] == scenario.effects


@pytest.mark.parametrize("name", NAMES)
async def test_a_messy_tool_works_when_every_round_brings_one_answer(name: str, messy_server: MCPServer[Any]) -> None:
    scenario, token = find(name), uuid.uuid4().hex
    done = await run(messy_server, name, {"token": token}, scenario.answers, one_by_one=True)
    assert not done.failed, done.text
    assert "".join(done.text.split()) == "".join(scenario.expected.split())
    assert messy.COUNTS[token] == scenario.effects


async def run_all(target: object, era: Era, kind: Kind = "mcpserver") -> list[str]:
    """Every scenario over one connection; what went wrong."""
    faults: list[str] = []
    answers = Script()
    async with connect(target, answers, era=era) as client:
        for scenario in messy.scenarios(kind):
            token = uuid.uuid4().hex
            answers.restart(scenario.answers)
            result = await client.call_tool(scenario.name, {"token": token})
            [block] = result.content
            assert isinstance(block, TextContent)
            counted = await client.call_tool("effects", {"token": token})
            assert isinstance(counted.content[0], TextContent)
            if result.is_error or "".join(block.text.split()) != "".join(scenario.expected.split()):
                faults.append(f"{scenario.name}: {block.text!r} instead of {scenario.expected!r}")
            elif counted.content[0].text != str(scenario.effects):
                faults.append(f"{scenario.name}: {counted.content[0].text} effects instead of {scenario.effects}")
    return faults


@pytest.mark.parametrize("era", ERAS)
async def test_every_messy_tool_works_over_one_stdio_connection(era: Era, tmp_path: Path) -> None:
    log = tmp_path / "stderr"
    with log.open("w") as stderr:
        assert await run_all(stdio(SERVER, stderr), era) == []
    assert complaints(log.read_text()) == []


@pytest.mark.parametrize("era", ERAS)
async def test_every_messy_tool_works_over_http(era: Era, http_server: tuple[str, Path]) -> None:
    url, log = http_server
    assert await run_all(url, era) == []
    if log.parent.name.startswith("live"):  # otherwise asyncio logs gathers that nobody awaited
        assert complaints(log.read_text()) == []


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", ["lowlevel", "fastmcp"])
async def test_messy_tools_work_on_every_kind_of_server(kind: Kind, era: Era) -> None:
    assert await run_all(messy.build(kind), era, kind) == []


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_messy_tools_of_fastmcp_work_over_one_stdio_connection(era: Era, tmp_path: Path) -> None:
    log = tmp_path / "stderr"
    with log.open("w") as stderr:
        assert await run_all(stdio(SERVER, stderr, "--kind", "fastmcp"), era, "fastmcp") == []
    assert complaints(log.read_text()) == []


@pytest.mark.parametrize("era", ERAS)
async def test_messy_tools_work_at_once_over_one_stdio_connection(era: Era, tmp_path: Path) -> None:
    log, alike = tmp_path / "stderr", [each for each in messy.SCENARIOS if each.answers is messy.ABC]

    async def call(client: Client, scenario: messy.Scenario) -> tuple[str, str]:
        result: Any = await client.call_tool(scenario.name, {"token": uuid.uuid4().hex})
        return scenario.name, result.content[0].text

    with log.open("w") as stderr:
        async with connect(stdio(SERVER, stderr), lambda asked: messy.ABC[asked.message], era=era) as client:
            done = await asyncio.gather(*(call(client, scenario) for scenario in alike))
    assert dict(done) == {each.name: each.expected for each in alike}
    assert complaints(log.read_text()) == []


def complaints(log: str) -> list[str]:
    words = ("Traceback", "ERROR", "never retrieved", "never awaited", "was destroyed", "Exception")
    return [line for line in log.splitlines() if any(word in line for word in words)]


@pytest.fixture(scope="module", params=["live", "replay"])
def http_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    log = tmp_path_factory.mktemp(request.param) / "stderr"
    with serving(SERVER, log, MIDCALL_LIVE="1" if request.param == "live" else "0") as url:
        yield url, log
