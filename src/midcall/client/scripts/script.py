"""Answers from a script: a dict, a list, a function or a file.

    script = Script({"How many days?": 3, "seat": "w", "Send news?": Declined()})
    script = Script.from_file("answers.yaml")

A question is found by its key, its message, the first paragraph of its message, or by its fields:
`{"days": 3, "seat": "w"}` answers every question whose fields it covers, with defaults for the rest.
A question that has no answer is cancelled, and said exactly.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from difflib import get_close_matches
from os import PathLike
from typing import Any, Final, TypeAlias, cast

from midcall.client.answerer import Answerer, CannotAnswer, answered
from midcall.client.asked import Asked, Mode
from midcall.client.scripts.answers import Answer, Unfit, is_series, outcome
from midcall.core.forms.form import Form
from midcall.core.outcome import Cancelled, Outcome
from midcall.core.text import plain_line
from midcall.wording.client import script as wording

__all__ = ["Answers", "NoAnswer", "Script"]

Answers: TypeAlias = Mapping[str, Answer] | Sequence[Answer] | Callable[[Asked], Answer | Awaitable[Answer]]
"""Answers by key, message or field; in order; or by a function, which returns None where it has none."""

_log: Final = logging.getLogger("midcall.client")

_NONE: Final = object()
_MOST: Final = 200
_MOST_FIELDS: Final = 20


class NoAnswer(CannotAnswer):
    """A script has no answer for a question, or one that does not fit it. Never holds the answer.

    Args:
        asked: The question.
        why: What is wrong with the answer that there is, if there is one.
        near: What the script has that may have been meant.
    """

    def __init__(self, asked: Asked, why: str = "", near: Sequence[str] = ()) -> None:
        names = asked.form.names if asked.form is not None else ()
        fields, more = [_short(name) for name in names[:_MOST_FIELDS]], max(0, len(names) - _MOST_FIELDS)
        said = wording.no_answer(_short(asked.message), _short(asked.server), fields, more, _short(why), list(near))
        super().__init__(said)
        self.asked = asked
        self.why = why
        self.near = tuple(near)


class Script:
    """An answerer that reads its answers from a script, and remembers what was asked.

    A list stands for successive askings. (For a multiple choice, a list of texts is one answer.)
    An answer is checked like any other: values are taken for what the field's kind makes of them.
    A visit is agreed to with True; a script opens nothing.

    Args:
        answers: The answers.
        default: What answers the rest: an outcome, or another answerer. By default it is cancelled.
        strict: Whether a question without an answer ends its call with an error (`NoAnswer`).

    Attributes:
        asked: The questions, in order.
        missing: Those that had no answer.
    """

    modes: tuple[Mode, ...] = ("form", "url")

    def __init__(
        self, answers: Answers, *, default: Outcome[Any] | Answerer | None = None, strict: bool = False
    ) -> None:
        if not _are_answers(answers):
            raise TypeError("Script() takes a dict, a list or a function; for a file use Script.from_file(path).")
        self._answers = answers
        self._named = cast("Mapping[str, Answer]", answers) if isinstance(answers, Mapping) else None
        self._default = default
        self._strict = strict
        self._taken: dict[str, int] = {}
        self._used: set[str] = set()
        self.asked: list[Asked] = []
        self.missing: list[Asked] = []

    @classmethod
    def from_file(
        cls, path: str | PathLike[str], *, default: Outcome[Any] | Answerer | None = None, strict: bool = False
    ) -> Script:
        """The script in this YAML or JSON file.

        Raises:
            BadScript: It cannot be read; says where, and what is expected.
        """
        from midcall.client.scripts.file import read_script

        return cls(read_script(path), default=default, strict=strict)

    @property
    def unused(self) -> list[str]:
        """The names in the script that no question has asked for."""
        return [name for name in self._named or () if name not in self._used]

    async def answer(self, asked: Asked) -> Outcome[Any]:
        """Answer from the script."""
        self.asked.append(asked)
        try:
            found = await self._found(asked)
            if found is not _NONE:
                return outcome(asked, found)
            if isinstance(self._default, Answerer):
                return await answered(self._default, asked)
            if self._default is not None:
                return outcome(asked, self._default)
        except Unfit as error:
            return self._missing(NoAnswer(asked, str(error)))
        return self._missing(NoAnswer(asked, near=self._near(asked)))

    def _missing(self, error: NoAnswer) -> Cancelled:
        self.missing.append(error.asked)
        _log.warning(str(error))  # where it is strict, too: the error goes to the server, or becomes a cancel
        if self._strict:
            raise error
        return Cancelled()

    # --- finding ------------------------------------------------------------------------------

    async def _found(self, asked: Asked) -> Answer:
        if self._named is not None:
            return self._by_name(asked, self._named)
        if callable(self._answers):
            answer = self._answers(asked)
            answer = await answer if inspect.isawaitable(answer) else answer
            return _NONE if answer is None else answer
        place, answers = len(self.asked) - 1, cast("Sequence[Answer]", self._answers)
        return answers[place] if place < len(answers) else _NONE

    def _by_name(self, asked: Asked, answers: Mapping[str, Answer]) -> Answer:
        for name in _names(asked):
            if name and name in answers:
                return self._next(name, answers[name], asked.form)
        return self._by_fields(asked.form, answers) if asked.form is not None else _NONE

    def _by_fields(self, form: Form, answers: Mapping[str, Answer]) -> Answer:
        """The fields that the script has, if they are enough."""
        covered = [field for field in form.fields if field.name in answers]
        enough = all(field.name in answers or field.default is not None or not field.required for field in form.fields)
        if not covered or not enough:
            return _NONE
        content = {field.name: self._next(field.name, answers[field.name], Form(field)) for field in covered}
        if any(value is _NONE for value in content.values()):
            return _NONE
        return content[form.names[0]] if len(form) == 1 else content

    def _next(self, name: str, answer: Answer, form: Form | None) -> Answer:
        """The answer under this name, or the next in a series of them."""
        self._used.add(name)
        if not is_series(answer, form):
            return answer
        place = self._taken.get(name, 0)
        self._taken[name] = place + 1
        series = cast("list[Answer]", answer)
        return series[place] if place < len(series) else _NONE

    def _near(self, asked: Asked) -> list[str]:
        """What the script has that may have been meant for this question."""
        names = [_short(name) for name in self.unused]
        wanted = [_short(name) for name in _names(asked) if name] + list(
            asked.form.names[:_MOST_FIELDS] if asked.form else ()
        )
        return list(dict.fromkeys(near for name in wanted for near in get_close_matches(name, names, 2, 0.75)))[:3]


def _are_answers(answers: object) -> bool:
    return callable(answers) or (isinstance(answers, (Mapping, Sequence)) and not isinstance(answers, (str, bytes)))


def _names(asked: Asked) -> tuple[str, ...]:
    return asked.key, asked.message, asked.message.partition("\n\n")[0]


def _short(text: str) -> str:
    line = plain_line(text[: 10 * _MOST])
    return line if len(line) <= _MOST else f"{line[:_MOST]}…"
