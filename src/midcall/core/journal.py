"""The ordered record of a call, and the text it travels as.

A journal is JSON, never pickle, and carries its version. A call with a hundred questions reads and
writes its journal a hundred times, so what cannot change any more is not written again: it travels
as the text it came as. Its quotes are swapped for backquotes, since the text is sealed inside JSON,
where every quote would have to be escaped.

    midcall/5 <call> <turn> <owner>    the version, and what is needed to find a live run
    "?<digest>":"window",...           answers that were read and fit, one after the other
    "Which seat?",...                  their labels, which hardly any run looks at
    [3,["?<digest>"],{...}]            what is known of the call and its round, and all other entries
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast, get_args

from pydantic_core import from_json, to_json

from midcall.errors import InvalidJournal

VERSION: Final = 5
_ANY_MARK: Final = "midcall/"
_MARK: Final = f"{_ANY_MARK}{VERSION} "

_ANSWERED: Final = ("accept", "fits")

Kind: TypeAlias = Literal[
    "waiting",
    "accept",
    "fits",
    "decline",
    "cancel",
    "timeout",
    "effect",
    "lost",
    "failed",
    "mark",
    "requested",
    "reply",
]
"""`fits` is an accepted answer that was read, and can be read again without another look. Of effects, `lost` has run
and left no result, and `failed` has raised: it runs again, but it has been met. A `mark` is our own note. A
`requested` entry waits for the client's `reply` to a request that isn't a question, such as sampling."""

OPEN: Final = ("waiting", "requested")
"""What waits for the client."""

EFFECTS: Final = ("effect", "lost")
"""What has been done."""

ADOPTED: Final = "sdk"
"""The shape of a question that was written for the SDK: its answer is kept as it came."""

_KINDS: Final[frozenset[str]] = frozenset(get_args(Kind))


# --- what entries are called -------------------------------------------------------------------
#
# The first character says whose name it is. `?` is a question, `~` a request and `#` a mark: those are ours. After `!`
# comes what an author calls an effect, and a key is the author's as it is: it begins with a letter, a digit or `_`.


REQUIRED: Final = "?required."
"""How the name of a visit begins that a tool requires by -32042."""


def question_name(digest: str) -> str:
    """The first question of this digest."""
    return f"?{digest}"


def required_name(index: int, digest: str) -> str:
    """A visit that a tool requires by -32042."""
    return f"{REQUIRED}{index}.{digest}"


def request_name(method: str, digest: str) -> str:
    """A request that isn't a question, such as one for sampling."""
    return f"~{method}.{digest}"


def nth_name(name: str, ordinal: int) -> str:
    """One of several equal questions."""
    return f"{name}.{ordinal}" if ordinal else name


def key_name(key: str) -> str:
    """A question that its author has named."""
    return key


def effect_name(name: str, ordinal: int) -> str:
    """An effect, by the name that its author gave it, and which of that name it is."""
    return f"!{ordinal or ''}.{name}"


def mark_name(kind: str, about: str = "", ordinal: int = 0) -> str:
    """Our own mark. What it is about may contain a name that the author chose."""
    return f"#{kind}{ordinal or ''}.{about}"


def asking_mark(kind: str, identity: str, attempt: int) -> str:
    """A mark about one asking of a question."""
    return mark_name(kind, wire_key(identity, attempt))


def wire_key(identity: str, attempt: int) -> str:
    """The key under which a question leaves: unique within the call, stable over replays."""
    return identity if attempt == 1 else f"{identity}~{attempt}"


