"""What answers questions, and how an MCP client hands them over.

    async with Client("http://localhost:8000/mcp", elicitation_callback=callback(Terminal())) as client:
        await client.call_tool("book", {"destination": "Oslo"})

`midcall.client.connect` does the same in one step, and more of it.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
import uuid
from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import UTC, datetime, timedelta
from inspect import isawaitable
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, cast, runtime_checkable
from urllib.parse import urlsplit

from mcp import MCPError
from mcp.client.session import ClientRequestContext, ClientSession, ElicitationFnT
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitRequestURLParams,
    ElicitResult,
    ErrorData,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from midcall.client.asked import Asked, Carrier, FormQuestion, Mode, VisitQuestion
from midcall.client.lines.columns import one_line
from midcall.client.transport.intake import UNREADABLE
from midcall.client.validation import BOTH, check_modes, check_seconds
from midcall.client.visits.visits import Visits
from midcall.core.forms.check import check
from midcall.core.forms.form import Form
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome
from midcall.core.text import plain_line
from midcall.errors import InvalidForm, MidcallError
from midcall.protocol import has_mode
from midcall.wording.client import answering as wording

__all__ = [
    "Answerer",
    "Answering",
    "CannotAnswer",
    "answered",
    "asked_on",
    "callback",
    "check_answerer",
    "fastmcp_handler",
    "modes_at",
    "modes_of",
    "outcome_of",
    "question_of",
    "server_of",
]

_log: Final = logging.getLogger("midcall.client.connection")

_LONGEST: Final = 300
_MOST_TOLD: Final = 10


@runtime_checkable
class Answerer(Protocol):
    """Whatever answers a question: a terminal, a page, a script, a policy.

    `answer` returns `Accepted` with the content of a form (a dict of JSON values; for a visit, None),
    `Declined` or `Cancelled`. It may be called again before it has returned: the questions of one
    round come together. When it is cancelled, the server or the caller has given the question up.

    An answerer that cannot serve both modes says so in an attribute `modes`.
    """

    async def answer(self, asked: Asked) -> Outcome[Any]: ...


class CannotAnswer(MidcallError):
    """An answerer raises this to end the question with an error, and not with an outcome."""


def modes_of(answerer: Answerer) -> tuple[Mode, ...]:
    """The modes of elicitation that this answerer can serve."""
    return check_modes(getattr(answerer, "modes", BOTH))


def check_answerer(answerer: object) -> None:
    """Raise `TypeError` for what cannot answer. A slip would otherwise be found only when a question comes."""
    if isinstance(answerer, type):
        raise TypeError(_answerer_class(answerer.__name__))
    if not isinstance(answerer, Answerer):
        raise TypeError(_no_answerer(type(answerer).__name__))


def modes_at(version: str | None) -> tuple[Mode, ...]:
    """The modes that this protocol version knows."""
    return BOTH if version is None or has_mode(version, "url") else ("form",)


def callback(
    answerer: Answerer, *, modes: Collection[Mode] | None = None, timeout: float | None = None
) -> ElicitationFnT:
    """The `elicitation_callback` for any `mcp.Client`.

    Such a client declares both modes, whatever the answerer can serve: `connect` declares only those.

    Args:
        answerer: What answers.
        modes: The modes that were declared; others are refused. By default, those of the answerer.
        timeout: Seconds after which a question is cancelled.
    """
    check_answerer(answerer)
    return Answering(answerer, modes_of(answerer) if modes is None else modes, timeout)


FastMCPHandler: TypeAlias = Callable[[str, Any, ElicitRequestParams, Any], Awaitable[ElicitResult]]


def fastmcp_handler(answerer: Answerer, *, timeout: float | None = None) -> FastMCPHandler:
    """The `elicitation_handler` for a FastMCP client."""
    answering = callback(answerer, timeout=timeout)

    async def handler(message: str, kind: Any, params: ElicitRequestParams, context: Any) -> ElicitResult:
        result = await answering(context, params)
        if isinstance(result, ErrorData):
            raise MCPError.from_error_data(result)
        return result

    return handler


class Answering:
    """The callback: a question in, what goes on the wire out. It never raises."""

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
            asked = asked_by(context, params, self.modes, self._timeout)
        except InvalidForm as error:
            return self._refused(context, str(error))
        try:
            return result_of(asked, await self._outcome(asked))
        except CannotAnswer as error:
            return self._unanswered(context, asked, error)

    async def _outcome(self, asked: Asked) -> Outcome[Any]:
        """A visit is known from when it is asked for. One that the user does not make is forgotten."""
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

    def _refused(self, context: ClientRequestContext, why: str) -> ElicitResult | ErrorData:
        """A question that cannot be put to the user. A round has no place for an error of one question alone."""
        server = one_line(server_of(context.session)[0]) or wording.unnamed_server()
        sentence = plain_line(wording.not_readable(server, why[:_LONGEST]))
        self._tell_refusal(sentence)
        if in_rounds(context.session):
            return ElicitResult(action="cancel")
        return ErrorData(code=INVALID_PARAMS, message=sentence)

    def _tell_refusal(self, sentence: str) -> None:
        """An answerer that has `refused` hears of each. The log does not: a server can ask rubbish without end."""
        if (refused := getattr(self._answerer, "refused", None)) is not None:
            refused()
        self._refusals += 1
        if self._refusals == _MOST_TOLD:
            sentence = f"{sentence.rstrip('.')}. {_no_more_of_these()}"
        if self._refusals <= _MOST_TOLD:
            _log.warning(sentence)

    def _unanswered(self, context: ClientRequestContext, asked: Asked, error: CannotAnswer) -> ElicitResult | ErrorData:
        """In a round an error would take the other answers along with it: there it is a cancel."""
        if in_rounds(context.session):
            _log.warning(wording.cannot_answer(one_line(asked.server), asked.digest))
            return ElicitResult(action="cancel")
        return ErrorData(code=INTERNAL_ERROR, message=str(error))


async def outcome_of(answerer: Answerer, asked: Asked, timeout: float | None = None) -> Outcome[Any]:
    """The outcome of this question. An answerer that fails is a cancel: a machine never says no for a person.

    Raises:
        CannotAnswer: The answerer wants it.
    """
    limit = asyncio.timeout(timeout)
    try:
        async with limit:
            outcome = await answered(answerer, asked)
        result_of(asked, outcome)  # what does not fit must not leave
        return outcome
    except CannotAnswer:
        raise
    except Exception as error:
        if limit.expired():
            _log.warning(wording.gave_up(one_line(asked.server), asked.digest, timeout or 0))
        elif isinstance(error, NoOutcome):
            _log.error(wording.no_outcome(one_line(asked.server), asked.digest, str(error)))
        else:
            _log.error(wording.answerer_failed(one_line(asked.server), asked.digest, _described(error)))
    return Cancelled()


async def answered(answerer: Answerer, asked: Asked) -> Outcome[Any]:
    """What this answerer says.

    Raises:
        NoOutcome: It is no outcome.
    """
    answer = cast("object", answerer.answer(asked))
    if not isawaitable(answer):
        raise NoOutcome(_not_async())
    outcome = cast("object", await answer)
    if not isinstance(outcome, (Accepted, Declined, Cancelled)):
        raise NoOutcome(_returned(type(outcome).__name__))
    return cast("Outcome[Any]", outcome)


def _described(error: Exception) -> str:
    """What failed, and where. The text of an exception may hold what the user has typed: it is for nobody's log."""
    if isinstance(error, Unfit):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"


