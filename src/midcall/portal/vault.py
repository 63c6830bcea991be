"""The vault: secrets, encrypted, per owner and name.

The store sees only sealed bytes. What is in them reaches the tool that asks for it, and nothing else: no
client, no model, no log, no page.
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
from midcall.stores.seal import Seal, VaultLocked
from midcall.wording import vault as wording

__all__ = ["Entry", "Kept", "Vault", "VaultLocked", "forget_value", "kept_values", "rotate_keys"]

Standing: TypeAlias = Literal["current", "older", "locked"]
"""A value opens with the first key, only with another one, or with none."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A value, and the sealed bytes it came out of: to replace it only if nobody else did."""

    value: dict[str, str] = field(repr=False)
    sealed: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Kept:
    """That something is kept; not what."""

    owner: str
    name: str
    updated: float


class Vault:
    """Secrets in a store.

    Raises:
        InstallError: There is no key, or one is too short.
    """

    def __init__(self, store: Store, keys: Sequence[Key]) -> None:
        self._store = store
        self._seal = Seal(keys, "vault")

    async def keep(self, owner: str, name: str, value: Mapping[str, str], *, now: float) -> None:
        """Keep these texts, in place of what was kept under this name."""
        await self._store.put(self._sealed(owner, name, value, now))

    async def get(self, owner: str, name: str) -> dict[str, str] | None:
        """What is kept under this name, if anything.

        Raises:
            VaultLocked: It is there, and cannot be opened. Nothing is lost.
        """
        entry = await self.entry(owner, name)
        return None if entry is None else entry.value

    async def entry(self, owner: str, name: str) -> Entry | None:
        """The same, with what `swap` needs."""
        kept = await self._store.get(owner, name)
        return None if kept is None else Entry(self._seal.open(owner, name, kept.sealed), kept.sealed)

    async def swap(self, owner: str, name: str, value: Mapping[str, str], *, instead_of: Entry, now: float) -> bool:
        """Keep these texts, if what is kept is still that entry. False if it is not."""
        return await self._store.put(self._sealed(owner, name, value, now), instead_of=instead_of.sealed)

    async def names(self, owner: str) -> list[tuple[str, float]]:
        """What is kept for this owner: names, and since when. Needs no key."""
        return [(value.name, value.updated) for value in await self._store.values(owner)]

    async def forget(self, owner: str, name: str) -> bool:
        """Delete it. Whether there was anything. Needs no key."""
        return await self._store.remove(owner, name)

    async def rotate(self) -> int:
        """Seal everything anew with the first key. How many values that were.

        It can be broken off and begun again, and other replicas can go on working meanwhile.

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
            raise VaultLocked(_still_locked(locked, resealed), advice=wording.vault_locked_advice())
        return resealed

    async def _reseal(self, owner: str, name: str) -> bool:
        """Again and again if somebody else writes at the same time: what they wrote may be under an old key."""
        while kept := await self._store.get(owner, name):
            if self._seal.is_current(kept.sealed):
                return False
            value = self._seal.open(owner, name, kept.sealed)
            if await self._store.put(self._sealed(owner, name, value, kept.updated), instead_of=kept.sealed):
                return True
        return False

    def standing(self, kept: Value) -> Standing:
        """Whether this can be opened, and with which key. What is in it goes nowhere. For `midcall doctor`."""
        try:
            self._seal.open(kept.owner, kept.name, kept.sealed)
        except VaultLocked:
            return "locked"
        return "current" if self._seal.is_current(kept.sealed) else "older"

    def seal(self, owner: str, name: str, value: Mapping[str, str]) -> str:
        """Texts sealed as in the vault, for a record that others may read."""
        return self._seal.close(owner, name, value).decode()

    def unseal(self, owner: str, name: str, sealed: str) -> dict[str, str]:
        return self._seal.open(owner, name, sealed.encode())

    def _sealed(self, owner: str, name: str, value: Mapping[str, str], now: float) -> Value:
        if not owner:
            raise Misuse("The vault keeps nothing for nobody: a value without an owner would be everybody's.")
        return Value(owner, name, self._seal.close(owner, name, value), now)


# --- for whoever runs the server -------------------------------------------------------------
@asynccontextmanager
async def _opened(store: Store | str) -> AsyncGenerator[Store]:
    """A store that somebody else has open is left open."""
    opened = open_store(store)
    await opened.open()
    try:
        yield opened
    finally:
        if opened is not store:
            await opened.close()


async def rotate_keys(store: Store | str, keys: Sequence[Key]) -> int:
    """Seal everything in this store anew with the first of these keys. How many values that were.

    Raises:
        VaultLocked: Some values open with none of these keys. All others are done, and nothing is lost.
        InstallError: A key is too short.
        StoreError: The store cannot be reached.
    """
    async with _opened(store) as opened:
        return await Vault(opened, keys).rotate()


async def kept_values(store: Store | str, owner: str | None = None) -> list[Kept]:
    """What is kept in this store, for this owner or for all: never the values themselves. Needs no key."""
    async with _opened(store) as opened:
        if owner is not None:
            return [_kept(value) for value in await opened.values(owner)]
        return sorted([_kept(value) async for value in opened.all_values()], key=lambda kept: (kept.owner, kept.name))


async def forget_value(store: Store | str, owner: str, name: str) -> bool:
    """Delete a value. Whether there was one. Needs no key."""
    async with _opened(store) as opened:
        return await opened.remove(owner, name)


def _kept(value: Value) -> Kept:
    return Kept(value.owner, value.name, value.updated)


def _still_locked(count: int, resealed: int) -> str:
    values = "value" if count == 1 else "values"
    return f"{count} {values} could not be opened with any of these keys; {resealed} were sealed anew."
