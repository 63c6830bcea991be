"""A question that a branch of the tool pushes: it is sent in a task of its own.

A branch may be cancelled over and over: a scope of anyio cancels in every turn of the loop, and a `gather` passes
each of these on. The first cancel makes the SDK tell the client, and the second would interrupt that. So the task that
sends is cancelled once, whatever happens to the branch. The call knows it, and takes back what is still asked when it
ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import anyio
import anyio.lowlevel

from midcall.server.call import current_call

if TYPE_CHECKING:
    from midcall.server.call import Call

__all__ = ["give_up", "send", "take_back"]

TELL_SECONDS = 1.0
"""How long anybody waits until the client is told. What takes longer continues in the background."""


def send(call: Call, params: dict[str, Any]) -> Awaitable[dict[str, Any]]:
    """Push this question, and await its raw answer."""
    if asyncio.current_task() is call.run.task:
        return _pushed(call, params)
    return _send_aside(call, params)


def _pushed(call: Call, params: dict[str, Any]) -> Awaitable[dict[str, Any]]:
    pushing = call.asking_session.push(params)
    return pushing if call.around is None else _pushed_outwards(call.around, pushing)


async def _pushed_outwards(around: Call, pushing: Awaitable[dict[str, Any]]) -> dict[str, Any]:
    """A client in this process answers in the context that it was asked in: there, it is not this call's."""
    token = current_call.set(around)
    try:
        return await pushing
    finally:
        current_call.reset(token)


async def _send_aside(call: Call, params: dict[str, Any]) -> dict[str, Any]:
    await anyio.lowlevel.checkpoint_if_cancelled()  # while nothing is sent: the new task is in no scope
    if call.ended:
        raise asyncio.CancelledError
    sending = asyncio.Task(cast("Coroutine[Any, Any, dict[str, Any]]", _pushed(call, params)), loop=call.loop)
    call.run.sending |= {sending}
    sending.add_done_callback(partial(_end, call))
    try:
        await asyncio.wait((sending,))
        return sending.result()
    except asyncio.CancelledError:
        give_up(sending)
        await _told((sending,))
        raise
    finally:
        del sending  # it holds the error whose traceback holds this frame


def _end(call: Call, sending: asyncio.Task[Any]) -> None:
    call.run.sending -= {sending}
    if not sending.cancelled():
        sending.exception()  # the branch may be gone


async def take_back(call: Call) -> None:
    """The call has ended: close what its branches still ask."""
    left = call.run.sending
    for sending in left:
        give_up(sending)
    await _told(left)


async def _told(sending: Iterable[asyncio.Task[Any]]) -> None:
    """Wait until the client is told. Another cancel ends the waiting, and not the telling."""
    with anyio.CancelScope(shield=True):
        await asyncio.wait(sending, timeout=TELL_SECONDS)


def give_up(question: asyncio.Task[Any]) -> None:
    """Cancel this, once."""
    if not question.cancelling():  # else it is telling the client, which a second cancel would interrupt
        question.cancel()
