"""Where a portal can be."""

from __future__ import annotations


def bad_base_url(url: str, why: str) -> str:
    return f"A portal cannot be at {url!r}: {why}."
