"""A store in Redis: for many machines.

Every atomic operation is a script. All keys have the same hash tag, so that a script may use several. Redis removes a
record a day after it has expired.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

from midcall.errors import StoreError
from midcall.settings import EXPIRED_KEEP_SECONDS, REDIS_PING_SECONDS, STORE_BATCH, STORE_POOL, STORE_TIMEOUT_SECONDS
from midcall.stores.address import Address, wrong_option
from midcall.stores.backend.failures import malformed_url
from midcall.stores.backend.lifecycle import Connected
from midcall.stores.backend.migrations import OLDEST, SchemaVersion, missing_steps
from midcall.stores.backend.rows import check_record, check_value, escape, unescape
from midcall.stores.backend.wakeup import Wakeups
from midcall.stores.base import Completion, Record, Value
from midcall.stores.redis import scripts
from midcall.stores.redis.driver import OPTIONS, explain, is_lost, load_driver, no_retry, run_cancellable
from midcall.stores.redis.listener import RedisListener

T = TypeVar("T")

log = logging.getLogger("midcall.store")

_STEPS = ("hashes, as in `scripts`", "`v`, the version of a record")
_PREFIX = re.compile(r"[\w.:-]{1,100}", re.ASCII)


@dataclass(slots=True)
class _Open:
    client: Any
    wakeups: Wakeups
    create: Any
    change: Any
    complete: Any
    consume: Any
    look: Any
    swap: Any
    sweep: Any


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
        super().__init__()
        self._redis = load_driver()
        address = Address.parse(url, "redis", "rediss")
        self._url, options = address.without(*OPTIONS)
        self._prefix = options.text("prefix", prefix) or ""
        if not _PREFIX.fullmatch(self._prefix):
            raise wrong_option("prefix", "letters, digits and _ . : -")
        self._size = options.count("pool", pool)
        self._timeout = options.seconds("timeout", timeout)
        self._what = f"Redis{address.where}"
        self._channel = f"{{{self._prefix}}}:changed"
        self._warned = False

    def __repr__(self) -> str:
        return f"<{self._what}>"

    async def create(self, record: Record) -> tuple[Record, bool]:
        check_record(record)
        arguments = [*_arguments(record), self._channel, escape(record.id)]
        found = await self._run(lambda it: it.create([self._record_key(record.id)], arguments))
        if found is not None:
            return _parse(record.id, found), False
        self._ring(record.id)
        return replace(record, version=1), True

    async def change(self, record: Record, version: int) -> tuple[Record | None, bool]:
        check_record(record)
        arguments = [version, *_changes(record), self._channel, escape(record.id)]
        found = await self._run(lambda it: it.change([self._record_key(record.id)], arguments))
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
        arguments = [escape(outcome), *_whose(owner), now, self._channel, escape(id)]
        completion = (await self._run(lambda it: it.complete([self._record_key(id)], arguments))).decode()
        if completion == "done":
            self._ring(id)
        return cast(Completion, completion)

    async def consume(self, id: str, *, owner: str | None, now: float) -> Record | None:
        arguments = [*_whose(owner), now, self._channel, escape(id)]
        found = await self._run(lambda it: it.consume([self._record_key(id)], arguments))
        if found is None:
            return None
        self._ring(id)
        return _parse(id, found)

    async def sweep(self, now: float) -> int:
        gone = 0
        async for keys in self._keys("r"):
            gone += await self._run(lambda it, keys=keys: it.sweep(keys, [now]))
        (await self._get()).wakeups.poll_soon()
        return gone

    async def put(self, value: Value, *, instead_of: bytes | None = None) -> bool:
        check_value(value)
        key, name = self._value_key(value.owner), escape(value.name)
        packed = f"{float(value.updated)!r} ".encode() + value.sealed
        if instead_of is not None:
            return bool(await self._run(lambda it: it.swap([key], [name, packed, instead_of])))
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
            await run_cancellable(self._prepare(client))
        except Exception as error:
            await client.aclose()
            raise explain(error, self._what) from error
        except BaseException:
            await client.aclose()
            raise
        wakeups = Wakeups(self._versions, RedisListener(self._what, client, self._channel))
        texts = (scripts.CREATE, scripts.CHANGE, scripts.COMPLETE, scripts.CONSUME)
        texts += (scripts.LOOK, scripts.SWAP, scripts.SWEEP)
        return _Open(client, wakeups, *(client.register_script(text) for text in texts))

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
                retry=no_retry(),
            )
        except (ValueError, TypeError):
            raise malformed_url("redis") from None
        return self._redis.Redis.from_pool(pool)

    async def _stop(self, it: _Open) -> None:
        await it.wakeups.close()
        await it.client.aclose()

    async def _prepare(self, client: Any) -> None:
        key = f"{{{self._prefix}}}:schema"
        version, usable_from = await client.hmget(key, "version", "usable_from")
        found = None if version is None else SchemaVersion(int(version), int(usable_from))
        if missing_steps(found, _STEPS):
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

    # --- commands ------------------------------------------------------------------------------

    async def _run(self, command: Callable[[_Open], Awaitable[T]]) -> T:
        it = await self._get()
        try:
            return await run_cancellable(command(it))
        except Exception as error:
            raise explain(error, self._what) from error

    async def _query(self, command: Callable[[_Open], Awaitable[T]]) -> T:
        """Run a command that only reads: it may be retried on another connection."""
        try:
            return await self._run(command)
        except StoreError as error:
            if not is_lost(error.__cause__):
                raise
        return await self._run(command)

    async def _versions(self, ids: Sequence[str]) -> dict[str, int]:
        return {id: int(version or 1) async for id, (_, version) in self._find(ids, "h", "v")}

    async def _find(self, ids: Sequence[str], *fields: str) -> AsyncIterator[tuple[str, list[bytes | None]]]:
        """These fields of those records that exist, hundreds in one round trip."""
        for begun in range(0, len(ids), STORE_BATCH):
            some = ids[begun : begun + STORE_BATCH]
            keys = [self._record_key(id) for id in some]
            found: list[Any] = await self._query(lambda it, keys=keys: it.look(keys, fields))
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
    head, data, outcome, consumed, version = (None if each is None else unescape(each.decode()) for each in found)
    expires, created, owner = (head or "").split(" ", 2)
    length, _, data = (data or "").partition(" ")
    kind, data = data[: int(length)], data[int(length) :]
    times = (float(created), float(expires))
    return Record(id, kind, owner, data, *times, outcome, consumed is not None, int(version or 1))


def _value(owner: str, name: str, packed: bytes) -> Value:
    updated, _, sealed = packed.partition(b" ")
    return Value(owner, name, sealed, float(updated))
