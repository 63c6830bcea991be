"""The frame of all pages."""

from __future__ import annotations


def signed_in_as(name: str) -> str:
    return f"Signed in as {name}"


def what_is_kept() -> str:
    return "What is kept about me"
