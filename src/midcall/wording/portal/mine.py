"""The page with what is kept about its reader."""

from __future__ import annotations

from collections.abc import Sequence


def title(server: str) -> str:
    return f"What {server} keeps about you"


def lead() -> str:
    return "Only names and dates are shown. The values themselves are encrypted, and no page ever shows them."


def nothing() -> str:
    return "Nothing is kept."


def secret() -> str:
    return "A secret that you entered"


def access(provider: str) -> str:
    return f"Access to {provider}"


def since(moment: str) -> str:
    return f"since {moment} UTC"


def delete() -> str:
    return "Delete"


def delete_this(name: str) -> str:
    return f"Delete {name}"


def delete_all() -> str:
    return "Delete everything"


def delete_all_sure(count: int) -> str:
    return "Yes, delete it" if count == 1 else f"Yes, delete all {count}"


def delete_hint() -> str:
    return "What is deleted is asked for again when it is needed. Access to other services is taken back there, too."


def deleted(names: Sequence[str]) -> str:
    return f"Deleted: {', '.join(names)}." if names else "That was deleted already."


def not_revoked(names: Sequence[str]) -> str:
    return f"{', '.join(names)} could not be told. Take the access back in your settings there."
