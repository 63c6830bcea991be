"""How our errors get through the server to their reader.

Servers hide the text of exceptions that they don't know, and log them as crashes. `MCPServer` and the low-level
`Server` let an `MCPError` through, FastMCP a `ToolError`, so what a verb raises gets that base class. An uncaught error
becomes a short result for the model, or a protocol error if the protocol has one for it.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from functools import lru_cache, wraps
from typing import Any, Final, ParamSpec, TypeAlias, TypeVar, cast

from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    REQUEST_TIMEOUT,
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
    UserCancelled,
    UserDeclined,
)
from midcall.server import model_text
from midcall.server.call import Call, current_call

logger = logging.getLogger("midcall")

_FATAL: Final = (  # these end the call, even if the tool catches them
    InvalidQuestion,
    Misuse,
    MalformedAnswer,
    ReplayMismatch,
    InvalidJournal,
    JournalTooLarge,
    TooManyRounds,
    StoreError,
)
_WRAPPERS: Final = (
    "Error executing tool ",
    "Error calling tool ",
    "Error reading resource ",
    "Error creating resource ",
    "Error rendering prompt ",
)
"""How servers' own errors begin that wrap what a tool, a resource or a prompt has raised."""
_MARK: Final = "__midcall__"

Ours: TypeAlias = MidcallError | UrlElicitationRequiredError
"""Errors that our middleware ends a call with."""

ErrorT = TypeVar("ErrorT", bound=Exception)
P = ParamSpec("P")
T = TypeVar("T")


def surface(error: MidcallError, call: Call | None) -> BaseException:
    """What a verb raises for this error: the same, in the class that this call's server lets through.

    For an author's mistake, a lost call or a store that can't be used, it is a cancellation, which passes `except
    Exception`: many tools read our errors as "this client can't ask", and some proceed then.
    """
    if call is not None and isinstance(error, _FATAL):
        fail(error, call)
        return asyncio.CancelledError()
    return _passable(error, call)


def fail(error: MidcallError, call: Call) -> None:
    """End the call with this error, even if its tool returns a result."""
    _report(error, call, stack=not isinstance(error, StoreError))  # the traceback has not reached the tool
    call.fail(error)


def _passable(error: MidcallError, call: Call | None) -> MidcallError:
    """The same error, in the class that this call's server lets through."""
    if isinstance(error, MCPError):
        return error
    base = _base_without_midcall() if call is None else call.installation.error_base
    copy = MidcallError.rebuild(let_through(type(error), base), error.args, error.__dict__)
    copy.error = _error_data(error, call)  # pyright: ignore[reportAttributeAccessIssue]
    if call is None and isinstance(error, NoCall):  # the server doesn't have midcall, so nobody else logs it
        logger.error("%s %s", error, error.reference)
        if base is not MCPError:  # FastMCP shows the model what the error says
            copy.text, copy.advice = error.for_model, ""
    return copy


def _base_without_midcall() -> type[Exception]:
    """What the server of this request lets through, if midcall isn't installed on it."""
    module = sys.modules.get("fastmcp.server.dependencies")
    if module is None or module.fastmcp_request_ctx.get() is None:
        return MCPError
    from fastmcp.exceptions import ToolError

    return ToolError


def let_through(cls: type[ErrorT], base: type[Exception]) -> type[ErrorT]:
    """This class of error with the base that a server lets through."""
    return cls if issubclass(cls, base) else cast("type[ErrorT]", _with_base(cls, base))


@lru_cache(maxsize=256)
def _with_base(cls: type[Exception], base: type[Exception]) -> type[Exception]:
    def reduce(error: Exception) -> tuple[Any, ...]:
        return _restore_through, (cls, base, error.args, error.__dict__)

    bases = (cls, base) if issubclass(base, MCPError) or issubclass(cls, MCPError) else (cls, base, MCPError)
    own = {"__module__": cls.__module__, "__doc__": cls.__doc__, "__reduce__": reduce, "log_level": logging.INFO}
    return type(cls.__name__, bases, own)


def _restore_through(
    cls: type[Exception], base: type[Exception], args: tuple[Any, ...], state: dict[str, Any]
) -> Exception:
    """Unpickle an error in the class that a server lets through, which can't be imported by name."""
    return MidcallError.rebuild(let_through(cls, base), args, state)


def _error_data(error: MidcallError, call: Call | None) -> ErrorData:
    text = _text_for_model(error, call)
    match error:
        case NoChannel(undeclared=str(mode)) if call is not None and call.modern:
            required: dict[str, Any] = {"elicitation": {mode: {}}}
            return ErrorData(
                code=MISSING_REQUIRED_CLIENT_CAPABILITY,
                message=text,
                data={"requiredCapabilities": required, "docs": error.docs},
            )
        case ClientFailed(code=int(code)):
            return ErrorData(code=code, message=error.message, data=error.data)
        case MalformedAnswer() | InvalidJournal():
            return ErrorData(code=INVALID_PARAMS, message=error.text, data={"docs": error.docs})
        case TimedOut():
            return ErrorData(code=REQUEST_TIMEOUT, message=text, data={"docs": error.docs})
        case NotAnswered():
            return ErrorData(code=INVALID_REQUEST, message=text, data={"docs": error.docs})
        case _:
            return ErrorData(code=INTERNAL_ERROR, message=text, data={"docs": error.docs})


