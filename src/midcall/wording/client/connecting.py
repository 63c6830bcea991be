"""Connecting to a server, and why there is no connection."""

from __future__ import annotations


def no_such_command() -> tuple[str, str]:
    return "there is no such command", "A server is given as its URL, or as the command that starts it."


def unknown_era(era: str, known: str) -> str:
    return f"era must be one of {known}, and not {era!r}"
