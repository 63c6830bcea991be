"""What can be sent: JSON, in Unicode. The transport would find out too late, and break the connection."""

from __future__ import annotations

import hashlib
import json
from base64 import b32encode, urlsafe_b64encode
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, cast

HALF_CHARACTER_ADVICE: Final = (
    "Such halves come from text that was decoded with errors='surrogateescape', or cut out of UTF-16: "
    "decode it with its own encoding, or with errors='replace'."
)
PLAIN_DATA_ADVICE: Final = "Send plain data: text, numbers, true, false, None, and lists and dicts of these."


class Unsendable(NamedTuple):
    """What cannot be sent: where it is, and why, as the end of a sentence."""

    path: str
    why: str


def find_half_character(text: str) -> int | None:
    """Where this text contains half a character (a lone surrogate), which no encoding can write."""
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return error.start
    return None


def spell(raw: bytes) -> str:
    """These bytes as letters and digits: Markdown cuts a `_` off the end of an address, or turns it into italics."""
    return b32encode(raw).decode().rstrip("=").lower()


def digest(text: str) -> str:
    """A short name for this text, the same in every process."""
    return urlsafe_b64encode(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:9]).decode()


def describe_half_character(position: int) -> str:
    return f"contains half a character (a lone surrogate, at position {position}), which cannot be sent"


def escape_halves(text: str) -> str:
    """This text with half characters spelled out, so that an error can name it."""
    return text.encode("utf-8", "backslashreplace").decode()


def find_unsendable(data: Any) -> Unsendable | None:
    """The first thing in this data that JSON cannot hold, or None. Keys must be text."""
    try:
        return _find_first(data)
    except RecursionError:
        return Unsendable("", "is nested too deep to be written")


def _find_first(data: Any) -> Unsendable | None:
    try:
        json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError):
        return next(_find_all(data, "", ()), Unsendable("", _describe_type(data)))
    return next(_find_odd_keys(data, ""), None)


def _find_odd_keys(data: Any, path: str) -> Iterator[Unsendable]:
    """JSON would write these as text, and they would come back as something else."""
    for where, key, value in _items(data, path):
        if not isinstance(key, str):
            yield Unsendable(path, f"has a key of type {type(key).__name__}, and keys must be text in JSON")
        yield from _find_odd_keys(value, where)


def _find_all(data: Any, path: str, parents: tuple[int, ...]) -> Iterator[Unsendable]:
    if id(data) in parents:
        yield Unsendable(path, "contains itself, which JSON cannot write")
        return
    if isinstance(data, (dict, list, tuple)):
        for where, key, value in _items(data, path):
            if isinstance(key, str) and (position := find_half_character(key)) is not None:
                yield Unsendable(path, describe_half_character(position))
            yield from _find_all(value, where, (*parents, id(cast("object", data))))
    elif (why := _explain(data)) is not None:
        yield Unsendable(path, why)


def _explain(value: Any) -> str | None:
    if isinstance(value, str) and (position := find_half_character(value)) is not None:
        return describe_half_character(position)
    try:
        json.dumps(value, allow_nan=False)
    except TypeError:
        return _describe_type(value)
    except ValueError:
        return "is not a finite number, which JSON cannot hold"
    return None


def _describe_type(value: Any) -> str:
    return f"is of type {type(value).__name__}, which JSON cannot hold"


def _items(data: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Each part of this data: its path, its key (empty in a list), and its value."""
    if isinstance(data, dict):
        for key, value in cast("Mapping[Any, Any]", data).items():
            yield f"{path}.{escape_halves(str(key))}", key, value
    elif isinstance(data, (list, tuple)):
        for index, value in enumerate(cast("list[Any]", data)):
            yield f"{path}[{index}]", "", value
