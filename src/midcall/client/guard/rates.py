"""How often a server may ask."""

from __future__ import annotations

from dataclasses import dataclass

from midcall.core.remembered import Remembered
from midcall.settings.client import MAX_RATED_SERVERS, RATE_SECONDS


@dataclass(frozen=True, slots=True)
class Rate:
    """This many questions in this many seconds. They may come in one burst, then no faster than this."""

    count: int
    per: float = RATE_SECONDS

    def __post_init__(self) -> None:
        if not (_is_number(self.count) and _is_number(self.per) and self.count >= 1 and self.per > 0):
            raise ValueError(
                f"Rate({self.count!r}, per={self.per!r}): it takes at least one question in a positive time."
            )


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check_rate(rate: object) -> Rate | None:
    if rate is not None and not isinstance(rate, Rate):
        raise TypeError(f"rate={rate!r}: write Rate(5, per=60) for 5 questions in 60 seconds, or None for no limit.")
    return rate


@dataclass(slots=True)
class _Bucket:
    """How many questions a server may still ask. It refills over time."""

    left: float
    at: float
    stopped: int = 0


class Rates:
    """Holds each server to a rate."""

    def __init__(self, rate: Rate | None) -> None:
        self._rate = _check_rate(rate)
        self._buckets: Remembered[_Bucket] = Remembered(MAX_RATED_SERVERS)

    def allow(self, server: str, now: float) -> bool:
        """Take one question from this server's bucket. Returns False if it's empty."""
        if self._rate is None:
            return True
        bucket = self._refill(server, self._rate, now)
        if bucket.left < 1:
            bucket.stopped += 1
            return False
        bucket.left -= 1
        return True

    def is_first(self, server: str) -> bool:
        """Whether the last question that was stopped is the first of its burst."""
        return self._buckets[server].stopped == 1

    def _refill(self, server: str, rate: Rate, now: float) -> _Bucket:
        bucket = self._buckets.pop(server, None) or _Bucket(rate.count, now)
        bucket.left = min(rate.count, bucket.left + (now - bucket.at) * rate.count / rate.per)
        bucket.at = now
        if bucket.left >= rate.count:  # quiet for long enough: the next question starts a new burst
            bucket.stopped = 0
        self._buckets[server] = bucket
        return bucket
