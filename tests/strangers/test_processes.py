"""The same over stdio and HTTP, with a few servers in separate processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from tests.serving import serving, stdio
from tests.strangers.calling import VERSIONS, Case, Version, called, in_memory
from tests.strangers.cases import CASES
from tests.strangers.effects import Effects

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")

SERVER: Final = Path(__file__).with_name("stranger_server.py")
SECONDS: Final = 30.0
HANDFUL: Final = (
    "no to 'Keep changes?'",
    "a deletion that is declined twice, by a tool that fails open",
    "a charge before two questions",
    "a consent gate, passed",
    "an error for a decline",
    "a tool that reads the error of a client that can't be asked",
    "gather",
    "a def tool",
    "a temporary directory",
    "logs and progress between questions",
    "a listener for the provider's redirect",
    "a form with a field of each kind, and structured output",
    "a prompt that asks",
    "a resource that asks",
    "a model between two questions",
    "FastMCP: a middleware that asks, and counts calls",
    "FastMCP: a mounted server with state, logs and progress",
)
handful = pytest.mark.parametrize(
    ("case", "version"),
    [
        pytest.param(case, version, id=f"{case.name} - {version}")
        for case in CASES
        if case.name in HANDFUL
        for version in VERSIONS
    ],
)


def told(case: Case, home: Path) -> tuple[list[str], Effects]:
    mirror = home / "effects"
    mirror.touch()
    return ["--case", case.name, "--effects", str(mirror)], Effects(mirror)


async def over_stdio(case: Case, version: Version, home: Path) -> dict[str, Any]:
    arguments, effects = told(case, home)
    with (home / "stderr").open("w") as log:
        return await called(case, stdio(SERVER, log, *arguments), version, effects, within=SECONDS)


async def over_http(case: Case, version: Version, home: Path) -> dict[str, Any]:
    arguments, effects = told(case, home)
    with serving(SERVER, home / "stderr", *arguments) as url:
        return await called(case, url, version, effects, within=SECONDS)


@handful
async def test_over_stdio_a_server_behaves_as_without_midcall(case: Case, version: Version, tmp_path: Path) -> None:
    assert await over_stdio(case, version, tmp_path) == await in_memory(case, "2025-11-25", adopted=False)


@handful
async def test_over_http_a_server_behaves_as_without_midcall(case: Case, version: Version, tmp_path: Path) -> None:
    assert await over_http(case, version, tmp_path) == await in_memory(case, "2025-11-25", adopted=False)


def test_the_selected_cases_exist() -> None:
    assert set(HANDFUL) <= {case.name for case in CASES}
