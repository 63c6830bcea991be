"""What went wrong in Redis, in words that say what to do."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from midcall.stores.base import StoreError
from midcall.wording import stores as words

__all__ = ["OPTIONS", "driver", "explained", "is_lost", "never_again"]

OPTIONS = ("prefix", "pool", "timeout")
"""What a URL can say that is for us, and not for the driver."""


def driver() -> Any:
    """redis-py's asyncio side, or what to install."""
    try:
        return import_module("redis.asyncio")
    except ImportError as error:
        raise StoreError(words.missing_extra("A Redis store", "redis"), advice=words.install_extra("redis")) from error


def never_again() -> Any:
    """How often redis-py tries again: never."""
    return import_module("redis.asyncio.retry").Retry(import_module("redis.backoff").NoBackoff(), 0)


def is_lost(error: BaseException | None) -> bool:
    """Whether the connection is gone, so that another one may do better."""
    redis = import_module("redis.exceptions")
    final = (redis.AuthenticationError, redis.AuthorizationError, redis.MaxConnectionsError)
    return isinstance(error, (redis.ConnectionError, OSError)) and not isinstance(error, final)


def explained(error: Exception, what: str) -> StoreError:
    """The same, as a `StoreError`. `what` names the server, without its user and password."""
    redis = import_module("redis.exceptions")
    connecting = "connecting to" in str(error)
    match error:
        case StoreError():
            return error
        case redis.AuthenticationError() | redis.AuthenticationWrongNumberOfArgsError():
            return StoreError(words.refused_login(what), advice=words.check_the_login())
        case redis.NoPermissionError():
            return StoreError(
                words.may_not(what),
                advice=(
                    "Let this user run scripts and publish, on the keys and channels that begin with the store's "
                    "prefix."
                ),
            )
        case redis.ResponseError() if isinstance(error, redis.ReadOnlyError) or "-READONLY" in str(error):
            return StoreError(words.server_read_only(what), advice=words.primary_or_later())
        case redis.ResponseError() if isinstance(error, redis.OutOfMemoryError) or "-OOM" in str(error):
            return StoreError(words.server_full(what), advice=words.make_room())
        case redis.BusyLoadingError():
            return StoreError(words.cannot_reach(what), advice=words.is_it_running())
        case TypeError():  # a connection is made with what the URL says, and does not know it
            return StoreError(words.unknown_to_the_server(what), advice=words.look_at_the_options(OPTIONS))
        case redis.MovedError() | redis.ClusterDownError():
            return StoreError(
                f"{what} is a cluster that sends its clients from node to node",
                advice="Use a Redis with one primary, or an endpoint that routes for its clients.",
            )
        case redis.TimeoutError() | redis.ConnectionError() | OSError() if connecting:
            return StoreError(words.cannot_reach(what), advice=words.is_it_running())
        case redis.TimeoutError() | TimeoutError():
            return StoreError(words.took_too_long(what), advice=words.try_again())
        case redis.ConnectionError() | OSError():
            return StoreError(words.connection_lost(what), advice=words.try_again())
        case redis.ResponseError() if "DB index" in str(error):
            return StoreError(words.no_such_database(what), advice=words.make_the_database())
        case _:
            return StoreError(words.server_failed(what, type(error).__name__))
