"""An error again from what it carries: for copies and pickles, and for the class that a server lets through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

__all__ = ["restored"]

ErrorT = TypeVar("ErrorT", bound=Exception)


def restored(cls: type[ErrorT], args: tuple[Any, ...], state: Mapping[str, Any]) -> ErrorT:
    """An error of this class with all that another one carries. Its `__init__` is not run."""
    error = Exception.__new__(cls)
    error.args = args
    error.__dict__.update(state)
    return error
