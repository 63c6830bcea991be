"""Adoption: what a tool asks by the SDK's own means becomes a question of ours."""

from __future__ import annotations

import asyncio
import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_REQUEST,
    CreateMessageRequest,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitRequestURLParams,
    ElicitResult,
    ListRootsRequest,
)
from pydantic import BaseModel
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

__all__ = ["answer_for", "reply_to"]

ResultT = TypeVar("ResultT", bound=BaseModel)


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


async def reply_to(
    call: Call, request: CreateMessageRequest | ListRootsRequest, result_type: type[ResultT], timeout: float | None
) -> ResultT:
    """Send this request in a round, and return the client's reply; in a replay, the recorded one."""
    _check_declared(call, request)
    await call.run.check()
    wire = request.model_dump(by_alias=True, mode="json", exclude_none=True)
    text = json.dumps(wire, sort_keys=True, separators=(",", ":"))
    digest = urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:9]).decode()
    identity = call.replay.identify_request(request.method, digest)
    entry = call.replay.noted(identity)
    if entry is None or entry.kind != "reply":
        call.replay.request(identity, request.method, line=call.on_line)
        async with asyncio.timeout(timeout):
            await call.run.ask({identity: wire})
        entry = call.replay.noted(identity)
    assert entry is not None and entry.kind == "reply", "a request that was answered has its reply"
    return result_type.model_validate(entry.value, by_name=False)


def _check_declared(call: Call, request: CreateMessageRequest | ListRootsRequest) -> None:
    """Fail as the SDK's client does when it can't answer this."""
    declared = call.session.client_capabilities
    if isinstance(request, CreateMessageRequest):
        if declared is None or declared.sampling is None:
            raise MCPError(INVALID_REQUEST, "Sampling not supported")
    elif declared is None or declared.roots is None:
        raise MCPError(INVALID_REQUEST, "List roots not supported")


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
