"""An interaction: a task for the user on one of our pages, done once.

The server begins it, a page finishes it, and the waiting call gets the outcome. Each may run on another machine: they
only share the store.
"""

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from cryptography.fernet import Fernet

from midcall.settings.stores import CLOSED_KEEP_SECONDS, USE_KEEP_SECONDS
from midcall.stores.base import Completion, Record, Store

Kind: TypeAlias = Literal["secret", "authorize", "approve", "form"]
_KINDS: Final[frozenset[str]] = frozenset(get_args(Kind))
Action: TypeAlias = Literal["accept", "decline", "cancel", "closed"]
"""What the user did; or the call is over, and nothing comes of the page any more."""
Where: TypeAlias = Literal["page", "done", "back", "wait"]
"""Where a page leads after its answer: to the next page of its call, nowhere because the call is done, or back to the
client. `wait`: that isn't known yet."""


@dataclass(frozen=True, slots=True)
class Interaction:
    """What the page shows. Nothing in it is secret, and its texts aren't sanitized."""

    kind: Kind
    owner: str
    """The identity key of the user who made the call; empty if unknown."""
    server: str
    client: str
    message: str
    created: float
    expires: float
    about: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """By kind. secret: name, fields (name, title, description). authorize: provider, title, scopes. approve:
    details. form: schema."""
    call: str = ""
    """The call's name in the audit trail."""

    @property
    def digest(self) -> str:
        """Names exactly what the page shows, in this order. A decision is bound to it."""
        shown = [self.kind, self.owner, self.server, self.client, self.message, self.about]
        text = json.dumps(shown, separators=(",", ":"))
        return urlsafe_b64encode(hashlib.sha256(b"midcall/shown\0" + text.encode()).digest()).decode().rstrip("=")


@dataclass(frozen=True, slots=True)
class Ending:
    """The outcome of an interaction."""

    action: Action
    at: float
    content: Mapping[str, Any] | None = None
    """The answers to a form."""
    digest: str = ""
    """What the page showed when the user decided: the `digest` of its interaction."""
    sealed: str = field(default="", repr=False)
    """What the user entered, encrypted, until it is in the vault. So one write decides: a secret whose page was
    declined, cancelled or has expired is nowhere."""


class Next(NamedTuple):
    """Where a page leads after its answer."""

    where: Where
    id: str = ""
    """The next page of the call, if there is one."""


def digest_of(id: str) -> str:
    """The id of an interaction in the store."""
    raw = b"midcall/interaction\0" + id.encode("utf-8", "surrogatepass")  # clients make ids up
    return urlsafe_b64encode(hashlib.sha256(raw).digest()).decode().rstrip("=")


def short(id: str) -> str:
    """The id of an interaction in logs and traces: enough to correlate, and no more."""
    return digest_of(id)[:10]


class Interactions:
    """The interactions in a store, by their unguessable ids."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def begin(self, id: str, interaction: Interaction) -> Interaction:
        """Begin it, or return the one that was begun before."""
        record, _ = await self._store.create(
            Record(
                digest_of(id),
                interaction.kind,
                interaction.owner,
                json.dumps(asdict(interaction)),
                interaction.created,
                interaction.expires + CLOSED_KEEP_SECONDS,
            )
        )
        return _interaction(record)

    async def look(self, id: str) -> tuple[Interaction, Ending | None] | None:
        """The interaction, and its outcome so far."""
        record = await self._store.read(digest_of(id))
        if record is None or record.kind not in _KINDS:  # other records have no page
            return None
        return _interaction(record), _ending(record)

    async def finish(self, id: str, ending: Ending, *, owner: str | None) -> Completion:
        """Record its outcome: by its owner, once, and before it expires."""
        found = await self.look(id)
        if found is not None and found[1] is None and found[0].expires <= ending.at:
            return "expired" if owner in (None, found[0].owner) else "foreign"
        outcome = json.dumps(asdict(ending))
        return await self._store.complete(digest_of(id), outcome, owner=owner, now=ending.at)

    async def drop_sealed(self, id: str) -> None:
        """Remove what the user entered: it is in the vault, or not wanted."""
        record, done = await self._store.read(digest_of(id)), False
        while record is not None and not done and (ending := _ending(record)) is not None and ending.sealed:
            outcome = json.dumps(asdict(replace(ending, sealed="")))
            record, done = await self._store.change(replace(record, outcome=outcome), record.version)

    async def wait(self, id: str, seconds: float) -> Ending | None:
        """Wait for its outcome, at most this long."""
        record = await self._store.wait(digest_of(id), seconds)
        return None if record is None else _ending(record)

    async def use(self, id: str, digest: str, *, owner: str, turn: int, again: bool, now: float) -> bool:
        """Use the user's consent to what this digest names, for one turn of its call.

        Only the first caller may; with `again`, a replay of the same turn may, too. False as well if the user did not
        agree to exactly this.
        """
        found = await self.look(id)
        if found is None or (ending := found[1]) is None or ending.action != "accept":
            return False
        if not digest == ending.digest == found[0].digest or found[0].owner != owner:
            return False
        data = json.dumps({"digest": digest, "turn": turn})
        use = Record(_use_of(id), "use", owner, data, now, now + USE_KEEP_SECONDS)
        record, first = await self._store.create(use)
        return first or (again and (record.kind, record.data) == ("use", data))

    async def was_used(self, id: str, digest: str) -> bool:
        """Whether this store knows that the user's consent to this was used."""
        record = await self._store.read(_use_of(id))
        return record is not None and record.kind == "use" and json.loads(record.data)["digest"] == digest

    # --- from one page to the next --------------------------------------------------------------

    async def expect_next(self, id: str, owner: str, *, now: float, expires: float) -> None:
        """Something will come after this page, without a request of its client: the call's run waits for the page."""
        record = Record(_next_of(id), "next", owner, "{}", now, expires + CLOSED_KEEP_SECONDS)
        await self._store.create(record)

    async def lead(self, id: str, to: Next, *, now: float) -> None:
        """Set what comes after this page, once."""
        outcome = json.dumps([to.where, to.id and _cipher(id).encrypt(to.id.encode()).decode()])
        await self._store.complete(_next_of(id), outcome, owner=None, now=now)

    async def next(self, id: str, seconds: float) -> Next | None:
        """What comes after this page, as soon as it's known, at most after this time. None if no run waits for it."""
        record = await self._store.wait(_next_of(id), seconds)
        if record is None or record.kind != "next":
            return None
        if record.outcome is None:
            return Next("wait")
        where, sealed = json.loads(record.outcome)
        return Next(where, sealed and _cipher(id).decrypt(sealed).decode())


def _use_of(id: str) -> str:
    return digest_of(f"use\0{id}")


def _next_of(id: str) -> str:
    return digest_of(f"next\0{id}")


def _cipher(id: str) -> Fernet:
    """Hides the next page from everyone who doesn't know this one: a leaked store opens no page."""
    return Fernet(urlsafe_b64encode(hashlib.sha256(b"midcall/next\0" + id.encode()).digest()))


def _interaction(record: Record) -> Interaction:
    return Interaction(**json.loads(record.data))


def _ending(record: Record) -> Ending | None:
    return None if record.outcome is None else Ending(**json.loads(record.outcome))
