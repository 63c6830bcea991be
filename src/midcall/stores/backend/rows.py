"""What databases hold: text that they accept, names that fit an index, and the version of their schema.

PostgreSQL has no NUL in text, and no encoding has lone surrogates, but a client may send both. They're stored as an
escape character and their number; all other text is stored unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from midcall.errors import StoreError
from midcall.settings.stores import ID_BYTES
from midcall.stores.base import Record, Value

LARGEST_VERSION: Final = 2**63 - 1
"""No record is changed that often, and a seal has no room for more."""
OLDEST: Final = 2
"""The oldest schema version whose code can use what we write today."""

_ESCAPE: Final = "\x1a"
_AWKWARD: Final = re.compile(f"[\0{_ESCAPE}\ud800-\udfff]")
_ESCAPED: Final = re.compile(f"{_ESCAPE}([0-9a-f]{{4}})")


def escape(text: str) -> str:
    """The text as a database accepts it."""
    return _AWKWARD.sub(lambda found: f"{_ESCAPE}{ord(found[0]):04x}", text)


def unescape(text: str) -> str:
    """The original text."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if _ESCAPE in text else text


def read_version(value: object) -> int:
    """The version of a record, from a database that accepts anything there.

    Raises:
        ValueError: It isn't one.
    """
    version = int(value) if isinstance(value, (int, str)) else 0
    if not 0 < version <= LARGEST_VERSION:
        raise ValueError("This is not the version of a record.")
    return version


def unreadable(id: str) -> Record:
    """Stands for a row that no midcall has written. No seal fits it, and no version: it's refused like any forgery."""
    return Record(id, "", "", "", 0.0, 0.0, version=-1)


def check_names(of: Record | Value) -> None:
    """Reject a name that is too long for an index. All stores do, so that tests notice."""
    for what in ("id", "kind", "owner") if isinstance(of, Record) else ("owner", "name"):
        text: str = getattr(of, what)
        if len(text) * 4 > ID_BYTES and (size := len(escape(text).encode())) > ID_BYTES:
            raise StoreError(
                f"The {what} of a record or value may have at most {ID_BYTES:,} bytes, and this one has {size:,}",
                advice="Use a digest of it.",
            )


def missing_steps(steps: Sequence[str], version: int = 0, usable_from: int = 0) -> list[tuple[int, str]]:
    """The steps that a schema is missing, with the version that each one leads to.

    Old and new code run side by side during a rollout, so a step only ever adds: new columns have defaults, and nothing
    that older code uses goes away. A schema stores two numbers: its own version, and the oldest version whose code can
    use it.

    Raises:
        StoreError: The schema is too new for this code.
    """
    ours = len(steps)
    if version > ours and usable_from > ours:
        raise StoreError(
            f"A newer midcall set up this store: its schema has version {version}, and this midcall knows {ours}",
            advice="Update midcall here, or use another store.",
        )
    return list(enumerate(steps[version:], version + 1))
