"""Patterns of JSON Schema in Python: what they mean, and which ones of other people are safe to run.

Their dialect is JavaScript's, and most clients run it there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, cast

# Skips escapes and character classes; the groups that are left are Python's own.
_PYTHON_ONLY: Final = re.compile(r"\\[AZz]|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?[P#(>aiLmsux-]|[*+?}]\+", re.DOTALL)

_PIECES: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[$.]", re.DOTALL)
_ESCAPES: Final = re.compile(r"\\.", re.DOTALL)
_SPACES: Final = r" \t\n\r\f\v\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_TRANSLATIONS: Final = {
    "$": r"\Z",  # Python's `$` also matches before a final line break
    ".": r"[^\n\r\u2028\u2029]",
    r"\s": f"[{_SPACES}]",
    r"\S": f"[^{_SPACES}]",
}

_SHORT: Final = 1000
"""Texts up to this length may be searched with two open repeats, and from anywhere."""
_OPEN_END: Final = 100
"""A longer repeat counts as open."""
_NESTED_SET: Final = re.compile(r"\[\^?\]?[^\]]*(\[|--|&&|~~|\|\|)")
"""Python warns about these, since their meaning may change: `[[a]b]`, `[a--b]`."""
_UNSAFE: Final = frozenset({"GROUPREF", "GROUPREF_EXISTS", "ASSERT", "ASSERT_NOT"})


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern to match as in JavaScript: `\\d` and `\\w` are ASCII, and `$` is the very end.

    Raises:
        re.error, RecursionError, OverflowError: It isn't a valid pattern.
    """
    return re.compile(_PIECES.sub(_translate, pattern), re.ASCII)


def _translate(piece: re.Match[str]) -> str:
    text = piece[0]
    if text[0] == "[":
        return text[0] + _ESCAPES.sub(lambda escape: _SPACES if escape[0] == r"\s" else escape[0], text[1:])
    return _TRANSLATIONS.get(text, text)


def find_python_only(pattern: str) -> str | None:
    """The first piece that JavaScript reads differently or not at all: `\\Z` would match a letter Z there."""
    for piece in _PYTHON_ONLY.findall(pattern):
        if piece in (r"\A", r"\Z", r"\z") or piece[0] in "(*+?}":
            return piece
    return None


def is_portable(pattern: Any) -> bool:
    """Whether this is a pattern that both we and clients can run."""
    try:
        compile_pattern(pattern)
    except (re.error, TypeError, RecursionError, OverflowError):
        return False
    return find_python_only(pattern) is None


def is_safe(pattern: str, longest: int | None) -> bool:
    """Whether this pattern is fast on any text of at most this many characters.

    A server's pattern runs in the client, on what the user types, and some patterns never finish on thirty letters.
    This rejects more than it must: the server checks every answer anyway.
    """
    if _NESTED_SET.search(_ESCAPES.sub("x", pattern)):
        return False
    try:
        nodes = list(_nodes(cast("Any", re)._parser.parse(pattern), ()))
    except (re.error, RecursionError, OverflowError, AttributeError):
        return False
    if any(name in _UNSAFE or _is_nested(name, parents) for name, parents in nodes):
        return False
    repeats = sum(name == "OPEN_REPEAT" for name, _ in nodes)
    if longest is not None and longest <= _SHORT:
        return repeats <= 2
    return repeats == 0 or (repeats == 1 and pattern.startswith("^"))


def _is_nested(name: str, parents: tuple[str, ...]) -> bool:
    """A repeat inside a repeat, or a choice inside an open one: the ways to match a text multiply."""
    if name in ("OPEN_REPEAT", "REPEAT"):
        return bool({"OPEN_REPEAT", "REPEAT"} & set(parents)) or (name == "OPEN_REPEAT" and "FIXED" in parents)
    return name == "BRANCH" and "OPEN_REPEAT" in parents


def _nodes(parsed: Iterable[Any], parents: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every node of a pattern, with the names of its parents."""
    for code, argument in parsed:
        name = str(code)
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most = int(argument[0]), int(argument[1])
            name = "OPEN_REPEAT" if most > _OPEN_END else "FIXED" if least == most else "REPEAT"
        yield name, parents
        for child in _children(name, argument):
            yield from _nodes(child, (*parents, name))


def _children(name: str, argument: Any) -> list[Iterable[Any]]:
    match name:
        case "OPEN_REPEAT" | "REPEAT" | "FIXED":
            return [argument[2]]
        case "BRANCH":
            return list(argument[1])
        case "SUBPATTERN":
            return [argument[3]]
        case "ATOMIC_GROUP":
            return [argument]
        case _:
            return []
