"""Every sentence about stores that an author or an operator may read, in one place."""

from __future__ import annotations

from collections.abc import Sequence

__all__: list[str] = []


# --- which store -----------------------------------------------------------------------------
def accepted_urls() -> str:
    return (
        "A store is named by a URL: memory://, sqlite:// (a file of its own), sqlite:///path/to/file.db, "
        "postgresql://user@host/database or redis://host/0; or by the path of a file that ends in .db."
    )


def not_a_url() -> str:
    return "The URL of the store cannot be read: it has no scheme such as postgresql://"


def unknown_scheme(scheme: str) -> str:
    return f"There is no store for {scheme}:// URLs"


def broken_url(scheme: str) -> str:
    return f"The {scheme}:// URL of the store cannot be read"


def encode_the_password() -> str:
    return "Write special characters of a user name or a password in percent encoding: %40 for @, %2F for /, %3A for :."


def wrong_option(option: str, expected: str) -> str:
    return f"The option {option!r} in the URL of the store must be {expected}"


def missing_extra(what: str, package: str) -> str:
    return f"{what} needs the package {package}, which is not installed"


def install_extra(extra: str) -> str:
    return f'Install it with: pip install "midcall[{extra}]"'


# --- every store -----------------------------------------------------------------------------


def open_it_again() -> str:
    return "Call open() to use it again."


# --- SQLite ----------------------------------------------------------------------------------


# --- PostgreSQL and Redis --------------------------------------------------------------------
def cannot_reach(what: str) -> str:
    return f"{what} cannot be reached"


def is_it_running() -> str:
    return "See whether it runs and whether the host and the port are right. Later calls try again."


def connection_lost(what: str) -> str:
    return f"The connection to {what} broke off, and nobody knows whether the change was made"


def try_again() -> str:
    return "Try again: the next call connects anew."


def took_too_long(what: str) -> str:
    return f"{what} did not answer in time, and nobody knows whether the change was made"


def refused_login(what: str) -> str:
    return f"{what} refuses this user or this password"


def check_the_login() -> str:
    return "Correct the user and the password in the URL of the store."


def no_such_database(what: str) -> str:
    return f"{what}: there is no such database"


def make_the_database() -> str:
    return "Create the database, or correct its name in the URL of the store."


def may_not(what: str) -> str:
    return f"{what}: this user may not do that"


def unknown_to_the_server(what: str) -> str:
    return f"{what} does not take an option that stands in the URL of the store"


def look_at_the_options(own: Sequence[str]) -> str:
    return f"See whether one is misspelled. Those of midcall are {', '.join(own)}; all others go to the driver."


def server_read_only(what: str) -> str:
    return f"{what} is read-only now. Nothing was changed"


def server_full(what: str) -> str:
    return f"{what} has no space left. Nothing was changed"


def primary_or_later() -> str:
    return "Connect to the primary, or wait until it is one again."


def make_room() -> str:
    return "Make room there; it goes on by itself then."


def server_failed(what: str, error: str) -> str:
    return f"{what} failed with {error}"


# --- for the model ---------------------------------------------------------------------------


# --- the command -----------------------------------------------------------------------------
def swept(count: int) -> str:
    return f"Removed {count:,} {'record' if count == 1 else 'records'}."
