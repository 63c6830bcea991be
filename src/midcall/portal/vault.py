"""The vault: encrypted secrets, per owner, namespace and name.

The store has only sealed bytes. Their content reaches the tool that asks for it, and never a client, a model, a log or
a page. The namespace is the server that may read them, or several that their author or operator put together.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from midcall.errors import Misuse
from midcall.settings.portal import VAULT_NAMESPACE_BYTES
from midcall.stores import open_store
from midcall.stores.base import Store, Value
from midcall.stores.interactions import Interactions, digest_of
from midcall.stores.keys import Key
from midcall.stores.seal import LOCKED_ADVICE, Seal, VaultLocked

Standing: TypeAlias = Literal["current", "older", "locked"]
"""Whether a value opens with the first key, only with another one, or with none."""


@dataclass(frozen=True, slots=True)
class VaultEntry:
    """A value and its sealed bytes, so that it can be replaced only if nobody else did."""

    value: dict[str, str] = field(repr=False)
    sealed: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class StoredValue:
    """A stored value, without the value itself."""

    owner: str
    namespace: str
    name: str
    updated: float

    @property
    def reader(self) -> str:
        """Who may read it, for people."""
        return describe_namespace(self.namespace)


_BETWEEN: Final = "\n"
"""Between namespace and name, in the store. A namespace is a line of JSON."""


class Vault:
    """Secrets in a store.

    Args:
        store: Holds them.
        keys: The first seals, all open.
        namespace: Whose secrets these are, besides their owner's: `ServerIdentity.of_vault`.

    Raises:
        InstallError: `keys` is empty, or a key is too short.
    """

    def __init__(self, store: Store, keys: Sequence[Key], namespace: str) -> None:
        self._store = store
        self._seal = Seal(keys, "vault")
        self._prefix = f"{_fit(namespace)}{_BETWEEN}"

    async def keep(self, owner: str, name: str, value: Mapping[str, str], *, now: float) -> None:
        """Store these texts under this name, replacing earlier ones."""
        await self._store.put(self._seal_value(owner, name, value, now))

    async def get(self, owner: str, name: str) -> dict[str, str] | None:
        """The texts under this name, if any.

        Raises:
            VaultLocked: They exist, but cannot be decrypted. Nothing is lost.
        """
        entry = await self.entry(owner, name)
        return None if entry is None else entry.value

    async def entry(self, owner: str, name: str) -> VaultEntry | None:
        """The same, as `swap` needs it."""
        kept = await self._store.get(owner, self._prefix + name)
        if kept is None:
            return None
        return VaultEntry(self._seal.open(owner, kept.name, kept.sealed, label=name), kept.sealed)

    async def swap(
        self, owner: str, name: str, value: Mapping[str, str], *, instead_of: VaultEntry, now: float
    ) -> bool:
        """Replace this entry with these texts. False if it is no longer the current one."""
        return await self._store.put(self._seal_value(owner, name, value, now), instead_of=instead_of.sealed)

    async def names(self, owner: str) -> list[tuple[str, float]]:
        """The names of this owner's values, and since when. Needs no key."""
        values = [value for value in await self._store.values(owner) if value.name.startswith(self._prefix)]
        return [(value.name.removeprefix(self._prefix), value.updated) for value in values]

    async def forget(self, owner: str, name: str) -> bool:
        """Delete a value, and return whether it existed. Needs no key."""
        return await self._store.remove(owner, self._prefix + name)

    async def rotate(self) -> int:
        """Seal every value of every namespace again with the first key, and return how many there were.

        You can interrupt and repeat it, and other replicas keep working meanwhile.

        Raises:
            VaultLocked: Some values open with none of the keys. All others are done, and nothing is lost.
        """
        everything = [(value.owner, value.name) async for value in self._store.all_values()]
        resealed = locked = 0
        for owner, name in everything:
            try:
                resealed += await self._reseal(owner, name)
            except VaultLocked:
                locked += 1
        if locked:
            values = "value" if locked == 1 else "values"
            raise VaultLocked(
                f"{locked} {values} could not be opened with any of these keys; {resealed} sealed again.",
                advice=LOCKED_ADVICE,
            )
        return resealed

    async def _reseal(self, owner: str, name: str) -> bool:
        """Retry if another replica writes at the same time: its value may be sealed with an old key."""
        while kept := await self._store.get(owner, name):
            if self._seal.is_current(kept.sealed):
                return False
            value = self._seal.open(owner, name, kept.sealed)
            resealed = Value(owner, name, self._seal.close(owner, name, value), kept.updated)
            if await self._store.put(resealed, instead_of=kept.sealed):
                return True
        return False

    def standing(self, kept: Value) -> Standing:
        """Whether this can be decrypted, and with which key. For `midcall doctor`."""
        try:
            self._seal.open(kept.owner, kept.name, kept.sealed)
        except VaultLocked:
            return "locked"
        return "current" if self._seal.is_current(kept.sealed) else "older"

    def seal(self, owner: str, name: str, value: Mapping[str, str]) -> str:
        """Seal texts for a record outside the vault."""
        return self._seal.close(owner, name, value).decode()

    def unseal(self, owner: str, name: str, sealed: str) -> dict[str, str]:
        return self._seal.open(owner, name, sealed.encode())

    def _seal_value(self, owner: str, name: str, value: Mapping[str, str], now: float) -> Value:
        if not owner:
            raise Misuse("The vault needs an owner: a value without one would belong to everybody.")
        stored = self._prefix + name
        return Value(owner, stored, self._seal.close(owner, stored, value), now)


