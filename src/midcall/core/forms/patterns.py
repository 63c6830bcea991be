"""Which patterns of others can be searched for without fear.

A pattern that a server sends is its author's, and a client runs it on what the user types. Some
patterns take longer than anybody lives on a text of thirty letters. This looks at the pattern alone,
and doubts more than it must: what is not tame is left to the server, which checks every answer anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, cast

__all__ = ["is_tame"]

_LONG: Final = 1000
"""Texts up to here may be searched for with two open repeats, and from anywhere."""
_OPEN_END: Final = 100
"""A repeat of more than this is as good as open."""
_REPEATS: Final = frozenset({"MAX_REPEAT", "MIN_REPEAT"})
_ESCAPED: Final = re.compile(r"\\.", re.DOTALL)
_SET_OF_SETS: Final = re.compile(r"\[\^?\]?[^\]]*(\[|--|&&|~~|\|\|)")
"""What Python warns about, since it may come to mean something else: `[[a]b]`, `[a--b]`."""
_FEARED: Final = frozenset({"GROUPREF", "GROUPREF_EXISTS", "ASSERT", "ASSERT_NOT"})


def is_tame(pattern: str, longest: int | None) -> bool:
    """Whether this pattern takes little time on any text of at most so many characters."""
    if _SET_OF_SETS.search(_ESCAPED.sub("x", pattern)):
        return False
    try:
        nodes = list(_nodes(_parsed(pattern), ()))
    except (re.error, RecursionError, OverflowError, AttributeError):
        return False
    if any(name in _FEARED for name, _ in nodes) or any(_is_nested(name, above) for name, above in nodes):
        return False
    repeats = sum(name == "OPEN_REPEAT" for name, _ in nodes)
    short = longest is not None and longest <= _LONG
    if short:
        return repeats <= 2
    return repeats == 0 or (repeats == 1 and pattern.startswith("^"))


def _is_nested(name: str, above: tuple[str, ...]) -> bool:
    """A repeat within a repeat, or a choice within an open one: there the ways to read a text multiply."""
    if name in ("OPEN_REPEAT", "REPEAT"):
        return bool({"OPEN_REPEAT", "REPEAT"} & set(above)) or (name == "OPEN_REPEAT" and "FIXED" in above)
    return name == "BRANCH" and "OPEN_REPEAT" in above


def _parsed(pattern: str) -> Iterable[Any]:
    return cast("Any", re)._parser.parse(pattern)


def _nodes(parsed: Iterable[Any], above: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every part of a pattern, with the names of what it stands in."""
    for code, argument in parsed:
        name = str(code)
        if name in _REPEATS:
            least, most = int(argument[0]), int(argument[1])
            name = "OPEN_REPEAT" if most > _OPEN_END else "FIXED" if least == most else "REPEAT"
        yield name, above
        for part in _parts(name, argument):
            yield from _nodes(part, (*above, name))


def _parts(name: str, argument: Any) -> list[Iterable[Any]]:
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
