"""A client's answers from a script."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from inspect import isawaitable
from typing import Any, TypeAlias, cast

from mcp.client.session import ClientRequestContext
from mcp_types import ElicitRequestFormParams, ElicitRequestParams, ElicitRequestURLParams, ElicitResult
from pydantic_core import to_jsonable_python

from midcall.client.answerer import action_of
from midcall.client.asked import Mode
from midcall.core.forms.schema import is_line_of_choices
from midcall.core.outcome import Accepted, Cancelled, Declined
from midcall.core.question import first_asked
from midcall.protocol import DECIDED

Answer: TypeAlias = Any
"""A value for the only field, a dict of fields, an outcome, or a list of answers for successive askings."""
Answers: TypeAlias = Mapping[str, Answer] | Sequence[Answer] | Callable[["Asked"], Answer | Awaitable[Answer]]
"""Answers by message or by the names of fields, in order, or by a function, which may be async."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the client saw it."""

    message: str
    mode: Mode
    schema: Mapping[str, Any] | None = None
    url: str | None = None
    id: str | None = None

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple((self.schema or {}).get("properties", ()))


class Script:
    """Answers questions from a script, and remembers them. Use it as an `elicitation_callback`."""

    def __init__(self, answers: Answers = ()) -> None:
        self.restart(answers)

    def restart(self, answers: Answers) -> None:
        """Start over with these answers."""
        if not callable(answers) and (isinstance(answers, str) or not isinstance(answers, (Mapping, Sequence))):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                "answers= must be a mapping by message or field, a list, or a function of the question, not "
                f"{type(answers).__name__}."
            )
        self._answers = answers
        self._taken: dict[str, int] = {}
        self.asked: list[Asked] = []
        self.failure: Exception | None = None
        """Why a question had no answer. A tool whose question was pushed may catch the error and continue."""

    async def __call__(self, context: ClientRequestContext | None, params: ElicitRequestParams) -> ElicitResult:
        asked = _read_question(params)
        self.asked.append(asked)
        try:
            answer = self._answer(asked)
            return _result(asked, await answer if isawaitable(answer) else answer)
        except Exception as exc:
            self.failure = exc
            raise

    def _answer(self, asked: Asked) -> Answer | Awaitable[Answer]:
        if callable(self._answers):
            return self._answers(asked)
        if isinstance(self._answers, Mapping):
            given, several = self._answers, _multiple_choices(asked)
            for name in (asked.message, *first_asked(asked.message)):
                if name in given:
                    return self._next(name, given[name], several == set(asked.fields))
            by_field = {name: self._next(name, given[name], name in several) for name in asked.fields if name in given}
            if by_field:
                return _whole(by_field, len(asked.fields))
        elif len(self.asked) <= len(self._answers):
            return self._answers[len(self.asked) - 1]
        raise AssertionError(f"no answer for {asked.message!r} (fields: {', '.join(asked.fields) or 'none'})")

    def _next(self, name: str, answer: Answer, is_multiple: bool) -> Answer:
        """The next answer of a list. The options of a multiple choice count as one answer."""
        series = cast("list[Answer]", answer) if isinstance(answer, list) else []
        if not series or (is_multiple and all(isinstance(each, (str, int, float, Enum)) for each in series)):
            return cast("Answer", answer)
        index = self._taken.get(name, 0)
        self._taken[name] = index + 1
        return series[min(index, len(series) - 1)]


def _multiple_choices(asked: Asked) -> set[str]:
    """The multiple choices among the fields, including those that old versions show as a line of text."""
    return {
        name
        for name, prop in (asked.schema or {}).get("properties", {}).items()
        if prop.get("type") == "array" or is_line_of_choices(prop.get("description"))
    }


def _whole(by_field: dict[str, Answer], fields: int) -> Answer:
    """Combine the answers for the fields, one of which may answer the whole question."""
    for answer in by_field.values():
        if fields == 1 or isinstance(answer, (dict, Accepted, Declined, Cancelled, ElicitResult)):
            return cast("Answer", answer)
    return by_field


def _read_question(params: ElicitRequestParams) -> Asked:
    if isinstance(params, ElicitRequestURLParams):
        return Asked(params.message, "url", url=params.url, id=params.elicitation_id)
    assert isinstance(params, ElicitRequestFormParams)
    return Asked(params.message, "form", schema=params.requested_schema)


def _result(asked: Asked, answer: Answer) -> ElicitResult:
    match answer:
        case ElicitResult():
            return answer
        case Declined() | Cancelled():
            return ElicitResult(action=action_of(answer), _meta=None if answer.unseen else {DECIDED: True})
        case Accepted():
            return _result(asked, cast("Accepted[Any]", answer).value)
        case False if asked.mode == "url":
            raise AssertionError(
                f"the answer to {asked.message!r} is False; a visit is rejected with Declined() or Cancelled()"
            )
        case _ if asked.mode == "url":
            return ElicitResult(action="accept")
        case dict():
            return ElicitResult(action="accept", content=_content(asked, cast("dict[str, Any]", answer)))
        case _ if len(asked.fields) > 1:
            raise AssertionError(
                f"the answer to {asked.message!r} must be a dict of its fields ({', '.join(asked.fields)}), "
                f"not {answer!r}"
            )
        case _:
            [name] = asked.fields or ("answer",)
            return ElicitResult(action="accept", content=_content(asked, {name: answer}))


def _content(asked: Asked, answers: dict[str, Any]) -> dict[str, Any]:
    """These answers as they travel: an option that is a number becomes text."""
    content: dict[str, Any] = to_jsonable_python(answers)
    properties = (asked.schema or {}).get("properties", {})
    for name, value in content.items():
        if type(value) in (int, float) and properties.get(name, {}).get("type") == "string":
            content[name] = str(value) if {"enum", "oneOf"} & properties[name].keys() else value
        elif isinstance(value, list) and name in properties:
            items = cast("list[Any]", value)
            content[name] = [str(each) if type(each) in (int, float) else each for each in items]
    return content
