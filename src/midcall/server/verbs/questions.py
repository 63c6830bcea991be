"""The verbs that ask where the user is: in a form, or by sending them to an address."""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from enum import Enum
from typing import Any, Literal, TypedDict, cast, overload

from typing_extensions import TypeForm, TypeVar, Unpack

from midcall.core.forms.fields import Choice, Choices, Flag
from midcall.core.forms.form import Form
from midcall.core.outcome import Accepted, Outcome, Via, raise_refusal, value_of
from midcall.core.question import Question, Visit, make
from midcall.core.types.options import default_of, read_options
from midcall.errors import InvalidQuestion, MidcallError
from midcall.server.ask import ask_for_outcome, ask_for_value, put, put_all
from midcall.server.call import current_call, running_call
from midcall.server.channels.required import Recognised
from midcall.server.frameworks.errors import surface
from midcall.server.resuming.pages import Page
from midcall.server.resuming.visits import wait_for_ending
from midcall.server.verbs.awaitable import Verb, begin, name_of, recall
from midcall.stores.interactions import Ending

T = TypeVar("T")
T1 = TypeVar("T1")
T2 = TypeVar("T2")
T3 = TypeVar("T3")
T4 = TypeVar("T4")
T5 = TypeVar("T5")
T6 = TypeVar("T6")
E = TypeVar("E", bound=Enum)


class Options(TypedDict, total=False):
    """What every asking verb takes."""

    key: str
    """Names the question within this call, if its message changes between runs."""
    timeout: float
    """Seconds to wait for an answer before `TimedOut`."""
    attempts: int
    """How often to ask if the answers don't fit the form; 3 by default."""
    via: Collection[Via]
    """The channels that this question accepts, such as `STRONG`."""
    meta: Mapping[str, Any]
    """Sent as `_meta`."""
    not_secret: str
    """Why a field that is named like a secret isn't one."""


class VisitOptions(TypedDict, total=False):
    """What `visit` takes."""

    key: str
    timeout: float
    via: Collection[Via]
    meta: Mapping[str, Any]


@overload
def ask(message: Question[T], /) -> Verb[T]: ...
@overload
def ask(message: Visit, /) -> Verb[str]: ...
@overload
def ask(
    message: str, type: Form | dict[str, Any], /, *, default: dict[str, Any] = ..., **options: Unpack[Options]
) -> Verb[dict[str, Any]]: ...
@overload
def ask(message: str, type: TypeForm[T], /, *, default: T = ..., **options: Unpack[Options]) -> Verb[T]: ...
def ask(message: str | Question[Any] | Visit, type: Any = None, /, **options: Any) -> Verb[Any]:
    """Ask the user, and return a value of this type.

    The type is a pydantic model, a dataclass, a TypedDict, a scalar, `Literal`, an `Enum`, a list of
    those choices, a `Form`, or a raw schema. `default=` is used if nobody can be asked.

    Raises:
        UserDeclined: The user declined.
        UserCancelled: The user closed the form.
        TimedOut: Nobody answered within `timeout=`.
        InvalidAnswer: No answer fit the form, in as many attempts as it has.
        CannotAsk: The user can't be asked: `NoCall`, `NoChannel`, `ClientFailed`.
    """
    if not options and (recalled := recall(message, type, _ask_again)) is not None:
        return recalled
    return begin("ask", ask_for_value("ask", message, type, options))


@overload
def elicit(message: Question[T], /) -> Verb[Outcome[T]]: ...
@overload
def elicit(message: Visit, /) -> Verb[Outcome[str]]: ...
@overload
def elicit(
    message: str, type: Form | dict[str, Any], /, *, default: dict[str, Any] = ..., **options: Unpack[Options]
) -> Verb[Outcome[dict[str, Any]]]: ...
@overload
def elicit(message: str, type: TypeForm[T], /, *, default: T = ..., **options: Unpack[Options]) -> Verb[Outcome[T]]: ...
def elicit(message: str | Question[Any] | Visit, type: Any = None, /, **options: Any) -> Verb[Outcome[Any]]:
    """Ask like `ask`, and return the whole outcome: `Accepted`, `Declined` or `Cancelled`."""
    return begin("elicit", ask_for_outcome("elicit", message, type, options))


def confirm(message: str, /, *, default: bool | None = None, **options: Unpack[Options]) -> Verb[bool]:
    """Whether the user confirms. False if they decline or cancel."""
    return begin("confirm", _confirm(message, default, options))


@overload
def choose(
    message: str, options: type[E], /, *, many: Literal[False] = False, default: E = ..., **more: Unpack[Options]
) -> Verb[E]: ...
@overload
def choose(
    message: str, options: type[E], /, *, many: Literal[True], default: list[E] = ..., **more: Unpack[Options]
) -> Verb[list[E]]: ...
@overload
def choose(
    message: str,
    options: Mapping[T, str] | Sequence[T],
    /,
    *,
    many: Literal[False] = False,
    default: T = ...,
    **more: Unpack[Options],
) -> Verb[T]: ...
@overload
def choose(
    message: str,
    options: Mapping[T, str] | Sequence[T],
    /,
    *,
    many: Literal[True],
    default: list[T] = ...,
    **more: Unpack[Options],
) -> Verb[list[T]]: ...
def choose(message: str, options: Any, /, *, many: bool = False, **more: Any) -> Verb[Any]:
    """Let the user choose one of these, or with `many=True` any number of them.

    The options are a sequence, a mapping from option to title, or an `Enum`; the choice comes back as
    the option itself.
    """
    return begin("choose", _choose(message, options, many, more))


