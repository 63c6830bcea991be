"""The state of a call that cannot be read any more."""

from __future__ import annotations


def damaged_journal() -> str:
    return "The state of this call cannot be read."


def other_keys() -> str:
    return "The state of this call was kept by a server with other keys, and cannot be read here. Replicas share keys."


def unknown_journal_version(found: object, known: int) -> str:
    return f"The state of this call has version {found}; this midcall reads version {known}."


def state_refused(ttl: float) -> str:
    return (
        "Refused the state of a call: it has expired, was changed, or belongs to another user, another tool or other "
        f"arguments. States live for {ttl / 60:g} minutes. Replicas need the same keys: install(..., keys=...)."
    )
