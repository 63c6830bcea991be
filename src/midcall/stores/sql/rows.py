"""Records and values as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from midcall.stores.base import Record, Value
from midcall.stores.texts import given, kept

__all__ = ["RECORD", "VALUE", "before_consuming", "change_of", "record_of", "row_of", "value_of"]

RECORD = "id, kind, owner, data, created, expires, outcome, consumed, version"
VALUE = "owner, name, sealed, updated"


def row_of(record: Record) -> tuple[Any, ...]:
    outcome = None if record.outcome is None else kept(record.outcome)
    texts = (kept(text) for text in (record.id, record.kind, record.owner, record.data))
    return (*texts, record.created, record.expires, outcome, record.consumed, record.version)


def change_of(record: Record, version: int) -> tuple[Any, ...]:
    """Which record, in which version, and what a change puts into it."""
    id, kind, owner, data, _, expires, outcome, consumed, _ = row_of(record)
    return id, version, kind, owner, data, expires, outcome, consumed


def record_of(row: Sequence[Any]) -> Record:
    id, kind, owner, data, created, expires, outcome, consumed, version = row
    return Record(
        given(id),
        given(kind),
        given(owner),
        given(data),
        float(created),
        float(expires),
        None if outcome is None else given(outcome),
        bool(consumed),
        version,
    )


def before_consuming(record: Record) -> Record:
    """What a record was before it was consumed."""
    return replace(record, consumed=False, version=record.version - 1)


def value_of(row: Sequence[Any]) -> Value:
    owner, name, sealed, updated = row
    return Value(given(owner), given(name), bytes(sealed), float(updated))
