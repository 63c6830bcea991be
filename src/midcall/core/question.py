"""What is asked: a form question carries a form, a visit carries a URL.

A question is a value. Its `digest` names it over all the rounds of a call, so it depends on what
the user sees and on nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any, ClassVar, Final, Generic, cast, get_args

from typing_extensions import TypeForm, TypeVar

from midcall.core.forms.check import check, tidy
from midcall.core.forms.form import Form
from midcall.core.forms.schema import find_hazards, simplify_patterns
from midcall.core.forms.secrets import refuse_secrets
from midcall.core.journal import question_name
from midcall.core.outcome import Via
from midcall.core.remembered import cache_short
from midcall.core.types import TypedForm, Unfit, is_value, spell_type, typed_form
from midcall.core.urls import check_address, find_links
from midcall.core.wire import HALF_CHARACTER_ADVICE, PLAIN_DATA_ADVICE, digest, find_unsendable
from midcall.errors import InvalidQuestion, MidcallError
from midcall.language.problems import Problem
from midcall.settings.calls import ATTEMPTS, CACHED_CHARACTERS

T = TypeVar("T", default=Any)


class Missing:
    """The type of `MISSING`: no default was given."""

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = Missing()

_CLASS: Final = type
_CHANNELS: Final[frozenset[str]] = frozenset(get_args(Via))
_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,63}\Z")


@cache_short(4096, CACHED_CHARACTERS)
def _digest(kind: str, message: str, detail: str) -> str:
    return digest(f"{kind}\0{message}\0{detail}")


def check_channels(via: Collection[Via]) -> frozenset[Via]:
    """The channels that are named, alone or together.

    Raises:
        InvalidQuestion: A channel of this name doesn't exist.
    """
    try:
        named: frozenset[Any] = frozenset((via,) if isinstance(via, str) else via)
    except TypeError:  # not a collection of names
        named = frozenset({repr(via)})
    unknown = named - _CHANNELS
    if unknown or not named:
        why = f": {', '.join(sorted(map(str, unknown)))}" if named else ", so nobody could be asked"
        raise InvalidQuestion(f"via= names no channel{why}. The channels are {', '.join(sorted(_CHANNELS))}.")
    return named


def check_message(message: object) -> None:
    """Refuse what isn't a message."""
    if not isinstance(message, str) or not message.strip():
        raise InvalidQuestion("A question needs a message: one sentence that says what is asked, and why.")


def check_sendable(what: str, data: Any, advice: str = HALF_CHARACTER_ADVICE) -> None:
    """Refuse what can't be sent. Here, and not where it's sent: there it would take the whole connection down."""
    if (found := find_unsendable(data)) is not None:
        raise InvalidQuestion(f"This question cannot be sent: {what}{found.path} {found.why}.", advice=advice)


