"""Settings of a client that are wrong."""

from __future__ import annotations

from collections.abc import Sequence


def modes_not_listed(given: str, known: Sequence[str]) -> str:
    return f"modes={given}: modes are given as a tuple, such as {tuple(known)!r} or {(known[0],)!r}"


def unknown_mode(given: str, known: Sequence[str]) -> str:
    return f"modes: {given} is no mode; there are {' and '.join(map(repr, known))}"


def bad_seconds(name: str, given: str) -> str:
    return f"{name}={given}: it takes a positive number of seconds, or None for no limit"
