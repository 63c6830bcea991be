"""Sealing: what the holder of the keys has written, nobody else can write, change or move.

    Seal            named texts of the vault: encrypted, and bound to their owner and name
    SealedStore     the records of one server: readable, but each is authenticated and bound to the server

Someone who can write to the store but has no keys can delete a record, or restore one as it was earlier. They can't
write a decision, change one, or use one for something else.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import struct
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from midcall.errors import Misuse, RecordRefused, VaultLocked
from midcall.settings.stores import LOGGED_RECORDS
from midcall.stores.base import Completion, Record, Store, Value, verdict
from midcall.stores.keys import Key, derive
from midcall.stores.quotas import Limits, Quotas, length_of

logger = logging.getLogger("midcall.store")

LOCKED_ADVICE: Final = (
    "Nothing was deleted. Add the earlier key to MIDCALL_KEYS, after the current one; then `midcall vault rotate` "
    "encrypts everything with the current key, and you can remove the earlier one. If it is lost, "
    "`midcall vault forget OWNER NAME` lets the user enter the value again."
)
_FOR_MODEL: Final = (
    "This server cannot decrypt a secret of the user at the moment. Its operator has to fix that. Nothing was lost. "
    "Do not try again now."
)


class Seal:
    """Seals with the first key, opens with all keys.

    Owner and name are sealed too, and checked when it's opened: a row that was copied to another owner doesn't open.
    """

    def __init__(self, keys: Sequence[Key], purpose: str) -> None:
        each = [Fernet(urlsafe_b64encode(key)) for key in derive(keys, purpose)]
        self._first = each[0]
        self._all = MultiFernet(each)

    def close(self, owner: str, name: str, value: Mapping[str, str]) -> bytes:
        _check_texts(value)
        return self._first.encrypt(json.dumps({"owner": owner, "name": name, "value": dict(value)}).encode())

    def open(self, owner: str, name: str, sealed: bytes, *, label: str = "") -> dict[str, str]:
        """The sealed texts. Errors call them `label`; by default, their name.

        Raises:
            VaultLocked: None of the keys opens it, or it was sealed for another owner or name.
        """
        opened, label = _decrypt(self._all, sealed), label or name
        if opened is None:
            raise VaultLocked(
                f"The secret {label!r} cannot be opened: it was sealed with a key that this server does not have.",
                advice=LOCKED_ADVICE,
                for_model=_FOR_MODEL,
            )
        content = json.loads(opened)
        if (content["owner"], content["name"]) != (owner, name):
            raise VaultLocked(
                f"The secret {label!r} was sealed for another owner or under another name.",
                advice=(
                    "Someone copied or moved it within the store, so it is not opened. Nothing was deleted. "
                    "`midcall vault forget OWNER NAME` removes it."
                ),
                for_model=_FOR_MODEL,
            )
        return content["value"]

    def is_current(self, sealed: bytes) -> bool:
        """Whether it was sealed with the first key."""
        return _decrypt(self._first, sealed) is not None


def _decrypt(fernet: Fernet | MultiFernet, sealed: bytes) -> bytes | None:
    try:
        return fernet.decrypt(sealed)
    except InvalidToken:
        return None


def _check_texts(value: Mapping[str, str]) -> None:
    """No message quotes the value: it's a secret."""
    if not isinstance(value, Mapping) or not all(isinstance(part, str) for pair in value.items() for part in pair):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Misuse("The vault keeps named texts: a mapping of str to str.")


# --- records -----------------------------------------------------------------------------------


class Codec(Protocol):
    """Seals a payload, so that only a holder of the keys can make or change it; the SDK's states have one."""

    def seal(self, payload: bytes) -> str: ...

    def unseal(self, token: str) -> bytes:
        """The payload. Raises an exception if it was changed, or sealed with a key that isn't here."""
        ...


_PAYLOAD: Final = struct.Struct(">15sQ32s")
"""The payload of a seal: our mark, the version that the text came with, and a digest of what it's bound to."""
_MARK: Final = b"midcall/record\0"
"""No state begins like this: a client can't present a state as the seal of a record."""


