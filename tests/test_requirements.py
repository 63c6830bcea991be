"""Every promise has tests, and every named test exists."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path

import pytest

from tests.conftest import HOSTILE, LONGEST, PROOFS, UNITS, WITH_PROGRAMS
from tests.requirements import PLANNED, SHOWN_BY

ROOT = Path(__file__).parent.parent
LINE = re.compile(r"^- (?P<id>[A-Z]+-\d+) (?P<force>MUST|SHOULD) (?P<text>.+?)(?P<planned> \(planned\))?$", re.M)
PROMISES = {found["id"]: found for found in LINE.finditer((ROOT / "docs/promises.md").read_text())}


@lru_cache
def named_in(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text())
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, kinds) and node.name.startswith("test_"))


def test_every_promise_is_mapped_and_nothing_else_is() -> None:
    assert set(SHOWN_BY) == set(PROMISES)


def test_only_planned_promises_have_no_tests() -> None:
    without = {id for id, tests in SHOWN_BY.items() if tests == PLANNED}
    assert without == {id for id, found in PROMISES.items() if found["planned"]}


def test_every_named_test_exists() -> None:
    missing = [
        f"{id}: {test}"
        for id, tests in SHOWN_BY.items()
        for test in tests
        if test.partition("::")[2] not in named_in(test.partition("::")[0])
    ]
    assert missing == []


@pytest.mark.parametrize("listed", [LONGEST, PROOFS, (f"{HOSTILE}*.py",), UNITS, WITH_PROGRAMS])
def test_every_test_that_a_make_target_runs_or_leaves_out_exists(listed: tuple[str, ...]) -> None:
    for place in listed:
        path, _, name = place.partition("::")
        assert any(ROOT.glob(path if path.endswith((".py", "/")) else f"{path}*.py")), place
        assert not name or name in named_in(path), place


@pytest.mark.parametrize(("page", "at_least"), [("security", 50), ("coverage", 150)])
def test_every_test_that_a_page_names_exists(page: str, at_least: int) -> None:
    """The threat model, and what the documents of the protocol say."""
    text = (ROOT / f"docs/{page}.md").read_text()
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", text)
    assert len(named) >= at_least
    assert text.count("`tests/") == len(named), "a test is not written as `tests/file.py::test_name`"
    assert [f"{path}::{test}" for path, test in named if test not in named_in(path)] == []


def test_every_threat_names_a_test() -> None:
    page = (ROOT / "docs/security.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| ") and "| shown by |" not in line]
    tables = page[page.index("## A hostile client") : page.index("## Fuzzing")]
    assert [row for row in rows if row in tables and "`tests/" not in row] == []
