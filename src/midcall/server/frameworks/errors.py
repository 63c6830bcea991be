"""How an error of ours gets through the server to the one who has to read it.

The servers hide the text of exceptions that they do not know, and log them as crashes. `MCPServer`
and the low-level `Server` let an `MCPError` through, FastMCP a `ToolError`; so what a verb raises is
given that base class. What leaves a call uncaught becomes a short result for the model, or, where
the protocol has a word for it, a protocol error.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    REQUEST_TIMEOUT,
    SERVER_INFO_META_KEY,
    ErrorData,
)

from midcall.errors import (
    ClientFailed,
    InvalidJournal,
    InvalidQuestion,
    JournalTooLarge,
    MalformedAnswer,
    MidcallError,
    Misuse,
    NoCall,
    NoChannel,
    NotAnswered,
    ReplayError,
    ReplayMismatch,
    StoreError,
    TimedOut,
    TooManyRounds,
)
from midcall.restoring import restored
from midcall.wording import mistakes as wording
from midcall.wording import unanswered

if TYPE_CHECKING:
    from midcall.server.call import Call

__all__ = ["Ours", "ending", "fail", "find_ours", "let_through", "passable", "protocol_error", "stamped", "surfaced"]

logger = logging.getLogger("midcall")

_CLOSED: Final = (
    InvalidQuestion,
    Misuse,
    MalformedAnswer,
    ReplayMismatch,
    InvalidJournal,
    JournalTooLarge,
    TooManyRounds,
)
_WRAPPERS: Final = (
    "Error executing tool ",
    "Error calling tool ",
    "Error reading resource ",
    "Error creating resource ",
    "Error rendering prompt ",
)
"""How the errors begin that servers put around what a tool, a resource or a prompt has raised."""

Ours: TypeAlias = MidcallError | UrlElicitationRequiredError
"""What our middleware knows an end for."""


def surfaced(error: MidcallError, call: Call | None) -> BaseException:
    """What a verb raises for this error: the same, in the class that this call's server lets through.

    For an author's mistake or a lost call it is a cancellation, which passes `except Exception`: tools take our errors
    for "this client can't ask", and some go ahead then.
    """
    if call is not None and is_closed(error):
        fail(error, call)
        return asyncio.CancelledError()
    return passable(error, call)


def is_closed(error: MidcallError) -> bool:
    """Whether this error ends the call, whatever its tool does."""
    return isinstance(error, _CLOSED)


def fail(error: MidcallError, call: Call) -> None:
    """End the call with this error, whatever its tool returns."""
    if call.failed is None:
        call.failed = error
    _report(error, call, stack=True)  # its traceback has not reached the tool
    call.run.stop("failed")


def passable(error: MidcallError, call: Call | None) -> MidcallError:
    """The same error, in the class that this call's server lets through."""
    if isinstance(error, MCPError):
        return error
    base = _base_without_midcall() if call is None else call.installation.error_base
    copy = restored(let_through(type(error), base), error.args, error.__dict__)
    copy.error = _error_data(error, call)  # pyright: ignore[reportAttributeAccessIssue]
    if call is None and isinstance(error, NoCall):  # without midcall: then nobody else says it
        logger.error("%s %s", error, error.explained)
        if base is not MCPError:  # FastMCP shows the model what the error says
            copy.text, copy.advice = error.for_model, ""
    return copy


def _base_without_midcall() -> type[Exception]:
    """What is let through by the server of this request, where midcall is not installed on it."""
    module = sys.modules.get("fastmcp.server.dependencies")
    if module is None or module.fastmcp_request_ctx.get() is None:
        return MCPError
    from fastmcp.exceptions import ToolError

    return ToolError


ErrorT = TypeVar("ErrorT", bound=Exception)


def let_through(cls: type[ErrorT], base: type[Exception]) -> type[ErrorT]:
    """This class of error with the base that a server lets through."""
    return cls if issubclass(cls, base) else cast("type[ErrorT]", _with_base(cls, base))


@lru_cache(maxsize=256)
def _with_base(cls: type[Exception], base: type[Exception]) -> type[Exception]:
    def reduce(error: Exception) -> tuple[Any, ...]:
        return _restored_through, (cls, base, error.args, error.__dict__)

    bases = (cls, base) if issubclass(base, MCPError) or issubclass(cls, MCPError) else (cls, base, MCPError)
    own = {"__module__": cls.__module__, "__doc__": cls.__doc__, "__reduce__": reduce, "log_level": logging.INFO}
    return type(cls.__name__, bases, own)


def _restored_through(
    cls: type[Exception], base: type[Exception], args: tuple[Any, ...], state: dict[str, Any]
) -> Exception:
    """A copy of an error in the class that a server lets through: that class cannot be imported by its name."""
    return restored(let_through(cls, base), args, state)


