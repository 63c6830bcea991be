"""A store in Redis: for many machines.

Every atomic operation is a script. All keys have the same hash tag, so that a script may use several. Redis removes a
record a day after it has expired.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Final, TypeVar, cast

from midcall.errors import StoreError
from midcall.settings.stores import (
    EXPIRED_KEEP_SECONDS,
    REDIS_PING_SECONDS,
    STORE_BATCH,
    STORE_POOL,
    STORE_TIMEOUT_SECONDS,
)
from midcall.stores.address import StoreUrl, wrong_option
from midcall.stores.backend import redis_scripts as scripts
from midcall.stores.backend.connected import Connected
from midcall.stores.backend.failures import fail, import_driver, refuse_option, refuse_url
from midcall.stores.backend.rows import (
    OLDEST,
    check_names,
    escape,
    missing_steps,
    read_version,
    unescape,
    unreadable,
)
from midcall.stores.backend.wakeup import Wakeups
from midcall.stores.base import Completion, Record, Value

__all__ = ["Redis"]

T = TypeVar("T")

log = logging.getLogger("midcall.store")

_OPTIONS: Final = ("prefix", "pool", "timeout")
"""The options of a URL that are ours and not the driver's."""
_STEPS: Final = ("hashes, as in `redis_scripts`", "`v`, the version of a record")
_PREFIX: Final = re.compile(r"[\w.:-]{1,100}", re.ASCII)


@dataclass(slots=True)
class _Open:
    client: Any
    wakeups: Wakeups
    scripts: dict[str, Any]


