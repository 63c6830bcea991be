"""Adoption: what a tool asks with the SDK's own API becomes a midcall question, and fails as it would in the SDK."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp_types import (
    INVALID_REQUEST,
    REQUEST_TIMEOUT,
    CreateMessageRequest,
    ElicitRequestParams,
    ElicitRequestURLParams,
    ElicitResult,
    ListRootsRequest,
)
from pydantic import BaseModel
from pydantic_core import to_json

from midcall.core.adopted import AdoptedQuestion, AdoptedVisit
from midcall.core.forms.secrets import secret_error
from midcall.core.outcome import Accepted, Declined
from midcall.core.wire import PLAIN_DATA_ADVICE, Unsendable, digest, find_unsendable
from midcall.errors import ClientFailed, InvalidForm, InvalidQuestion, MidcallError, NoChannel, TimedOut
from midcall.server.ask import put
from midcall.server.call import refuse_inside_effect
from midcall.server.frameworks.errors import fail

if TYPE_CHECKING:
    from midcall.server.call import Call

ResultT = TypeVar("ResultT", bound=BaseModel)

_METHOD: Final = "elicitation/create"


async def answer_for(call: Call, params: ElicitRequestParams, timeout: float | None) -> ElicitResult:
    """Ask what these params ask, on any channel this client has.

    Raises:
        MCPError: The client cannot be asked, answered with an error, or took too long.
        ValidationError: What it answered is not an answer.
    """
    try:
        refuse_inside_effect("ctx.elicit")
        await call.run.check()
        question = _question(call, params, timeout)
        outcome = await put(call, question)
    except MidcallError as exc:
        raise _as_the_sdk_fails(exc, call) from None
    if not isinstance(outcome, Accepted):
        return ElicitResult(action="decline" if isinstance(outcome, Declined) else "cancel")
    if isinstance(question, AdoptedVisit):
        return ElicitResult(action="accept")
    return ElicitResult.model_validate(_with_defaults(question, outcome.value), by_name=False)


async def reply_to(
    call: Call, request: CreateMessageRequest | ListRootsRequest, result_type: type[ResultT], timeout: float | None
) -> ResultT:
    """Send this request in a round, and return the client's reply; in a replay, the recorded one."""
    _check_declared(call, request)
    await call.run.check_question()
    wire = request.model_dump(by_alias=True, mode="json", exclude_none=True)
    named = digest(json.dumps(wire, sort_keys=True, separators=(",", ":")))
    identity = call.replay.identify_request(request.method, named)
    entry = call.replay.find_mark(identity)
    if call.recalls:
        await call.meet(identity)
    if entry is None or entry.kind != "reply":
        call.replay.request(identity, request.method, line=call.on_line)
        try:
            async with asyncio.timeout(timeout):
                await call.run.ask({identity: wire})
        except TimeoutError:
            raise MCPError(REQUEST_TIMEOUT, f"Request {request.method!r} timed out") from None
        entry = call.replay.find_mark(identity)
    assert entry is not None, "a request that was answered has its reply"
    return result_type.model_validate(entry.value, by_name=False)


def _check_declared(call: Call, request: CreateMessageRequest | ListRootsRequest) -> None:
    """Fail as the SDK's client does when it can't answer this."""
    declared = call.session.client_capabilities
    if isinstance(request, CreateMessageRequest):
        if declared is None or declared.sampling is None:
            raise MCPError(INVALID_REQUEST, "Sampling not supported")
    elif declared is None or declared.roots is None:
        raise MCPError(INVALID_REQUEST, "List roots not supported")


def _as_the_sdk_fails(error: MidcallError, call: Call) -> BaseException:
    """What the SDK raises in place of this error; servers look at its code and its text.

    Whatever the SDK knows nothing of ends the call: a tool would take it for a client that can't be asked.
    """
    match error:
        case NoChannel():
            call.installation.warn_once(f"no channel: {error}", f"{error.with_advice} {error.reference}")
            if not call.modern and not call.session.can_send_request:
                return NoBackChannelError(_METHOD)
            return MCPError(INVALID_REQUEST, "Elicitation not supported")
        case ClientFailed(__cause__=MCPError() as failed):
            return failed
        case TimedOut():
            return MCPError(REQUEST_TIMEOUT, f"Request {_METHOD!r} timed out")
        case _:
            fail(error, call)
            return asyncio.CancelledError()


def _with_defaults(question: AdoptedQuestion, answer: dict[str, Any]) -> dict[str, Any]:
    """The answer with the default of each field that is required, has one, and was left out."""
    content: dict[str, Any] | None = answer.get("content")
    if content is None:
        return answer
    missing = {name: value for name, value in question.required_defaults.items() if name not in content}
    return {**answer, "content": {**content, **missing}}


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
        schema = getattr(params, "requested_schema", None)
        found = find_unsendable(schema) or Unsendable("", "cannot be written as JSON")
        raise InvalidForm(found.why, path=found.path.removeprefix("."), advice=PLAIN_DATA_ADVICE) from None
    return question


def _look_at_secrets(call: Call, question: AdoptedQuestion) -> None:
    """A form that worked without midcall works with it, unless its server is strict."""
    installation = call.installation
    if not question.secrets or installation.not_secret is not None:
        return
    if installation.strict:
        raise secret_error(*question.secrets)
    installation.secret_forms[question.digest] = question.secrets
    installation.warn_once(
        f"secret:{question.digest}",
        f"A form of {call.called!r} asks for {', '.join(map(repr, question.secrets))}. The answer passes through the "
        "client and may reach the model. Ask with secret() instead, or, if it is not a secret, give the reason: "
        'install(..., not_secret="...").',
    )
