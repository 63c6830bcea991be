"""The error -32042: the call needs visits first. Show them to the user, wait, and retry the call."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar, cast

import anyio
from mcp import MCPError
from mcp.client.session import ClientSession
from mcp_types import URL_ELICITATION_REQUIRED, ElicitRequestURLParams
from pydantic import ValidationError

from midcall import protocol
from midcall.client.answerer import Answerer, Waiting, Waits, modes_of
from midcall.client.asked import Asked, VisitQuestion
from midcall.client.connection.callback import check_seconds, outcome_of
from midcall.client.connection.incoming import describe, has_rounds, read_question
from midcall.client.connection.visits import Visits
from midcall.client.lines.excerpt import server_name
from midcall.core.outcome import Accepted, Declined
from midcall.core.text import plain_line
from midcall.core.urls import parse_url
from midcall.errors import InvalidForm, UserCancelled, UserDeclined
from midcall.protocol import has_visit_errors
from midcall.settings.client import MAX_REQUIRED_VISITS, VISIT_RETRIES

_log: Final = logging.getLogger("midcall.client.connection")

_BY_DEFAULT: Final = re.compile(r"(URL elicitations? required(: \d+ elicitation\(s\) needed)?\.?)?", re.IGNORECASE)
"""What SDKs say if the author gives no message."""

T = TypeVar("T")
Page: TypeAlias = Hashable
_ID: Final = re.compile(r"(?!\.+\Z)[A-Za-z0-9._~-]{1,200}")
"""An id that can't change where a URL leads: no dots that a browser resolves, and nothing that ends a part."""
_ANY: Final = " "
"""Stands for the id of a page. No URL that we show has a space."""


class Required:
    """Makes calls that may need visits first.

    Args:
        answerer: Asks the user for consent, and may let the user decide how long to wait.
        visits: Receives the server's reports of finished visits.
        timeout: Seconds after which a question is cancelled.
        patience: Seconds after which a wait ends and the call is repeated; None for no limit.
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
        shown: set[Page] = set()
        meta = self._meta(session)
        for attempt in range(1, VISIT_RETRIES + 1):
            try:
                return await send(meta)
            except MCPError as error:
                needed = self._find_required_visits(session, error)
                if not needed:
                    raise
                await self._visit(session, needed, shown, attempt, error.message)
                meta = {**self._meta(session), **code_in(error)}
        try:
            return await send(meta)
        except MCPError as error:
            if error.code == URL_ELICITATION_REQUIRED:
                error.add_note(f"The call was retried {VISIT_RETRIES} times, and the server still requires the visit.")
            raise

    def _find_required_visits(self, session: ClientSession, error: MCPError) -> list[VisitQuestion]:
        """The visits to ask for; none if it's another error, or can't be helped: then a note says why."""
        if error.code != URL_ELICITATION_REQUIRED:
            return []
        try:
            needed = find_required_visits(error, ids=not has_rounds(session))
        except InvalidForm as fault:
            error.add_note(f"The error can't be used: {str(fault).rstrip('.')}.")
            return []
        if "url" not in modes_of(self._answerer):
            error.add_note("The server requires a visit, and this client can't open web pages.")
            return []
        return needed

    def _meta(self, session: ClientSession) -> Mapping[str, Any]:
        """Announce that the call is retried, if the user can say when: the server may have no other channel."""
        url = "url" in modes_of(self._answerer) and has_visit_errors(session.protocol_version)
        return {protocol.RETRIES: VISIT_RETRIES} if url and isinstance(self._answerer, Waits) else {}

    async def _visit(
        self, session: ClientSession, needed: Sequence[VisitQuestion], shown: set[Page], attempt: int, said: str
    ) -> None:
        """Return when it's time to repeat the call. Asks for consent to each page only once in a call."""
        asked = [describe(session, visit, "required", self._timeout, reason=_reason(said, visit)) for visit in needed]
        waiting = Waiting(asked, attempt, VISIT_RETRIES, self._patience)
        with self._visits.follow(waiting):
            for visit in needed:
                if visit.id is not None:
                    await self._visits.begin(visit.id)
            for visit, each in zip(needed, asked, strict=True):
                if (page := _page(visit)) not in shown:
                    await self._consent(each, needed)
                    shown.add(page)
            await self._wait(waiting)

    async def _consent(self, asked: Asked, needed: Sequence[VisitQuestion]) -> None:
        outcome = await outcome_of(self._answerer, asked, self._timeout)
        if isinstance(outcome, Accepted):
            return
        for visit in needed:
            if visit.id is not None:
                self._visits.forget(visit.id)
        server, advice = server_name(asked.server), "The call was not retried."
        if isinstance(outcome, Declined):
            raise UserDeclined(f"You declined to open the page that {server} needs", advice=advice)
        raise UserCancelled(f"The page that {server} needs was not opened", advice=advice)

    async def _wait(self, waiting: Waiting) -> None:
        """Wait until all visits are done, the user decides, or time is up."""
        if waiting.finished:
            return
        server = server_name(waiting.asked[0].server)
        with anyio.move_on_after(self._patience):
            decision = await _ask_user(waiting, self._answerer) if isinstance(self._answerer, Waits) else None
            if decision is None:
                limit = "" if self._patience is None else f", {self._patience:g} s at most"
                _log.warning(f"the call waits until {server} reports that its page is done{limit}; then it is repeated")
                await waiting.done()
            elif not decision:
                raise UserCancelled(
                    f"You gave up waiting for what {server} needs", advice="Call again when it is done."
                )


