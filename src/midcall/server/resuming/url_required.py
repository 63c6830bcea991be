"""The -32042 way: a request that cannot be served before the user has visited some URL."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp_types import ElicitRequestURLParams

from midcall.core.journal import asking_mark, required_name
from midcall.core.question import Visit
from midcall.errors import InvalidQuestion, NoChannel, TimedOut
from midcall.restoring import restored
from midcall.server.call import current_call
from midcall.server.channels.capability import lacks_the_error
from midcall.server.channels.push import signs_of_life
from midcall.server.channels.request import elicitation_params
from midcall.server.channels.table import Asking
from midcall.server.frameworks.errors import let_through
from midcall.server.resuming import holding
from midcall.server.resuming.retry import give_code
from midcall.server.resuming.visits import NotHeld
from midcall.server.verbs.value import refused
from midcall.wording import later, reaching, unanswered

if TYPE_CHECKING:
    from midcall.server.call import Call

__all__ = ["UrlElicitationRequired", "check_required", "leave_with_visits"]


class UrlElicitationRequired(UrlElicitationRequiredError):
    """Raise it where a tool cannot go on before the user has visited these URLs.

    Up to 2025-11-25 it reaches the client as the error -32042; on 2026-07-28, which has no such
    error, it becomes a round with these visits.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        call = current_call.get()
        return super().__new__(cls if call is None else let_through(cls, call.installation.error_base))

    def __init__(self, elicitations: Sequence[Visit | ElicitRequestURLParams], message: str | None = None) -> None:
        if not isinstance(elicitations, Sequence) or isinstance(elicitations, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidQuestion(
                "UrlElicitationRequired() takes a list of visits, [Visit(message, url)], and not "
                f"{type(elicitations).__name__}."
            )
        if not elicitations:
            raise InvalidQuestion("UrlElicitationRequired needs at least one visit.")
        super().__init__([_params(index, item) for index, item in enumerate(elicitations)], message)
        self.log_level = logging.INFO  # read by FastMCP: this is no failure

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (type(self), self.args, self.__dict__)


def _params(index: int, item: Visit | ElicitRequestURLParams) -> ElicitRequestURLParams:
    if not isinstance(item, (Visit, ElicitRequestURLParams)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidQuestion(
            f"UrlElicitationRequired() takes visits, Visit(message, url), and not {type(item).__name__}: a form "
            "has no URL to be sent to."
        )
    call = current_call.get()
    visit = item if isinstance(item, Visit) else Visit(item.message, item.url, id=item.elicitation_id)
    if visit.id is not None:
        id = visit.id
    elif call is not None:
        id = call.derive("required", str(index), visit.digest)
    else:
        raise InvalidQuestion("Outside a call a visit needs an id of its own: Visit(message, url, id=...).")
    return ElicitRequestURLParams(message=visit.message, url=visit.address(id), elicitation_id=id)


async def check_required(call: Call, error: UrlElicitationRequiredError) -> UrlElicitationRequiredError:
    """This error, fit for the wire of this client: it has declared URLs, and each visit has an id.

    Raises:
        UrlElicitationRequiredError: The client cannot be sent anywhere, and the SDK's own error was raised: this one.
        NoChannel: The same, for ours.
    """
    if reason := lacks_the_error(call):
        if not isinstance(error, UrlElicitationRequired):
            raise error
        reasons = {"required": reason}
        raise NoChannel(
            reaching.no_channel(reason),
            mode="url",
            reasons=reasons,
            undeclared="url" if call.modern else None,
            advice=reaching.no_channel_advice("url", reasons),
            for_model=reaching.model_cannot_ask(),
        )
    if not all(visit.elicitation_id for visit in error.elicitations):
        named = [
            visit.model_copy(update={"elicitation_id": visit.elicitation_id or call.derive("required", str(index))})
            for index, visit in enumerate(error.elicitations)
        ]
        error = UrlElicitationRequiredError(named, error.message)
    for visit in error.elicitations:
        await call.installation.visits.asked(call, visit.elicitation_id or "")
    await give_code(call, error)
    return error


async def leave_with_visits(call: Call, error: UrlElicitationRequiredError) -> dict[str, dict[str, Any]] | None:
    """The questions of a round in place of this error; None if all was done there, and the tool is to run again.

    Each visit is asked for once. After the user has agreed, the request is held until the visit is completed; if that
    takes too long, the call ends with a resume code. A visit that is still required then is asked for again.

    Raises:
        UserDeclined, UserCancelled: The user did not agree to one of them.
        TimedOut: They agreed, are not done, and the call cannot be resumed later.
        NoChannel, UrlElicitationRequiredError: The client cannot be sent to a URL.
    """
    await check_required(call, error)
    requests: dict[str, dict[str, Any]] = {}
    agreed: dict[str, str] = {}
    for index, params in enumerate(error.elicitations):
        visit = Visit(params.message, params.url, id=params.elicitation_id)
        identity = required_name(index, visit.digest)
        entry = call.replay.recorded(identity, visit)
        if entry is not None and entry.kind in ("decline", "cancel"):
            refused(entry.kind)
        attempt = 1 if entry is None else entry.attempt
        if entry is not None and entry.kind in ("accept", "fits"):
            tried = asking_mark("tried", identity, attempt)
            if call.replay.noted(tried) is None:
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
        raise TimedOut(unanswered.visit_not_done(), for_model=unanswered.model_visit_not_done())
    call.later = later.waits_for_a_page()
    return {}
