"""Environment variables that cannot be used."""

from __future__ import annotations


def not_a_number(name: str, value: str, *, zero: bool) -> str:
    return f"{name}={value!r} must be a number {'from 0 on' if zero else 'above 0'}."


def not_a_whole_number(name: str, value: str, least: int, most: int | None) -> str:
    return f"{name}={value!r} must be a whole number from {least} {'on' if most is None else f'to {most}'}."


def neither_yes_nor_no(name: str, value: str) -> str:
    return f"{name}={value!r} must be 1 or 0."


def change_the_variable() -> str:
    return "Change the environment variable, or take it away."
