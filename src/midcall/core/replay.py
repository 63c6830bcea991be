"""One run of a call over its journal.

A replayed tool runs again from the top; this machine gives each question and each effect that it meets
what was recorded for it. It does no I/O and has no clock: the time comes in as an argument, and
"not answered yet" is a value.

Identity, not position: a question is known by its key, else by its digest and its ordinal among
equals, an effect by its name and its ordinal; of several that have one name, by its arguments.
Positions would depend on the order in which the branches of a `gather` wake.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from typing import Any, Final, NoReturn, TypeVar, cast

from midcall.core.journal import (
    ADOPTED,
    EFFECTS,
    OPEN,
    REQUIRED,
    Entry,
    Journal,
    Kind,
    effect_name,
    key_name,
    mark_name,
    nth_name,
    request_name,
    wire_key,
)
from midcall.core.question import MISSING, Missing, Question, Visit
from midcall.errors import DuplicateKey, MalformedAnswer, ReplayMismatch
from midcall.language.problems import Problem
from midcall.protocol import DECIDED
from midcall.settings.calls import REJECTED_CHARACTERS

T = TypeVar("T")

AS_TEXT: Final = mark_name("as_text")
"""The mark that this client hides forms with numbers and lists, so that they go out as lines of text."""

DOUBT: Final = "doubt"
"""In place of a channel: which one it was is doubted, and it is not to be that again."""

_LABEL: Final = 16
"""Enough to recognize a question by. Every round carries the labels of all earlier ones."""
_MET_EFFECTS: Final = (*EFFECTS, "failed")

_NONE: Final[frozenset[str]] = frozenset()
"""In place of a set of each call's own, which takes memory while the call waits."""

_ACTIONS: Final[Mapping[str, Kind]] = {
    "accept": "accept",
    "decline": "decline",
    "reject": "decline",  # what older guides call it
    "cancel": "cancel",
}


def parse_answer(answer: object) -> tuple[Kind, dict[str, Any] | None]:
    """The outcome in a client's answer; content counts only where it was accepted.

    Raises:
        MalformedAnswer: It has no known action, or content of the wrong shape.
    """
    if not isinstance(answer, (dict, Mapping)):  # `dict` first: it is quicker to tell
        raise MalformedAnswer(_describe_malformed("it is not an object"))
    fields = cast("Mapping[str, Any]", answer)
    action = fields.get("action")
    kind = _ACTIONS.get(action) if isinstance(action, str) else None
    if kind is None:
        raise MalformedAnswer(_describe_malformed("its action is not accept, decline or cancel"))
    if kind != "accept":
        return kind, None
    content = fields.get("content")
    if content is None:
        return kind, {}
    if not isinstance(content, (dict, Mapping)):
        raise MalformedAnswer(_describe_malformed("its content is not an object"))
    return kind, dict(cast("Mapping[str, Any]", content))


def is_decided(answer: object) -> bool:
    """Whether the client says that this answer was decided, however fast it came."""
    meta: object = cast("Mapping[str, Any]", answer).get("_meta") if isinstance(answer, (dict, Mapping)) else None
    return isinstance(meta, Mapping) and cast("Mapping[str, Any]", meta).get(DECIDED) is True