@overload
def ask_all(questions: Mapping[str, Question[Any] | Visit], /) -> Verb[dict[str, Any]]: ...
@overload
def ask_all(a: Question[T1], /) -> Verb[tuple[T1]]: ...
@overload
def ask_all(a: Question[T1], b: Question[T2], /) -> Verb[tuple[T1, T2]]: ...
@overload
def ask_all(a: Question[T1], b: Question[T2], c: Question[T3], /) -> Verb[tuple[T1, T2, T3]]: ...
@overload
def ask_all(a: Question[T1], b: Question[T2], c: Question[T3], d: Question[T4], /) -> Verb[tuple[T1, T2, T3, T4]]: ...
@overload
def ask_all(
    a: Question[T1], b: Question[T2], c: Question[T3], d: Question[T4], e: Question[T5], /
) -> Verb[tuple[T1, T2, T3, T4, T5]]: ...
@overload
def ask_all(
    a: Question[T1], b: Question[T2], c: Question[T3], d: Question[T4], e: Question[T5], f: Question[T6], /
) -> Verb[tuple[T1, T2, T3, T4, T5, T6]]: ...
@overload
def ask_all(*questions: Question[T]) -> Verb[tuple[T, ...]]: ...
@overload
def ask_all(*questions: Question[Any] | Visit) -> Verb[tuple[Any, ...]]: ...
def ask_all(*questions: Any) -> Verb[Any]:
    """Ask all of these in one round.

    Takes questions and gives a tuple, or takes a mapping of questions and gives a dict. Raises like
    `ask`, for the first that was not answered.
    """
    return begin("ask_all", _ask_all(questions))


def visit(
    message: str,
    url: str | Callable[[str], str],
    /,
    *,
    id: str | None = None,
    wait: bool = False,
    **options: Unpack[VisitOptions],
) -> Verb[str]:
    """Send the user to a URL, and come back with the visit's id once they agree to go.

    Agreeing is not finishing: with `wait=True` it comes back when `complete(id)` was called. The URL
    may be a function of the id, which is minted once per call.

    Raises:
        UserDeclined, UserCancelled, TimedOut, CannotAsk: as `ask`.
    """
    return begin("visit", _visit(message, url, id, wait, options))


def _ask_again(question: Question[Any]) -> Coroutine[Any, Any, Any]:
    return ask_for_value("ask", question, None, {})


_CONFIRM = Form(Flag("confirmed", title="Yes, do it"))


async def _confirm(message: str, default: bool | None, options: Mapping[str, Any]) -> bool:
    if default is not None:
        options = {**options, "default": {"confirmed": default}}
    outcome = await ask_for_outcome("confirm", message, _CONFIRM, options)
    if isinstance(outcome, Accepted):
        return bool(outcome.value["confirmed"])
    if outcome.unseen and outcome.via == "page":  # only a page could confirm it, and nobody has been there
        value_of(outcome)
    return False


async def _choose(message: str, options: Any, many: bool, more: Mapping[str, Any]) -> Any:
    try:
        running_call("choose")
        offered = read_options(options)
        form = Form((Choices if many else Choice)("choice", offered.wire, title="Choice"))
        if "default" in more:
            more = {**more, "default": {"choice": default_of(more["default"], offered, many)}}
    except MidcallError as exc:
        raise surface(exc, current_call.get()) from None
    value = (await ask_for_value("choose", message, form, more))["choice"]
    return [offered.values[text] for text in value] if many else offered.values[value]


async def _ask_all(questions: tuple[Any, ...]) -> Any:
    names: list[str] | None = None
    if len(questions) == 1 and isinstance(questions[0], Mapping):
        mapping = cast("Mapping[str, Question[Any] | Visit]", questions[0])
        names, questions = list(mapping), tuple(mapping.values())
    try:
        call = running_call("ask_all")
        for question in questions:
            if not isinstance(question, (Question, Visit)):
                raise InvalidQuestion(_no_question(questions))
        values = tuple([value_of(outcome) for outcome in await put_all(call, questions)])
    except MidcallError as exc:
        raise surface(exc, current_call.get()) from exc.__cause__
    return values if names is None else dict(zip(names, values, strict=True))


def _no_question(given: tuple[object, ...]) -> str:
    """The error for the first of these that isn't a question. Closes the verbs among them."""
    verbs = [name_of(each) for each in given]
    if (verb := next(filter(None, verbs), None)) is not None:
        return (
            f"ask_all() takes questions, and {verb}(...) asks one on its own: write Question(message, type), and "
            "Visit(...) for a visit."
        )
    return _not_a_question(next(type(each).__name__ for each in given if not isinstance(each, (Question, Visit))))


async def _visit(
    message: str, url: str | Callable[[str], str], id: str | None, wait: bool, options: Mapping[str, Any]
) -> str:
    try:
        call = running_call("visit")
        named = wait and id is not None  # then a call that begins afresh finds it done, by its id
        question = make(Recognised if named else Visit, message, url, id=id, **options)
        question.is_awaited = wait
        agreed: str = value_of(await put(call, question))
        if wait:
            page = Page(agreed, address=question.address(agreed), message=question.message, kind="visit")
            _went_well(await wait_for_ending(call, page, question.timeout))
    except MidcallError as exc:
        raise surface(exc, current_call.get()) from exc.__cause__
    return agreed


def _went_well(ending: Ending) -> None:
    """A page may say that the user declined there, or closed it."""
    if ending.action != "accept":
        raise_refusal(ending.action)


def _not_a_question(kind: str) -> str:
    return f"ask_all() takes Question(...) values, not {kind}."
