"""An interaction: something a user does on a page of ours, once, out of band.

The server begins it, a page finishes it, and the call that waits hears of it, wherever each of the
three happens to run: between them there is only the store.
"""

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, TypeAlias, get_args

from midcall.stores.base import Completion, Record, Store

__all__ = ["Action", "Ending", "Interaction", "Interactions", "Kind", "digest_of", "short"]

KEPT: Final = 3600.0
"""For how many seconds an interaction is kept after its page has closed: the call may come for it later."""

Kind: TypeAlias = Literal["secret", "authorize", "approve", "form"]
_KINDS: Final[frozenset[str]] = frozenset(get_args(Kind))
Action: TypeAlias = Literal["accept", "decline", "cancel"]


@dataclass(frozen=True, slots=True)
class Interaction:
    """What the page has to show. Nothing of it is secret, and all texts are as their authors wrote them."""

    kind: Kind
    owner: str
    """Whose it is: the identity key of the user who made the call; empty where nobody is known."""
    server: str
    client: str
    message: str
    created: float
    expires: float
    about: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """By kind. secret: name, fields (name, title, description). authorize: provider, scopes. approve:
    details, digest. form: schema."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What came of an interaction. A secret is never in it: that is in the vault."""

    action: Action
    at: float
    content: Mapping[str, Any] | None = None
    """What was filled into a form; what an approval was bound to."""


def digest_of(id: str) -> str:
    """What the store knows an interaction by."""
    return urlsafe_b64encode(hashlib.sha256(b"midcall/interaction\0" + id.encode()).digest()).decode().rstrip("=")


def short(id: str) -> str:
    """What logs and traces may say of an interaction: enough to correlate by, and no more."""
    return digest_of(id)[:10]


class Interactions:
    """The interactions in a store, by their unguessable ids."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def begin(self, id: str, interaction: Interaction) -> Interaction:
        """Begin it, unless it was begun before: then, the one that was."""
        record, _ = await self._store.create(
            Record(
                digest_of(id),
                interaction.kind,
                interaction.owner,
                json.dumps(asdict(interaction)),
                interaction.created,
                interaction.expires + KEPT,
            )
        )
        return _interaction(record)

    async def look(self, id: str) -> tuple[Interaction, Ending | None] | None:
        """The interaction, and what came of it so far."""
        record = await self._store.read(digest_of(id))
        if record is None or record.kind not in _KINDS:  # other records have ids, too, and no page
            return None
        return _interaction(record), _ending(record)

    async def finish(self, id: str, ending: Ending, *, owner: str | None) -> Completion:
        """Write down what came of it: by its owner, once, and in time."""
        found = await self.look(id)
        if found is not None and found[1] is None and found[0].expires <= ending.at:
            return "expired" if owner in (None, found[0].owner) else "foreign"
        outcome = json.dumps(asdict(ending))
        return await self._store.complete(digest_of(id), outcome, owner=owner, now=ending.at)

    async def claim(self, id: str, owner: str, *, now: float, seconds: float = 10.0) -> bool:
        """Whether the caller may do now what has to come before `finish`; of many that ask at once, one may."""
        claim = Record(digest_of(f"claim\0{id}"), "claim", owner, "{}", now, now + seconds)
        _, mine = await self._store.create(claim)
        return mine

    async def wait(self, id: str, seconds: float) -> Ending | None:
        """What came of it, as soon as anything does; None if nothing did within these seconds."""
        record = await self._store.wait(digest_of(id), seconds)
        return None if record is None else _ending(record)

    async def consume(self, id: str, *, owner: str | None, now: float) -> Ending | None:
        """What came of it, for the first who takes it; None for all others."""
        record = await self._store.consume(digest_of(id), owner=owner, now=now)
        return None if record is None else _ending(record)


def _interaction(record: Record) -> Interaction:
    return Interaction(**json.loads(record.data))


def _ending(record: Record) -> Ending | None:
    return None if record.outcome is None else Ending(**json.loads(record.outcome))