class Replay:
    """Answers from the journal, and writes what is new into it."""

    __slots__ = ("_counts", "_freed", "_fresh", "_keys", "_recorded", "_used", "asks_as_text", "journal", "observe")

    def __init__(self, journal: Journal, observe: Callable[[str, Entry], object] | None = None) -> None:
        self.journal = journal
        self.observe = observe
        """Called with each outcome that is written, and not with those that are read again."""
        self._counts: dict[str, int] = {}
        self._freed: dict[tuple[str, str], list[str]] = {}
        self._recorded: dict[str, list[str]] | None = None
        self._keys: frozenset[str] = _NONE
        self._used: set[str] = set()
        self._fresh: Set[str] = _NONE
        """What the answers of this round were given to."""
        self.asks_as_text = AS_TEXT in journal.entries
        """Whether numbers and lists go out as lines of text."""

    # --- who is who ---------------------------------------------------------------------------

    def identify(self, question: Question[Any] | Visit) -> str:
        """This question's name in the journal."""
        if question.key is None:
            return self._name_nth(question.base)
        if question.key in self._keys:
            raise DuplicateKey(
                f"The key {question.key!r} was used for another question of this call.",
                advice="Keys are unique within a call: leave key= out, or put a counter into it.",
            )
        self._keys |= {question.key}
        return key_name(question.key)

    def identify_mark(self, kind: str, about: str) -> str:
        """The name in the journal of what we note about this; of several times, of this one."""
        return mark_name(kind, about, self._count(mark_name(kind, about)))

    def identify_effect(self, name: str, arguments: str) -> str:
        """This effect's name in the journal.

        It is the one that was recorded under this name with these arguments, if that was not met yet: branches come to
        theirs in any order. Else it is a new one.
        """
        if freed := self._freed.get((name, arguments)):
            return freed.pop(0)
        recorded = self._find_effects().get(name, [])
        for identity in recorded:
            if (entry := self.journal.entry(identity)) is not None and entry.shape == arguments:
                recorded.remove(identity)
                return identity
        while (identity := effect_name(name, self._count(effect_name(name, 0)))) in self.journal.entries:
            pass
        return identity

    def _find_effects(self) -> dict[str, list[str]]:
        """What earlier runs have recorded, by name; nothing of this run, which begins to ask after it."""
        if self._recorded is None:
            self._recorded = {}
            for identity, raw in self.journal.entries.items():
                if raw[0] in _MET_EFFECTS:
                    self._recorded.setdefault(raw[2], []).append(identity)
        return self._recorded

    def _name_nth(self, base: str) -> str:
        ordinal = self._count(base)
        return nth_name(base, ordinal) if ordinal else base

    def _count(self, base: str) -> int:
        ordinal = self._counts.get(base, 0)
        self._counts[base] = ordinal + 1
        return ordinal

    def fail_effect(self, identity: str, name: str, arguments: str, *, line: bool) -> None:
        """The effect raised: it was met, it has no result, and the next one like it takes its place."""
        self.journal.entries[identity] = Entry("failed", int(line), name, None, arguments)
        self._used.add(identity)
        self._freed.setdefault((name, arguments), []).append(identity)

    wire_key = staticmethod(wire_key)

    # --- reading ------------------------------------------------------------------------------

    def recall(self, question: Question[T]) -> T | Missing:
        """The value that was accepted for this question without a key; `MISSING` if there is more to do.

        The short way for what a replay does most: it looks, and takes only what it can use.
        """
        base = question.base
        ordinal = self._counts.get(base, 0)
        identity = nth_name(base, ordinal) if ordinal else base
        journal = self.journal
        if identity in journal.settled:
            value = _read_kept(journal, identity, question)
        else:
            raw = journal.entries.get(identity)
            if raw is None or raw[0] != "accept" or raw[-1] == "default" or self.came_with_others(identity):
                return MISSING
            content, value, problems = _judge(question, raw[3])
            if problems:
                return MISSING
            journal.keep(identity, content, question.form.names)
        self._counts[base] = ordinal + 1
        self._used.add(identity)
        return value

    def find(self, identity: str, question: Question[Any] | Visit) -> Entry | None:
        """What was recorded for this question, if it is still the same question."""
        journal = self.journal
        if identity not in journal.entries and identity not in journal.settled:  # as nearly always in a live run
            return None
        entry = journal.entry(identity)
        if entry is None or (entry.shape and entry.shape != question.shape):
            return None
        self._used.add(identity)
        if entry.kind == "fits" and isinstance(question, Question):
            return entry._replace(value=journal.content(identity, question.form.names))
        return entry

    def find_mark(self, identity: str) -> Entry | None:
        """The mark of this name, or the effect."""
        entry = self.journal.entry(identity)
        if entry is not None:
            self._used.add(identity)
        return entry

    @property
    def has_waiting_branch(self) -> bool:
        """Whether a question of a branch waits for its answer."""
        return any(raw[0] in OPEN and not raw[1] for raw in self.journal.entries.values())

    def depart(self, question: str) -> list[str]:
        """The tool's own task meets a question that was not recorded: has it taken another way?

        Once it may: then what was recorded and not met is dropped, and returned.

        Only that task can tell, and only while no branch waits: it has one order. A branch that is still at its I/O
        leaves records unused without having gone anywhere else.

        Raises:
            ReplayMismatch: It has, past a recorded effect, or for the second time.
        """
        unused = [] if self.has_waiting_branch else self._list_unmet()
        if not unused:
            return []
        effects = [label for _, kind, label in unused if kind in EFFECTS]
        if effects or self.journal.strays:
            alike = any(kind not in EFFECTS and label == question[:_LABEL] for _, kind, label in unused)
            whole = len(question) < _LABEL
            same = "with the same message, but its form differs"
            begins = "which begins alike, but its message differs further on, or its form differs"
            differs = "" if not alike else same if whole else begins
            self._mismatch([label for _, _, label in unused], question[:_LABEL], effects, differs)
        self.journal.strays += 1
        self.journal.forget(*(identity for identity, _, _ in unused))
        return [label for _, _, label in unused]

    def depart_with_effect(self, name: str) -> None:
        """The tool's own task meets an effect that was not recorded.

        One that failed before leaves no record, so unused answers mean nothing here; but an effect
        that was recorded and not met means that this one may be the same with other arguments.

        Raises:
            ReplayMismatch: There is such an effect.
        """
        effects = [label for _, kind, label in self._list_unmet() if kind in EFFECTS]
        if effects:
            self._mismatch(
                effects, name, effects, "with the same name, but its arguments differ" if name in effects else ""
            )

    def _list_unmet(self) -> list[tuple[str, str, str]]:
        """What the tool's own task wrote in an earlier run, and has not met in this one."""
        journal = self.journal
        if len(self._used) == len(journal.entries) + len(journal.settled):
            return []
        met = self._used
        return [
            *(
                (identity, "fits", label)
                for identity, (label, line) in journal.labels().items()
                if line and identity not in met
            ),
            *(
                (identity, raw[0], raw[2])
                for identity, raw in journal.entries.items()
                if raw[1] and raw[0] not in ("waiting", "requested", "failed") and identity not in met
            ),
        ]

    @staticmethod
    def _mismatch(recorded: list[str], met: str, effects: list[str], differs: str) -> NoReturn:
        raise ReplayMismatch(_replay_mismatch(recorded, met, effects, differs))

    # --- writing ------------------------------------------------------------------------------

    def wait(
        self, identity: str, question: Question[Any] | Visit, *, line: bool, deadline: float | None, attempt: int = 1
    ) -> Entry:
        """Write down that this question waits for its answer. While a branch waits, nothing is on the tool's line."""
        shape = question.shape if question.key is not None or question.is_adopted else ""
        entry = Entry(
            "waiting",
            int(line and not self.has_waiting_branch),
            question.message[:_LABEL],
            None,
            shape,
            attempt,
            deadline,
        )
        self.journal.entries[identity] = entry
        self._used.add(identity)
        return entry

    def settle(
        self, identity: str, entry: Entry, kind: Kind, content: Any = None, via: str = "round", *, quick: bool = False
    ) -> Entry:
        """Write down the outcome of a question that waited; `quick` if nobody can have decided it in that time."""
        value = content if kind == "accept" else True if quick else None
        settled = Entry(kind, entry.line, entry.label, value, entry.shape, entry.attempt, None, (), via)
        self.journal.entries[identity] = settled
        if self.observe is not None:
            self.observe(identity, settled)
        return settled

    def accept(self, identity: str, entry: Entry, question: Question[T]) -> tuple[T, tuple[Problem, ...]]:
        """The value of an accepted answer, which is kept if it fits; or the problems with it."""
        content, value, problems = _judge(question, entry.value)
        if not problems:
            self._keep(identity, entry, question, content)
        return value, problems

    def _keep(self, identity: str, entry: Entry, question: Question[Any], content: dict[str, Any]) -> None:
        """Keep only what was asked of an answer that fits: a client may send more, and every round carries it."""
        names = question.form.names
        if type(question) is Question and entry.kind == "accept" and not entry.shape and entry.via == "round":
            self.journal.keep(identity, content, names)
        elif len(entry.value) > len(names):
            kept = {name: value for name, value in entry.value.items() if name in names}
            self.journal.entries[identity] = entry._replace(value=kept)

    def reject(
        self,
        identity: str,
        entry: Entry,
        problems: Sequence[Problem],
        names: Collection[str],
        deadline: float | None,
    ) -> Entry:
        """The accepted answer does not fit: the question waits again, with the problems named.

        The answer stays, so that what was right about it need not be typed again; but for what was not asked, and for
        what is so long that it was not typed.
        """
        told = tuple((problem.field, problem.code, problem.message) for problem in problems)
        kept = {
            name: value
            for name, value in entry.value.items()
            if name in names and len(str(value)) <= REJECTED_CHARACTERS
        }
        again = entry._replace(
            kind="waiting", value=kept, attempt=entry.attempt + 1, deadline=deadline, problems=told, via="round"
        )
        self.journal.entries[identity] = again
        if self.observe is not None:
            self.observe(identity, again)
        return again

    def doubt(self, identity: str, entry: Entry) -> Entry:
        """Nobody may have seen the question: it waits again, for a channel where a person acts."""
        again = entry._replace(kind="waiting", value=None, attempt=entry.attempt + 1, problems=(), via=DOUBT)
        self.journal.entries[identity] = again
        if self.observe is not None:
            self.observe(identity, again)
        return again

    def ask_as_text(self) -> None:
        """From now on, numbers and lists go out as lines of text."""
        self.asks_as_text = True
        self.mark(AS_TEXT, "as_text", True)

    def mark(self, identity: str, name: str, value: Any) -> None:
        """Record our own note, such as that a page was shown. It has no place in the order of the tool."""
        self.journal.entries[identity] = Entry("mark", 0, name, value)
        self._used.add(identity)

    def lose_effect(self, identity: str, name: str, arguments: str, *, line: bool) -> None:
        """The effect has run, and its result cannot be recorded."""
        self.journal.entries[identity] = Entry("lost", int(line), name, None, arguments)
        self._used.add(identity)

    def record_effect(self, identity: str, name: str, arguments: str, result: Any, *, line: bool) -> None:
        self.journal.entries[identity] = Entry("effect", int(line), name, result, arguments)
        self._used.add(identity)

    def take_answers(self, responses: Mapping[str, Any], now: float, doubt: float = 0.0) -> tuple[str, ...]:
        """Settle what left in this round with what the client sent; the wire keys that were ours, in the order asked.

        What comes within `doubt` seconds after the round left is quick, unless the client says that it was decided.

        A recorded outcome never changes. An answer to what did not leave in this round is ignored, even if the question
        is open: only a page may answer it, or a branch has asked it since.

        Raises:
            MalformedAnswer: A question got something that is not an answer. Then nothing is settled.
        """
        journal = self.journal
        asked = frozenset(journal.asked)
        quick = journal.left is not None and 0 <= now - journal.left < doubt  # the clocks of replicas may differ
        answered: dict[str, tuple[str, Entry, tuple[Kind, Any]]] = {}
        for identity, raw in journal.entries.items():
            if raw[0] in OPEN:
                entry = raw if isinstance(raw, Entry) else Entry.from_wire(raw)
                wire = identity if entry.attempt == 1 else wire_key(identity, entry.attempt)
                if wire in responses and wire in asked:
                    answered[wire] = identity, entry, _read_reply(entry, responses[wire])
        fresh: set[str] = set()
        for wire, (identity, entry, (kind, content)) in answered.items():
            if not identity.startswith(REQUIRED):  # once such a visit is done, the tool won't require it again
                fresh.add(identity)
            if kind == "reply":
                journal.entries[identity] = entry._replace(kind="reply", value=content)
                continue
            late = entry.deadline is not None and now > entry.deadline
            decided = not quick or is_decided(responses[wire])
            self.settle(identity, entry, "timeout" if late else kind, content, quick=not decided)
        self._fresh = fresh
        return tuple(answered)

    def withdraw(self, identity: str) -> None:
        """Nobody waits for this question any more."""
        entry = self.journal.entry(identity)
        if entry is not None and entry.kind in OPEN:
            self.journal.forget(identity)
            self._used.discard(identity)

    # --- requests that aren't questions ---------------------------------------------------------

    def identify_request(self, method: str, digest: str) -> str:
        """The name of this request, such as one for sampling, in the journal."""
        return self._name_nth(request_name(method, digest))

    def request(self, identity: str, label: str, *, line: bool) -> None:
        """Write down that this request waits for its reply."""
        self.journal.entries[identity] = Entry("requested", int(line), label[:_LABEL])
        self._used.add(identity)

    def drift(self) -> list[str]:
        """A round leaves from a replay: the answers of this round that no branch has asked for, if that happens again.

        Once it means little, since a branch may still be at its I/O. Twice in a row, what is asked changes every time.
        """
        unused = self.leftover()
        self.journal.drifts = self.journal.drifts + 1 if unused else 0
        return unused if self.journal.drifts > 1 else []

    def came_with_others(self, identity: str) -> bool:
        """Whether the answer to this came in one round with others."""
        return len(self._fresh) > 1 and identity in self._fresh

    @property
    def has_met_round(self) -> bool:
        """Whether the run has asked for all answers of this round."""
        return self._fresh <= self._used

    def leftover(self) -> list[str]:
        """The questions whose answers came with this round, and that the run has not asked by its end.

        After a decline, the others of its round need not be asked any more.
        """
        return sorted(entry.label for entry in self._not_met())

    def leftover_of_branches(self) -> bool:
        """Whether there are such questions, and all are those of branches, which may outlive the tool's own task."""
        unused = self._not_met()
        return bool(unused) and not any(entry.line for entry in unused)

    def _not_met(self) -> list[Entry]:
        if self.has_met_round:  # as nearly always
            return []
        entries = {identity: self.journal.entry(identity) for identity in self._fresh}
        used = [entry for identity, entry in entries.items() if identity in self._used]
        if any(entry is not None and entry.kind in ("decline", "cancel", "timeout") for entry in used):
            return []
        return [entry for identity, entry in entries.items() if entry and identity not in self._used]


