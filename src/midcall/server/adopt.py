"""Adoption: what a tool asks by the SDK's own means becomes a question of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp_types import ElicitRequestFormParams, ElicitRequestParams, ElicitRequestURLParams, ElicitResult

from midcall.core.adopted import AdoptedQuestion
from midcall.core.outcomes import Accepted, Cancelled, Declined
from midcall.core.questions import Question, Visit
from midcall.errors import MidcallError
from midcall.server.asking import put
from midcall.server.call import refuse_inside_effect
from midcall.server.surface import surfaced

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
    return AdoptedQuestion(params.message, params.requested_schema, timeout=timeout, meta=meta, not_secret=not_secret)
