"""Any text, in databases that do not take any text.

PostgreSQL has no NUL in text, and no encoding has lone surrogates; both can come in with what a client
sent. They are written as an escape character and their number, and all other text is kept as it is.
"""

from __future__ import annotations

import re

from midcall.stores.base import Record, StoreError

__all__ = ["LONGEST", "check_name", "check_record", "given", "kept"]

LONGEST = 1024
"""Bytes of an id, an owner or a name: what an index of two of them can hold in PostgreSQL."""

_ESCAPE = "\x1a"
_AWKWARD = re.compile(f"[\0{_ESCAPE}\ud800-\udfff]")
_ESCAPED = re.compile(f"{_ESCAPE}([0-9a-f]{{4}})")


def kept(text: str) -> str:
    """The text as a database takes it."""
    return _AWKWARD.sub(lambda found: f"{_ESCAPE}{ord(found[0]):04x}", text)


def given(text: str) -> str:
    """The text as it was given to be kept."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if _ESCAPE in text else text


def check_name(what: str, text: str) -> None:
    """Refuse what would be too long for an index. All stores do it alike, so that tests see it."""
    if len(text) * 4 > LONGEST and (size := len(kept(text).encode())) > LONGEST:
        raise StoreError(_name_too_long(what, size, LONGEST), advice="Use a digest of it.")


def check_record(record: Record) -> None:
    for what, text in (("id", record.id), ("kind", record.kind), ("owner", record.owner)):
        check_name(what, text)


def _name_too_long(what: str, size: int, longest: int) -> str:
    return f"A store keeps an {what} of at most {longest:,} bytes, and this one has {size:,}".replace(
        "an name", "a name"
    )
