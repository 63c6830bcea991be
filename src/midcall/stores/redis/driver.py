"""redis-py: loading it, its errors as store errors, and cancellations that it swallows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from importlib import import_module
from typing import Any, TypeVar

from midcall.errors import StoreError
from midcall.stores.backend import failures

T = TypeVar("T")

OPTIONS = ("prefix", "pool", "timeout")
"""The options of a URL that are ours and not the driver's."""


def load_driver() -> Any:
    return failures.import_driver("redis.asyncio", "Redis", "redis", "redis")


def no_retry() -> Any:
    return import_module("redis.asyncio.retry").Retry(import_module("redis.backoff").NoBackoff(), 0)


async def run_cancellable(command: Awaitable[T]) -> T:
    """Await this command without losing a cancellation.

    On Python 3.11 `asyncio.wait_for`, which redis-py uses, swallows a cancellation that arrives just as it finishes.
    The caller would continue, and a task that listens would never end.
    """
    task = asyncio.current_task()
    before = task.cancelling() if task else 0
    result = await command
    if task and task.cancelling() > before:
        raise asyncio.CancelledError
    return result


def is_lost(error: BaseException | None) -> bool:
    """Whether the connection is gone, so that another one may work."""
    redis = import_module("redis.exceptions")
    final = (redis.AuthenticationError, redis.AuthorizationError, redis.MaxConnectionsError)
    return isinstance(error, (redis.ConnectionError, OSError)) and not isinstance(error, final)


def explain(error: Exception, what: str) -> StoreError:
    """This error as a `StoreError`. `what` names the server, without its user and password."""
    redis = import_module("redis.exceptions")
    connecting = "connecting to" in str(error)
    match error:
        case StoreError():
            return error
        case redis.AuthenticationError() | redis.AuthenticationWrongNumberOfArgsError():
            return failures.login_rejected(what)
        case redis.NoPermissionError():
            return StoreError(
                f"{what}: this user may not do that",
                advice="Let this user run scripts and publish, on keys and channels with the store's prefix.",
            )
        case redis.ResponseError() if isinstance(error, redis.ReadOnlyError) or "-READONLY" in str(error):
            return failures.read_only(what)
        case redis.ResponseError() if isinstance(error, redis.OutOfMemoryError) or "-OOM" in str(error):
            return failures.full(what)
        case redis.BusyLoadingError():
            return failures.unreachable(what)
        case TypeError():  # redis-py passes unknown options of the URL to its connections
            return failures.unknown_option(what, OPTIONS)
        case redis.MovedError() | redis.ClusterDownError():
            return StoreError(
                f"{what} is a cluster that sends its clients from node to node",
                advice="Use a Redis with one primary, or an endpoint that routes for its clients.",
            )
        case redis.TimeoutError() | redis.ConnectionError() | OSError() if connecting:
            return failures.unreachable(what)
        case redis.TimeoutError() | TimeoutError():
            return failures.timed_out(what)
        case redis.ConnectionError() | OSError():
            return failures.connection_lost(what)
        case redis.ResponseError() if "DB index" in str(error):
            return failures.no_database(what)
        case _:
            return failures.failed(what, type(error).__name__)
