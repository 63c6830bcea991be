"""The ordered record of a call, and the text it travels as.

A journal is JSON, never pickle, and carries its version. A call with a hundred questions reads and
writes its journal a hundred times, so what cannot change any more is not written anew: it goes along
as the text it came as. Its quotes are swapped for backquotes, since the text is sealed inside JSON,
where every quote would have to be escaped.

    midcall/2                               the version
    "?<digest>":["Which seat?",{...}],...   answers that were read and fit, one after the other
    ["<call>",3,0,null,null,null,null,{...}]   what is known of the call, and all other entries
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from types import NoneType
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast, get_args

from pydantic_core import from_json, to_json

from midcall.errors import InvalidJournal
from midcall.wording import journal as wording

__all__ = ["VERSION", "Entry", "Foreign", "Journal", "Kind", "Target", "decode", "encode", "is_journal"]

VERSION: Final = 2
_MARK: Final = f"midcall/{VERSION}\n"
_ANY_MARK: Final = ("midcall/", '["midcall",')

_ANSWERED: Final = ("accept", "fits")

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
    """The accepted content, or the effect's result; of a no, whether it came faster than a person reads."""
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


class Target(NamedTuple):
    """A tool and the arguments that it was called with."""

    name: str
    arguments: Mapping[str, Any] | None


@dataclass(slots=True)
class Journal:
    call: str = ""
    """Names this call. Unguessable; everything that must be stable and secret derives from it.

    It is given when it is first needed: most calls ask nothing."""
    rounds: int = 0
    strays: int = 0
    progress: float | None = None
    foreign: Foreign | None = None
    target: Target | None = None
    """What is really called, where the request names a code to go on with."""
    left: float | None = None
    """When the round left, where a quick no is doubted."""
    entries: dict[str, Entry | list[Any]] = field(default_factory=dict)  # pyright: ignore[reportUnknownVariableType]
    settled: dict[str, list[Any]] = field(default_factory=dict)  # pyright: ignore[reportUnknownVariableType]
    """Answers that fit: label and content, and a 0 where a branch wrote it."""
    _text: str | None = field(default="", repr=False, compare=False)
    """`settled` as it travels; None where it has to be written anew."""

    def __bool__(self) -> bool:
        """Whether anything is recorded."""
        return bool(self.entries or self.settled)

    def entry(self, identity: str) -> Entry | None:
        raw = self.entries.get(identity)
        if raw is None:
            plain = self.settled.get(identity)
            return None if plain is None else Entry("fits", int(len(plain) < 3), plain[0], plain[1])
        return raw if isinstance(raw, Entry) else Entry._make(raw + _TAIL[len(raw) :])

    def keep(self, identity: str, content: dict[str, Any]) -> None:
        """The answer to this question was read and fits: from now on it goes along as it is."""
        _, line, label, *_ = self.entries.pop(identity)
        raw = self.settled[identity] = [label, content] if line else [label, content, 0]
        if self._text is not None:
            piece = _swapped(_encode({identity: raw}))[1:-1]
            self._text = f"{self._text},{piece}" if self._text else piece

    def forget(self, identity: str) -> None:
        if self.entries.pop(identity, None) is None and self.settled.pop(identity, None) is not None:
            self._text = None

    def text(self) -> str:
        if self._text is None:
            self._text = _swapped(_encode(self.settled))[1:-1]
        return self._text


_TAIL: Final[list[Any]] = ["waiting", 0, "", None, "", 1, None, (), "round"]


def _trimmed(entry: Entry) -> list[Any]:
    """The entry without the fields that hold their defaults."""
    end = len(entry)
    while end > 3 and entry[end - 1] == _TAIL[end - 1]:
        end -= 1
    return list(entry[:end])


# --- as text ---------------------------------------------------------------------------------
def is_journal(state: str) -> bool:
    """Whether this state is one of ours, of whatever version."""
    return state.startswith(_ANY_MARK)


