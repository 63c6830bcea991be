"""What `midcall.testing` says to who writes a test."""

from __future__ import annotations

from collections.abc import Sequence


def asked_otherwise(tool: str, how: str, asked: Sequence[str], pushed: Sequence[str]) -> str:
    return f"{tool!r} asked {list(asked)} in {how}, and {list(pushed)} when pushed. {_what_changes()}"


def ended_otherwise(tool: str, how: str, text: str, pushed: str) -> str:
    return f"{tool!r} ended differently in {how}: {text!r} instead of {pushed!r}. {_what_changes()}"


def _what_changes() -> str:
    return "Put what changes between runs (time, random numbers, reads, the order of a set) into once()."