class Redis(Connected[_Open]):
    """Records and values in Redis.

    Args:
        url: redis://user:password@host:port/0, or rediss:// for TLS. The other arguments can be options of the URL:
            `?prefix=staging&pool=4`.
        prefix: The prefix of all keys.
        pool: The maximum number of connections, not counting the one that listens.
        timeout: Seconds to wait for an answer of the server.
    """

    def __init__(
        self,
        url: str = "redis://localhost:6379/0",
        *,
        prefix: str = "midcall",
        pool: int = STORE_POOL,
        timeout: float = STORE_TIMEOUT_SECONDS,
    ) -> None:
        self._redis = import_driver("redis.asyncio", "Redis", "redis", "redis")
        address = StoreUrl.parse(url, "redis", "rediss")
        super().__init__(f"Redis{address.where}")
        self._url, options = address.without(*_OPTIONS)
        self._prefix = options.text("prefix", prefix) or ""
        if not _PREFIX.fullmatch(self._prefix):
            raise wrong_option("prefix", "letters, digits and _ . : -")
        self._size = options.count("pool", pool)
        self._timeout = options.seconds("timeout", timeout)
        self._channel = f"{{{self._prefix}}}:changed"
        self._warned = False

    async def create(self, record: Record) -> tuple[Record, bool]:
        check_names(record)
        found = await self._change(scripts.CREATE, record.id, *_arguments(record))
        if found is not None:
            return _parse(record.id, found), False
        self._ring(record.id)
        return replace(record, version=1), True

    async def change(self, record: Record, version: int) -> tuple[Record | None, bool]:
        check_names(record)
        found = await self._change(scripts.CHANGE, record.id, version, *_changes(record))
        if isinstance(found, bytes):
            self._ring(record.id)
            return replace(record, created=float(found), version=version + 1), True
        return _parse_any(record.id, found), False

    async def read(self, id: str) -> Record | None:
        found = await self._query(lambda it: it.client.hmget(self._record_key(id), *scripts.FIELDS))
        return _parse_any(id, found)

    async def look(self, ids: Sequence[str]) -> dict[str, Record]:
        return {id: _parse(id, found) async for id, found in self._find(ids, *scripts.FIELDS)}

    async def complete(self, id: str, outcome: str, *, owner: str | None, now: float) -> Completion:
        completion = (await self._change(scripts.COMPLETE, id, escape(outcome), *_whose(owner), now)).decode()
        if completion == "done":
            self._ring(id)
        return cast(Completion, completion)

    async def consume(self, id: str, *, owner: str | None, now: float) -> Record | None:
        found = await self._change(scripts.CONSUME, id, *_whose(owner), now)
        if found is None:
            return None
        self._ring(id)
        return _parse(id, found)

    async def sweep(self, now: float) -> int:
        gone = 0
        async for keys in self._keys("r"):
            gone += await self._run(lambda it, keys=keys: it.scripts[scripts.SWEEP](keys, [now]))
        (await self._get()).wakeups.poll_soon()
        return gone

    async def put(self, value: Value, *, instead_of: bytes | None = None) -> bool:
        check_names(value)
        key, name = self._value_key(value.owner), escape(value.name)
        packed = f"{float(value.updated)!r} ".encode() + value.sealed
        if instead_of is not None:
            return bool(await self._run(lambda it: it.scripts[scripts.SWAP]([key], [name, packed, instead_of])))
        await self._run(lambda it: it.client.hset(key, name, packed))
        return True

    async def get(self, owner: str, name: str) -> Value | None:
        packed = await self._query(lambda it: it.client.hget(self._value_key(owner), escape(name)))
        return None if packed is None else _value(owner, name, packed)

    async def values(self, owner: str) -> list[Value]:
        found = await self._query(lambda it: it.client.hgetall(self._value_key(owner)))
        values = (_value(owner, unescape(name.decode()), packed) for name, packed in found.items())
        return sorted(values, key=lambda value: value.name)

    async def remove(self, owner: str, name: str) -> bool:
        return bool(await self._run(lambda it: it.client.hdel(self._value_key(owner), escape(name))))

    async def all_values(self) -> AsyncIterator[Value]:
        seen: set[bytes] = set()
        async for keys in self._keys("v"):
            for key in keys:
                if key not in seen:
                    seen.add(key)
                    for value in await self.values(unescape(key[len(self._value_key("")) :].decode())):
                        yield value

    # --- connections ---------------------------------------------------------------------------

    async def _start(self) -> _Open:
        client = self._client()
        try:
            await _run_cancellable(self._prepare(client))
        except BaseException as error:
            await client.aclose()
            if isinstance(error, Exception):
                raise _explain(error, self._what) from error
            raise
        registered = {script: client.register_script(script) for script in scripts.ALL}
        return _Open(client, Wakeups(self._versions, self._hear), registered)

    def _client(self) -> Any:
        try:
            pool = self._redis.BlockingConnectionPool.from_url(
                self._url,
                max_connections=self._size + 1,
                timeout=None,
                socket_timeout=self._timeout,
                socket_connect_timeout=self._timeout,
                health_check_interval=REDIS_PING_SECONDS,
                # A script whose answer was lost must not run again unnoticed.
                retry=import_module("redis.asyncio.retry").Retry(import_module("redis.backoff").NoBackoff(), 0),
            )
        except (ValueError, TypeError):
            raise refuse_url("redis") from None
        return self._redis.Redis.from_pool(pool)

    async def _stop(self, it: _Open) -> None:
        await it.wakeups.close()
        await it.client.aclose()

    async def _prepare(self, client: Any) -> None:
        key = f"{{{self._prefix}}}:schema"
        found = await client.hmget(key, "version", "usable_from")
        if missing_steps(_STEPS, *(int(number or 0) for number in found)):
            await client.hset(key, mapping={"version": len(_STEPS), "usable_from": OLDEST})
        await self._warn_of_eviction(client)

    async def _warn_of_eviction(self, client: Any) -> None:
        try:
            memory = await client.info("memory")
        except Exception:
            return  # some servers don't allow INFO
        policy = memory.get("maxmemory_policy", "noeviction")
        if memory.get("maxmemory") and policy != "noeviction" and not self._warned:
            log.warning(
                "%s may evict records and secrets when its memory is full (maxmemory-policy %s). Set maxmemory-policy "
                "to noeviction, or use another Redis.",
                self._what,
                policy,
            )
            self._warned = True

    async def _hear(self, ring: Callable[[str], None], ready: Callable[[], None]) -> float:
        """SUBSCRIBE to one channel for all records."""
        subscription = (await self._get()).client.pubsub()
        try:
            await _run_cancellable(subscription.subscribe(self._channel))
            while True:
                message = await _run_cancellable(subscription.get_message(timeout=REDIS_PING_SECONDS))
                if message is None:
                    await _run_cancellable(subscription.ping())  # a connection can die silently
                elif message["type"] == "subscribe":
                    ready()
                elif message["type"] == "message":
                    ring(unescape(message["data"].decode()))
        except Exception as error:
            raise _explain(error, self._what) from error
        finally:
            with suppress(Exception):
                await subscription.aclose()

    # --- commands ------------------------------------------------------------------------------

    async def _run(self, command: Callable[[_Open], Awaitable[T]]) -> T:
        it = await self._get()
        try:
            return await _run_cancellable(command(it))
        except Exception as error:
            raise _explain(error, self._what) from error

    async def _query(self, command: Callable[[_Open], Awaitable[T]]) -> T:
        """Run a command that only reads: it may be retried on another connection."""
        try:
            return await self._run(command)
        except StoreError as error:
            if not _is_lost(error.__cause__):
                raise
        return await self._run(command)

    async def _change(self, script: str, id: str, *arguments: Any) -> Any:
        """Run a script that changes this record, and notify the others."""
        key, told = [self._record_key(id)], (*arguments, self._channel, escape(id))
        return await self._run(lambda it: it.scripts[script](key, told))

    async def _versions(self, ids: Sequence[str]) -> dict[str, int]:
        return {id: _version(id, version) async for id, (_, version) in self._find(ids, "h", "v")}

    async def _find(self, ids: Sequence[str], *fields: str) -> AsyncIterator[tuple[str, list[bytes | None]]]:
        """These fields of those records that exist, hundreds in one round trip."""
        for begun in range(0, len(ids), STORE_BATCH):
            some = ids[begun : begun + STORE_BATCH]
            keys = [self._record_key(id) for id in some]
            found: list[Any] = await self._query(lambda it, keys=keys: it.scripts[scripts.LOOK](keys, fields))
            for place, values in zip(found[::2], found[1::2], strict=True):
                yield some[int(place)], values

    async def _keys(self, kind: str) -> AsyncIterator[list[bytes]]:
        pattern = f"{{{self._prefix}}}:{kind}:*"
        cursor = -1
        while cursor:
            cursor, keys = await self._query(_scan(max(cursor, 0), pattern))
            if keys:
                yield keys

    def _record_key(self, id: str) -> bytes:
        return f"{{{self._prefix}}}:r:{escape(id)}".encode()

    def _value_key(self, owner: str) -> bytes:
        return f"{{{self._prefix}}}:v:{escape(owner)}".encode()


