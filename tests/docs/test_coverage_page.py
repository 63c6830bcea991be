"""The page of what the documents say: each statement has a name here and tests, and each name exists."""

from __future__ import annotations

import re
from keyword import iskeyword
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from mcp.server.mcpserver import exceptions

import midcall
import midcall.client

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs/coverage.md").read_text()
DOCUMENTS: Final = {
    'The C# SDK\'s guide, "Elicitation"': [
        "Server Support for Elicitation",
        "Form Mode Elicitation (In-Band)",
        "URL Mode Elicitation (Out-of-Band)",
        "Client Support for Elicitation",
        "URL Elicitation Required Error",
        "Listening for Elicitation Completion Notifications",
    ],
    'The protocol\'s page, "Elicitation" (2025-06-18)': [
        "Elicitation",
        "Trust & safety, security considerations",
        "Capabilities",
        "Protocol Messages",
        "Message Flow",
        "Request Schema",
        "Response Actions",
    ],
    'mcp-go\'s guide, "Elicitation"': [
        "Overview, Enabling Elicitation",
        "ElicitationParams, Validation",
        "Response Actions",
        "Form Mode: Requesting Elicitation in a Tool Handler",
        "Conditional Elicitation",
        "URL Mode: Requesting URL Elicitation",
        "Completion Notification",
        "URLElicitationRequiredError",
        "Client-Side Handler",
        "ElicitationCapability",
        "Error Handling",
        "Context and Timeouts",
        "Best Practices",
    ],
}
MOST_TESTS: Final = 3
TEST: Final = re.compile(r"`tests/[\w/]+\.py::test_\w+`")
TYPES: Final = {"list", "float", "int", "bool", "date", "datetime", "Literal", "EmailStr", "AnyUrl", "Field", "Context"}
"""Names of others that stand for a kind of field, or for a parameter."""
OF_AN_ANSWERER: Final = {"modes", "answer"}
OF_THE_PROTOCOL: Final = {"enumNames"}


class Row(NamedTuple):
    section: str
    cells: list[str]


def rows_of(part: str) -> list[Row]:
    """The rows of all tables in this part, without their heads."""
    found: list[Row] = []
    section = ""
    for line in part.splitlines():
        if line.startswith("### "):
            section = line[4:]
        elif line.startswith("| ") and not line.startswith("| it says"):
            found.append(Row(section, [cell.strip() for cell in line.strip("|").split(" | ")]))
    return found


def parts() -> dict[str, str]:
    titles = re.findall(r"^## (.+)$", PAGE, re.M)
    texts = re.split(r"^## .+$", PAGE, flags=re.M)[1:]
    return dict(zip(titles, texts, strict=True))


def statements() -> list[Row]:
    return [row for title, part in parts().items() if title != "Not ours" for row in rows_of(part)]


def test_the_page_has_each_document_with_its_sections_in_order() -> None:
    assert list(parts()) == [*DOCUMENTS, "Different here", "Not ours"]
    for title, sections in DOCUMENTS.items():
        assert re.findall(r"^### (.+)$", parts()[title], re.M) == sections
        assert {row.section for row in rows_of(parts()[title])} == set(sections)


def test_every_statement_has_a_name_here_and_one_to_three_tests() -> None:
    assert len(statements()) > 100
    for row in statements():
        says, here, shown = row.cells
        assert says.endswith("."), says
        assert here, says
        tests = shown.split(", ")
        assert all(TEST.fullmatch(test) for test in tests), says
        assert len(set(tests)) == len(tests) <= MOST_TESTS, says


def test_a_section_says_nothing_twice() -> None:
    said = [(row.section, row.cells[0]) for title in DOCUMENTS for row in rows_of(parts()[title])]
    assert len(set(said)) == len(said)


def test_what_is_not_ours_has_a_reason() -> None:
    rows = rows_of(parts()["Not ours"])
    assert len(rows) > 5
    assert all(len(row.cells) == 2 and row.cells[1].endswith(".") for row in rows)


def test_the_list_of_sections_leads_to_each_part() -> None:
    head = PAGE.partition("\n## ")[0]
    for title in parts():
        anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        assert f"](#{anchor})" in head


@pytest.mark.parametrize(
    ("title", "page"),
    [('The C# SDK\'s guide, "Elicitation"', "from-csharp"), ('mcp-go\'s guide, "Elicitation"', "from-mcp-go")],
)
def test_the_page_for_newcomers_has_every_name_of_their_guide(title: str, page: str) -> None:
    text = (ROOT / f"docs/migrating/{page}.md").read_text()
    names = {
        name.lstrip(".").rpartition(".")[2]
        for row in rows_of(parts()[title])
        if (named := re.match(r"((?:`[^`]+`(?:, )?)+)[^:]*:", row.cells[0]))
        for name in re.findall(r"`([^`]+)`", named[1])
    }
    assert len(names) > 15
    assert [name for name in sorted(names) if name not in text] == []


NAMES: Final = sorted(
    {
        name
        for row in statements()
        for code in re.findall(r"`([^`]+)`", row.cells[1])
        for name in re.findall(r"(?<![\w.\"'])([A-Za-z]\w*)(?=\(|$)", code)
        if not iskeyword(name)
    }
)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_on_the_page_exists(name: str) -> None:
    ours = {*midcall.__all__, *midcall.client.__all__, *OF_AN_ANSWERER}
    assert name in ours | TYPES | OF_THE_PROTOCOL | set(vars(exceptions))
