"""asyncpg: loading it, and its errors as store errors."""

from __future__ import annotations

from typing import Any

from midcall.errors import StoreError
from midcall.stores.backend import failures

OPTIONS = ("create", "schema", "listen", "pool", "timeout")
"""The options of a URL that are ours and not the driver's."""


def load_driver() -> Any:
    return failures.import_driver("asyncpg", "PostgreSQL", "asyncpg", "postgres")


def is_lost(error: BaseException | None) -> bool:
    """Whether the connection is gone, so that another one may work."""
    pg = load_driver()
    gone = (pg.PostgresConnectionError, pg.AdminShutdownError, pg.CrashShutdownError, pg.InterfaceError)
    return isinstance(error, (OSError, *gone)) and not isinstance(error, TimeoutError)


def explain(error: Exception, what: str, *, connecting: bool = False) -> StoreError:
    """This error as a `StoreError`. `what` names the database, without its user and password."""
    pg = load_driver()
    match error:
        case StoreError():
            return error
        case pg.ClientConfigurationError() | ValueError():
            return failures.malformed_url("postgresql")
        case _ if connecting and (is_lost(error) or isinstance(error, TimeoutError)):
            return failures.unreachable(what)
        case TimeoutError():
            return failures.timed_out(what)
        case pg.InvalidPasswordError() | pg.InvalidAuthorizationSpecificationError():
            return failures.login_rejected(what)
        case pg.InvalidCatalogNameError():
            return failures.no_database(what)
        case pg.UndefinedObjectError() if connecting:  # the server takes an unknown option for one of its settings
            return failures.unknown_option(what, OPTIONS)
        case pg.TooManyConnectionsError():
            return StoreError(
                f"{what} accepts no more connections",
                advice="Make the pool smaller with ?pool=2 in the URL, or raise the limit of the database.",
            )
        case pg.CannotConnectNowError():
            return failures.unreachable(what)
        case pg.InsufficientPrivilegeError():
            return StoreError(
                f"{what}: this user may not do that",
                advice=(
                    "Grant SELECT, INSERT, UPDATE and DELETE on midcall_records and midcall_values, SELECT on "
                    "midcall_schema, and USAGE on the schema that they are in."
                ),
            )
        case pg.ReadOnlySQLTransactionError():
            return failures.read_only(what)
        case pg.DiskFullError():
            return failures.full(what)
        case _ if is_lost(error):
            return failures.connection_lost(what)
        case _:
            return failures.failed(what, type(error).__name__)
