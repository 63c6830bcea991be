"""Hand an MCP client's questions to an answerer.

    async with Client("http://localhost:8000/mcp", elicitation_callback=callback(Terminal())) as client:
        await client.call_tool("book", {"destination": "Oslo"})

`midcall.client.connect` does this and more in one step.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Collection, Mapping
from math import isfinite
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from mcp import MCPError
from mcp.client.session import ClientRequestContext, ElicitationFnT
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, ElicitRequestParams, ElicitResult, ErrorData

from midcall.client.answerer import (
    Answerer,
    BadAnswerer,
    CannotAnswer,
    Counts,
    action_of,
    ask_answerer,
    check_answerer,
    check_modes,
    modes_of,
)
from midcall.client.asked import Asked, Mode, VisitQuestion
from midcall.client.connection.incoming import has_rounds, read_request, server_of
from midcall.client.connection.visits import Visits
from midcall.client.guard import limit_rate
from midcall.client.lines.excerpt import server_name
from midcall.core.forms.check import check
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome
from midcall.core.text import plain_line
from midcall.errors import InvalidForm
from midcall.protocol import DECIDED
from midcall.settings.client import MAX_LOGGED_QUESTIONS, ODD_QUESTION_CHARACTERS

_log: Final = logging.getLogger("midcall.client.connection")


FastMCPHandler: TypeAlias = Callable[[str, Any, ElicitRequestParams, Any], Awaitable[ElicitResult]]


def callback(
    answerer: Answerer, *, modes: Collection[Mode] | None = None, timeout: float | None = None
) -> ElicitationFnT:
    """The `elicitation_callback` for any `mcp.Client`.

    Such a client declares both modes, even if the answerer can serve only one. `connect` declares only those.

    Args:
        answerer: Answers the questions.
        modes: The modes that the client declared; others are refused. By default, those of the answerer.
        timeout: Seconds after which a question is cancelled.
    """
    check_answerer(answerer)
    answerer = limit_rate(answerer)
    return Callback(answerer, modes_of(answerer) if modes is None else modes, timeout)


def fastmcp_handler(answerer: Answerer, *, timeout: float | None = None) -> FastMCPHandler:
    """The `elicitation_handler` for a FastMCP client."""
    answer = callback(answerer, timeout=timeout)

    async def handler(message: str, kind: Any, params: ElicitRequestParams, context: Any) -> ElicitResult:
        result = await answer(context, params)
        if isinstance(result, ErrorData):
            raise MCPError.from_error_data(result)
        return result

    return handler


class Callback:
    """Turns a request into a question, and its outcome into a response. Never raises."""

    def __init__(
        self,
        answerer: Answerer,
        modes: Collection[Mode],
        timeout: float | None = None,
        visits: Visits | None = None,
    ) -> None:
        self._answerer = answerer
        self.modes = check_modes(modes)
        self._timeout = check_seconds("timeout", timeout)
        self._visits = visits
        self._refusals = 0

    async def __call__(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        try:
            asked = read_request(context, params, self.modes, self._timeout)
        except InvalidForm as error:
            return self._refuse(context, str(error))
        try:
            return _response(asked, await self._answer(asked))
        except CannotAnswer as error:
            return self._fail(context, asked, error)

    async def _answer(self, asked: Asked) -> Outcome[Any]:
        """Track a visit from the moment it's asked for, and forget it unless the user agrees."""
        id = asked.question.id if isinstance(asked.question, VisitQuestion) else None
        if self._visits is None or id is None:
            return await outcome_of(self._answerer, asked, self._timeout)
        await self._visits.begin(id)
        outcome = None
        try:
            outcome = await outcome_of(self._answerer, asked, self._timeout)
            return outcome
        finally:
            if not isinstance(outcome, Accepted):
                self._visits.forget(id)

    def _refuse(self, context: ClientRequestContext, why: str) -> ElicitResult | ErrorData:
        """Refuse a question that can't be shown. A round can't fail one question alone, so there it's a cancel."""
        server = server_name(server_of(context.session)[0])
        sentence = plain_line(f"{server} asked something that cannot be shown: {why[:ODD_QUESTION_CHARACTERS]}")
        self._report(sentence)
        if has_rounds(context.session):
            return ElicitResult(action="cancel")
        return ErrorData(code=INVALID_PARAMS, message=sentence)

    def _report(self, sentence: str) -> None:
        """Tell an answerer that counts. Log only the first few: a server can send garbage without end."""
        if isinstance(self._answerer, Counts):
            self._answerer.count_unanswered()
        self._refusals += 1
        if self._refusals == MAX_LOGGED_QUESTIONS:
            sentence = f"{sentence.rstrip('.')}. More of these are not logged."
        if self._refusals <= MAX_LOGGED_QUESTIONS:
            _log.warning(sentence)

    def _fail(self, context: ClientRequestContext, asked: Asked, error: CannotAnswer) -> ElicitResult | ErrorData:
        """In a round, an error would take the other answers with it, so there it's a cancel."""
        if has_rounds(context.session):
            _log_cancelled(asked, "there was no answer for it")
            return ElicitResult(action="cancel")
        return ErrorData(code=INTERNAL_ERROR, message=error.for_server)


