"""Adoption: what a tool asks by the SDK's own means becomes a question of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mcp_types import ElicitRequestParams, ElicitRequestURLParams, ElicitResult
from pydantic_core import to_json

from midcall.core.adopted import AdoptedQuestion, AdoptedVisit
from midcall.core.outcomes import Accepted, Declined
from midcall.core.secrets import secrets_refused
from midcall.core.wire import Stuck, stuck_at
from midcall.errors import InvalidForm, InvalidQuestion, MidcallError
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
        question = _question(call, params, timeout)
        outcome = await put(call, question)
    except MidcallError as exc:
        raise surfaced(exc, call) from exc.__cause__
    if not isinstance(outcome, Accepted):
        return ElicitResult(action="decline" if isinstance(outcome, Declined) else "cancel")
    if isinstance(question, AdoptedVisit):
        return ElicitResult(action="accept")
    return ElicitResult.model_validate(outcome.value, by_name=False)


def _question(call: Call, params: ElicitRequestParams, timeout: float | None) -> AdoptedQuestion | AdoptedVisit:
    if isinstance(params, ElicitRequestURLParams):
        meta: Mapping[str, Any] | None = dict(params.meta) if params.meta else None
        return AdoptedVisit(params.message, params.url, id=params.elicitation_id, timeout=timeout, meta=meta)
    question = _form_question(params, timeout)
    _look_at_secrets(call, question)
    return question


def _form_question(params: ElicitRequestParams, timeout: float | None) -> AdoptedQuestion:
    """These params as the SDK writes them, if it can: what it cannot send would take the connection down."""
    try:
        question = AdoptedQuestion(params.model_dump(by_alias=True, mode="json", exclude_none=True), timeout=timeout)
        to_json(question.params)
    except InvalidQuestion:
        raise
    except (ValueError, RecursionError):
        stuck = stuck_at(getattr(params, "requested_schema", None)) or Stuck("", wording.not_plain("schema"))
        path = stuck.path.removeprefix(".")
        raise InvalidForm(stuck.why, path=path, advice=wording.plain_data_advice()) from None
    return question


def _look_at_secrets(call: Call, question: AdoptedQuestion) -> None:
    """A form that worked without midcall works with it, unless its server is strict."""
    installation = call.installation
    if not question.secrets or installation.not_secret is not None:
        return
    if installation.strict:
        raise secrets_refused(question.secrets)
    installation.secret_forms[question.digest] = question.secrets
    installation.warn_once(f"secret:{question.digest}", _asks_for_secrets(call.called, question.secrets))


def _asks_for_secrets(called: object, names: Sequence[str]) -> str:
    return (
        f"A form of {called!r} asks for {', '.join(map(repr, names))}. The answer passes through the client and may "
        "reach the model. Ask with secret() instead, or, if it is not a secret, give the reason: "
        'install(..., not_secret="...").'
    )
