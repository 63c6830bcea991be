"""A store in Redis: for many machines.

What has to happen in one go is a script. All keys have one hash tag, so that a script may use them
together. Records go away by themselves, a day after their time is over.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

from midcall.stores.address import Address
from midcall.stores.background.lifecycle import Life
from midcall.stores.background.wakeup import Waking
from midcall.stores.base import Completion, Record, StoreError, Value
from midcall.stores.redis import scripts
from midcall.stores.redis.cancelling import heeding
from midcall.stores.redis.failures import OPTIONS, driver, explained, is_lost, never_again
from midcall.stores.redis.listener import RedisEar
from midcall.stores.sql.versions import OLDEST, Found, missing_steps
from midcall.stores.texts import check_name, check_record, given, kept
from midcall.wording import stores as words

__all__ = ["Redis"]

T = TypeVar("T")

log = logging.getLogger("midcall.store")

_STEPS = ("hashes, as in `scripts`", "`v`, the version of a record")
_PREFIX = re.compile(r"[\w.:-]{1,100}", re.ASCII)
_AT_ONCE = 500


@dataclass(slots=True)
class _Open:
    client: Any
    waking: Waking
    create: Any
    change: Any
    complete: Any
    consume: Any
    look: Any
    swap: Any
    sweep: Any


class Redis:
    """Records and values in Redis.

    Args:
        url: Where it is: redis://user:password@host:port/0, or rediss:// for TLS. The other arguments can be
            options of the URL: `?prefix=staging&pool=4`.
        prefix: What the names of all keys begin with.
        pool: How many connections at most, and one that listens.
        timeout: Seconds until a server that does not answer is an error.
    """

    def __init__(
        self,
        url: str = "redis://localhost:6379/0",
        *,
        prefix: str = "midcall",
        pool: int = 10,
        timeout: float = 10.0,
    ) -> None:
        self._redis = driver()
        address = Address.parse(url, "redis", "rediss")
        self._url, options = address.without(*OPTIONS)
        self._prefix = options.text("prefix", prefix) or ""
        if not _PREFIX.fullmatch(self._prefix):
            raise StoreError(words.wrong_option("prefix", "letters, digits and _ . : -"))
        self._size = options.count("pool", pool)
        self._timeout = options.seconds("timeout", timeout)
        self._what = f"Redis{address.where}"
        self._channel = f"{{{self._prefix}}}:changed"
        self._told = False
        self._life = Life(self._start, self._stop)

    def __repr__(self) -> str:
        return f"<{self._what}>"

    async def open(self) -> None:
        await self._life.open()

    async def close(self) -> None:
        await self._life.close()

    async def create(self, record: Record) -> tuple[Record, bool]:
        check_record(record)
        arguments = [*_arguments(record), self._channel, kept(record.id)]
        found = await self._done(lambda it: it.create([self._record_key(record.id)], arguments))
        if found is not None:
            return _there(record.id, found), False
        return self._rung(replace(record, version=1)), True

    async def change(self, record: Record, version: int) -> tuple[Record | None, bool]:
        check_record(record)
        arguments = [version, *_changes(record), self._channel, kept(record.id)]
        found = await self._done(lambda it: it.change([self._record_key(record.id)], arguments))
        if isinstance(found, bytes):
            return self._rung(replace(record, created=float(found), version=version + 1)), True
        return _record(record.id, found), False

    async def read(self, id: str) -> Record | None:
        found = await self._seen(lambda it: it.client.hmget(self._record_key(id), *scripts.FIELDS))
        return _record(id, found)

    async def look(self, ids: Sequence[str]) -> dict[str, Record]:
        return {id: _there(id, found) async for id, found in self._existing(ids, *scripts.FIELDS)}

    async def complete(self, id: str, outcome: str, *, owner: str | None, now: float) -> Completion:
        arguments = [kept(outcome), *_whose(owner), now, self._channel, kept(id)]
        became = (await self._done(lambda it: it.complete([self._record_key(id)], arguments))).decode()
        if became == "done":
            self._ring(id)
        return cast(Completion, became)

    async def consume(self, id: str, *, owner: str | None, now: float) -> Record | None:
        arguments = [*_whose(owner), now, self._channel, kept(id)]
        found = await self._done(lambda it: it.consume([self._record_key(id)], arguments))
        return None if found is None else self._rung(_there(id, found))

    async def wait(self, id: str, seconds: float, *, version: int | None = None) -> Record | None:
        return await (await self._life.get()).waking.wait(id, seconds, self.read, version=version)

    async def sweep(self, now: float) -> int:
        gone = 0
        async for keys in self._keys("r"):
            gone += await self._done(lambda it, keys=keys: it.sweep(keys, [now]))
        (await self._life.get()).waking.look_soon()
        return gone

    async def put(self, value: Value, *, instead_of: bytes | None = None) -> bool:
        check_name("owner", value.owner)
        check_name("name", value.name)
        key, name = self._value_key(value.owner), kept(value.name)
        packed = f"{float(value.updated)!r} ".encode() + value.sealed
        if instead_of is not None:
            return bool(await self._done(lambda it: it.swap([key], [name, packed, instead_of])))
        await self._done(lambda it: it.client.hset(key, name, packed))
        return True

    async def get(self, owner: str, name: str) -> Value | None:
        packed = await self._seen(lambda it: it.client.hget(self._value_key(owner), kept(name)))
        return None if packed is None else _value(owner, name, packed)

    async def values(self, owner: str) -> list[Value]:
        found = await self._seen(lambda it: it.client.hgetall(self._value_key(owner)))
        values = (_value(owner, given(name.decode()), packed) for name, packed in found.items())
        return sorted(values, key=lambda value: value.name)

    async def remove(self, owner: str, name: str) -> bool:
        return bool(await self._done(lambda it: it.client.hdel(self._value_key(owner), kept(name))))

    async def all_values(self) -> AsyncIterator[Value]:
        seen: set[bytes] = set()
        async for keys in self._keys("v"):
            for key in keys:
                if key not in seen:
                    seen.add(key)
                    for value in await self.values(given(key[len(self._value_key("")) :].decode())):
                        yield value

    # --- connections ---------------------------------------------------------------------------

    async def _start(self) -> _Open:
        client = self._client()
        try:
            await heeding(self._prepare(client))
        except Exception as error:
            await client.aclose()
            raise explained(error, self._what) from error
        except BaseException:
            await client.aclose()
            raise
        waking = Waking(self._versions, RedisEar(self._what, client, self._channel))
        texts = (scripts.CREATE, scripts.CHANGE, scripts.COMPLETE, scripts.CONSUME)
        texts += (scripts.LOOK, scripts.SWAP, scripts.SWEEP)
        return _Open(client, waking, *(client.register_script(text) for text in texts))

    def _client(self) -> Any:
        try:
            pool = self._redis.BlockingConnectionPool.from_url(
                self._url,
                max_connections=self._size + 1,
                timeout=None,
                socket_timeout=self._timeout,
                socket_connect_timeout=self._timeout,
                health_check_interval=15,
                # A script that ran and whose answer was lost must not run again unseen.
                retry=never_again(),
            )
        except (ValueError, TypeError):
            raise StoreError(words.broken_url("redis"), advice=words.encode_the_password()) from None
        return self._redis.Redis.from_pool(pool)

    async def _stop(self, it: _Open) -> None:
        await it.waking.close()
        await it.client.aclose()

    async def _prepare(self, client: Any) -> None:
        key = f"{{{self._prefix}}}:schema"
        version, usable_from = await client.hmget(key, "version", "usable_from")
        found = None if version is None else Found(int(version), int(usable_from))
        if missing_steps(found, _STEPS):
            await client.hset(key, mapping={"version": len(_STEPS), "usable_from": OLDEST})
        await self._warn_of_eviction(client)

    async def _warn_of_eviction(self, client: Any) -> None:
        try:
            memory = await client.info("memory")
        except Exception:
            return  # some do not let everybody ask
        policy = memory.get("maxmemory_policy", "noeviction")
        if memory.get("maxmemory") and policy != "noeviction" and not self._told:
            log.warning(
                "%s.",
                (
                    f"{self._what} may throw away records and secrets when its memory is full (maxmemory-policy "
                    f"{policy}). Set maxmemory-policy to noeviction, or use another Redis"
                ),
            )
            self._told = True

    # --- commands ------------------------------------------------------------------------------

    async def _done(self, command: Callable[[_Open], Awaitable[T]]) -> T:
        it = await self._life.get()
        try:
            return await heeding(command(it))
        except Exception as error:
            raise explained(error, self._what) from error

    async def _seen(self, command: Callable[[_Open], Awaitable[T]]) -> T:
        """What only reads may be tried again, on another connection."""
        try:
            return await self._done(command)
        except StoreError as error:
            if not is_lost(error.__cause__):
                raise
        return await self._done(command)

    def _ring(self, id: str) -> None:
        """Wake those who wait for it here: they need not wait for the notification."""
        if (it := self._life.here()) is not None:
            it.waking.ring(id)

    def _rung(self, record: Record) -> Record:
        self._ring(record.id)
        return record

    async def _versions(self, ids: Sequence[str]) -> dict[str, int]:
        return {id: int(version or 1) async for id, (_, version) in self._existing(ids, "h", "v")}

    async def _existing(self, ids: Sequence[str], *fields: str) -> AsyncIterator[tuple[str, list[bytes | None]]]:
        """These fields of those records that exist, hundreds in one round trip."""
        for begun in range(0, len(ids), _AT_ONCE):
            some = ids[begun : begun + _AT_ONCE]
            keys = [self._record_key(id) for id in some]
            found: list[Any] = await self._seen(lambda it, keys=keys: it.look(keys, fields))
            for place, values in zip(found[::2], found[1::2], strict=True):
                yield some[int(place)], values

    async def _keys(self, kind: str) -> AsyncIterator[list[bytes]]:
        pattern = f"{{{self._prefix}}}:{kind}:*"
        cursor = -1
        while cursor:
            cursor, keys = await self._seen(_scan(max(cursor, 0), pattern))
            if keys:
                yield keys

    def _record_key(self, id: str) -> bytes:
        return f"{{{self._prefix}}}:r:{kept(id)}".encode()

    def _value_key(self, owner: str) -> bytes:
        return f"{{{self._prefix}}}:v:{kept(owner)}".encode()


def _scan(cursor: int, pattern: str) -> Callable[[_Open], Awaitable[tuple[int, list[bytes]]]]:
    return lambda it: it.client.scan(cursor, match=pattern, count=_AT_ONCE)


def _whose(owner: str | None) -> tuple[str, str]:
    return ("any", "") if owner is None else ("only", kept(owner))


def _arguments(record: Record) -> list[Any]:
    seconds = record.expires - record.created + scripts.KEPT_AFTER
    milliseconds = max(1, int(seconds * 1000)) if math.isfinite(seconds) else ""
    expires, owner, *rest = _changes(record)
    return [record.created, f"{expires} {float(record.created)!r} {owner}", *rest, milliseconds]


def _changes(record: Record) -> list[str]:
    data = f"{len(record.kind)} {kept(record.kind + record.data)}"
    outcome = "" if record.outcome is None else f"={kept(record.outcome)}"
    return [repr(float(record.expires)), kept(record.owner), data, outcome, "1" if record.consumed else ""]


def _record(id: str, found: Sequence[bytes | None]) -> Record | None:
    return None if found[0] is None else _there(id, found)


def _there(id: str, found: Sequence[bytes | None]) -> Record:
    head, data, outcome, consumed, version = (None if each is None else given(each.decode()) for each in found)
    expires, created, owner = (head or "").split(" ", 2)
    length, _, data = (data or "").partition(" ")
    kind, data = data[: int(length)], data[int(length) :]
    times = (float(created), float(expires))
    return Record(id, kind, owner, data, *times, outcome, consumed is not None, int(version or 1))


def _value(owner: str, name: str, packed: bytes) -> Value:
    updated, _, sealed = packed.partition(b" ")
    return Value(owner, name, sealed, float(updated))