def _error_data(error: MidcallError, call: Call | None) -> ErrorData:
    told = _told(error, call)
    match error:
        case NoChannel(undeclared=str(mode)) if call is not None and call.modern:
            required: dict[str, Any] = {"elicitation": {mode: {}}}
            return ErrorData(
                code=MISSING_REQUIRED_CLIENT_CAPABILITY,
                message=told,
                data={"requiredCapabilities": required, "docs": error.docs},
            )
        case ClientFailed(code=int(code)):
            return ErrorData(code=code, message=error.message, data=error.data)
        case MalformedAnswer() | InvalidJournal():
            return ErrorData(code=INVALID_PARAMS, message=error.text, data={"docs": error.docs})
        case TimedOut():
            return ErrorData(code=REQUEST_TIMEOUT, message=told, data={"docs": error.docs})
        case NotAnswered():
            return ErrorData(code=INVALID_REQUEST, message=told, data={"docs": error.docs})
        case _:
            return ErrorData(code=INTERNAL_ERROR, message=told, data={"docs": error.docs})


def _told(error: MidcallError, call: Call | None) -> str:
    """What the model hears: the author's mistakes stay on the server, but for what was done by then."""
    tells = isinstance(error, (NotAnswered, ReplayError)) and not isinstance(error, NoCall)
    if not tells and error.for_model == error.text:
        return wording.model_broken()
    done = [] if call is None or not tells else [s for s in call.journal.effects() if repr(s) not in error.for_model]
    return f"{error.for_model} {unanswered.model_done_before(done)}" if done else error.for_model


def protocol_error(error: MidcallError, call: Call | None) -> MCPError:
    """This error as the answer to the request."""
    data = _error_data(error, call)
    return MCPError(code=data.code, message=data.message, data=data.data)


def find_ours(error: BaseException | None) -> Ours | None:
    """The error of ours, or the SDK's -32042, that this is, or that a server or a task group has wrapped.

    None where an author wrapped it, or where a group holds anything else as well: then that is the failure.
    """
    if isinstance(error, (MidcallError, UrlElicitationRequiredError)):
        return error
    if isinstance(error, BaseExceptionGroup):
        return _all_ours([find_ours(each) for each in cast("BaseExceptionGroup[BaseException]", error).exceptions])
    if error is None or error.__cause__ is None:
        return None
    wrapped = str(error).startswith(_WRAPPERS) or str(error) == str(error.__cause__)
    return find_ours(error.__cause__) if wrapped else None


def _all_ours(found: list[Ours | None]) -> Ours | None:
    """The one to tell: a mistake, since nobody else would hear of it, else the first."""
    ours = [each for each in found if each is not None]
    if len(ours) < len(found):
        return None
    mistakes = (each for each in ours if not isinstance(each, (NotAnswered, UrlElicitationRequiredError)))
    return next(mistakes, ours[0])


def ending(error: MidcallError, call: Call) -> dict[str, Any]:
    """How an uncaught error ends the call.

    A tool has a result for it, which the model reads. Prompts and resources have only errors.
    """
    if isinstance(error, NotAnswered) and not isinstance(error, NoCall):
        logger.info("call ended: %s", type(error).__name__)
        if isinstance(error, NoChannel):
            call.installation.warn_once(f"no channel: {error}", f"{error.with_advice} {error.explained}")
    elif error is not call.failed:
        _report(error, call)
    undeclared = isinstance(error, NoChannel) and error.undeclared is not None and call.modern
    if undeclared or isinstance(error, (MalformedAnswer, InvalidJournal)) or call.method != "tools/call":
        raise protocol_error(error, call) from error
    result: dict[str, Any] = {"content": [{"type": "text", "text": _told(error, call)}], "isError": True}
    return stamped(result, call, "complete")


def _report(error: MidcallError, call: Call, *, stack: bool = False) -> None:
    """Log an author's mistake or a lost call, once per tool and text; with the `stack` of whoever makes it."""
    what = wording.mistake(type(error).__name__, call.called)
    outage = isinstance(error, StoreError)  # and no mistake: it would fill the log with the driver's frames
    if outage or call.installation.is_new(f"{what}: {error}"):
        logger.error("%s: %s %s", what, error, error.explained, exc_info=None if outage else error, stack_info=stack)


def stamped(result: dict[str, Any], call: Call, result_type: str) -> dict[str, Any]:
    """What the SDK adds to a handler's result, and not to a middleware's."""
    if call.modern:
        result["resultType"] = result_type
        result["_meta"] = {SERVER_INFO_META_KEY: call.installation.stamp}
    return result
