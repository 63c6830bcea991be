"""The ordered record of a call, and the text it travels as.

A journal is JSON, never pickle, and carries its version. Entries stay the plain lists that JSON
gives until they are needed: a call with a hundred questions reads its journal a hundred times.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast, get_args

from midcall import wording
from midcall.errors import InvalidJournal

__all__ = ["VERSION", "Entry", "Foreign", "Journal", "Kind", "decode", "encode", "is_journal"]

VERSION: Final = 1
UPGRADES: dict[int, Callable[[list[Any]], list[Any]]] = {}
"""From a version to the next: at least the one before `VERSION`, so that a rollout loses no call."""

_ANSWERED: Final = ("accept", "fits")
_MARK: Final = '["midcall",'
_FIELDS: Final = 8

Kind: TypeAlias = Literal["waiting", "accept", "fits", "decline", "cancel", "timeout", "effect", "failed"]
"""`fits` is an accepted answer that was read, and can be read again without another look; `failed` is an
effect that raised: it runs again, but it has been met."""

_KINDS: Final[frozenset[str]] = frozenset(get_args(Kind))


class Entry(NamedTuple):
    """One line of the journal: a question that waits, its outcome, or the result of an effect."""

    kind: Kind
    line: int
    """1 if the tool's own task wrote it; that task has one order, its children have none."""
    label: str
    """What a person would call it: the beginning of the message, or the name of the effect."""
    value: Any = None
    """The accepted content, or the effect's result."""
    shape: str = ""
    """The digest of the form, for a question known by its key."""
    attempt: int = 1
    deadline: float | None = None
    problems: tuple[tuple[str, str, str], ...] = ()
    """What was wrong with the answer before this one."""
    via: str = "round"


class Foreign(NamedTuple):
    """A state that is not ours, kept for the part of the call that made it."""

    state: str | None
    responses: Mapping[str, Any] | None


@dataclass(slots=True)
class Journal:
    call: str = ""
    """Names this call. Unguessable; everything that must be stable and secret derives from it.

    It is given when it is first needed: most calls ask nothing."""
    rounds: int = 0
    strays: int = 0
    progress: float | None = None
    entries: dict[str, Entry | list[Any]] = field(default_factory=dict)  # pyright: ignore[reportUnknownVariableType]
    foreign: Foreign | None = None

    def entry(self, identity: str) -> Entry | None:
        raw = self.entries.get(identity)
        if raw is None or isinstance(raw, Entry):
            return raw
        return Entry._make(raw + _TAIL[len(raw) :])


_TAIL: Final[list[Any]] = ["waiting", 0, "", None, "", 1, None, (), "round"]


def _trimmed(entry: Entry) -> list[Any]:
    """The entry without the fields that hold their defaults."""
    end = len(entry)
    while end > 3 and entry[end - 1] == _TAIL[end - 1]:
        end -= 1
    return list(entry[:end])


def is_journal(state: str) -> bool:
    """Whether this state is one of ours, of whatever version."""
    return state.startswith(_MARK)


_encode = json.JSONEncoder(separators=(",", ":")).encode


def encode(journal: Journal) -> str:
    entries = journal.entries
    for identity, entry in entries.items():
        if type(entry) is Entry:
            entries[identity] = _trimmed(entry)
    return _encode(
        (
            "midcall",
            VERSION,
            journal.call,
            journal.rounds,
            journal.strays,
            journal.progress,
            entries,
            journal.foreign,
        )
    )


def decode(state: str) -> Journal:
    """Read a journal back.

    Raises:
        InvalidJournal: It is damaged, or of a version that this midcall does not read.
    """
    try:
        fields = json.loads(state)
    except (ValueError, RecursionError):
        raise InvalidJournal(wording.damaged_journal()) from None
    if not isinstance(fields, list) or len(cast("list[Any]", fields)) < 2 or fields[0] != "midcall":
        raise InvalidJournal(wording.damaged_journal())
    return _read(_upgraded(cast("list[Any]", fields)))


def _upgraded(fields: list[Any]) -> list[Any]:
    while type(fields[1]) is not int or fields[1] != VERSION:
        upgrade = UPGRADES.get(fields[1]) if type(fields[1]) is int else None
        if upgrade is None:
            raise InvalidJournal(wording.unknown_journal_version(fields[1], VERSION))
        fields = upgrade(fields)
    return fields


def _read(fields: list[Any]) -> Journal:
    if len(fields) != _FIELDS:
        raise InvalidJournal(wording.damaged_journal())
    _, _, call, rounds, strays, progress, entries, foreign = fields
    sound = (
        isinstance(call, str)
        and type(rounds) is int
        and type(strays) is int
        and (progress is None or type(progress) in (int, float))
        and isinstance(entries, dict)
        and all(_is_plain(raw) or _is_entry(raw) for raw in cast("dict[str, Any]", entries).values())
        and (foreign is None or _is_foreign(foreign))
    )
    if not sound:
        raise InvalidJournal(wording.damaged_journal())
    return Journal(call, rounds, strays, progress, cast("Any", entries), foreign and Foreign._make(foreign))


def _is_plain(raw: Any) -> bool:
    """What most entries of a long call are: seen without a close look."""
    if type(raw) is not list or len(fields := cast("list[Any]", raw)) != 4:
        return False
    return fields[0] == "fits" and type(fields[2]) is str and type(fields[3]) is dict


def _is_entry(raw: Any) -> bool:
    """Whether this has the fields of an entry, each of its type."""
    match raw:
        case ["fits" | "accept", _, str(), dict()] | ["effect", _, str(), _] | ["effect", _, str()]:
            return True  # what most of them look like
        case [str() as kind, _, str(), value, *rest]:
            return kind in _KINDS and (kind not in _ANSWERED or isinstance(value, dict)) and _is_tail(rest)
        case [str() as kind, _, str()]:
            return kind in _KINDS and kind not in _ANSWERED
        case _:
            return False


def _is_tail(rest: list[Any]) -> bool:
    shape, attempt, deadline, problems, via = rest + _TAIL[4 + len(rest) :] if len(rest) <= 5 else (None,) * 5
    return (
        isinstance(shape, str)
        and type(attempt) is int
        and isinstance(deadline, (int, float, NoneType))
        and isinstance(problems, (list, tuple))
        and isinstance(via, str)
    )


def _is_foreign(raw: Any) -> bool:
    match raw:
        case [str() | None, dict() | None]:
            return True
        case _:
            return False
