"""Settings that are wrong are told where they are given, and not when the first question comes."""

from __future__ import annotations

from collections.abc import Collection
from math import isfinite
from typing import Final, cast

from midcall.client.asked import Mode

__all__ = ["BOTH", "check_modes", "check_seconds"]

BOTH: Final[tuple[Mode, ...]] = ("form", "url")


def check_modes(modes: object) -> tuple[Mode, ...]:
    """These modes. One text is refused: its letters would be taken for modes."""
    if isinstance(modes, (str, bytes)) or not isinstance(modes, Collection):
        raise TypeError(f"modes={modes!r}: modes are given as a tuple, such as {tuple(BOTH)!r} or {(BOTH[0],)!r}")
    several = tuple(cast("Collection[Mode]", modes))
    for mode in several:
        if mode not in BOTH:
            raise ValueError(f"modes: {mode!r} is no mode; there are {' and '.join(map(repr, BOTH))}")
    return several


def check_seconds(name: str, seconds: object) -> float | None:
    """This many seconds; None for no limit."""
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(_bad_seconds(name, repr(seconds)))
    if not isfinite(seconds) or seconds <= 0:
        raise ValueError(_bad_seconds(name, repr(seconds)))
    return seconds


def _bad_seconds(name: str, given: str) -> str:
    return f"{name}={given}: it takes a positive number of seconds, or None for no limit"
