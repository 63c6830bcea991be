"""A list of tools, of which some cannot be understood."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from midcall.client import connect
from midcall.client.transport.intake import usable_tools
from midcall.testing import ERAS
from tests.client.answerers import Answers
from tests.warm import PYTHON

SERVER = [*PYTHON, str(Path(__file__).parents[1] / "cli" / "half_server.py")]
GOOD = {"name": "good", "inputSchema": {"type": "object"}}


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_gets_the_others_and_the_log_names_those(era: Any, caplog: pytest.LogCaptureFixture) -> None:
    async with connect(SERVER, Answers(), era=era) as client:
        for _ in range(2):
            assert [tool.name for tool in (await client.list_tools()).tools] == ["good", "fine"]
    told = [record.getMessage() for record in caplog.records if record.name == "midcall.client"]
    assert len(told) == 4  # each of them once
    assert told[0].endswith("which was left out: formless (inputSchema: Field required)")
    assert all(line.isprintable() for line in told)


def test_a_list_that_is_in_order_is_not_touched() -> None:
    listed = {"tools": [GOOD], "nextCursor": "2"}
    assert usable_tools(listed, "2025-11-25") == (listed, {})
    assert usable_tools(listed, "2025-11-25")[0] is listed


@pytest.mark.parametrize("listed", [{}, {"tools": None}, {"tools": {}}, {"tools": [GOOD], "nextCursor": 7}])
def test_a_malformed_list_of_tools_is_left_to_the_sdk(listed: dict[str, Any]) -> None:
    assert usable_tools(listed, "2025-11-25") == (listed, {})


@pytest.mark.parametrize("version", ["1999-01-01", "nonsense"])
def test_a_version_that_nobody_knows_is_left_to_the_sdk(version: str) -> None:
    assert usable_tools({"tools": [{}]}, version) == ({"tools": [{}]}, {})


def test_what_else_is_wrong_with_a_list_costs_no_tool() -> None:
    listed = {"tools": [GOOD, {"name": "bad"}], "nextCursor": 7}
    assert usable_tools(listed, "2025-11-25") == (
        {"tools": [GOOD], "nextCursor": 7},
        {"bad": "inputSchema: Field required"},
    )
