"""What is remembered about others: by names that they choose, and never more than a fixed number of bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, MutableMapping
from functools import lru_cache
from typing import Final, TypeVar

T = TypeVar("T")
CHARACTERS: Final = 64
"""The longest name that is kept as it is. A digest in hex is as long, so a long name can't pass for another one."""


def shorten(name: str) -> str:
    """The name, or if it's long, its digest."""
    if len(name) < CHARACTERS:
        return name
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


class Remembered(MutableMapping[str, T]):
    """The newest `most` values, by names of any length. Keep values small, too."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        return self._values[shorten(name)]

    def __setitem__(self, name: str, value: T) -> None:
        name = shorten(name)
        self._values.pop(name, None)
        self._values[name] = value
        if len(self._values) > self._most:
            del self._values[next(iter(self._values))]

    def __delitem__(self, name: str) -> None:
        del self._values[shorten(name)]

    def __iter__(self) -> Iterator[str]:
        """The names as they are kept."""
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def cache_short(most: int, characters: int) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Cache the results of a function of texts, unless these have more characters together."""

    def decorate(function: Callable[..., T]) -> Callable[..., T]:
        cached = lru_cache(maxsize=most)(function)

        def call(*texts: str) -> T:
            return (cached if sum(map(len, texts)) <= characters else function)(*texts)

        return call

    return decorate
