"""Answers from a script: a dict, a list, a function or a file.

    script = Script({"How many days?": 3, "seat": "w", "Send news?": Declined()})
    script = Script.from_file("answers.yaml")

A question is matched by its key, its message, the first paragraph of its message, or its fields:
`{"days": 3, "seat": "w"}` answers every question whose required fields it covers, with defaults for the others.
A question without an answer is cancelled, and the log names it.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from difflib import get_close_matches
from os import PathLike
from typing import Any, Final, TypeAlias, cast

from midcall.client.answerer import Answerer, CannotAnswer, ask_answerer
from midcall.client.asked import Asked, Mode
from midcall.client.automatic.answers import Answer, UnfitAnswer, is_series, join_names, read_answer
from midcall.client.lines.excerpt import server_name, shorten
from midcall.core.forms.form import Form
from midcall.core.outcome import Cancelled, Outcome
from midcall.core.question import first_asked
from midcall.settings.client import SCRIPT_FIELDS, SCRIPT_MESSAGE_CHARACTERS

Answers: TypeAlias = Mapping[str, Answer] | Sequence[Answer] | Callable[[Asked], Answer | Awaitable[Answer]]
"""Answers by key, message or field; in order; or from a function, which returns None if it has none."""

_log: Final = logging.getLogger("midcall.client")

_NONE: Final = object()


class NoAnswer(CannotAnswer):
    """A script has no answer for a question, or one that doesn't fit it. Never contains the answer.

    Its message is for the user. The server doesn't get it: it could try out which names a script has.

    Args:
        asked: The question.
        why: What's wrong with the answer, if there is one.
        near: Names in the script that are similar to the question's.
    """

    def __init__(self, asked: Asked, why: str = "", near: Sequence[str] = ()) -> None:
        names = asked.form.names if asked.form is not None else ()
        about = f" (fields: {join_names(list(map(_shorten, names)), SCRIPT_FIELDS)})" if names else ""
        question = f'the question "{_shorten(asked.message)}" of {server_name(asked.server)}{about}'
        if why:
            super().__init__(f"the answer to {question} does not fit: {_shorten(why).rstrip('.')}.")
        else:
            meant = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
            super().__init__(f"no answer for {question}.{meant}")
        self.asked = asked
        self.why = why
        self.near = tuple(near)

    @property
    def for_server(self) -> str:
        return "This client has no answer to this question."


class Script:
    """An answerer that takes its answers from a script, and records what was asked.

    A list holds one answer for each time the question is asked. (For a multiple choice, a list of strings is one
    answer.) Answers are converted to the field's kind and checked like any other. True agrees to a visit, but a
    script opens nothing.

    Args:
        answers: The answers.
        default: Answers all other questions: an outcome, or another answerer. By default they're cancelled.
        strict: Whether a question without an answer ends its call with an error (`NoAnswer`).

    Attributes:
        asked: The questions, in order.
        missing: The questions without an answer.
    """

    modes: tuple[Mode, ...] = ("form", "url")

    def __init__(
        self, answers: Answers, *, default: Outcome[Any] | Answerer | None = None, strict: bool = False
    ) -> None:
        if isinstance(answers, (str, bytes)) or not isinstance(cast("object", answers), (Mapping, Sequence, Callable)):
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
        """Load a script from this YAML or JSON file.

        Raises:
            BadScript: It can't be read. Says where, and what's expected.
        """
        from midcall.client.automatic.script_file import read_script

        return cls(read_script(path), default=default, strict=strict)

    @property
    def unused(self) -> list[str]:
        """The names in the script that no question has used."""
        return [name for name in self._named or () if name not in self._used]

    async def answer(self, asked: Asked) -> Outcome[Any]:
        """Answer from the script."""
        self.asked.append(asked)
        try:
            answer = await self._find(asked)
            if answer is not _NONE:
                return read_answer(asked, answer)
            if isinstance(self._default, Answerer):
                return await ask_answerer(self._default, asked)
            if self._default is not None:
                return read_answer(asked, self._default)
        except UnfitAnswer as error:
            return self._miss(NoAnswer(asked, str(error)))
        return self._miss(NoAnswer(asked, near=self._near(asked)))

    def _miss(self, error: NoAnswer) -> Cancelled:
        self.missing.append(error.asked)
        _log.warning(str(error))  # if strict too: the error goes only to the server, or becomes a cancel
        if self._strict:
            raise error
        return Cancelled(unseen=True)

    # --- finding ------------------------------------------------------------------------------

    async def _find(self, asked: Asked) -> Answer:
        if self._named is not None:
            return self._find_by_name(asked, self._named)
        if callable(self._answers):
            answer = self._answers(asked)
            answer = await answer if inspect.isawaitable(answer) else answer
            return _NONE if answer is None else answer
        place, answers = len(self.asked) - 1, cast("Sequence[Answer]", self._answers)
        return answers[place] if place < len(answers) else _NONE

    def _find_by_name(self, asked: Asked, answers: Mapping[str, Answer]) -> Answer:
        for name in _names(asked):
            if name and name in answers:
                return self._next(name, answers[name], asked.form)
        return self._find_by_fields(asked.form, answers) if asked.form is not None else _NONE

    def _find_by_fields(self, form: Form, answers: Mapping[str, Answer]) -> Answer:
        """Answers for the fields, if the script covers enough of them."""
        covered = [field for field in form.fields if field.name in answers]
        enough = all(field.name in answers or field.default is not None or not field.required for field in form.fields)
        if not covered or not enough:
            return _NONE
        content = {field.name: self._next(field.name, answers[field.name], Form(field)) for field in covered}
        if any(value is _NONE for value in content.values()):
            return _NONE
        return content[form.names[0]] if len(form) == 1 else content

    def _next(self, name: str, answer: Answer, form: Form | None) -> Answer:
        """The answer under this name, or the next one if it's a series."""
        self._used.add(name)
        if not is_series(answer, form):
            return answer
        place = self._taken.get(name, 0)
        self._taken[name] = place + 1
        series = cast("list[Answer]", answer)
        return series[place] if place < len(series) else _NONE

    def _near(self, asked: Asked) -> list[str]:
        """Unused names in the script that are similar to this question's."""
        names = [_shorten(name) for name in self.unused]
        fields = asked.form.names[:SCRIPT_FIELDS] if asked.form else ()
        wanted = [_shorten(name) for name in (*_names(asked), *fields) if name]
        return list(dict.fromkeys(near for name in wanted for near in get_close_matches(name, names, 2, 0.75)))[:3]


def _names(asked: Asked) -> tuple[str, ...]:
    return asked.key, asked.message, *first_asked(asked.message)


def _shorten(text: str) -> str:
    return shorten(text, SCRIPT_MESSAGE_CHARACTERS)
