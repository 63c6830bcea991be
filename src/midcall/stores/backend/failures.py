"""Failures of a database server, as errors that say what to do."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final, Literal, TypeAlias

from midcall.errors import StoreError

Failure: TypeAlias = Literal[
    "unreachable", "connection lost", "timed out", "login rejected", "no database", "read-only", "full", "contention"
]

_TRY_AGAIN: Final = "Try again: the next call reconnects."
_TEXTS: Final[dict[Failure, tuple[str, str]]] = {
    "unreachable": (
        "{} cannot be reached",
        "Check that it is running, and that host and port are right. Later calls try again.",
    ),
    "connection lost": ("The connection to {} was lost, and it is unknown whether the change was made", _TRY_AGAIN),
    "timed out": ("{} did not answer in time, and it is unknown whether the change was made", _TRY_AGAIN),
    "login rejected": (
        "{} rejects this user or this password",
        "Correct the user and the password in the URL of the store.",
    ),
    "no database": (
        "{}: there is no such database",
        "Create the database, or correct its name in the URL of the store.",
    ),
    "read-only": (
        "{} is read-only now. Nothing was changed",
        "Connect to the primary, or wait until it is the primary again.",
    ),
    "full": (
        "{} has no space left. Nothing was changed",
        "Free some space there; the store then continues automatically.",
    ),
    "contention": ("{} failed with too many changes of one record", _TRY_AGAIN),
}


def fail(what: str, failure: Failure) -> StoreError:
    """The error for this failure. `what` names the server, without user and password."""
    text, advice = _TEXTS[failure]
    return StoreError(text.format(what), advice=advice)


def refuse_url(scheme: str) -> StoreError:
    return StoreError(
        f"The {scheme}:// URL of the store cannot be read",
        advice="Percent-encode special characters in the user name and password: %40 for @, %2F for /, %3A for :.",
    )


def refuse_option(what: str, ours: tuple[str, ...]) -> StoreError:
    return StoreError(
        f"{what} does not accept an option in the URL of the store",
        advice=f"Check the spelling. midcall's own options are {', '.join(ours)}; all others go to the driver.",
    )


def import_driver(module: str, store: str, package: str, extra: str) -> Any:
    """The driver of this store.

    Raises:
        StoreError: It is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise StoreError(
            f"A {store} store needs the package {package}, which is not installed",
            advice=f'Install it with: pip install "midcall[{extra}]"',
        ) from error
