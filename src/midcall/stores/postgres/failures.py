"""What went wrong in PostgreSQL, in words that say what to do."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from midcall.stores.base import StoreError
from midcall.wording import stores as words

__all__ = ["OPTIONS", "driver", "explained", "is_lost"]

OPTIONS = ("create", "schema", "listen", "pool", "timeout")
"""What a URL can say that is for us, and not for the driver."""


def driver() -> Any:
    """asyncpg, or what to install."""
    try:
        return import_module("asyncpg")
    except ImportError as error:
        raise StoreError(
            words.missing_extra("A PostgreSQL store", "asyncpg"), advice=words.install_extra("postgres")
        ) from error


def is_lost(error: BaseException | None) -> bool:
    """Whether the connection is gone, so that another one may do better."""
    pg = driver()
    gone = (pg.PostgresConnectionError, pg.AdminShutdownError, pg.CrashShutdownError, pg.InterfaceError)
    return isinstance(error, (OSError, *gone)) and not isinstance(error, TimeoutError)


def explained(error: Exception, what: str, *, connecting: bool = False) -> StoreError:
    """The same, as a `StoreError`. `what` names the database, without its user and password."""
    pg = driver()
    match error:
        case StoreError():
            return error
        case pg.ClientConfigurationError() | ValueError():
            return StoreError(words.broken_url("postgresql"), advice=words.encode_the_password())
        case _ if connecting and (is_lost(error) or isinstance(error, TimeoutError)):
            return StoreError(words.cannot_reach(what), advice=words.is_it_running())
        case TimeoutError():
            return StoreError(words.took_too_long(what), advice=words.try_again())
        case pg.InvalidPasswordError() | pg.InvalidAuthorizationSpecificationError():
            return StoreError(words.refused_login(what), advice=words.check_the_login())
        case pg.InvalidCatalogNameError():
            return StoreError(words.no_such_database(what), advice=words.make_the_database())
        case pg.UndefinedObjectError() if connecting:  # it takes what the driver does not know for a setting
            return StoreError(words.unknown_to_the_server(what), advice=words.look_at_the_options(OPTIONS))
        case pg.TooManyConnectionsError():
            return StoreError(
                f"{what} takes no more connections",
                advice="Make the pool smaller with ?pool=2 in the URL, or let the database take more.",
            )
        case pg.CannotConnectNowError():
            return StoreError(words.cannot_reach(what), advice=words.is_it_running())
        case pg.InsufficientPrivilegeError():
            return StoreError(
                words.may_not(what),
                advice=(
                    "Grant SELECT, INSERT, UPDATE and DELETE on midcall_records and midcall_values, SELECT on "
                    "midcall_schema, and USAGE on the schema that they are in."
                ),
            )
        case pg.ReadOnlySQLTransactionError():
            return StoreError(words.server_read_only(what), advice=words.primary_or_later())
        case pg.DiskFullError():
            return StoreError(words.server_full(what), advice=words.make_room())
        case _ if is_lost(error):
            return StoreError(words.connection_lost(what), advice=words.try_again())
        case _:
            return StoreError(words.server_failed(what, type(error).__name__))
