"""The vault: encrypted secrets, per owner and name.

The store has only sealed bytes. Their content reaches the tool that asks for it, and never a client, a model, a log or
a page.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from midcall.errors import Misuse
from midcall.stores import open_store
from midcall.stores.base import Store, Value
from midcall.stores.keys import Key
from midcall.stores.seal import LOCKED_ADVICE, Seal, VaultLocked

Standing: TypeAlias = Literal["current", "older", "locked"]
"""Whether a value opens with the first key, only with another one, or with none."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A value and its sealed bytes, so that it can be replaced only if nobody else did."""

    value: dict[str, str] = field(repr=False)
    sealed: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Kept:
    """A stored value, without the value itself."""

    owner: str
    name: str
    updated: float


class Vault:
    """Secrets in a store.

    Raises:
        InstallError: `keys` is empty, or a key is too short.
    """

    def __init__(self, store: Store, keys: Sequence[Key]) -> None:
        self._store = store
        self._seal = Seal(keys, "vault")

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

    async def entry(self, owner: str, name: str) -> Entry | None:
        """The same, as `swap` needs it."""
        kept = await self._store.get(owner, name)
        return None if kept is None else Entry(self._seal.open(owner, name, kept.sealed), kept.sealed)

    async def swap(self, owner: str, name: str, value: Mapping[str, str], *, instead_of: Entry, now: float) -> bool:
        """Replace this entry with these texts. False if it is no longer the current one."""
        return await self._store.put(self._seal_value(owner, name, value, now), instead_of=instead_of.sealed)

    async def names(self, owner: str) -> list[tuple[str, float]]:
        """The names of this owner's values, and since when. Needs no key."""
        return [(value.name, value.updated) for value in await self._store.values(owner)]

    async def forget(self, owner: str, name: str) -> bool:
        """Delete a value, and return whether it existed. Needs no key."""
        return await self._store.remove(owner, name)

    async def rotate(self) -> int:
        """Seal every value again with the first key, and return how many there were.

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
            raise VaultLocked(_still_locked(locked, resealed), advice=LOCKED_ADVICE)
        return resealed

    async def _reseal(self, owner: str, name: str) -> bool:
        """Retry if another replica writes at the same time: its value may be sealed with an old key."""
        while kept := await self._store.get(owner, name):
            if self._seal.is_current(kept.sealed):
                return False
            value = self._seal.open(owner, name, kept.sealed)
            if await self._store.put(self._seal_value(owner, name, value, kept.updated), instead_of=kept.sealed):
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
        return Value(owner, name, self._seal.close(owner, name, value), now)


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
        return await Vault(opened, keys).rotate()


async def list_values(store: Store | str, owner: str | None = None) -> list[Kept]:
    """What this store has for this owner, or for all of them, without the values themselves. Needs no key."""
    async with _use(store) as opened:
        if owner is not None:
            return [_describe(value) for value in await opened.values(owner)]
        return sorted(
            [_describe(value) async for value in opened.all_values()], key=lambda kept: (kept.owner, kept.name)
        )


async def forget_value(store: Store | str, owner: str, name: str) -> bool:
    """Delete a value, and return whether it existed. Needs no key."""
    async with _use(store) as opened:
        return await opened.remove(owner, name)


def _describe(value: Value) -> Kept:
    return Kept(value.owner, value.name, value.updated)


def _still_locked(count: int, resealed: int) -> str:
    values = "value" if count == 1 else "values"
    return f"{count} {values} could not be opened with any of these keys; {resealed} sealed again."
