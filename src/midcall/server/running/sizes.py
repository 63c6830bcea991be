"""About how much memory something takes, to bound what waits there."""

from __future__ import annotations

from sys import getsizeof
from typing import Any, Final, cast

from mcp.server.context import ServerRequestContext
from pydantic import BaseModel
from pydantic_core import to_json

_SMALL: Final = 10_000
_BYTES_PER_CHARACTER: Final = 6
"""About how much memory a character of JSON takes: more in short parts, one in a long text."""


def size_of(value: Any, most: int) -> int:
    """About how many bytes this takes. Stops counting above `most`."""
    try:
        text = len(to_json(value))  # nearly all are small: then this tells enough, and takes less time
    except Exception:  # a text that isn't valid Unicode, or an author's own type
        return _count(value, most)
    return text * _BYTES_PER_CHARACTER if text <= _SMALL else _count(value, most)


def _count(value: Any, most: int) -> int:
    size = 0
    left: list[Any] = [value]
    while left and size <= most:
        each = left.pop()
        size += getsizeof(each)
        if isinstance(each, dict):
            left.extend(cast("dict[str, Any]", each).values())
        elif isinstance(each, (list, tuple)):
            left.extend(cast("list[Any]", each))
        elif isinstance(each, BaseModel):
            left.append(each.__dict__ | (each.model_extra or {}))
    return size


def size_of_request(ctx: ServerRequestContext[Any, Any], most: int) -> int:
    """The same for a request: its params, and over HTTP the body, which the framework keeps with it."""
    size = size_of(ctx.params, most)
    if ctx.request is None:
        return size
    length = ctx.request.headers.get("content-length", "")
    return size + (int(length) if length.isdecimal() else size)
