"""Settings of a client that are wrong."""

from __future__ import annotations


def bad_seconds(name: str, given: str) -> str:
    return f"{name}={given}: it takes a positive number of seconds, or None for no limit"