_by_the_book: Final = json.JSONEncoder(separators=(",", ":")).encode
_SPARE: Final = "\x01"
"""Not in any JSON text: there it is escaped."""


def _encode(value: Any) -> str:
    """pydantic's encoder is four times as fast; it does not take a text that no Unicode has."""
    try:
        return to_json(value, inf_nan_mode="constants").decode()
    except ValueError:
        return _by_the_book(value)


def _decode(text: str) -> Any:
    """Likewise; it does not take what is nested deeper than 200 times."""
    try:
        return from_json(text)
    except ValueError:
        return json.loads(text)


def _swapped(text: str) -> str:
    """The text with quotes for backquotes, and the other way round."""
    return text.replace("`", _SPARE).replace('"', "`").replace(_SPARE, '"')


def encode(journal: Journal) -> str:
    entries = journal.entries
    for identity, entry in entries.items():
        if type(entry) is Entry:
            entries[identity] = _trimmed(entry)
    head = (journal.call, journal.rounds, journal.strays, journal.progress, journal.foreign, journal.target)
    rest = (*head, journal.left, entries)
    return f"{_MARK}{journal.text()}\n{_swapped(_encode(rest))}"


def decode(state: str) -> Journal:
    """Read a journal back.

    Raises:
        InvalidJournal: It is damaged, or of a version that this midcall does not read.
    """
    try:
        return _read(state) if state.startswith(_MARK) else _read_older(state)
    except (ValueError, RecursionError, TypeError):
        raise InvalidJournal(wording.damaged_journal()) from None


def _read(state: str) -> Journal:
    _, settled, rest = state.split("\n")
    return _checked(_decode(_swapped(rest)), _decode(f"{{{_swapped(settled)}}}"), settled)


def _read_older(state: str) -> Journal:
    """What version 1 wrote: one list, with all entries in one object."""
    if state.startswith("midcall/"):
        raise InvalidJournal(wording.unknown_journal_version(state[8:24].partition("\n")[0], VERSION))
    match _decode(state):
        case ["midcall", 1 as version, call, rounds, strays, progress, entries, foreign] if type(version) is int:
            return _checked([call, rounds, strays, progress, foreign, None, None, entries], {}, "")
        case ["midcall", version, *_] if type(version) is not int or version != 1:
            raise InvalidJournal(wording.unknown_journal_version(version, VERSION))
        case _:
            raise InvalidJournal(wording.damaged_journal())


def _checked(rest: Any, settled: Any, text: str) -> Journal:
    call, rounds, strays, progress, foreign, target, left, entries = rest
    sound = (
        isinstance(call, str)
        and type(rounds) is int
        and type(strays) is int
        and (progress is None or type(progress) in (int, float))
        and (foreign is None or _is_pair(foreign))
        and (target is None or (_is_pair(target) and target[0] is not None))
        and (left is None or type(left) in (int, float))
        and isinstance(entries, dict)
        and all(map(_is_entry, cast("dict[str, Any]", entries).values()))
        and isinstance(settled, dict)
        and _are_settled(cast("dict[str, Any]", settled))
    )
    if not sound:
        raise InvalidJournal(wording.damaged_journal())
    kept, called = foreign and Foreign._make(foreign), target and Target._make(target)
    return Journal(call, rounds, strays, progress, kept, called, left, cast("Any", entries), cast("Any", settled), text)


def _are_settled(settled: dict[str, Any]) -> bool:
    """Whether each has a label and content, and maybe a 0. No loop of ours: every round looks at all of them."""
    return (
        set(map(type, settled.values())) <= {list}
        and set(map(len, settled.values())) <= {2, 3}
        and set(map(type, map(itemgetter(1), settled.values()))) <= {dict}
    )


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


def _is_pair(raw: Any) -> bool:
    match raw:
        case [str() | None, dict() | None]:
            return True
        case _:
            return False
