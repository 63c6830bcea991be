"""Which steps a schema still needs.

Old and new code run side by side during a rollout, so a step only ever adds: new columns have defaults, and nothing
that older code uses goes away. A schema stores two numbers: its own version, and the oldest version whose code can use
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from midcall.errors import StoreError

OLDEST = 2
"""The oldest schema version whose code can use what we write today."""


@dataclass(frozen=True, slots=True)
class SchemaVersion:
    """The two numbers that a schema stores."""

    version: int
    usable_from: int


def missing_steps(found: SchemaVersion | None, steps: Sequence[str]) -> list[tuple[int, str]]:
    """The steps that are missing, with the version that each one leads to.

    Raises:
        StoreError: The schema is too new for this code.
    """
    ours = len(steps)
    if found is not None and found.version > ours and found.usable_from > ours:
        raise StoreError(
            f"A newer midcall set up this store: its schema has version {found.version}, and this midcall knows {ours}",
            advice="Update midcall here, or use another store.",
        )
    done = 0 if found is None else found.version
    return list(enumerate(steps[done:], done + 1))
