"""Questions that cannot be asked as they are, for their author."""

from __future__ import annotations


def unsendable(what: str, why: str) -> str:
    """`why` goes on where the name of the thing ends."""
    return f"This question cannot be sent: {what} {why}."
