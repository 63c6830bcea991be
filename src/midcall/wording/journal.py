"""The state of a call that cannot be read any more."""

from __future__ import annotations


def damaged_journal() -> str:
    return "The state of this call cannot be read."


def other_keys() -> str:
    return "The state of this call was kept by a server with other keys, and cannot be read here. Replicas share keys."


def unknown_journal_version(found: object, known: int) -> str:
    return f"The state of this call has version {found}; this midcall reads version {known}."


def state_refused(method: str, why: str, ttl: float) -> str:
    return (
        f"Refused the state of a call on {method}: {why}. States live for {ttl / 60:g} minutes, and replicas need the "
        "same keys: install(..., state_ttl=..., keys=...)."
    )