class Unfit(ValueError):
    """The answer does not fit the form. Names fields and problems, and no values."""


class NoOutcome(TypeError):
    """An answerer is written wrong. Says what one returns, and no values."""


def asked_by(
    context: ClientRequestContext,
    params: ElicitRequestParams,
    modes: Collection[Mode] = BOTH,
    timeout: float | None = None,
) -> Asked:
    """The question in these params. What cannot be shown raises `InvalidForm`."""
    if why := (context.meta or {}).get(UNREADABLE):
        raise InvalidForm(str(why))
    question = question_of(params)
    if question.mode not in modes or question.mode not in modes_at(context.session.protocol_version):
        raise InvalidForm(_mode_not_declared(question.mode))
    via: Carrier = "round" if in_rounds(context.session) else "push"
    return asked_on(context.session, question, via, timeout, key=str(context.request_id))


def asked_on(
    session: ClientSession,
    question: FormQuestion | VisitQuestion,
    via: Carrier,
    timeout: float | None = None,
    key: str = "",
) -> Asked:
    """The question, with what the user should know about the connection that it came by."""
    name, version = server_of(session)
    return Asked(
        question,
        id=uuid.uuid4().hex,
        server=name,
        server_version=version,
        via=via,
        protocol=session.protocol_version,
        deadline=None if timeout is None else datetime.now(UTC) + timedelta(seconds=timeout),
        key=key,
    )


