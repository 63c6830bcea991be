"""Every error has a section on the errors page, and the trees on the page and in the docstring are correct."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import midcall
from midcall import errors, testing
from midcall.cli.explain import sections
from midcall.server.frameworks import errors as framework_errors
from scripts.check_docs import anchors

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "errors.md"
SECTIONS = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL))


def below(cls: type[errors.MidcallError]) -> Iterator[type[errors.MidcallError]]:
    yield cls
    for each in cls.__subclasses__():
        if each.__module__.startswith("midcall.") and "log_level" not in vars(each):  # classes that a framework gets
            yield from below(each)


for module in walk_packages(midcall.__path__, "midcall."):
    if not module.name.endswith("__main__"):
        import_module(module.name)
CLASSES = sorted(set(below(errors.MidcallError)), key=lambda cls: cls.__name__)
FOR_TESTS = {
    name for name in testing.__all__ if isinstance(each := getattr(testing, name), type) and issubclass(each, Exception)
}


def test_the_sections_are_the_errors() -> None:
    assert list(SECTIONS) == list(dict.fromkeys(SECTIONS))
    assert set(SECTIONS) == {cls.__name__ for cls in CLASSES} | FOR_TESTS


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_an_error_names_the_command_that_explains_it(cls: type[errors.MidcallError]) -> None:
    assert cls.__name__.lower() in anchors(PAGE)
    command, name = cls.__new__(cls).docs.rsplit(" ", 1)
    assert command == "midcall explain"
    assert name in sections()


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_says_what_happened_what_the_model_sees_and_what_to_do(name: str) -> None:
    said = re.findall(r"^\*\*(.+?)\.\*\*", SECTIONS[name], re.MULTILINE)
    assert said == ["What happened", "What the model sees", "What to do"]


def test_the_page_lists_the_errors_that_end_the_call() -> None:
    listed = re.search(r"^These are (.+?), and `StoreError` with its subclasses\.$", PAGE.read_text(), re.M | re.S)
    assert listed
    fatal = {cls for cls in CLASSES if issubclass(cls, vars(framework_errors)["_FATAL"])}
    assert set(re.findall(r"`(\w+)`", listed[1])) == {c.__name__ for c in fatal if not issubclass(c, errors.StoreError)}


LINK = re.compile(r"\]\(([^)#\s]+\.md)(?:#\S+)?(?:\s+\"([^\"]+)\")?\)")


def test_a_link_has_the_title_of_its_page_which_is_all_that_midcall_explain_can_show() -> None:
    links = [link for text in SECTIONS.values() for link in LINK.findall(text)]
    assert len(links) > 20
    titles = {page: (PAGE.parent / page).read_text().partition("\n")[0].removeprefix("# ") for page, _ in links}
    assert [(page, title) for page, title in links if title != titles[page]] == []


@pytest.mark.parametrize(
    "text", [PAGE.read_text().split("```text")[1].split("```")[0], errors.__doc__], ids=["page", "docstring"]
)
def test_the_tree_is_that_of_the_classes(text: str) -> None:
    drawn: list[tuple[int, str]] = [
        (len(indent) // 4, name)
        for indent, name in re.findall(r"^(?:    (?=[M├│└]))?([ │├└─]*)([A-Z]\w+)\b", text, re.MULTILINE)
        if name in {cls.__name__ for cls in CLASSES}
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


QUOTED = re.compile(r"^\*\*What the model sees\.\*\* (.+?)(?=^\*\*|\Z)", re.MULTILINE | re.DOTALL)
ANYTHING = "(?:.+)"


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?]) ", " ".join(text.split()))


def sentences_in_the_code() -> set[str]:
    """As patterns: a value that is filled in can be anything."""
    found: set[str] = set()
    for path in (ROOT / "src" / "midcall").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= {re.sub(r"\\\{\w+\\\}", lambda _: ANYTHING, re.escape(each)) for each in sentences(node.value)}
            elif isinstance(node, ast.JoinedStr):
                parts = [
                    re.escape(str(part.value)) if isinstance(part, ast.Constant) else ANYTHING for part in node.values
                ]
                found |= set(re.split(r"(?<=[.!?])\\ ", "".join(parts)))
    return {pattern for pattern in found if len(pattern.replace(ANYTHING, "")) > 15}


def test_the_sentences_for_the_model_are_those_in_the_code() -> None:
    quotes = [
        sentence
        for section in SECTIONS.values()
        for paragraph in QUOTED.findall(section)
        for quote in re.findall(r'"([^"]+)"', paragraph)
        for sentence in sentences(quote)
    ]
    assert len(quotes) > 20
    known = sentences_in_the_code()
    filled_in = [pattern for pattern in known if ANYTHING in pattern]
    assert [
        each
        for each in quotes
        if re.escape(each) not in known and not any(re.fullmatch(pattern, each) for pattern in filled_in)
    ] == []