async def outcome_of(answerer: Answerer, asked: Asked, timeout: float | None = None) -> Outcome[Any]:
    """Get the outcome of this question. A failing answerer cancels it: a machine never declines for a person.

    Raises:
        CannotAnswer: The answerer raised it.
    """
    limit = asyncio.timeout(timeout)
    try:
        async with limit:
            outcome = await ask_answerer(answerer, asked)
        _response(asked, outcome)  # raises if it doesn't fit, so that it's never sent
        return outcome
    except CannotAnswer:
        raise
    except Exception as error:
        if limit.expired():
            _log_cancelled(asked, f"nobody answered within {timeout or 0:g} s")
        elif isinstance(error, BadAnswerer):
            _log_cancelled(asked, str(error), logging.ERROR)
        else:
            _log_cancelled(asked, f"its answerer failed with {_describe(error)}", logging.ERROR)
    return Cancelled(unseen=True)


def _log_cancelled(asked: Asked, why: str, level: int = logging.WARNING) -> None:
    _log.log(level, f"question {asked.digest} of {server_name(asked.server)} was cancelled: {why}")


def _describe(error: Exception) -> str:
    """What failed, and where. Never the text of an exception: it may contain what the user typed."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"


def _response(asked: Asked, outcome: Outcome[Any]) -> ElicitResult:
    """The outcome for the wire. Raises if the content doesn't fit the form.

    A no is marked as decided, because servers doubt one that comes fast.
    """
    match outcome:
        case Declined() | Cancelled():
            meta = None if outcome.unseen else {DECIDED: True}
            return ElicitResult(action=action_of(outcome), _meta=meta)
        case Accepted() if asked.mode == "url":
            return ElicitResult(action="accept")
        case Accepted(value=value):
            if not isinstance(value, Mapping | None):
                raise BadAnswerer(
                    f"its answerer returned Accepted with {type(value).__name__}. "
                    "The content of Accepted(content) is a dict"
                )
            content = dict(cast("Mapping[str, Any]", value or {}))
            if asked.form is not None and (problems := check(asked.form, content)):
                found = ", ".join(f"{problem.field}: {problem.code}" for problem in problems)
                raise BadAnswerer(f"the answer does not fit the form and was not sent ({found})")
            return ElicitResult(action="accept", content=content)


def check_seconds(name: str, seconds: object) -> float | None:
    """Validate a time limit in seconds; None for no limit."""
    wrong = f"{name}={seconds!r}: it takes a positive number of seconds, or None for no limit"
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(wrong)
    if not isfinite(seconds) or seconds <= 0:
        raise ValueError(wrong)
    return seconds
