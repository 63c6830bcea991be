"""-32042: a tool can't continue before the user has visited some URLs."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp_types import ElicitRequestURLParams

from midcall.core.journal import asking_mark, required_name
from midcall.core.outcome import raise_refusal
from midcall.core.question import Visit
from midcall.errors import InvalidQuestion, MidcallError, NoChannel
from midcall.server import model_text
from midcall.server.call import current_call
from midcall.server.channels.push import signs_of_life
from midcall.server.channels.request import elicitation_params
from midcall.server.channels.required import give_code
from midcall.server.channels.table import Asking
from midcall.server.frameworks.errors import let_through
from midcall.server.resuming import holding
from midcall.server.resuming.visits import NotHeld

if TYPE_CHECKING:
    from midcall.server.call import Call


class UrlElicitationRequired(UrlElicitationRequiredError):
    """Raise it if a tool cannot continue before the user has visited these URLs.

    Up to 2025-11-25 the client gets the error -32042. 2026-07-28 has no such error: there it becomes a round with these
    visits.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        call = current_call.get()
        return super().__new__(cls if call is None else let_through(cls, call.installation.error_base))

    def __init__(self, elicitations: Sequence[Visit | ElicitRequestURLParams], message: str | None = None) -> None:
        if not isinstance(elicitations, Sequence) or isinstance(elicitations, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidQuestion(
                "UrlElicitationRequired() takes a list of visits, [Visit(message, url)], not "
                f"{type(elicitations).__name__}."
            )
        if not elicitations:
            raise InvalidQuestion("UrlElicitationRequired needs at least one visit.")
        super().__init__([_params(index, item) for index, item in enumerate(elicitations)], message)
        self.log_level = logging.INFO  # FastMCP reads it: this isn't a failure

    def __reduce__(self) -> tuple[Any, ...]:
        return MidcallError.rebuild, (type(self), self.args, self.__dict__)


def _params(index: int, item: Visit | ElicitRequestURLParams) -> ElicitRequestURLParams:
    if not isinstance(item, (Visit, ElicitRequestURLParams)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidQuestion(
            f"UrlElicitationRequired() takes visits, Visit(message, url), not {type(item).__name__}: a form has no URL."
        )
    call = current_call.get()
    visit = item if isinstance(item, Visit) else Visit(item.message, item.url, id=item.elicitation_id)
    if visit.id is not None:
        id = visit.id
    elif call is not None:
        id = call.derive("required", str(index), visit.digest)
    else:
        raise InvalidQuestion("Outside a call a visit needs its own id: Visit(message, url, id=...).")
    return ElicitRequestURLParams(message=visit.message, url=visit.address(id), elicitation_id=id)


async def check_required(call: Call, error: UrlElicitationRequiredError) -> UrlElicitationRequiredError:
    """This error, ready for this client: each visit has an id, and a retry has its code.

    Raises:
        UrlElicitationRequiredError: The client has not declared URLs, and the tool raised the SDK's own error.
        NoChannel: The client has not declared URLs, and the tool raised ours.
    """
    if reason := call.lacks_visit_errors():
        if not isinstance(error, UrlElicitationRequired):
            raise error
        raise NoChannel(reason, mode="url", undeclared="url" if call.modern else None, reasons={"required": reason})
    if not all(visit.elicitation_id for visit in error.elicitations):
        named = [
            visit.model_copy(update={"elicitation_id": visit.elicitation_id or call.derive("required", str(index))})
            for index, visit in enumerate(error.elicitations)
        ]
        error = UrlElicitationRequiredError(named, error.message)
    for visit in error.elicitations:
        await call.installation.visits.watch(call, visit.elicitation_id or "")
    await give_code(call, error)
    return error


async def leave_with_visits(call: Call, error: UrlElicitationRequiredError) -> dict[str, dict[str, Any]] | None:
    """The questions of a round instead of this error; None if all visits are done, and the tool has to run again.

    Each visit is asked for once. After the user has agreed, the request is held until the visit is completed; if that
    takes too long, the call ends with a resume code. A visit that is still required then is asked for again.

    Raises:
        UserDeclined, UserCancelled: The user did not agree to one of them.
        TimedOut: They agreed but are not done, and the call cannot resume later.
        NoChannel, UrlElicitationRequiredError: The client cannot be sent to a URL.
    """
    await check_required(call, error)
    requests: dict[str, dict[str, Any]] = {}
    agreed: dict[str, str] = {}
    for index, params in enumerate(error.elicitations):
        visit = Visit(params.message, params.url, id=params.elicitation_id)
        identity = required_name(index, visit.digest)
        entry = call.replay.find(identity, visit)
        if entry is not None and entry.kind in ("decline", "cancel"):
            raise_refusal(entry.kind)
        attempt = 1 if entry is None else entry.attempt
        if entry is not None and entry.kind in ("accept", "fits"):
            tried = asking_mark("tried", identity, attempt)
            if call.replay.find_mark(tried) is None:
                agreed[tried] = params.elicitation_id or ""
                continue
            attempt += 1
        entry = call.replay.wait(identity, visit, line=False, deadline=None, attempt=attempt)
        wire = call.replay.wire_key(identity, attempt)
        requests[wire] = {
            "method": "elicitation/create",
            "params": elicitation_params(call, Asking(identity, visit, entry)),
        }
    return requests or await _after_consent(call, agreed)


async def _after_consent(call: Call, agreed: Mapping[str, str]) -> dict[str, dict[str, Any]] | None:
    """Hold the request until these are completed; None if they are."""
    until = time.time() + holding.HOLD_SECONDS
    done = True
    try:
        async with signs_of_life(call):
            for id in agreed.values():
                done = done and await call.installation.visits.wait(id, max(0.0, until - time.time())) is not None
    except NotHeld:
        done = False
    for tried in agreed:
        call.replay.mark(tried, "required", True)
    if done:
        return None
    if call.method != "tools/call":
        raise holding.page_timed_out()
    call.suspend().later = model_text.PAGE_NOT_FINISHED
    return {}
