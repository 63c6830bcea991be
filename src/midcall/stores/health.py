"""Tries a store out: whether it can be read from and written to, before the first user finds out."""

from __future__ import annotations

from typing import Final

from midcall.stores.base import Record, Store, Value

__all__ = ["try_out"]

_CHECK: Final = "check"
_BEGUN, _OVER = -1.0, 0.0
"""Long before any other record: so sweeping it removes no other."""


async def try_out(store: Store) -> None:
    """Do what a server does, with a record that is gone afterwards. In the vault, nothing is changed.

    Raises:
        StoreError: Something does not work, and what to do.
    """
    record, _ = await store.create(Record(_CHECK, _CHECK, "", "{}", _BEGUN, _OVER))
    await store.change(record, record.version)
    await store.complete(_CHECK, "{}", owner=None, now=_BEGUN)
    await store.consume(_CHECK, owner=None, now=_BEGUN)
    await store.sweep(_OVER)
    await store.put(Value(_CHECK, _CHECK, b"", _BEGUN), instead_of=b"nothing has these bytes")
    await store.remove(_CHECK, _CHECK)
