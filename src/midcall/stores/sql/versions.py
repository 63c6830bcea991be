"""Which version a schema has, and who can use it.

Versions run side by side during a rollout, so a step only ever adds: what is new has a default, and
nothing that an older version uses goes away. A schema says two numbers: its own version, and the oldest
version of midcall's schema whose code can still use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from midcall.stores.base import StoreError

__all__ = ["OLDEST", "Found", "missing_steps"]

OLDEST = 2
"""The oldest schema version whose code can use what we write today."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a store says about its schema."""

    version: int
    usable_from: int


def missing_steps(found: Found | None, steps: Sequence[str]) -> list[tuple[int, str]]:
    """The steps that still have to be taken, with the version each one leads to.

    Raises:
        StoreError: The schema is of a newer version that this one cannot use.
    """
    ours = len(steps)
    if found is not None and found.version > ours and found.usable_from > ours:
        raise StoreError(
            (
                f"The store was set up by a newer midcall: its schema is version {found.version}, and this midcall "
                f"knows {ours}"
            ),
            advice="Update midcall here, or use another store.",
        )
    begun = 0 if found is None else found.version
    return list(enumerate(steps[begun:], begun + 1))
