"""Settings by environment variable, for people who run a server that someone else wrote.

What the author sets in code comes first.
"""

from __future__ import annotations

import os
import re
from math import isfinite
from typing import Final, TypeVar

from midcall.errors import InstallError

DefaultT = TypeVar("DefaultT", bound=float | None)

YES: Final = ("1", "true", "yes", "on")
NO: Final = ("0", "false", "no", "off")
_WHOLE: Final = re.compile(r"\+?[0-9]{1,9}(\.0*)?")


def text(name: str) -> str | None:
    """The text of this variable; None if it is not set, or empty."""
    return os.environ.get(name, "").strip() or None


def number(name: str, default: DefaultT, *, zero: bool = False) -> float | DefaultT:
    """The number in this variable, above zero or from it on.

    Raises:
        InstallError: It isn't a number, is infinite, or is too small.
    """
    value = text(name)
    if value is None:
        return default
    try:
        found = float(value)
    except ValueError:
        found = float("nan")
    if not isfinite(found) or not (found >= 0 if zero else found > 0):
        raise _wrong(f"{name}={value!r} must be a number {'from 0 on' if zero else 'above 0'}.")
    return found


def whole(name: str, default: int, *, least: int = 0, most: int | None = None) -> int:
    """The whole number in this variable.

    Raises:
        InstallError: It isn't a whole number, or is too small or too large.
    """
    value = text(name)
    if value is None:
        return default
    found = int(float(value)) if _WHOLE.fullmatch(value) else None
    if found is None or found < least or (most is not None and found > most):
        limits = f"from {least} {'on' if most is None else f'to {most}'}"
        raise _wrong(f"{name}={value!r} must be a whole number {limits}.")
    return found


def flag(name: str, default: DefaultT) -> bool | DefaultT:
    """Whether this variable says yes.

    Raises:
        InstallError: It says neither yes nor no.
    """
    value = text(name)
    if value is None:
        return default
    if value.lower() not in (*YES, *NO):
        raise _wrong(f"{name}={value!r} must be 1 or 0.")
    return value.lower() in YES


def _wrong(sentence: str) -> InstallError:
    return InstallError(sentence, advice="Change the environment variable, or take it away.")