class _Options:
    """What every kind of question may carry."""

    __slots__ = ("attempts", "base", "default", "digest", "key", "message", "meta", "timeout", "via")

    is_adopted: ClassVar[bool] = False
    """Whether it was written for the SDK, and its answer goes back unread."""
    needs_message: ClassVar[bool] = True
    """The SDK allows an empty one."""

    def __init__(
        self,
        message: str,
        key: str | None,
        timeout: float | None,
        attempts: int,
        default: Any,
        via: Collection[Via] | None,
        meta: Mapping[str, Any] | None,
    ) -> None:
        if self.needs_message:
            check_message(message)
        if key is not None and not (isinstance(key, str) and _KEY.match(key)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidQuestion(
                f"{key!r} cannot be a key: use 1 to 64 letters, digits and _ . : - and begin with a letter, digit or _."
            )
        is_number = isinstance(timeout, (int, float)) and not isinstance(timeout, bool)
        if timeout is not None and not (is_number and timeout > 0):
            raise InvalidQuestion(f"timeout={timeout!r} must be a positive number of seconds.")
        if type(attempts) is not int or attempts < 1:
            raise InvalidQuestion(f"attempts={attempts!r} must be a whole number, 1 or more.")
        if not message.isascii():
            check_sendable("the message", message)
        if meta is not None and not isinstance(meta, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            why = "This question cannot be sent: meta must be a mapping from names to plain data."
            raise InvalidQuestion(why, advice=PLAIN_DATA_ADVICE)
        if meta:
            check_sendable("meta", dict(meta), PLAIN_DATA_ADVICE)
        self.message = message
        self.key = key
        self.timeout = timeout
        self.attempts = attempts
        self.default = default
        self.via: frozenset[Via] | None = None if via is None else check_channels(via)
        self.meta = meta

    def _name(self, digest: str) -> None:
        """What the question is known by: its digest, and the beginning of its name in the journal.

        Equal questions that different channels may answer have different names: a replay that meets them in another
        order must not give one the other's answer.
        """
        self.digest = digest
        self.base = question_name(digest if self.via is None else f"{digest}:{','.join(sorted(self.via))}")


class Question(_Options, Generic[T]):
    """A form question, as a value: `Question("How many days?", int)`.

    The second argument is a type (pydantic model, dataclass, TypedDict, scalar, `Literal`, `Enum`,
    list of choices), a `Form`, or a raw schema dict. The options are those of `ask`.
    """

    __slots__ = ("_answered", "form", "hazards", "links", "params", "typed")

    mode: Final = "form"

    def __init__(
        self,
        message: str,
        type: TypeForm[T] | Form | Mapping[str, Any],
        *,
        key: str | None = None,
        timeout: float | None = None,
        attempts: int = ATTEMPTS,
        default: T | Missing = MISSING,
        via: Collection[Via] | None = None,
        meta: Mapping[str, Any] | None = None,
        not_secret: str | None = None,
    ) -> None:
        super().__init__(message, key, timeout, attempts, default, via, meta)
        self.typed: TypedForm[T] = cast("TypedForm[T]", typed_form(type))
        refuse_secrets(self.typed.form, not_secret, message=message if self.typed.bare else None)
        self._carry_form(self.typed.form)
        self._answered: Mapping[str, Any] | None = None
        if default is not MISSING:
            self._check_default(default, type)

    def _carry_form(self, form: Form) -> None:
        self.form = form
        self._name(_digest("form", self.message, form.digest))
        self.links = find_links(self.message, *form.texts())
        """What a client might make clickable in this question."""
        schema = form.schema()
        self.hazards = find_hazards(schema)
        """What some hosts can't show of this form."""
        sent = simplify_patterns(schema) if self.hazards and not self.is_adopted else schema
        self.params: dict[str, Any] = {"mode": "form", "message": self.message, "requestedSchema": sent}
        """As it's sent the first time, on every version that has all of a form. It's shared: don't change it."""
        if self.meta:
            self.params["_meta"] = dict(self.meta)

    def _check_default(self, default: object, type: Any) -> None:
        """A default is what the user could answer, or a value of the type; anything else is a mistake."""
        names, named = self.form.names, default.__class__.__name__
        answered: Mapping[str, Any] | None = None
        if isinstance(default, Mapping):
            answered = cast("Mapping[str, Any]", default)
        elif len(names) == 1:
            answered = {names[0]: default}
        problems: tuple[Problem, ...] = ()
        if answered is not None and find_unsendable(dict(answered)) is None:
            try:
                problems = self.read(answered)[1]
            except Exception as exc:  # of a validator of the author's, which this is not for
                problems = (Problem("", "value", {"reason": _no_value(exc.__class__.__name__)}),)
            if not problems:
                self._answered = answered
                return
        known = is_value(type, default)
        if known is False or (known is None and problems):
            said = [str(problem) for problem in problems] or [_no_value(named)]
            raise InvalidQuestion(f"default= does not fit the form: {'; '.join(said)}.")

    def read_default(self) -> T:
        """The default as a value of the type: the author's own, or read as the answer that it is."""
        if self._answered is None:
            return cast("T", self.default)
        value, _ = self.read(self._answered)  # which copies
        return value

    @property
    def shape(self) -> str:
        """Names the form alone: what must not change under a key."""
        return self.form.digest

    def read(self, content: Mapping[str, Any]) -> tuple[T, tuple[Problem, ...]]:
        """The value that this content stands for, or the problems with it."""
        return self.judge(content)[1:]

    def judge(self, answered: Mapping[str, Any]) -> tuple[dict[str, Any], T, tuple[Problem, ...]]:
        """The content of an answer, without what only means "left empty"; its value; or the problems with it."""
        content = tidy(self.form, answered)
        if problems := check(self.form, content):
            return content, cast("T", None), problems
        try:
            return content, self.typed.read(content), ()
        except Unfit as unfit:
            return content, cast("T", None), unfit.problems

    def __repr__(self) -> str:
        return f"Question({self.message!r}, {', '.join(self.form.names)})"


class Visit(_Options):
    """A visit question, as a value: the user is sent to a URL, after consent.

    `url` is an absolute https address (http on loopback), or a function that makes one from the
    visit's id. The id is minted for you, once per call, unless you give your own.
    """

    __slots__ = ("id", "is_awaited", "url")

    mode: Final = "url"
    shape: Final = "visit"
    links: Final[tuple[str, ...]] = ()
    hazards: Final[tuple[str, ...]] = ()

    def __init__(
        self,
        message: str,
        url: str | Callable[[str], str],
        *,
        id: str | None = None,
        key: str | None = None,
        timeout: float | None = None,
        via: Collection[Via] | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, key, timeout, 1, MISSING, via, meta)
        if id is not None:
            check_id(id)
        if not callable(url):
            check_address(url)
        self.url = url
        self.id = id
        self.is_awaited = False
        """Whether the tool then waits until the user is done there, so that agreeing alone achieves nothing."""
        place = url if isinstance(url, str) else ""
        if id:  # existing tools make a new one on every run
            place = place.replace(id, "{id}")
        self._name(_digest("visit", message, place))

    def address(self, id: str) -> str:
        """The URL for this id, checked."""
        if isinstance(self.url, str):
            return self.url
        return check_address(self.url(id))

    def __repr__(self) -> str:
        return f"Visit({self.message!r})"


def check_id(id: str) -> None:
    """Refuse what cannot be the id of a visit."""
    if not isinstance(id, str) or not id.strip():  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidQuestion("A visit's id must be a text that is not empty; leave it out to have one minted.")
    check_sendable("the id of the visit", id)


def first_asked(message: str) -> tuple[str, ...]:
    """What a message may have been before an invalid answer, if it asks again with the problems to correct."""
    first = message.partition("\n\n")[0].rstrip()
    return first, first.removesuffix(".")


def make_question(message: object, type: Any, options: Mapping[str, Any]) -> Question[Any] | Visit:
    """The question that an author asks: one that was made before, or one of this message, type and options."""
    if isinstance(message, (Question, Visit)):
        if options or type is not None:
            raise InvalidQuestion(
                "A Question has its type and its options already: pass them to Question(...) when you make it."
            )
        return cast("Question[Any] | Visit", message)
    if not isinstance(message, str):
        raise InvalidQuestion(
            f"A question starts with its message, which is a text, not {message.__class__.__name__}: ask('How many "
            "days?', int)."
        )
    if options:
        return make(Question, message, type, **options)
    try:
        return plain_question(message, type)
    except TypeError as exc:
        if isinstance(exc, MidcallError):
            raise
        return Question(message, type)  # a type that can't be hashed


def make(kind: Callable[..., T], *given: Any, **options: Any) -> T:
    """A question of this kind, with the options that its author passed to a verb."""
    try:
        return kind(*given, **options)
    except TypeError as exc:
        if isinstance(exc, MidcallError):
            raise
        raise InvalidQuestion(f"These are not the options of a question: {exc!s}.") from None


def plain_question(message: str, type: Any) -> Question[Any]:
    """A question without options, made once: replays ask the same ones over and over."""
    if len(message) > CACHED_CHARACTERS:
        return Question(message, type)
    return recent_question(message, type, None if isinstance(type, _CLASS) else spell_type(type))


@lru_cache(maxsize=1024)
def recent_question(message: str, type: Any, _: str | None = None) -> Question[Any]:
    """The same for a short message: a class needs no spelling."""
    return Question(message, type)


def _no_value(kind: str) -> str:
    return f"it is {kind}, and neither a value of the type nor an answer"
