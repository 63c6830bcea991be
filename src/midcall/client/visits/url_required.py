"""The error -32042: the call needs visits first. They are made, and the call is made again."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

import anyio
from mcp import MCPError
from mcp.client.session import ClientSession
from mcp_types import URL_ELICITATION_REQUIRED, ElicitRequestURLParams
from pydantic import ValidationError

from midcall import protocol
from midcall.client.answerer import Answerer, asked_on, modes_of, outcome_of, question_of, server_of
from midcall.client.asked import Asked, VisitQuestion
from midcall.client.lines.columns import one_line
from midcall.client.validation import check_seconds
from midcall.client.visits.visits import Visits
from midcall.client.visits.waiting import Waiting, Waits
from midcall.core.outcome import Accepted, Declined
from midcall.errors import InvalidForm, UserCancelled, UserDeclined
from midcall.protocol import has_visit_errors
from midcall.wording.client import required as wording

__all__ = ["PATIENCE", "RETRIES", "Required"]

_log: Final = logging.getLogger("midcall.client.connection")

PATIENCE: Final = 300.0
"""Seconds to wait for the server's word, where nobody is there to say "try again"."""
RETRIES: Final = 3

T = TypeVar("T")


class Required:
    """Makes calls that may need visits first.

    Args:
        answerer: Is asked for consent, and may keep the user in charge of the waiting.
        visits: Where the ends of visits are heard.
        timeout: Seconds after which a question is cancelled.
        patience: Seconds to wait for the server's word, for an answerer that cannot `wait`; None for no limit.
    """

    def __init__(self, answerer: Answerer, visits: Visits, timeout: float | None, patience: float | None) -> None:
        self._answerer = answerer
        self._visits = visits
        self._timeout = timeout
        self._patience = check_seconds("patience", patience)

    async def call(self, session: ClientSession, send: Callable[[Mapping[str, Any]], Awaitable[T]]) -> T:
        """What `send` gives, once what it needs is done. It is handed what the request is to say in its `_meta`.

        Raises:
            UserDeclined: The user does not want to open a page.
            UserCancelled: The user closed the question, or gave up waiting.
            MCPError: The server's own error, if the visits change nothing.
        """
        agreed: dict[VisitQuestion, Asked] = {}
        said = self._said(session)
        for attempt in range(1, RETRIES + 1):
            try:
                return await send(said)
            except MCPError as error:
                needed = required_by(error)
                if not needed or "url" not in modes_of(self._answerer):
                    raise
                await self._made(session, error, needed, agreed, attempt)
                said = {**self._said(session), **code_in(error)}
        try:
            return await send(said)
        except MCPError as error:
            if error.code == URL_ELICITATION_REQUIRED:
                error.add_note(_still_required(RETRIES))
            raise

    def _said(self, session: ClientSession) -> Mapping[str, Any]:
        """That the call is made again, where somebody can say when: a server may not know how else to ask."""
        url = "url" in modes_of(self._answerer) and has_visit_errors(session.protocol_version)
        return {protocol.RETRIES: RETRIES} if url and isinstance(self._answerer, Waits) else {}

    async def _made(
        self,
        session: ClientSession,
        error: MCPError,
        needed: Sequence[VisitQuestion],
        agreed: dict[VisitQuestion, Asked],
        attempt: int,
    ) -> None:
        """Return when the call is to be made again. A visit that the user has agreed to is not asked for twice."""
        asked = [agreed.get(visit) or asked_on(session, visit, "required", self._timeout) for visit in needed]
        waiting = Waiting(asked, attempt, RETRIES)
        with self._visits.followed(waiting):
            for visit in needed:
                await self._visits.begin(visit.id or "")
            for visit, each in zip(needed, asked, strict=True):
                if visit not in agreed:
                    await self._consent(each, needed)
                    agreed[visit] = each
            await self._wait(session, error, waiting)
        for visit, each in zip(needed, asked, strict=True):
            if waiting.is_done(each):  # should it be needed once more, it is another visit
                agreed.pop(visit, None)

    async def _consent(self, asked: Asked, needed: Sequence[VisitQuestion]) -> None:
        outcome = await outcome_of(self._answerer, asked, self._timeout)
        if isinstance(outcome, Accepted):
            return
        for visit in needed:
            self._visits.forget(visit.id or "")
        if isinstance(outcome, Declined):
            text, advice = wording.visit_declined(one_line(asked.server))
            raise UserDeclined(text, advice=advice)
        text, advice = wording.visit_cancelled(one_line(asked.server))
        raise UserCancelled(text, advice=advice)

    async def _wait(self, session: ClientSession, error: MCPError, waiting: Waiting) -> None:
        if waiting.finished:
            return
        match await self._word(waiting):
            case True:
                return
            case False:
                text, advice = wording.visit_given_up(one_line(server_of(session)[0]))
                raise UserCancelled(text, advice=advice)
            case None:
                error.add_note(_not_done_within(self._patience))
                raise error

    async def _word(self, waiting: Waiting) -> bool | None:
        """True: call again. False: the user gives up. None: nobody said anything."""
        if isinstance(self._answerer, Waits):
            word = await _first(waiting, self._answerer)
            if word is not None:
                return word
        with anyio.move_on_after(self._patience):
            await waiting.done()
        return True if waiting.finished else None


async def _first(waiting: Waiting, answerer: Waits) -> bool | None:
    """What comes first: all visits are done, or the user says what to do. None if the answerer fails."""
    said: list[bool | None] = []

    async def listen(group: anyio.abc.TaskGroup) -> None:
        try:
            said.append(await answerer.wait(waiting))
        except Exception as error:
            _log.error(_wait_failed(type(error).__name__))
            said.append(None)
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(listen, group)
        await waiting.done()
        group.cancel_scope.cancel()
    return True if waiting.finished else said[0]


def required_by(error: MCPError) -> list[VisitQuestion]:
    """The visits that this error asks for. None, if it is another error, or is malformed."""
    data: Any = error.data
    if error.code != URL_ELICITATION_REQUIRED or not isinstance(data, dict):
        return []
    listed: Any = cast("dict[str, Any]", data).get("elicitations")
    if not isinstance(listed, list):
        return []
    try:
        params = [ElicitRequestURLParams.model_validate(each) for each in cast("list[Any]", listed)]
        visits = [question_of(each) for each in params]
    except (ValidationError, InvalidForm):
        return []
    known = [visit for visit in visits if isinstance(visit, VisitQuestion) and visit.id]
    return known if len(known) == len(visits) else []


def code_in(error: MCPError) -> Mapping[str, Any]:
    """What a retry has to bring along, so that the server goes on where the call stopped."""
    data: Any = error.data
    said: Any = cast("dict[str, Any]", data).get("_meta") if isinstance(data, dict) else None
    code: Any = cast("dict[str, Any]", said).get(protocol.CODE) if isinstance(said, dict) else None
    return {protocol.CODE: code} if isinstance(code, str) else {}


def _not_done_within(seconds: float | None) -> str:
    within = "" if seconds is None else f" within {seconds:g} s"
    return f"The server did not say{within} that the visit is done. When it is, call again."


def _still_required(times: int) -> str:
    return f"The call was made {times} more times, and the server still wants the visit."


def _wait_failed(error: str) -> str:
    return f"the answerer failed with {error} while a visit was waited for"
