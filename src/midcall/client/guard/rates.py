"""How often a server may ask, and how many of its questions may wait."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

__all__ = ["Rate", "Rates", "Waiters"]

_MOST_SERVERS: Final = 1_000
"""A server makes up its own name: those that were heard of longest ago are forgotten."""


@dataclass(frozen=True, slots=True)
class Rate:
    """So many questions in so many seconds. They may come all at once, and then no faster than this."""

    count: int
    per: float = 60.0

    def __post_init__(self) -> None:
        if not (_is_number(self.count) and _is_number(self.per) and self.count >= 1 and self.per > 0):
            raise ValueError(
                f"Rate({self.count!r}, per={self.per!r}): it takes at least one question, and a positive number "
                "of seconds."
            )


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_rate(rate: object) -> Rate | None:
    """This rate; None for any number of questions."""
    if rate is not None and not isinstance(rate, Rate):
        raise TypeError(
            f"rate={rate!r}: a rate is written as Rate(5, per=60), for 5 questions in 60 seconds, or None for no limit."
        )
    return rate


@dataclass(slots=True)
class _Bucket:
    """What a server may still ask. It fills up with time."""

    left: float
    at: float
    stopped: int = 0


class Rates:
    """Holds each server to a rate."""

    def __init__(self, rate: Rate | None) -> None:
        self._rate = check_rate(rate)
        self._buckets: dict[str, _Bucket] = {}

    def allow(self, server: str, now: float) -> bool:
        """Whether this server may ask now; if so, it has."""
        if self._rate is None:
            return True
        bucket = self._filled(server, self._rate, now)
        if bucket.left < 1:
            bucket.stopped += 1
            return False
        bucket.left -= 1
        return True

    def is_first(self, server: str) -> bool:
        """Whether the question that was stopped last is the first of a burst."""
        return self._buckets[server].stopped == 1

    def _filled(self, server: str, rate: Rate, now: float) -> _Bucket:
        bucket = self._buckets.pop(server, None) or _Bucket(rate.count, now)
        bucket.left = min(rate.count, bucket.left + (now - bucket.at) * rate.count / rate.per)
        bucket.at = now
        if bucket.left >= rate.count:  # it was quiet for long enough: what comes is another burst
            bucket.stopped = 0
        self._buckets[server] = bucket
        if len(self._buckets) > _MOST_SERVERS:
            del self._buckets[next(iter(self._buckets))]
        return bucket


class Waiters:
    """Counts what waits, for each server and in all."""

    def __init__(self, most: int | None, most_in_all: int | None) -> None:
        self._most = most
        self._most_in_all = most_in_all
        self._waiting: dict[str, int] = {}
        self._in_all = 0
        self._stopped: dict[str, int] = {}

    def allow(self, server: str) -> bool:
        """Whether one more may wait."""
        if self._has_room(self._waiting.get(server, 0), self._most) and self._has_room(self._in_all, self._most_in_all):
            return True
        self._stopped[server] = self._stopped.get(server, 0) + 1
        if len(self._stopped) > _MOST_SERVERS:
            del self._stopped[next(iter(self._stopped))]
        return False

    def is_first(self, server: str) -> bool:
        """Whether the question that was stopped last is the first since there was nothing waiting."""
        return self._stopped.get(server) == 1

    @contextmanager
    def one_more(self, server: str) -> Generator[None]:
        self._waiting[server] = self._waiting.get(server, 0) + 1
        self._in_all += 1
        try:
            yield
        finally:
            self._in_all -= 1
            self._waiting[server] -= 1
            if not self._waiting[server]:
                del self._waiting[server]
                self._stopped.pop(server, None)
            if not self._in_all:
                self._stopped.clear()

    @staticmethod
    def _has_room(waiting: int, most: int | None) -> bool:
        return most is None or waiting < most