def _scan(cursor: int, pattern: str) -> Callable[[_Open], Awaitable[tuple[int, list[bytes]]]]:
    return lambda it: it.client.scan(cursor, match=pattern, count=STORE_BATCH)


# --- records and values as Redis holds them --------------------------------------------------
def _whose(owner: str | None) -> tuple[str, str]:
    return ("any", "") if owner is None else ("only", escape(owner))


def _arguments(record: Record) -> list[Any]:
    seconds = record.expires - record.created + EXPIRED_KEEP_SECONDS
    milliseconds = max(1, int(seconds * 1000)) if math.isfinite(seconds) else ""
    expires, owner, *rest = _changes(record)
    return [record.created, f"{expires} {float(record.created)!r} {owner}", *rest, milliseconds]


def _changes(record: Record) -> list[str]:
    data = f"{len(record.kind)} {escape(record.kind + record.data)}"
    outcome = "" if record.outcome is None else f"={escape(record.outcome)}"
    return [repr(float(record.expires)), escape(record.owner), data, outcome, "1" if record.consumed else ""]


def _parse_any(id: str, found: Sequence[bytes | None]) -> Record | None:
    return None if found[0] is None else _parse(id, found)


def _parse(id: str, found: Sequence[bytes | None]) -> Record:
    try:
        head, data, outcome, consumed, version = (None if each is None else unescape(each.decode()) for each in found)
        expires, created, owner = (head or "").split(" ", 2)
        length, _, data = (data or "").partition(" ")
        kind, data = data[: int(length)], data[int(length) :]
        times = (float(created), float(expires))
        return Record(id, kind, owner, data, *times, outcome, consumed is not None, read_version(version or 1))
    except ValueError:
        return unreadable(id)


def _version(id: str, found: bytes | None) -> int:
    try:
        return read_version((found or b"1").decode())
    except ValueError:
        return unreadable(id).version


def _value(owner: str, name: str, packed: bytes) -> Value:
    updated, _, sealed = packed.partition(b" ")
    return Value(owner, name, sealed, float(updated))


# --- the driver ------------------------------------------------------------------------------
async def _run_cancellable(command: Awaitable[T]) -> T:
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


def _is_lost(error: BaseException | None) -> bool:
    """Whether the connection is gone, so that another one may work."""
    redis = import_module("redis.exceptions")
    final = (redis.AuthenticationError, redis.AuthorizationError, redis.MaxConnectionsError)
    return isinstance(error, (redis.ConnectionError, OSError)) and not isinstance(error, final)


def _explain(error: Exception, what: str) -> StoreError:
    """This error as a `StoreError`. `what` names the server, without its user and password."""
    redis = import_module("redis.exceptions")
    connecting = "connecting to" in str(error)
    match error:
        case StoreError():
            return error
        case redis.AuthenticationError() | redis.AuthenticationWrongNumberOfArgsError():
            return fail(what, "login rejected")
        case redis.NoPermissionError():
            return StoreError(
                f"{what}: this user may not do that",
                advice="Let this user run scripts and publish, on keys and channels with the store's prefix.",
            )
        case redis.ResponseError() if isinstance(error, redis.ReadOnlyError) or "-READONLY" in str(error):
            return fail(what, "read-only")
        case redis.ResponseError() if isinstance(error, redis.OutOfMemoryError) or "-OOM" in str(error):
            return fail(what, "full")
        case redis.BusyLoadingError():
            return fail(what, "unreachable")
        case TypeError():  # redis-py passes unknown options of the URL to its connections
            return refuse_option(what, _OPTIONS)
        case redis.MovedError() | redis.ClusterDownError():
            return StoreError(
                f"{what} is a cluster that sends its clients from node to node",
                advice="Use a Redis with one primary, or an endpoint that routes for its clients.",
            )
        case redis.TimeoutError() | redis.ConnectionError() | OSError() if connecting:
            return fail(what, "unreachable")
        case redis.TimeoutError() | TimeoutError():
            return fail(what, "timed out")
        case redis.ConnectionError() | OSError():
            return fail(what, "connection lost")
        case redis.ResponseError() if "DB index" in str(error):
            return fail(what, "no database")
        case _:
            return StoreError(f"{what} failed with {type(error).__name__}")
