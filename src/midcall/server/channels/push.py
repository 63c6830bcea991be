"""Push: `elicitation/create`, on the stream of the request that asks. Up to 2025-11-25."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, ClassVar

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, ElicitResult
from mcp_types.methods import validate_client_result

from midcall.core.adopted import AdoptedQuestion
from midcall.core.journal import Entry, Kind
from midcall.core.outcome import Via
from midcall.core.question import Question, Visit
from midcall.core.replay import parse_answer
from midcall.errors import ClientFailed
from midcall.server import telemetry
from midcall.server.channels.capability import lacks
from midcall.server.channels.request import elicitation_params
from midcall.server.channels.sending import send
from midcall.wording import reaching as wording

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.channels.table import Asking

__all__ = ["Push", "signs_of_life"]


class Push:
    via: ClassVar[Via] = "push"

    def why_not(self, call: Call, question: Question[Any] | Visit) -> str | None:
        if call.modern:
            return f"protocol {call.version} has no server-to-client requests"
        if not call.session.can_send_request:
            return wording.no_way_back()
        return lacks(call, question.mode)

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        # One after the other: a person answers one form at a time. After a no the rest is not asked.
        entries: list[Entry] = []
        for asking in askings:
            if entries and entries[-1].kind != "accept":
                entries.append(asking.entry)
                continue
            params = elicitation_params(call, asking)
            if isinstance(asking.question, Visit):
                await call.installation.visits.asked(call, params["elicitationId"])
            begun = time.monotonic()
            try:
                with telemetry.watched(call, asking, self.via) as tell:
                    answer = await _answer(call, asking.question.timeout, params)
                    kind, content = ("timeout", None) if answer is None else _parsed(call, asking.question, answer)
                    tell(kind)
            except MCPError as exc:
                raise _failed(exc) from exc
            quick = time.monotonic() - begun < call.installation.doubt
            entries.append(_settled(call, asking, kind, content, quick))
        return entries


def _answer(call: Call, timeout: float | None, params: dict[str, Any]) -> Awaitable[dict[str, Any] | None]:
    """The client's answer, as it comes; None where it does not come in time."""
    if timeout is None and call.progress_token is None:
        return send(call, params)
    return _answer_in_time(call, timeout, params)


async def _answer_in_time(call: Call, timeout: float | None, params: dict[str, Any]) -> dict[str, Any] | None:
    with anyio.move_on_after(timeout):  # leaving it cancels the question at the client, too
        async with signs_of_life(call):
            return await send(call, params)
    return None


def _parsed(call: Call, question: Question[Any] | Visit, answer: dict[str, Any]) -> tuple[Kind, dict[str, Any] | None]:
    """The outcome in this answer. To one that was written for the SDK, the answer as it came, if the SDK takes it."""
    if isinstance(question, AdoptedQuestion):
        _check_as_the_sdk(call.version, answer)
        return answer["action"], answer
    kind, content = parse_answer(answer)
    if content is not None and isinstance(question, Question):
        content = question.lift(content, call.version)
    return kind, content


def _check_as_the_sdk(version: str, answer: dict[str, Any]) -> None:
    """Raises pydantic's `ValidationError`, as `ServerSession.send_request` does."""
    with suppress(KeyError):
        validate_client_result("elicitation/create", version, answer)
    ElicitResult.model_validate(answer, by_name=False)


def _settled(call: Call, asking: Asking, kind: Kind, content: dict[str, Any] | None, quick: bool) -> Entry:
    return call.replay.settle(asking.identity, asking.entry, kind, content, Push.via, quick=quick)


def _failed(exc: MCPError) -> ClientFailed:
    gone = exc.code == CONNECTION_CLOSED
    return ClientFailed(
        wording.client_gone() if gone else wording.client_error(exc.code, exc.message),
        code=exc.code,
        message=exc.message,
        data=exc.data,
        advice=wording.client_error_advice(),
        for_model=wording.model_client_failed("" if gone else exc.message),
    )


@asynccontextmanager
async def signs_of_life(call: Call) -> AsyncGenerator[None]:
    """While this is open, progress goes out on the caller's token, if there is one."""
    if call.progress_token is None:
        yield
        return
    beating = asyncio.create_task(_beat(call))
    try:
        yield
    finally:
        beating.cancel()


async def _beat(call: Call) -> None:
    while True:
        await asyncio.sleep(call.installation.heartbeat)
        await call.asking_session.beat(wording.waiting_for_user())
