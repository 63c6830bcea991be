"""The state of a call that cannot be read any more."""

from __future__ import annotations


def damaged_journal() -> str:
    return "The state of this call cannot be read."


def other_keys() -> str:
    return "The state of this call was kept by a server with other keys, and cannot be read here. Replicas share keys."


def unknown_journal_version(found: object, known: int) -> str:
    return f"The state of this call has version {found}; this midcall reads version {known}."


def state_refused(ttl: float) -> str:
    minutes = f"{ttl / 60:g} minutes"
    return (
        "Invalid or expired requestState: this call can no longer be continued. States live for "
        f"{minutes} and belong to one user, one tool and its arguments. Call again from the start."
    )