def question_of(params: ElicitRequestParams) -> FormQuestion | VisitQuestion:
    """The question itself. What cannot be shown raises `InvalidForm`."""
    if not isinstance(params, ElicitRequestURLParams):
        return FormQuestion(params.message, _form(params))
    if not _leads_to_the_web(params.url):
        raise InvalidForm(wording.cannot_be_opened())
    return VisitQuestion(params.message, params.url, params.elicitation_id)


def _leads_to_the_web(url: str) -> bool:
    """Whether this is an http address without anything that cannot be seen. Whether to trust it, the user says."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and url.isprintable() and " " not in url


def _form(params: ElicitRequestParams) -> Form | None:
    """A form without fields is one that clients meet, and forms of ours have some."""
    schema: Mapping[str, Any] = params.requested_schema if isinstance(params, ElicitRequestFormParams) else {}
    if not schema.get("properties"):
        return None
    return Form.from_schema(schema, strict=False)


def server_of(session: ClientSession) -> tuple[str, str | None]:
    """What the server calls itself, and its version."""
    info = session.server_info
    return ("", None) if info is None else (info.title or info.name, info.version)


def in_rounds(session: ClientSession) -> bool:
    """Whether this connection carries questions in rounds."""
    return session.protocol_version in MODERN_PROTOCOL_VERSIONS


def result_of(asked: Asked, outcome: Outcome[Any]) -> ElicitResult:
    """The outcome on the wire. Content that does not fit its form never leaves."""
    match outcome:
        case Declined():
            return ElicitResult(action="decline")
        case Cancelled():
            return ElicitResult(action="cancel")
        case Accepted() if asked.mode == "url":
            return ElicitResult(action="accept")
        case Accepted(value=value):
            content = _content(value)
            if asked.form is not None and (problems := check(asked.form, content)):
                raise Unfit(_unfit([f"{problem.field}: {problem.code}" for problem in problems]))
            return ElicitResult(action="accept", content=content)


def _content(value: object) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise NoOutcome(_no_content(type(value).__name__))
    return dict(cast("Mapping[str, Any]", value))


def _no_more_of_these() -> str:
    return "More of this kind is no longer told."


def _mode_not_declared(mode: str) -> str:
    return f"this client did not offer to be asked in {mode} mode"


def _unfit(problems: list[str]) -> str:
    return f"the answer does not fit the form and was not sent ({', '.join(problems)})"


def _answerer_class(name: str) -> str:
    return f"an answerer is an object: write {name}() instead of {name}"


def _no_answerer(kind: str) -> str:
    return f"an answerer has a method answer(asked), and {kind} has none"


def _returned(kind: str) -> str:
    what = "None" if kind == "NoneType" else kind
    return f"its answerer returned {what}. An answerer returns Accepted(content) with a dict, Declined() or Cancelled()"


def _no_content(kind: str) -> str:
    return f"its answerer returned Accepted with {kind}. The content of Accepted(content) is a dict"


def _not_async() -> str:
    return "the method answer of its answerer is not async. Make it async: async def answer(self, asked)"
