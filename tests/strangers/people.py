"""The person at the client: what they answer, and how."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast
from urllib.parse import urlsplit

import anyio
from mcp_types import ElicitRequestFormParams, ElicitRequestParams, ElicitRequestURLParams, ElicitResult, ErrorData

from tests.strangers.effects import Effects

Reaction: TypeAlias = Callable[[ElicitRequestParams, Effects], Awaitable[ElicitResult]]
Answer: TypeAlias = ElicitResult | ErrorData | Reaction
Answers: TypeAlias = Sequence[Answer] | Mapping[str, Answer]
"""In order, or by the beginning of a message (for concurrent questions)."""

DECLINE: Final = ElicitResult(action="decline")
CANCEL: Final = ElicitResult(action="cancel")
GO: Final = ElicitResult(action="accept")
"""Consent to open a URL, without content."""


def accept(**content: Any) -> ElicitResult:
    return ElicitResult(action="accept", content=content)


def yes(field: str = "confirm") -> ElicitResult:
    return accept(**{field: True})


def no(field: str = "confirm") -> ElicitResult:
    return accept(**{field: False})


def after(effect: str, answer: ElicitResult) -> Reaction:
    """Someone who answers only after the server has done this."""

    async def react(params: ElicitRequestParams, effects: Effects) -> ElicitResult:
        await effects.until(effect)
        return answer

    return react


def copies(pattern: str, field: str) -> Reaction:
    """Someone who types what the message asks for."""

    async def react(params: ElicitRequestParams, effects: Effects) -> ElicitResult:
        found = re.search(pattern, params.message)
        assert found is not None, params.message
        return accept(**{field: found[0]})

    return react


async def visits(params: ElicitRequestParams, effects: Effects) -> ElicitResult:
    """Someone who opens the URL and lets the browser finish before returning. Gives up if nothing answers."""
    assert isinstance(params, ElicitRequestURLParams)
    url = urlsplit(params.url)
    try:
        async with await anyio.connect_tcp(url.hostname or "", url.port or 80) as browser:
            await browser.send(f"GET {url.path}?{url.query} HTTP/1.1\r\nHost: {url.netloc}\r\n\r\n".encode())
            await browser.receive()
    except OSError:
        return CANCEL
    return GO


class Person:
    """Answers from a script and records the questions. Gives the same answer if asked again."""

    def __init__(self, answers: Answers, effects: Effects) -> None:
        self.asked: list[str] = []
        self.forms: list[Any] = []
        self.effects = effects
        self._answers = answers

    async def __call__(self, context: Any, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        answer = self._answer_to(params.message, len(self.asked))
        self.asked.append(params.message)
        self.forms.append(_form_of(params))
        return answer if isinstance(answer, ElicitResult | ErrorData) else await answer(params, self.effects)

    def _answer_to(self, message: str, ordinal: int) -> Answer:
        if isinstance(self._answers, Mapping):
            return next(answer for start, answer in self._answers.items() if message.startswith(start))
        return self._answers[min(ordinal, len(self._answers) - 1)]


def _form_of(params: ElicitRequestParams) -> Any:
    """A schema as a list of pairs, because people see the fields in this order; or a URL."""
    return _in_order(params.requested_schema) if isinstance(params, ElicitRequestFormParams) else params.url


def _in_order(value: Any) -> Any:
    match value:
        case dict():
            return [[key, _in_order(inner)] for key, inner in cast("dict[str, Any]", value).items()]
        case list():
            return [_in_order(inner) for inner in cast("list[Any]", value)]
        case _:
            return value
