"""Push: `elicitation/create`, on the stream of the request that asks. Up to 2025-11-25.

A branch of the tool pushes in a separate task. A branch may be cancelled over and over: an anyio scope cancels in
every turn of the loop, and `gather` passes each of these on. The first cancel makes the SDK notify the client, and a
second one would interrupt that. So the sending task is cancelled once, however often the branch is. The run has
these tasks, and withdraws open questions when it ends.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import anyio
import anyio.lowlevel
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, ElicitResult
from mcp_types.methods import validate_client_result

from midcall.core.adopted import AdoptedQuestion
from midcall.core.journal import Entry, Kind
from midcall.core.outcome import Via
from midcall.core.question import Question, Visit
from midcall.core.replay import is_decided, parse_answer
from midcall.errors import ClientFailed
from midcall.language import _
from midcall.server.call import current_call
from midcall.server.channels import telemetry
from midcall.server.channels.request import Asking, elicitation_params
from midcall.settings.calls import SENDING_SECONDS

if TYPE_CHECKING:
    from midcall.server.call import Call

NO_WAY_BACK: Final = (
    "this connection has no way back to the client (stateless HTTP, or HTTP that answers in plain JSON)"
)


class Push:
    via: ClassVar[Via] = "push"

    def why_not(self, call: Call, question: Question[Any] | Visit) -> str | None:
        if call.modern:
            return f"protocol {call.version} has no server-to-client requests"
        if not call.session.can_send_request:
            return NO_WAY_BACK
        return call.lacks(question.mode)

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        # One after the other: a person answers one form at a time, and nothing more after "no".
        entries: list[Entry] = []
        for asking in askings:
            if entries and entries[-1].kind != "accept":
                entries.append(asking.entry)
                continue
            params = elicitation_params(call, asking)
            if isinstance(asking.question, Visit):
                await call.installation.visits.watch(call, params["elicitationId"])
            begun = time.monotonic()
            try:
                with telemetry.watch(call, asking, self.via) as report:
                    answer = await _answer(call, asking.question.timeout, params)
                    kind, content = ("timeout", None) if answer is None else _parse(call, asking.question, answer)
                    report(kind)
            except MCPError as exc:
                gone = exc.code == CONNECTION_CLOSED
                raise ClientFailed(exc.code, exc.message, exc.data, gone=gone) from exc
            quick = time.monotonic() - begun < call.installation.doubt and not is_decided(answer)
            entry = call.replay.settle(asking.identity, asking.entry, kind, content, self.via, quick=quick)
            entries.append(entry)
        return entries


def _answer(call: Call, timeout: float | None, params: dict[str, Any]) -> Awaitable[dict[str, Any] | None]:
    """The client's raw answer; None if it does not come in time."""
    if timeout is None and call.progress_token is None:
        return send(call, params)
    return _answer_in_time(call, timeout, params)


async def _answer_in_time(call: Call, timeout: float | None, params: dict[str, Any]) -> dict[str, Any] | None:
    with anyio.move_on_after(timeout):  # leaving it cancels the question at the client, too
        async with signs_of_life(call):
            return await send(call, params)
    return None


def _parse(call: Call, question: Question[Any] | Visit, answer: dict[str, Any]) -> tuple[Kind, dict[str, Any] | None]:
    """The outcome in this answer. An adopted question gets the raw answer, if the SDK would accept it."""
    if isinstance(question, AdoptedQuestion):
        _check_like_the_sdk(call.version, answer)
        return answer["action"], answer
    kind, content = parse_answer(answer)
    if content is not None and isinstance(question, Question):
        content = question.form.lift(content, call.version)
    return kind, content


def _check_like_the_sdk(version: str, answer: dict[str, Any]) -> None:
    """Raises pydantic's `ValidationError`, as `ServerSession.send_request` does."""
    with suppress(KeyError):
        validate_client_result("elicitation/create", version, answer)
    ElicitResult.model_validate(answer, by_name=False)


@asynccontextmanager
async def signs_of_life(
    call: Call, address: str = "", report: Callable[[str], Awaitable[None]] | None = None
) -> AsyncGenerator[None]:
    """Report progress on the caller's token, if there is one, while this is open. `address` is where the user is."""
    if call.progress_token is None:
        yield
        return
    beating = asyncio.create_task(_beat(call, address, report or call.asking_session.beat))
    try:
        yield
    finally:
        beating.cancel()


async def _beat(call: Call, address: str, report: Callable[[str], Awaitable[None]]) -> None:
    message = _("Waiting for the user at {address}").format(address=address) if address else _("Waiting for the user")
    while True:
        await asyncio.sleep(call.installation.heartbeat)
        await report(message)


# --- sending -----------------------------------------------------------------------------------


def send(call: Call, params: dict[str, Any]) -> Awaitable[dict[str, Any]]:
    """Push this question, and await its raw answer."""
    if asyncio.current_task() is call.run.task:
        return _push(call, params)
    return _send_aside(call, params)


def _push(call: Call, params: dict[str, Any]) -> Awaitable[dict[str, Any]]:
    pushing = call.asking_session.push(params)
    return pushing if call.around is None else _push_outwards(call.around, pushing)


async def _push_outwards(around: Call, pushing: Awaitable[dict[str, Any]]) -> dict[str, Any]:
    """A client in this process answers in the context that it was asked in: there, the call is `around`."""
    token = current_call.set(around)
    try:
        return await pushing
    finally:
        current_call.reset(token)


async def _send_aside(call: Call, params: dict[str, Any]) -> dict[str, Any]:
    await anyio.lowlevel.checkpoint_if_cancelled()  # before anything is sent: the new task is outside every scope
    if call.ended:
        raise asyncio.CancelledError
    sending = asyncio.Task(cast("Coroutine[Any, Any, dict[str, Any]]", _push(call, params)), loop=call.loop)
    call.run.sending |= {sending}
    sending.add_done_callback(partial(_end, call))
    try:
        await asyncio.wait((sending,))
        return sending.result()
    except asyncio.CancelledError:
        _cancel_once(sending)
        await _notify_client((sending,))
        raise
    finally:
        del sending  # it holds the error whose traceback holds this frame


def _end(call: Call, sending: asyncio.Task[Any]) -> None:
    call.run.sending -= {sending}
    if not sending.cancelled():
        sending.exception()  # the branch may be gone


async def take_back(call: Call) -> None:
    """The call has ended: withdraw the questions that its branches still ask."""
    left = call.run.sending
    for sending in left:
        _cancel_once(sending)
    await _notify_client(left)


async def _notify_client(sending: Iterable[asyncio.Task[Any]]) -> None:
    """Wait until the client is notified. Another cancel ends the wait, not the notification."""
    with anyio.CancelScope(shield=True):
        await asyncio.wait(sending, timeout=SENDING_SECONDS)


def _cancel_once(question: asyncio.Task[Any]) -> None:
    """Cancel this, once: a second cancel would interrupt the notification of the client."""
    if not question.cancelling():
        question.cancel()
