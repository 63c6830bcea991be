"""Records and values as databases hold them.

PostgreSQL has no NUL in text, and no encoding has lone surrogates, but a client may send both. They're stored as an
escape character and their number; all other text is stored unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from midcall.errors import StoreError
from midcall.settings import ID_BYTES
from midcall.stores.base import Record, Value

RECORD = "id, kind, owner, data, created, expires, outcome, consumed, version"
VALUE = "owner, name, sealed, updated"
_ESCAPE = "\x1a"
_AWKWARD = re.compile(f"[\0{_ESCAPE}\ud800-\udfff]")
_ESCAPED = re.compile(f"{_ESCAPE}([0-9a-f]{{4}})")


def escape(text: str) -> str:
    """The text as a database accepts it."""
    return _AWKWARD.sub(lambda found: f"{_ESCAPE}{ord(found[0]):04x}", text)


def unescape(text: str) -> str:
    """The original text."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if _ESCAPE in text else text


def check_name(what: str, text: str) -> None:
    """Reject a name that is too long for an index. All stores do, so that tests notice."""
    if len(text) * 4 > ID_BYTES and (size := len(escape(text).encode())) > ID_BYTES:
        raise StoreError(
            f"The {what} of a record or value may have at most {ID_BYTES:,} bytes, and this one has {size:,}",
            advice="Use a digest of it.",
        )


def check_record(record: Record) -> None:
    for what, text in (("id", record.id), ("kind", record.kind), ("owner", record.owner)):
        check_name(what, text)


def check_value(value: Value) -> None:
    check_name("owner", value.owner)
    check_name("name", value.name)


def to_row(record: Record) -> tuple[Any, ...]:
    outcome = None if record.outcome is None else escape(record.outcome)
    texts = (escape(text) for text in (record.id, record.kind, record.owner, record.data))
    return (*texts, record.created, record.expires, outcome, record.consumed, record.version)


def to_change(record: Record, version: int) -> tuple[Any, ...]:
    """The arguments of a change: which record, in which version, and its new columns."""
    id, kind, owner, data, _, expires, outcome, consumed, _ = to_row(record)
    return id, version, kind, owner, data, expires, outcome, consumed


def to_record(row: Sequence[Any]) -> Record:
    id, kind, owner, data, created, expires, outcome, consumed, version = row
    return Record(
        unescape(id),
        unescape(kind),
        unescape(owner),
        unescape(data),
        float(created),
        float(expires),
        None if outcome is None else unescape(outcome),
        bool(consumed),
        version,
    )


def before_consuming(record: Record) -> Record:
    """The record as it was before it was consumed."""
    return replace(record, consumed=False, version=record.version - 1)


def to_value(row: Sequence[Any]) -> Value:
    owner, name, sealed, updated = row
    return Value(unescape(owner), unescape(name), bytes(sealed), float(updated))
