"""No text that a server or a client sends takes long: what reads and shows it, on long and odd ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from mcp import MCPError
from mcp.client._memory import InMemoryTransport
from mcp.server import MCPServer
from mcp.shared.message import SessionMessage
from mcp_types import CallToolResult, JSONRPCRequest, TextContent, Tool

from midcall.cli.call.arguments import BadArgument, read, split
from midcall.cli.call.results import as_text
from midcall.cli.tools import _draw_tool  # pyright: ignore[reportPrivateUsage]
from midcall.cli.tools.schemas import kinds_of
from midcall.client import connect
from midcall.client.asked import Asked, FormQuestion
from midcall.client.automatic.script_file import BadScript, read_script
from midcall.client.guard.lists import Servers
from midcall.client.lines.display import Sheet
from midcall.client.lines.excerpt import one_line, server_name, shorten, shorten_paragraphs
from midcall.client.lines.screen import Ink
from midcall.client.transport.intake import Intake, usable_tools
from midcall.client.urls import look
from midcall.core.forms import line_input
from midcall.core.forms.check import check
from midcall.core.forms.fields import Choice, Choices, Text
from midcall.core.forms.form import Form
from midcall.core.forms.hints import list_hints
from midcall.core.forms.line_input import splitter
from midcall.core.outcome import Cancelled
from midcall.core.text import plain
from midcall.doctor.masking import mask
from midcall.portal.logs import mask as mask_path
from midcall.settings.client import MAX_MALFORMED_TOOLS, MAX_ROUND_QUESTIONS
from midcall.web.forms import Pages
from midcall.web.forms.inputs import read as read_posted
from midcall.web.forms.inputs import split_moment
from tests.budget import cpu_budget
from tests.client.answerers import Answers
from tests.client.raw import MODERN, Raw, final
from tests.long_texts import Long, assert_fast, long_texts, some

SECONDS = 5.0
"""Of processor time. Each takes a few milliseconds."""
PAGES = Pages()


def show(text: str) -> None:
    sheet = Sheet(lambda line: None, Ink(), 80)
    sheet.open(server_name(text), text, "Answer", one_line(text))
    sheet.field(Form(Text("x", title=text, description=text)), 0, clearable=True)
    sheet.options(choice := Choice("x", {"a": text, "b": "B"}), choice.values)
    sheet.address(look(text))


def draw(text: str) -> object:
    schema = {"type": "object", "properties": {text: {"type": "string", "description": text, "default": text}}}
    return _draw_tool(Tool(name=text, description=text, input_schema=schema))


FUNCTIONS: dict[str, Callable[[str], object]] = {
    "look": look,
    "look at a host": lambda text: look(f"https://{text}/"),
    "look at a path": lambda text: look(f"https://a.example/{text}"[:32_000]),
    "one_line": one_line,
    "shorten": shorten,
    "shorten_paragraphs": shorten_paragraphs,
    "servers": Servers(None, ["evil"]).allow,
    "lines": show,
    "a page": lambda text: PAGES.form(
        Form(Text("x", title=text, description=text, default=text.encode("utf-8", "replace").decode()))
    ),
    "hints": lambda text: list_hints(Text("x", format="email", title=text)),
    "digest": lambda text: Asked(FormQuestion(text, None), "1", text).digest,
    "a moment": split_moment,
    "a result": lambda text: as_text(CallToolResult(content=[TextContent(text=text)], structured_content={}), plain),
    "a tool": draw,
    "mask": lambda text: mask(text, {}),
    "mask a path": mask_path,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@some
@given(text=long_texts)
@example(text=Long(("://",)))
@example(text=Long(("\u0301\u0316",), "https://a"))
@example(text=Long(("[",)))
def test_a_long_odd_text_is_read_and_shown_in_bounded_time(name: str, text: Long) -> None:
    assert_fast(FUNCTIONS[name], text)


# --- many parts ------------------------------------------------------------------------------

MANY = [f"o{number}" for number in range(10_000)]


def test_ten_thousand_answers_to_ten_thousand_options_are_read_at_once() -> None:
    options = Choices("x", MANY)
    with cpu_budget(SECONDS):
        form = Form(options)
        posted = [("f0", str(number)) for number in range(10_000)]
        assert read_posted(form, posted) == {"x": MANY}
        assert len(read_posted(form, [("f0", f"z{number}") for number in range(10_000)])["x"]) == 10_000
        assert line_input.read(options, ",".join(MANY[:5_000])) == MANY[:5_000]
        assert line_input.search(options, MANY) is None
        assert line_input.search(options, ["99"] * 100) == [each for each in MANY if "99" in each]


def test_an_option_of_many_commas_is_still_one_option() -> None:
    long = "a," * 5_000 + "b"
    with cpu_budget(SECONDS):
        split_line = splitter(Choices("x", [long, "c", "d, e"]))
        assert split_line(f"c,{long},d, e") == ["c", long, "d, e"]
        assert split_line("a," * 5_000) == ["a"]


def test_ten_thousand_problems_are_found_at_once() -> None:
    form = Form(*(Text(name, max_length=1) for name in MANY))
    with cpu_budget(SECONDS):
        assert len(check(form, dict.fromkeys(MANY, "aa"))) == len(check(form, {})) == 10_000


def test_one_malformed_tool_among_many_does_not_read_the_others_parts_again() -> None:
    good = {"name": "a", "inputSchema": {"type": "object"}}
    listed = {"tools": [{}, *[good] * 1_000], "_meta": {str(number): ["x"] * 10 for number in range(10_000)}}
    with cpu_budget(SECONDS):
        result, bad = usable_tools(listed, "2025-11-25")
        assert (len(result["tools"]), list(bad), result["_meta"]) == (1_000, ["no. 1"], listed["_meta"])


def test_a_million_malformed_parts_of_a_message_take_no_longer_than_a_few() -> None:
    good, parts = {"name": "a", "inputSchema": {"type": "object"}}, 300_000
    with cpu_budget(SECONDS):
        result, bad = usable_tools({"tools": [good, *[{}] * parts, good]}, "2025-11-25")
        assert len(bad) == MAX_MALFORMED_TOOLS
        assert result["tools"] == [good], "the rest of such a list is not read"
        _, bad = usable_tools({"tools": [{**good, "icons": [{}] * parts}]}, "2025-11-25")
        assert list(bad) == ["a"]
        malformed = {"message": "", "requestedSchema": {"type": "object", "properties": {}, "required": [1] * parts}}
        pushed = JSONRPCRequest(jsonrpc="2.0", id=1, method="elicitation/create", params=malformed)
        repaired = Intake(InMemoryTransport(MCPServer("s"))).incoming(SessionMessage(pushed))
        assert "the question is malformed" in repr(repaired)


async def test_a_round_of_very_many_questions_asks_none_and_takes_no_longer_than_a_few() -> None:
    form = {"mode": "form", "message": "a?", "requestedSchema": {"type": "object", "properties": {}}}
    question = {"method": "elicitation/create", "params": form}
    left = [100_000, MAX_ROUND_QUESTIONS + 1, 3]

    async def handle(raw: Raw, call: dict[str, Any]) -> dict[str, Any]:
        if "inputResponses" in call:
            return final()
        asked = {str(number): question for number in range(left.pop(0))}
        return {"resultType": "input_required", "requestState": "s", "inputRequests": asked}

    answerer = Answers(lambda asked: Cancelled())
    async with connect(Raw(handle, MODERN).transport(), answerer) as client:
        for count in ("100,000", "10,001"):
            with cpu_budget(SECONDS), pytest.raises(MCPError, match=f"asked {count} questions at once"):
                await client.call_tool("it")
        assert answerer.asked == []
        await client.call_tool("it")
        assert len(answerer.asked) == 3


def test_a_name_that_appears_twice_in_a_large_file_is_found_at_once(tmp_path: Path) -> None:
    names = [*(f"a{number}" for number in range(30_000)), "again", "again"]
    path = tmp_path / "answers.json"
    path.write_text("{" + ", ".join(f'"{name}": 1' for name in names) + "}")
    with cpu_budget(SECONDS):
        with pytest.raises(BadScript, match="'again' appears twice"):
            read_script(path)


# --- the schema of a tool --------------------------------------------------------------------


@pytest.mark.parametrize("way", ["anyOf", "oneOf", "allOf"])
def test_a_schema_that_refers_to_itself_many_times_ends(way: str) -> None:
    bomb = {way: [{"$ref": "#/$defs/a"}] * 10, "minLength": 2}
    schema = {"type": "object", "properties": {"x": bomb, "y": {"type": "string"}}, "$defs": {"a": bomb}}
    deep = {f"a{level}": {way: [{"$ref": f"#/$defs/a{level + 1}"}] * 2} for level in range(100)}
    with cpu_budget(SECONDS):
        kinds_of(schema)
        assert read(split(["x=abc"]), {**schema, "$defs": {"a": {"$ref": "#/$defs/a0"}, **deep, "a100": {}}}) == {
            "x": "abc"
        }
        read(split(["x=abc"]), schema)


HOSTILE: dict[str, dict[str, Any]] = {
    "pattern": {"properties": {"x": {"type": "string", "pattern": "^(a+)+$"}}},
    "look-ahead": {"properties": {"x": {"type": "string", "pattern": "^(?=(a+)+$)b|c(?=d)"}}},
    "another dialect": {
        "properties": {"x": {"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "^(a+)+$"}}
    },
    "itself": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {"x": {"type": "string", "pattern": "^(a|a)*$"}},
        "allOf": [{"$ref": "#/$defs/a"}],
        "$defs": {"a": {"properties": {"x": {"allOf": [{"pattern": "^(a+)+$"}]}}}},
    },
    "names": {"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False},
    "more names": {"patternProperties": {"^(a+)+$": {}}, "unevaluatedProperties": False},
    "inner names": {"properties": {"x": {"type": "object", "patternProperties": {"^(a+)+$": {}}}}},
    "many patterns": {"properties": {"x": {"allOf": [{"pattern": "[b-\ud7ff]" * 390 + str(n)} for n in range(100)]}}},
    "names of names": {"propertyNames": {"pattern": "^(a+)+$"}, "additionalProperties": True},
}


@pytest.mark.parametrize("schema", HOSTILE.values(), ids=HOSTILE)
def test_a_servers_pattern_does_not_hang_who_calls_its_tool(schema: dict[str, Any]) -> None:
    name = "a" * 40 + "!"
    with cpu_budget(SECONDS):
        for typed in (f"x={name}", f"{name}=1", f'x:={{"{name}": 1}}'):
            try:
                read(split([typed]), {"type": "object", **schema})
            except BadArgument:
                pass


def test_an_argument_is_still_checked_against_the_pattern_of_its_tool() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string", "pattern": "^[a-z]+$"}}}
    assert read(split(["x=abc"]), schema) == {"x": "abc"}
    with pytest.raises(BadArgument, match=r"x: 'ABC' does not match"):
        read(split(["x=ABC"]), schema)
