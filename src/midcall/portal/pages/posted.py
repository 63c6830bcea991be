"""What a form of ours has posted."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request

__all__ = ["Posted", "TooMuch", "posted"]

_LARGEST: Final = 1_000_000
_MOST_VALUES: Final = 20_000


class TooMuch(Exception):
    """More was posted than is read."""


class Posted:
    """Pairs of name and value, in the order of the page. Its text says nothing of them."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self.pairs = pairs

    def last(self, name: str) -> str:
        """What was given under this name, the last time; empty if nothing was."""
        return next((value for given, value in reversed(self.pairs) if given == name), "")


async def posted(request: Request) -> Posted:
    """What was posted.

    Raises:
        TooMuch: It is larger than any form of ours.
    """
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > _LARGEST:
                raise TooMuch
    except ClientDisconnect:
        return Posted([])
    try:
        pairs = parse_qsl(body.decode("ascii", "replace"), keep_blank_values=True, max_num_fields=_MOST_VALUES)
    except ValueError:
        raise TooMuch from None
    return Posted(pairs)
