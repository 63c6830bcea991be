"""Failures of a database server, as errors that say what to do. `what` names the server, without user and password."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from midcall.errors import StoreError

_TRY_AGAIN = "Try again: the next call reconnects."


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


def malformed_url(scheme: str) -> StoreError:
    return StoreError(
        f"The {scheme}:// URL of the store cannot be read",
        advice="Percent-encode special characters in the user name and password: %40 for @, %2F for /, %3A for :.",
    )


def unreachable(what: str) -> StoreError:
    return StoreError(
        f"{what} cannot be reached",
        advice="Check that it is running, and that host and port are right. Later calls try again.",
    )


def connection_lost(what: str) -> StoreError:
    return StoreError(
        f"The connection to {what} was lost, and it is unknown whether the change was made", advice=_TRY_AGAIN
    )


def timed_out(what: str) -> StoreError:
    return StoreError(
        f"{what} did not answer in time, and it is unknown whether the change was made", advice=_TRY_AGAIN
    )


def login_rejected(what: str) -> StoreError:
    return StoreError(
        f"{what} rejects this user or this password",
        advice="Correct the user and the password in the URL of the store.",
    )


def no_database(what: str) -> StoreError:
    return StoreError(
        f"{what}: there is no such database",
        advice="Create the database, or correct its name in the URL of the store.",
    )


def unknown_option(what: str, ours: Sequence[str]) -> StoreError:
    return StoreError(
        f"{what} does not accept an option in the URL of the store",
        advice=f"Check the spelling. midcall's own options are {', '.join(ours)}; all others go to the driver.",
    )


def read_only(what: str) -> StoreError:
    return StoreError(
        f"{what} is read-only now. Nothing was changed",
        advice="Connect to the primary, or wait until it is the primary again.",
    )


def full(what: str) -> StoreError:
    return StoreError(
        f"{what} has no space left. Nothing was changed",
        advice="Free some space there; the store then continues automatically.",
    )


def failed(what: str, error: str, *, again: bool = False) -> StoreError:
    return StoreError(f"{what} failed with {error}", advice=_TRY_AGAIN if again else "")