async def _ask_user(waiting: Waiting, answerer: Waits) -> bool | None:
    """Wait until all visits are done or the user decides. True: repeat the call. None if the answerer fails."""
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


def find_required_visits(error: MCPError, *, ids: bool) -> list[VisitQuestion]:
    """The visits that this error requires.

    Raises:
        InvalidForm: It's malformed. Says where, and what's wrong.
    """
    data: Any = error.data
    listed: Any = cast("dict[str, Any]", data).get("elicitations") if isinstance(data, dict) else None
    if not isinstance(listed, list) or not listed:
        raise InvalidForm("data.elicitations is not a list of visits")
    if len(cast("list[Any]", listed)) > MAX_REQUIRED_VISITS:  # before they're read
        raise InvalidForm(f"data.elicitations has more than {MAX_REQUIRED_VISITS} visits")
    return [
        _read_visit(f"data.elicitations.{place}", each, ids) for place, each in enumerate(cast("list[Any]", listed))
    ]


def _read_visit(place: str, given: Any, ids: bool) -> VisitQuestion:
    try:
        visit = read_question(ElicitRequestURLParams.model_validate(given))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, (place, *first["loc"])))
        raise InvalidForm(plain_line(f"{where}: {first['msg']}")) from None
    except InvalidForm as fault:
        raise InvalidForm(f"{place}: {fault}") from None
    if not isinstance(visit, VisitQuestion) or (ids and not visit.id):
        raise InvalidForm(f"{place}.elicitationId: Field required")
    return visit


def _reason(said: str, visit: VisitQuestion) -> str:
    """What the error says to the user; nothing if it's the visit's own message, or what SDKs say by default."""
    return "" if said.strip() == visit.message.strip() or _BY_DEFAULT.fullmatch(said.strip()) else said


def _page(visit: VisitQuestion) -> Page:
    """What makes a page the same for the user.

    Many servers make a new id at each attempt, and put it into the URL: as a part of its path, or as a value of its
    query. Only there may two pages differ. Another page is asked for again, so a guard and the user see its address.
    """
    parts = parse_url(visit.url)
    path, query = parts.path.split("/"), [part.partition("=") for part in parts.query.split("&")]
    if visit.id is not None and _ID.fullmatch(visit.id):
        path = [_ANY if part == visit.id else part for part in path]
        query = [(name, mark, _ANY if value == visit.id else value) for name, mark, value in query]
    return visit.message, parts.scheme, parts.netloc, tuple(path), tuple(query), parts.fragment


def code_in(error: MCPError) -> Mapping[str, Any]:
    """The resume code for the retry, in its `_meta`, if the error carries one."""
    data: Any = error.data
    meta: Any = cast("dict[str, Any]", data).get("_meta") if isinstance(data, dict) else None
    code: Any = cast("dict[str, Any]", meta).get(protocol.CODE) if isinstance(meta, dict) else None
    return {protocol.CODE: code} if isinstance(code, str) else {}
