"""A list of tools, of which some cannot be understood."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp.server.lowlevel import Server
from mcp_types import CallToolResult, ListToolsResult, Tool

from midcall.client import connect
from midcall.client.transport.intake import drop_output_patterns, usable_tools
from midcall.testing import ERAS
from tests.budget import cpu_budget
from tests.client.answerers import Answers
from tests.warm import PYTHON

SERVER = [*PYTHON, str(Path(__file__).parents[2] / "cli" / "half_server.py")]
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


def test_other_mistakes_in_a_list_lose_no_tool() -> None:
    listed = {"tools": [GOOD, {"name": "bad"}], "nextCursor": 7}
    assert usable_tools(listed, "2025-11-25") == (
        {"tools": [GOOD], "nextCursor": 7},
        {"bad": "inputSchema: Field required"},
    )


def evil(output_schema: dict[str, Any]) -> Server[Any]:
    """A server whose tool returns a text on which its own pattern never finishes."""

    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        tool = Tool(name="x", input_schema={"type": "object"}, output_schema={"type": "object", **output_schema})
        return ListToolsResult(tools=[tool])

    async def call_tool(ctx: Any, params: Any) -> CallToolResult:
        return CallToolResult(content=[], structured_content={"v": "a" * 30 + "!", "a" * 30 + "!": 1})

    return Server("evil", on_list_tools=list_tools, on_call_tool=call_tool)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "output_schema",
    [
        {"properties": {"v": {"type": "string", "pattern": "^(a+)+$"}}},
        {"properties": {"v": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"allOf": [{"pattern": "^(a|a)*$"}]}}},
        {"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False},
    ],
)
async def test_the_pattern_of_an_output_schema_does_not_hang_the_client(
    era: Any, output_schema: dict[str, Any]
) -> None:
    async with connect(evil(output_schema), Answers(), era=era) as client:
        for listed_before in (False, True):
            with cpu_budget(5):
                if listed_before:
                    await client.list_tools()
                result = await client.call_tool("x", {})
                assert result.structured_content is not None


def test_only_patterns_are_dropped_from_an_output_schema() -> None:
    data = {"const": {"pattern": "^a"}, "default": {"pattern": "b"}, "pattern": "c", "minLength": 1}
    schema = {"type": "object", "properties": {"pattern": {"type": "string"}, "v": data}, "required": ["pattern"]}
    [tool] = drop_output_patterns({"tools": [{**GOOD, "outputSchema": schema}]})["tools"]
    del data["pattern"]
    assert tool == {**GOOD, "outputSchema": schema}