class Entry(NamedTuple):
    """One line of the journal: a pending question, its outcome, or the result of an effect."""

    kind: Kind
    line: int
    """1 if the tool's own task wrote it; that task has one order, its children have none."""
    label: str
    """What a person would call it: the beginning of the message, or the name of the effect."""
    value: Any = None
    """The accepted content, or the effect's result; of a decline, whether it came too fast to have been
    decided."""
    shape: str = ""
    """The digest of the form, for a question known by its key; `ADOPTED` for one that was written for the SDK; for an
    effect, the digest of its arguments."""
    attempt: int = 1
    deadline: float | None = None
    problems: tuple[tuple[str, str, str], ...] = ()
    """What was wrong with the answer before this one."""
    via: str = "round"

    @classmethod
    def from_wire(cls, raw: list[Any]) -> Entry:
        """The entry of which these fields travelled."""
        return cls._make(raw + _TAIL[len(raw) :])


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
    """Names this call. Unguessable: everything that must be stable and secret derives from it."""
    rounds: int = 0
    """How many rounds this client has seen; a resume code starts over."""
    holds: int = 0
    """How many of them had no question."""
    turn: int = 0
    """How many rounds of the call have left in all. It never starts over."""
    owner: str = ""
    """The process that has the run, if one stayed alive."""
    strays: int = 0
    """How often the tool's own task took another way than the one that was recorded."""
    drifts: int = 0
    """How many rounds in a row left while one of their answers was unused, and something else was asked."""
    foreign: Foreign | None = None
    target: Target | None = None
    """What is really called, if the request names a resume code."""
    left: float | None = None
    """When the round left, where a quick no is doubted."""
    asked: tuple[str, ...] = ()
    """The keys under which questions left in this round: nothing else takes an answer from the client."""
    entries: dict[str, Entry | list[Any]] = field(default_factory=dict)  # pyright: ignore[reportUnknownVariableType]
    """What is recorded, by its name, except the answers in `settled`."""
    settled: dict[str, Any] = field(default_factory=dict)  # pyright: ignore[reportUnknownVariableType]
    """Answers that fit: the content, or the value alone if the form has one field."""
    _text: str = field(default="", repr=False, compare=False)
    """`settled` as it travels."""
    _labels: str = field(default="", repr=False)
    """Their labels as they travel, in the same order; in brackets where a branch wrote it."""
    _unwritten: list[tuple[str, str, int]] = field(default_factory=list, repr=False, compare=False)  # pyright: ignore[reportUnknownVariableType]
    """Answers that are not in these texts yet, with their labels: a call that ends with one never writes it."""
    _known: dict[str, tuple[str, int]] | None = field(default=None, repr=False, compare=False)
    """The labels, once they were read."""

    def __bool__(self) -> bool:
        """Whether anything is recorded."""
        return bool(self.entries or self.settled)

    def entry(self, identity: str) -> Entry | None:
        raw = self.entries.get(identity)
        if raw is None:
            if identity not in self.settled:
                return None
            label, line = self.labels()[identity]
            return Entry("fits", line, label, self.settled[identity])
        return raw if isinstance(raw, Entry) else Entry.from_wire(raw)

    def effects(self) -> list[str]:
        """The names of the effects that were done."""
        return [raw[2] for raw in self.entries.values() if raw[0] in EFFECTS]

    def marks(self, kind: str) -> list[str]:
        """The names of the marks of this kind."""
        return [identity for identity in self.entries if identity.startswith(mark_name(kind))]

    def labels(self) -> dict[str, tuple[str, int]]:
        """The label of each answer that fits, and whether the tool's own task wrote it.

        Raises:
            InvalidJournal: They are damaged: nothing reads them before.
        """
        if self._known is None:
            self._write()
            try:
                raw = _decode(f"[{_swap_quotes(self._labels)}]")
                self._known = {name: _label(each) for name, each in zip(self.settled, raw, strict=True)}
            except (ValueError, RecursionError):
                raise InvalidJournal() from None
        return self._known

    def keep(self, identity: str, content: dict[str, Any], names: Sequence[str]) -> None:
        """The answer to this question was read and fits: from now on it goes along as it is.

        That of a form with one field is its value alone, which is never a dict.
        """
        _, line, label, *_ = self.entries.pop(identity)
        bare = len(names) == len(content) == 1
        self.settle(identity, next(iter(content.values())) if bare else content, label, line)

    def content(self, identity: str, names: Sequence[str]) -> dict[str, Any]:
        """The content of an answer that was kept."""
        kept = self.settled[identity]
        return kept if type(kept) is dict else {names[0]: kept}  # pyright: ignore[reportUnknownVariableType]

    def settle(self, identity: str, answer: Any, label: str, line: int) -> None:
        """Add an answer that fits."""
        self._known = None
        self.settled[identity] = answer
        self._unwritten.append((identity, label, line))

    def _write(self) -> None:
        """Bring the texts up to date."""
        for identity, label, line in self._unwritten:
            piece = _swap_quotes(_encode({identity: self.settled[identity]}))[1:-1]
            self._text = f"{self._text},{piece}" if self._text else piece
            piece = _swap_quotes(_encode(label if line else [label]))
            self._labels = f"{self._labels},{piece}" if self._labels else piece
        self._unwritten.clear()

    def forget(self, *identities: str) -> None:
        gone = {identity for identity in identities if self.entries.pop(identity, None) is None} & self.settled.keys()
        if gone:
            labels, settled = self.labels(), self.settled
            self.settled, self._text, self._labels = {}, "", ""
            for name in settled:
                if name not in gone:
                    self.settle(name, settled[name], *labels[name])

    def text(self) -> str:
        """All answers that fit, as they travel."""
        if self._unwritten:
            self._write()
        return f"{self._text}\n{self._labels}"


