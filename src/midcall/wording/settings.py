"""Environment variables that cannot be used."""

from __future__ import annotations


def not_a_whole_number(name: str, value: str, least: int, most: int | None) -> str:
    return f"{name}={value!r} must be a whole number from {least} {'on' if most is None else f'to {most}'}."
