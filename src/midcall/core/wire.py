"""What can be written to the wire: JSON, in Unicode. What cannot would only be found by the transport, too late."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from midcall.wording import wire as wording

__all__ = ["Stuck", "broken_at", "legible", "stuck_at"]


class Stuck(NamedTuple):
    """What cannot be written: where it is, and why."""

    path: str
    why: str


def broken_at(text: str) -> int | None:
    """Where this text holds half a character (a lone surrogate), which no encoding can write."""
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return error.start
    return None


def legible(text: str) -> str:
    """This text, to be named in an error: half characters are spelled out."""
    return text.encode("utf-8", "backslashreplace").decode()


def stuck_at(data: Any) -> Stuck | None:
    """The first thing in this data that JSON cannot hold, or nothing. Keys must be text."""
    try:
        return _first_offender(data)
    except RecursionError:
        return Stuck("", "is nested too deep to be written")


def _first_offender(data: Any) -> Stuck | None:
    try:
        json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError):
        return next(_offenders(data, "", ()), Stuck("", wording.not_plain(type(data).__name__)))
    return next(_odd_keys(data, ""), None)


def _odd_keys(data: Any, path: str) -> Iterator[Stuck]:
    """JSON would write these as text, and they would come back as something else."""
    for where, key, value in _inside(data, path):
        if not isinstance(key, str):
            yield Stuck(path, f"has a key that is a {type(key).__name__}, and JSON has only text for keys")
        yield from _odd_keys(value, where)


def _offenders(data: Any, path: str, holders: tuple[int, ...]) -> Iterator[Stuck]:
    if id(data) in holders:
        yield Stuck(path, "holds itself, which JSON cannot write")
        return
    if isinstance(data, (dict, list, tuple)):
        for where, key, value in _inside(data, path):
            if isinstance(key, str) and (at := broken_at(key)) is not None:
                yield Stuck(path, wording.half_a_character(at))
            yield from _offenders(value, where, (*holders, id(cast("object", data))))
    elif (why := _why_not(data)) is not None:
        yield Stuck(path, why)


def _why_not(value: Any) -> str | None:
    if isinstance(value, str) and (at := broken_at(value)) is not None:
        return wording.half_a_character(at)
    try:
        json.dumps(value, allow_nan=False)
    except TypeError:
        return wording.not_plain(type(value).__name__)
    except ValueError:
        return "is no finite number, and JSON has no other"
    return None


def _inside(data: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Each part of this data: its path, its key (empty in a list), and its value."""
    if isinstance(data, dict):
        for key, value in cast("Mapping[Any, Any]", data).items():
            yield f"{path}.{legible(str(key))}", key, value
    elif isinstance(data, (list, tuple)):
        for index, value in enumerate(cast("list[Any]", data)):
            yield f"{path}[{index}]", "", value
