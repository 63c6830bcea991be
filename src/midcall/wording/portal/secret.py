"""The page of a secret."""

from __future__ import annotations


def title(name: str, server: str) -> str:
    return f"Enter “{name}” for {server}"


def save() -> str:
    return "Save"


def note(server: str, client: str) -> str:
    return f"It goes to {server} only and is kept encrypted. Neither {client} nor the model ever sees it."


def missing() -> str:
    return "is required"


def too_long() -> str:
    return "is longer than a secret can be"


def unchecked() -> str:
    return "could not be checked just now. Nothing was saved. Please try again"


def check_failed(name: str, error: str) -> str:
    return f"the check of the secret {name!r} failed, and nothing was saved: {error}"


def not_a_problem(kind: str) -> str:
    return f"A check gives None where the secret is right, else what is wrong, as text; this one gave {kind}."