class SealedStore:
    """A store whose records belong to one server, and can only be written with its keys.

    Ids are digests of the server and the id, so that servers share a store without meeting. With its data and its
    outcome, a record has a seal of everything that it says: server, id, kind, owner, when it expires, version, data,
    and for an outcome the data that it decides about. The first key seals, and all keys open.

    Args:
        store: Where the records are.
        codec: Has the keys.
        server: Names the server.
        limits: How much it may keep for its callers.
        note: Called with the kind of each record that is refused, and why.

    Raises:
        StoreFull: From `create`, if a caller or all of them have too much in the store.
        RecordRefused: From every method that returns a record or decides by one, if the seal doesn't fit.
    """

    def __init__(
        self,
        store: Store,
        codec: Codec,
        server: str,
        limits: Limits | None = None,
        note: Callable[[str, str], object] = lambda kind, why: None,
    ) -> None:
        self.quotas = None if limits is None else Quotas(self, limits, note=note)
        self._note = note
        self._store = store
        self._codec = codec
        self._server = server
        self._logged: set[str] = set()

    def __repr__(self) -> str:
        return repr(self._store)

    async def open(self) -> None:
        await self._store.open()

    async def close(self) -> None:
        await self._store.close()

    async def create(self, record: Record) -> tuple[Record, bool]:
        new = replace(record, version=1)
        if self.quotas is None:
            found, ours = await self._store.create(self._close(new))
        else:
            await self.quotas.admit(new)
            ours = False
            try:
                found, ours = await self._store.create(self._close(new))
            finally:
                if not ours:
                    self.quotas.return_(new)
        return (replace(new, counted=length_of(new)), True) if ours else (self._open(record.id, found), False)

    async def change(self, record: Record, version: int) -> tuple[Record | None, bool]:
        found, ours = await self._store.change(self._close(replace(record, version=version + 1)), version)
        if ours and self.quotas is not None:
            self.quotas.add_change(record)
        return (None if found is None else self._open(record.id, found)), ours

    async def read(self, id: str) -> Record | None:
        found = await self._store.read(self._id(id))
        return None if found is None else self._open(id, found)

    async def look(self, ids: Sequence[str]) -> dict[str, Record]:
        """Leaves out those that are refused: one of them must not hide the others."""
        found = await self._store.look([self._id(id) for id in ids])
        opened: dict[str, Record] = {}
        for id in ids:
            if (record := found.get(self._id(id))) is not None:
                try:
                    opened[id] = self._open(id, record)
                except RecordRefused:
                    continue
        return opened

    async def complete(self, id: str, outcome: str, *, owner: str | None, now: float) -> Completion:
        """The outcome is bound to the data that is read here: nobody can put other data below it."""
        record = await self.read(id)
        completion = verdict(record, owner=owner, now=now)
        if record is None or completion != "done":
            return completion
        decided = replace(record, outcome=outcome, version=record.version + 1)
        sealed = self._close_outcome(decided)
        done = await self._store.complete(self._id(id), sealed, owner=owner, now=now)
        if done == "done" and self.quotas is not None:
            self.quotas.add_change(decided)
        return done

    async def consume(self, id: str, *, owner: str | None, now: float) -> Record | None:
        found = await self._store.consume(self._id(id), owner=owner, now=now)
        return None if found is None else self._open(id, found)

    async def wait(self, id: str, seconds: float, *, version: int | None = None) -> Record | None:
        found = await self._store.wait(self._id(id), seconds, version=version)
        return None if found is None else self._open(id, found)

    async def sweep(self, now: float) -> int:
        return await self._store.sweep(now)

    async def put(self, value: Value, *, instead_of: bytes | None = None) -> bool:
        return await self._store.put(value, instead_of=instead_of)

    async def get(self, owner: str, name: str) -> Value | None:
        return await self._store.get(owner, name)

    async def values(self, owner: str) -> list[Value]:
        return await self._store.values(owner)

    async def remove(self, owner: str, name: str) -> bool:
        return await self._store.remove(owner, name)

    def all_values(self) -> AsyncIterator[Value]:
        return self._store.all_values()

    # --- sealing ------------------------------------------------------------------------------

    def _id(self, id: str) -> str:
        return urlsafe_b64encode(_digest("id", self._server, id)).decode().rstrip("=")

    def _close(self, record: Record) -> Record:
        """This record as the store keeps it."""
        seal = self._codec.seal(_PAYLOAD.pack(_MARK, record.version, self._digest_data(record)))
        outcome = None if record.outcome is None else self._close_outcome(record)
        return replace(record, id=self._id(record.id), data=f"{seal} {record.data}", outcome=outcome)

    def _close_outcome(self, record: Record) -> str:
        seal = self._codec.seal(_PAYLOAD.pack(_MARK, record.version, self._digest_outcome(record)))
        return f"{seal} {record.outcome}"

    def _open(self, id: str, found: Record) -> Record:
        """The record in this.

        Raises:
            RecordRefused: Somebody else has written or changed it, or it is from another place.
        """
        seal, _, data = found.data.partition(" ")
        record = replace(found, id=id, data=data, outcome=None)
        written = self._version_in(seal, self._digest_data(record), found)
        if found.outcome is not None:
            seal, _, outcome = found.outcome.partition(" ")
            record = replace(record, outcome=outcome)
            decided = self._version_in(seal, self._digest_outcome(record), found)
            if decided < written:
                raise self._refuse(found)
        return replace(record, counted=length_of(record))

    def _version_in(self, seal: str, digest: bytes, found: Record) -> int:
        """The version in this seal, if it is for this digest, and not newer than the record."""
        try:
            mark, version, sealed = _PAYLOAD.unpack(self._codec.unseal(seal))
        except Exception:  # every codec has its own errors
            raise self._refuse(found) from None
        if mark != _MARK or version > found.version or not hmac.compare_digest(sealed, digest):
            raise self._refuse(found)
        return version

    def _digest_data(self, record: Record) -> bytes:
        bound = (self._server, record.id, record.kind, record.owner, repr(float(record.expires)))
        return _digest("data", *bound, record.data)

    def _digest_outcome(self, record: Record) -> bytes:
        return _digest("outcome", self._digest_data(record).hex(), record.outcome or "")

    def _refuse(self, found: Record) -> RecordRefused:
        error = RecordRefused(found.kind)
        self._note(found.kind, "changed")
        if found.id not in self._logged and len(self._logged) < LOGGED_RECORDS:  # a beat would log it twice a second
            self._logged.add(found.id)
            logger.error("%s It is stored under %s. %s", error.text, found.id[:100], error.advice)
        return error


def _digest(*parts: str) -> bytes:
    """A digest of these texts, and of where each one ends."""
    digest = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(8, "big"))
        digest.update(raw)
    return digest.digest()
