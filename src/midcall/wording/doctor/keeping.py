"""The store, and the vault in it."""

from __future__ import annotations

# --- the store -----------------------------------------------------------------------------------


def no_store_advice() -> str:
    return "Use install(..., store='sqlite://'), or 'postgresql://...' or 'redis://...' for several replicas."


# --- the vault -----------------------------------------------------------------------------------


def vault_opens(tried: int, every: bool) -> str:
    return f"{_values(tried, every)} can be opened with these keys."


def vault_older(older: int, tried: int, every: bool) -> str:
    return f"{_values(tried, every)} can be opened, {_number(older)} of them only with a key that is not the first."


def vault_locked(locked: int, tried: int, every: bool) -> str:
    return f"{_number(locked)} of {_values(tried, every)} cannot be opened with these keys. Nothing is lost."


def _values(tried: int, every: bool) -> str:
    values = "value" if tried == 1 else "values"
    return f"{_number(tried)} {values}" if every else f"the first {_number(tried)} {values}"


def _number(count: int) -> str:
    return f"{count:,}"