def _label(raw: Any) -> tuple[str, int]:
    match raw:
        case str():
            return raw, 1
        case [str() as label]:
            return label, 0
        case _:
            raise ValueError("no label")


_TAIL: Final[list[Any]] = ["waiting", 0, "", None, "", 1, None, (), "round"]


def _trim(entry: Entry) -> list[Any]:
    """The entry without the fields that hold their defaults."""
    end = len(entry)
    while end > 3 and entry[end - 1] == _TAIL[end - 1]:
        end -= 1
    return list(entry[:end])


# --- as text ---------------------------------------------------------------------------------
class Head(NamedTuple):
    """What the first line of a journal says."""

    call: str
    turn: int
    owner: str


def read_head(state: str) -> Head:
    """The first line of a journal: enough to find a live run.

    Raises:
        InvalidJournal: It is damaged, or of a version that this midcall does not read.
    """
    line = state.partition("\n")[0]
    if not line.startswith(_MARK):
        raise _unread(line)
    try:
        call, turn, owner = line[len(_MARK) :].split(" ")
        return Head(call, int(turn), owner)
    except ValueError:
        raise InvalidJournal() from None


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
    """Likewise; it does not take what is nested deeper than 200 times, nor half a character."""
    try:
        return from_json(text)
    except (ValueError, TypeError):
        return json.loads(text)


def _swap_quotes(text: str) -> str:
    """The text with quotes for backquotes, and the other way round."""
    return text.replace("`", _SPARE).replace('"', "`").replace(_SPARE, '"')


def encode(journal: Journal) -> str:
    entries = {name: _trim(raw) if type(raw) is Entry else raw for name, raw in journal.entries.items()}
    rest = (journal.rounds, journal.asked, entries)
    more = (journal.holds, journal.strays, journal.drifts, journal.foreign, journal.target, journal.left)
    head = f"{_MARK}{journal.call} {journal.turn} {journal.owner}"
    return f"{head}\n{journal.text()}\n{_swap_quotes(_encode(rest if more == _NO_MORE else rest + more))}"


_NO_MORE: Final = (0, 0, 0, None, None, None)


def decode(state: str) -> Journal:
    """Read a journal back.

    Raises:
        InvalidJournal: It is damaged, or of a version that this midcall does not read.
    """
    head = read_head(state)
    try:
        _, settled, labels, rest = state.split("\n")
        fields = _decode(_swap_quotes(rest))
        journal = _check(head, *(fields if len(fields) > 3 else (*fields, *_NO_MORE)))
        journal.settled = _decode(f"{{{_swap_quotes(settled)}}}")
    except (ValueError, RecursionError, TypeError):
        raise InvalidJournal() from None
    journal._text, journal._labels = settled, labels  # pyright: ignore[reportPrivateUsage]
    return journal


def _unread(line: str) -> InvalidJournal:
    """Why this is not read: it is of another version, or of none."""
    if line.startswith(_ANY_MARK):
        return InvalidJournal(
            f"The state of this call has version {line[len(_ANY_MARK) :][:16].partition(' ')[0]}; this midcall "
            f"reads version {VERSION}."
        )
    return InvalidJournal()


def _check(
    head: Head,
    rounds: Any,
    asked: Any,
    entries: Any,
    holds: Any,
    strays: Any,
    drifts: Any,
    foreign: Any,
    target: Any,
    left: Any,
) -> Journal:
    """The journal of these, each of which has to be what it should."""
    sound = (
        type(rounds) is int
        and isinstance(asked, list)
        and all(type(key) is str for key in cast("list[Any]", asked))
        and type(holds) is int
        and type(strays) is int
        and type(drifts) is int
        and (foreign is None or _is_pair(foreign))
        and (target is None or (_is_pair(target) and target[0] is not None))
        and (left is None or type(left) in (int, float))
        and isinstance(entries, dict)
        and all(map(_is_entry, cast("dict[str, Any]", entries).values()))
    )
    if not sound:
        raise InvalidJournal()
    kept, called = foreign and Foreign._make(foreign), target and Target._make(target)
    return Journal(
        head.call,
        rounds,
        holds,
        head.turn,
        head.owner,
        strays,
        drifts,
        kept,
        called,
        left,
        tuple(cast("list[str]", asked)),
        cast("Any", entries),
    )


def _is_entry(raw: Any) -> bool:
    """Whether this has the fields of an entry, each of its type."""
    match raw:
        case ["fits" | "accept", _, str(), dict()] | ["effect", _, str(), _, str()] | ["effect", _, str(), _]:
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
