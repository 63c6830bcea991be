"""Settings by environment variable: for whoever runs a server that somebody else wrote.

What the author sets in code comes first.
"""

from __future__ import annotations

import os
from typing import Final

from midcall.errors import InstallError

__all__ = ["flag", "number", "text"]

_YES: Final = ("1", "true", "yes", "on")
_NO: Final = ("0", "false", "no", "off")


def text(name: str) -> str | None:
    """The text of this variable; None if it is not set, or empty."""
    return os.environ.get(name, "").strip() or None


def number(name: str, *, least: float = 0.0) -> float | None:
    """The number in this variable; None if it is not set.

    Raises:
        InstallError: It is no number, or too small.
    """
    value = text(name)
    if value is None:
        return None
    try:
        found = float(value)
    except ValueError:
        found = float("nan")
    if not found >= least:
        raise InstallError(f"{name} must be a number from {least:g} on", advice="Change the environment variable.")
    return found


def flag(name: str) -> bool | None:
    """Whether this variable says yes; None if it is not set.

    Raises:
        InstallError: It says neither yes nor no.
    """
    value = (text(name) or "").lower()
    if value and value not in (*_YES, *_NO):
        raise InstallError(f"{name} must be 1 or 0", advice="Change the environment variable.")
    return value in _YES if value else None