def _fit(namespace: str) -> str:
    """The namespace in a length that every store takes: a path may be longer."""
    if len(namespace.encode("utf-8", "replace")) <= VAULT_NAMESPACE_BYTES:
        return namespace
    return json.dumps(["digest", hashlib.sha256(namespace.encode("utf-8", "replace")).hexdigest()])


def describe_namespace(namespace: str) -> str:
    """The namespace for people: a server's name and file, or what its author or operator set."""
    try:
        kind, *parts = map(str, json.loads(namespace))
    except (ValueError, TypeError):
        return namespace
    if kind == "server":
        return f"{parts[0]} ({parts[1]})" if len(parts) == 2 and parts[1] else parts[0]
    return f"{kind}:{':'.join(parts)}"


class Entered:
    """What users entered on pages, on its way into the vault.

    It is sealed into the outcome of its page, so that one write decides about both. The page then moves it to the
    vault. If the process dies in between, the call does that when it continues.
    """

    def __init__(self, vault: Vault, interactions: Interactions) -> None:
        self._vault = vault
        self._interactions = interactions

    def seal(self, id: str, owner: str, value: Mapping[str, str]) -> str:
        return self._vault.seal(owner, digest_of(id), value)

    async def read(self, id: str, owner: str) -> dict[str, str] | None:
        """The value that this owner entered; None if there is none, or not any more."""
        found = await self._interactions.look(id)
        ending = None if found is None else found[1]
        if ending is None or ending.action != "accept" or not ending.sealed:
            return None
        return self._vault.unseal(owner, digest_of(id), ending.sealed)

    async def keep(self, id: str, owner: str, name: str, *, now: float) -> None:
        """Move it to the vault, unless that was done. Both writes can be repeated."""
        value = await self.read(id, owner)
        if value is not None:
            await self._vault.keep(owner, name, value, now=now)
            await self._interactions.drop_sealed(id)

    async def drop(self, id: str) -> None:
        """Remove it: it was not what the tool wanted."""
        await self._interactions.drop_sealed(id)


# --- for operators ---------------------------------------------------------------------------


@asynccontextmanager
async def _use(store: Store | str) -> AsyncGenerator[Store]:
    """Open a store by its URL, and close it again. A store object stays open."""
    opened = open_store(store)
    await opened.open()
    try:
        yield opened
    finally:
        if opened is not store:
            await opened.close()


async def rotate_keys(store: Store | str, keys: Sequence[Key]) -> int:
    """Seal every value in this store again with the first of these keys, and return how many there were.

    Raises:
        VaultLocked: Some values open with none of these keys. All others are done, and nothing is lost.
        InstallError: A key is too short.
        StoreError: The store cannot be reached.
    """
    async with _use(store) as opened:
        return await Vault(opened, keys, "").rotate()


async def list_values(store: Store | str, owner: str | None = None) -> list[StoredValue]:
    """What this store has for this owner, or for all of them, without the values themselves. Needs no key."""
    async with _use(store) as opened:
        if owner is not None:
            return [_describe(value) for value in await opened.values(owner)]
        found = [_describe(value) async for value in opened.all_values()]
        return sorted(found, key=lambda kept: (kept.owner, kept.reader, kept.name))


async def forget_value(store: Store | str, value: StoredValue) -> bool:
    """Delete a value, and return whether it existed. Needs no key."""
    async with _use(store) as opened:
        return await opened.remove(value.owner, f"{value.namespace}{_BETWEEN}{value.name}")


def _describe(value: Value) -> StoredValue:
    namespace, _, name = value.name.partition(_BETWEEN)
    return StoredValue(value.owner, namespace, name, value.updated)
