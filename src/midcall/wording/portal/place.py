"""Where a portal can be."""

from __future__ import annotations


def bad_base_url(url: str, why: str) -> str:
    return f"A portal cannot be at {url!r}: {why}."


def not_absolute() -> str:
    return "give a full address, such as https://www.example.com"


def more_than_a_path() -> str:
    return "the address may have a path, but no query, no fragment and no user name"


def not_https() -> str:
    return "it must be https, except on loopback"
