"""Every error has its section on the errors page, under the anchor that its `docs` names, and nothing else has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from midcall import errors
from scripts.check_docs import anchors

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"
SECTIONS = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL))
CLASSES = [value for value in vars(errors).values() if isinstance(value, type) and value.__module__ == errors.__name__]


def test_the_sections_are_the_errors() -> None:
    assert list(SECTIONS) == list(dict.fromkeys(SECTIONS))
    assert set(SECTIONS) == {cls.__name__ for cls in CLASSES}


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_an_error_links_to_its_section(cls: type[errors.MidcallError]) -> None:
    _, _, anchor = cls("x").docs.partition("#")
    assert anchor == cls.__name__.lower()
    assert anchor in anchors(PAGE)


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_says_what_happened_what_the_model_sees_and_what_to_do(name: str) -> None:
    said = re.findall(r"^\*\*(.+?)\.\*\*", SECTIONS[name], re.MULTILINE)
    assert said == ["What happened", "What the model sees", "What to do"]


def test_the_tree_of_the_page_is_the_tree_of_the_classes() -> None:
    drawn: list[tuple[int, str]] = [
        (len(indent) // 4, name)
        for indent, name in re.findall(r"^([ │├└─]*)([A-Z]\w+)\b", PAGE.read_text().split("```")[1], re.MULTILINE)
    ]
    path: list[str] = []
    parents: dict[str, str | None] = {}
    for depth, name in drawn:
        parents[name] = path[depth - 1] if depth else None
        path[depth:] = [name]
    assert parents == {
        cls.__name__: cls.__bases__[0].__name__ if issubclass(cls.__bases__[0], errors.MidcallError) else None
        for cls in CLASSES
    }