_UNREAD: Final = (ValueError, LookupError, TypeError)
"""What reading a value in one step may raise."""


def _judge(question: Question[T], answered: Mapping[str, Any]) -> tuple[dict[str, Any], T, tuple[Problem, ...]]:
    """`Question.judge`, in one step if the answer is one plain value that fits."""
    if (quick := question.typed.quick) is not None and (name := question.form.names[0]) in answered:
        try:
            return {name: answered[name]}, quick(answered[name]), ()
        except _UNREAD:
            pass
    return question.judge(answered)


def _read_kept(journal: Journal, identity: str, question: Question[T]) -> T:
    """The value of an answer that was kept, because it fits."""
    if (quick := question.typed.quick) is not None:
        try:
            return quick(journal.settled[identity])
        except _UNREAD:
            pass
    return question.typed.read(journal.content(identity, question.form.names))


def unmet_error(unused: list[str]) -> ReplayMismatch:
    """The error for a replay that has not asked what was answered."""
    return ReplayMismatch(f"The tool did not ask again what was answered: {', '.join(map(repr, unused))}.")


def _read_reply(entry: Entry, response: object) -> tuple[Kind, Any]:
    if entry.kind == "requested":
        if not isinstance(response, (dict, Mapping)):
            raise MalformedAnswer(_describe_malformed("it is not an object"))
        return "reply", dict(cast("Mapping[str, Any]", response))
    kind, content = parse_answer(response)
    return kind, dict(cast("Mapping[str, Any]", response)) if entry.shape == ADOPTED else content


def _describe_malformed(why: str) -> str:
    return f"Malformed answer to a question: {why}."


def _replay_mismatch(recorded: list[str], tried: str, effects: list[str], differs: str) -> str:
    """`differs` says in what, where both read the same."""
    past = f", past the effect {', '.join(map(repr, effects))}" if effects else ", and not for the first time"
    return (
        f"The tool did not go the way that was recorded{past}: "
        f"recorded was {', '.join(map(repr, recorded))}, met was {tried!r}{differs and ', '}{differs}."
    )
