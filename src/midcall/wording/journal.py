"""The state of a call that cannot be read any more."""

from __future__ import annotations


def damaged_journal() -> str:
    return "The state of this call cannot be read."
