"""Every error has its section on the errors page, and the page's tree and that of the docstring are the real one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import midcall
from midcall import errors, testing
from scripts.check_docs import anchors

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "errors.md"
SECTIONS = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL))


def below(cls: type[errors.MidcallError]) -> Iterator[type[errors.MidcallError]]:
    yield cls
    for each in cls.__subclasses__():
        if each.__module__.startswith("midcall.") and "log_level" not in vars(each):  # what `surface` makes of them
            yield from below(each)


for module in walk_packages(midcall.__path__, "midcall."):
    if not module.name.endswith("__main__"):
        import_module(module.name)
CLASSES = sorted(set(below(errors.MidcallError)), key=lambda cls: cls.__name__)
FOR_TESTS = {
    name
    for name in testing.__all__
    if isinstance(vars(testing)[name], type) and issubclass(vars(testing)[name], Exception)
}


def test_the_sections_are_the_errors() -> None:
    assert list(SECTIONS) == list(dict.fromkeys(SECTIONS))
    assert set(SECTIONS) == {cls.__name__ for cls in CLASSES} | FOR_TESTS


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_an_error_links_to_where_it_is_explained(cls: type[errors.MidcallError]) -> None:
    assert cls.__name__.lower() in anchors(PAGE)
    page, _, anchor = cls.__new__(cls).docs.partition("#")
    assert anchor in anchors(ROOT / page)


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_says_what_happened_what_the_model_sees_and_what_to_do(name: str) -> None:
    said = re.findall(r"^\*\*(.+?)\.\*\*", SECTIONS[name], re.MULTILINE)
    assert said == ["What happened", "What the model sees", "What to do"]


@pytest.mark.parametrize("text", [PAGE.read_text().split("```")[1], errors.__doc__], ids=["page", "docstring"])
def test_the_tree_is_that_of_the_classes(text: str) -> None:
    drawn: list[tuple[int, str]] = [
        (len(indent) // 4, name)
        for indent, name in re.findall(r"^(?:    (?=[M├│└]))?([ │├└─]*)([A-Z]\w+)\b", text, re.MULTILINE)
        if name in SECTIONS
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
