"""Adoption: what a tool asks by the SDK's own means becomes a question of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp_types import ElicitRequestFormParams, ElicitRequestParams, ElicitRequestURLParams, ElicitResult
from pydantic_core import to_json

from midcall.core.adopted import AdoptedQuestion, OpaqueForm
from midcall.core.outcomes import Accepted, Cancelled, Declined
from midcall.core.questions import Question, Visit
from midcall.core.wire import Stuck, stuck_at
from midcall.errors import InvalidForm, MidcallError
from midcall.server.asking import put
from midcall.server.call import refuse_inside_effect
from midcall.server.surface import surfaced
from midcall.wording import wire as wording

if TYPE_CHECKING:
    from midcall.server.call import Call

__all__ = ["answer_for"]


async def answer_for(call: Call, params: ElicitRequestParams, timeout: float | None) -> ElicitResult:
    """Ask what these params ask, on whatever channel this client has."""
    try:
        refuse_inside_effect("ctx.elicit")
        question = _question(params, timeout, call.installation.not_secret)
        outcome = await put(call, question)
    except MidcallError as exc:
        raise surfaced(exc, call) from exc.__cause__
    match outcome:
        case Accepted(value=value):
            return ElicitResult(action="accept", content=_content(value))
        case Declined():
            return ElicitResult(action="decline")
        case Cancelled():
            return ElicitResult(action="cancel")


def _content(value: object) -> dict[str, Any] | None:
    return {**value} if isinstance(value, Mapping) else None  # pyright: ignore[reportUnknownVariableType]


def _question(params: ElicitRequestParams, timeout: float | None, not_secret: str | None) -> Question[Any] | Visit:
    meta: Mapping[str, Any] | None = dict(params.meta) if params.meta else None
    if isinstance(params, ElicitRequestURLParams):
        return Visit(params.message, params.url, id=params.elicitation_id, timeout=timeout, meta=meta)
    assert isinstance(params, ElicitRequestFormParams)
    schema = params.requested_schema
    question = AdoptedQuestion(params.message, schema, timeout=timeout, meta=meta, not_secret=not_secret)
    if isinstance(question.form, OpaqueForm):  # pyright: ignore[reportUnnecessaryIsInstance]
        _check_sendable(schema)
    return question


def _check_sendable(schema: Mapping[str, Any]) -> None:
    """What is sent as it is must be what the SDK can write: plain data, and also dates and the like."""
    try:
        to_json(schema)
    except (ValueError, RecursionError):
        stuck = stuck_at(schema) or Stuck("", wording.not_plain("schema"))
        path = stuck.path.removeprefix(".")
        raise InvalidForm(stuck.why, path=path, advice=wording.plain_data_advice()) from None
