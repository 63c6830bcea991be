"""An author's check of a secret, before it is stored or given to a tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from typing import Any, Final, TypeAlias

from midcall.errors import Misuse

AuthorCheck: TypeAlias = Callable[[Any], Awaitable[str | None] | str | None]
"""The author's function, plain or async. It gets what `secret` gives a tool: a text, or a mapping of fields."""

Check: TypeAlias = Callable[[Mapping[str, str]], Awaitable[str | None]]
"""Checks what was typed, by field. Returns the problem as the end of a sentence that begins with the secret's name, or
None."""

ONE: Final = "value"
"""The name of the only field of a secret without fields."""


async def look(check: AuthorCheck, secret: str | Mapping[str, str]) -> str | None:
    """Run this check on a secret, and return the problem, if any.

    Raises:
        Misuse: It returns neither None nor a text. True would count as a problem, and False as none.
    """
    result: Any = check(secret)
    problem: Any = await result if isawaitable(result) else result
    if problem is not None and not isinstance(problem, str):
        raise Misuse(
            "A check returns None if the secret is fine, otherwise the problem as text; "
            f"this one returned {type(problem).__name__}."
        )
    return problem or None
