"""The error -32042: the call needs visits first. Show them to the user, wait, and retry the call."""

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
from midcall.client.answerer import Answerer, Waiting, Waits, modes_of
from midcall.client.asked import Asked, VisitQuestion
from midcall.client.connection.callback import check_seconds, outcome_of
from midcall.client.connection.incoming import describe, read_question, server_of
from midcall.client.connection.visits import Visits
from midcall.client.lines.excerpt import server_name
from midcall.core.outcome import Accepted, Declined
from midcall.errors import InvalidForm, UserCancelled, UserDeclined
from midcall.protocol import has_visit_errors
from midcall.settings import VISIT_RETRIES

_log: Final = logging.getLogger("midcall.client.connection")

T = TypeVar("T")


class Required:
    """Makes calls that may need visits first.

    Args:
        answerer: Asks the user for consent, and may let the user decide how long to wait.
        visits: Receives the server's reports of finished visits.
        timeout: Seconds after which a question is cancelled.
        patience: Seconds to wait for the server's report if the answerer has no `wait`; None for no limit.
    """

    def __init__(self, answerer: Answerer, visits: Visits, timeout: float | None, patience: float | None) -> None:
        self._answerer = answerer
        self._visits = visits
        self._timeout = timeout
        self._patience = check_seconds("patience", patience)

    async def call(self, session: ClientSession, send: Callable[[Mapping[str, Any]], Awaitable[T]]) -> T:
        """Make the call with `send`, which gets the `_meta` of the request, and retry it after the visits it needs.

        Raises:
            UserDeclined: The user declined to open a page.
            UserCancelled: The user dismissed the question, or gave up waiting.
            MCPError: The server's own error, if the visits don't help.
        """
        agreed: dict[VisitQuestion, Asked] = {}
        meta = self._meta(session)
        for attempt in range(1, VISIT_RETRIES + 1):
            try:
                return await send(meta)
            except MCPError as error:
                needed = required_by(error)
                if not needed or "url" not in modes_of(self._answerer):
                    raise
                await self._visit(session, error, needed, agreed, attempt)
                meta = {**self._meta(session), **code_in(error)}
        try:
            return await send(meta)
        except MCPError as error:
            if error.code == URL_ELICITATION_REQUIRED:
                error.add_note(f"The call was retried {VISIT_RETRIES} times, and the server still requires the visit.")
            raise

    def _meta(self, session: ClientSession) -> Mapping[str, Any]:
        """Announce that the call is retried, if the user can say when: the server may have no other channel."""
        url = "url" in modes_of(self._answerer) and has_visit_errors(session.protocol_version)
        return {protocol.RETRIES: VISIT_RETRIES} if url and isinstance(self._answerer, Waits) else {}

    async def _visit(
        self,
        session: ClientSession,
        error: MCPError,
        needed: Sequence[VisitQuestion],
        agreed: dict[VisitQuestion, Asked],
        attempt: int,
    ) -> None:
        """Return when it's time to retry the call. Asks for consent to each visit only once."""
        asked = [agreed.get(visit) or describe(session, visit, "required", self._timeout) for visit in needed]
        waiting = Waiting(asked, attempt, VISIT_RETRIES)
        with self._visits.follow(waiting):
            for visit in needed:
                await self._visits.begin(visit.id or "")
            for visit, each in zip(needed, asked, strict=True):
                if visit not in agreed:
                    await self._consent(each, needed)
                    agreed[visit] = each
            await self._wait(session, error, waiting)
        for visit, each in zip(needed, asked, strict=True):
            if waiting.is_done(each):  # if it's required again, that's another visit
                agreed.pop(visit, None)

    async def _consent(self, asked: Asked, needed: Sequence[VisitQuestion]) -> None:
        outcome = await outcome_of(self._answerer, asked, self._timeout)
        if isinstance(outcome, Accepted):
            return
        for visit in needed:
            self._visits.forget(visit.id or "")
        server, advice = server_name(asked.server), "The call was not retried."
        if isinstance(outcome, Declined):
            raise UserDeclined(f"You declined to open the page that {server} needs", advice=advice)
        raise UserCancelled(f"The page that {server} needs was not opened", advice=advice)

    async def _wait(self, session: ClientSession, error: MCPError, waiting: Waiting) -> None:
        if waiting.finished:
            return
        match await self._decide(waiting):
            case True:
                return
            case False:
                server = server_name(server_of(session)[0])
                raise UserCancelled(
                    f"You gave up waiting for what {server} needs", advice="Call again when it is done."
                )
            case None:
                within = "" if self._patience is None else f" within {self._patience:g} s"
                error.add_note(f"The server did not report{within} that the visit is done. Call again when it is.")
                raise error

    async def _decide(self, waiting: Waiting) -> bool | None:
        """True: retry. False: the user gives up. None: time is up, and nobody decided."""
        if isinstance(self._answerer, Waits) and (decision := await _ask_user(waiting, self._answerer)) is not None:
            return decision
        with anyio.move_on_after(self._patience):
            await waiting.done()
        return True if waiting.finished else None


async def _ask_user(waiting: Waiting, answerer: Waits) -> bool | None:
    """Wait until all visits are done or the user decides, whichever comes first. None if the answerer fails."""
    decisions: list[bool | None] = []

    async def listen(group: anyio.abc.TaskGroup) -> None:
        try:
            decisions.append(await answerer.wait(waiting))
        except Exception as error:
            _log.error(f"the answerer failed with {type(error).__name__} while the call waited for a visit")
            decisions.append(None)
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(listen, group)
        await waiting.done()
        group.cancel_scope.cancel()
    return True if waiting.finished else decisions[0]


def required_by(error: MCPError) -> list[VisitQuestion]:
    """The visits that this error requires; empty if it's another error, or malformed."""
    data: Any = error.data
    if error.code != URL_ELICITATION_REQUIRED or not isinstance(data, dict):
        return []
    listed: Any = cast("dict[str, Any]", data).get("elicitations")
    if not isinstance(listed, list):
        return []
    try:
        params = [ElicitRequestURLParams.model_validate(each) for each in cast("list[Any]", listed)]
        visits = [read_question(each) for each in params]
    except (ValidationError, InvalidForm):
        return []
    known = [visit for visit in visits if isinstance(visit, VisitQuestion) and visit.id]
    return known if len(known) == len(visits) else []


def code_in(error: MCPError) -> Mapping[str, Any]:
    """The resume code for the retry, in its `_meta`, if the error carries one."""
    data: Any = error.data
    meta: Any = cast("dict[str, Any]", data).get("_meta") if isinstance(data, dict) else None
    code: Any = cast("dict[str, Any]", meta).get(protocol.CODE) if isinstance(meta, dict) else None
    return {protocol.CODE: code} if isinstance(code, str) else {}