def _text_for_model(error: MidcallError, call: Call | None) -> str:
    """What the model reads: the text of the error, and which effects the call has had."""
    if call is None or isinstance(error, NoCall) or not isinstance(error, (NotAnswered, ReplayError)):
        return error.for_model
    steps = [step for step in call.journal.effects() if repr(step) not in error.for_model]
    return f"{error.for_model} {model_text.list_completed_steps(steps)}" if steps else error.for_model


def protocol_error(error: MidcallError, call: Call | None) -> MCPError:
    """This error as the answer to the request."""
    data = _error_data(error, call)
    return MCPError(code=data.code, message=data.message, data=data.data)


def find_ours(error: BaseException | None) -> Ours | None:
    """Our error, or the SDK's -32042, that this is or that a server or a task group has wrapped.

    None if an author wrapped it, or if a group has another error as well: then that is the failure.
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
    """The one to report: a mistake, because nobody else reports it, else the first."""
    ours = [each for each in found if each is not None]
    if len(ours) < len(found):
        return None
    mistakes = (each for each in ours if not isinstance(each, (NotAnswered, UrlElicitationRequiredError)))
    return next(mistakes, ours[0])


def ending(error: MidcallError, call: Call) -> dict[str, Any]:
    """How an uncaught error ends the call.

    A tool returns it as a result, which the model reads. Prompts and resources can only fail.
    """
    if isinstance(error, NotAnswered) and not isinstance(error, NoCall):
        logger.info("call ended: %s", type(error).__name__)
        if isinstance(error, NoChannel):
            call.installation.warn_once(f"no channel: {error}", f"{error.with_advice} {error.reference}")
    elif error is not call.failed:
        _report(error, call)
    if not isinstance(error, (UserDeclined, UserCancelled, TimedOut)):
        call.audit("call.failed", outcome=type(error).__name__)
    undeclared = isinstance(error, NoChannel) and error.undeclared is not None and call.modern
    if undeclared or isinstance(error, (MalformedAnswer, InvalidJournal)) or call.method != "tools/call":
        raise protocol_error(error, call) from error
    result: dict[str, Any] = {"content": [{"type": "text", "text": _text_for_model(error, call)}], "isError": True}
    return call.stamp(result, "complete")


def _report(error: MidcallError, call: Call, *, stack: bool = False) -> None:
    """Log an author's mistake or a lost call, once per tool and text; with the `stack` of the code that caused it."""
    what = describe_mistake(type(error).__name__, call.called)
    outage = isinstance(error, StoreError)  # not a mistake: the driver's frames would fill the log
    if outage or call.installation.is_new(f"{what}: {error}"):
        logger.error("%s: %s %s", what, error, error.reference, exc_info=None if outage else error, stack_info=stack)


def describe_mistake(kind: str, called: object) -> str:
    """How a line in the log begins: what, and in which tool."""
    return f"{kind} in {called!r}" if isinstance(called, str) else kind


# --- inside the server --------------------------------------------------------------------------


def look_inside(owner: object, *entries: str) -> None:
    """Replace what these methods raise before the server hides its text and logs it as a crash.

    Servers run the author's code by these methods. A tool that asks can end with an error that isn't a failure: a run
    that is ended is cancelled, and a bare `except:` or a failing cleanup turns that into another error; a task group
    puts our error into a group. A method that a later version of the server doesn't have is skipped.
    """
    for name in entries:
        entry = getattr(owner, name, None)
        if entry is not None and not hasattr(entry, _MARK):
            setattr(owner, name, _replacing(entry))


def _replacing(entry: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    @wraps(entry)
    async def replacing(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await entry(*args, **kwargs)
        except Exception as exc:
            await _replace(exc)
            raise

    setattr(replacing, _MARK, True)
    return replacing


async def _replace(error: Exception) -> None:
    """Raise what the server should see instead of this error. An author's own error stays."""
    call = current_call.get()
    if call is None:
        return
    if call.run.ending is not None:
        raise asyncio.CancelledError
    ours = find_ours(error)
    seen = _passable(ours, call) if isinstance(ours, MidcallError) else ours
    if ours is not None and seen is not None and seen is not error:
        raise seen.with_traceback(ours.__traceback__) from ours.__cause__


def is_failure(error: BaseException | None) -> bool:
    """Whether this is the author's failure: the run isn't being ended, and the error isn't ours."""
    call = current_call.get()
    if call is None:
        return True
    return call.run.ending is None and find_ours(error) is None
