"""What an author's check of a secret says: what is wrong with it, before it is kept or given to a tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from typing import Any, Final, TypeAlias

from midcall.errors import Misuse
from midcall.wording.portal import secret as wording

__all__ = ["ONE", "Check", "Given", "look"]

Given: TypeAlias = Callable[[Any], Awaitable[str | None] | str | None]
"""The author's own, plain or async, on what `secret` gives a tool: a text, or a mapping where there are fields."""

Check: TypeAlias = Callable[[Mapping[str, str]], Awaitable[str | None]]
"""Looks at what was typed, by field, before it is kept. What is wrong with it, as the end of a sentence that begins
with its name; None if nothing is."""

ONE: Final = "value"
"""The name of the only field, where a secret has no fields of its own."""


async def look(check: Given, secret: str | Mapping[str, str]) -> str | None:
    """What this check says of a secret.

    Raises:
        Misuse: It says neither None nor a text. A yes would be taken for a problem, and a no for none.
    """
    said: Any = check(secret)
    problem: Any = await said if isawaitable(said) else said
    if problem is not None and not isinstance(problem, str):
        raise Misuse(wording.not_a_problem(type(problem).__name__))
    return problem or None
