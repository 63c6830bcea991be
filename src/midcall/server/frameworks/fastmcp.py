"""What FastMCP needs on top: its refusals happen before and after the places that the SDK offers."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Final, cast

from fastmcp import Context, FastMCP
from fastmcp.prompts import FunctionPrompt, Prompt
from fastmcp.resources import Resource, ResourceTemplate
from fastmcp.server.dependencies import fastmcp_request_ctx
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types.methods import INPUT_REQUIRED_METHODS
from mcp_types.version import LATEST_HANDSHAKE_VERSION, MODERN_PROTOCOL_VERSIONS

from midcall.errors import MidcallError
from midcall.restoring import restored
from midcall.server.call import Call, current_call
from midcall.server.channels.capability import lacks_the_error
from midcall.server.frameworks.errors import find_ours
from midcall.server.frameworks.failures import is_failure, look_inside
from midcall.server.frameworks.session import AskingSession
from midcall.server.install import installation_on
from midcall.server.installation import Installation
from midcall.server.resuming.url_required import UrlElicitationRequired
from midcall.wording import installing as wording

__all__ = ["prepare"]

_MARK: Final = "__midcall__"


def prepare(server: FastMCP[Any], installation: Installation) -> None:
    """Let our errors through FastMCP, and let its `ctx.elicit` reach the session."""
    installation.on_ask = _reach_session
    server.add_middleware(_LetThrough())
    _look_inside()
    _let_elicit_pass()


def _let_elicit_pass() -> None:
    """Once, on the class: outside a call of ours nothing changes."""
    if not hasattr(Context.elicit, _MARK):
        Context.elicit = _passing(Context.elicit)


def _passing(elicit: Callable[..., Awaitable[Any]]) -> Any:
    """`Context.elicit`, which refuses 2026-07-28 by the version in the request before it reaches the session.

    It is shown one that can push. That holds for one step: when the session is asked, the real version is back, and no
    other code has seen this one.
    """

    @wraps(elicit)
    async def passing(self: Context, *args: Any, **kwargs: Any) -> Any:
        call, request = current_call.get(), self.request_context
        # The session isn't ours if this call is a client of another server in the same process.
        ours = request is not None and isinstance(request.session, AskingSession)
        if call is None or request is None or not (ours and call.modern and call.installation.adopt):
            return await elicit(self, *args, **kwargs)
        request.protocol_version = LATEST_HANDSHAKE_VERSION
        try:
            return await elicit(self, *args, **kwargs)
        finally:
            request.protocol_version = call.version

    setattr(passing, _MARK, True)
    return passing


def _look_inside() -> None:
    """Look at what a tool, prompt or resource raises where the server calls it, in mounted servers, too.

    Once, on the classes: outside a call of ours nothing changes. A prompt logs its failure by itself, before
    anybody else can see it; the server then logs that of a prompt or a resource with its traceback, whatever it is.
    """
    look_inside(Tool, "_run")
    look_inside(Prompt, "_render")
    for cls in (Resource, ResourceTemplate, *ResourceTemplate.__subclasses__()):  # that of functions reads by itself
        look_inside(cls, "_read")
    logging.getLogger(FunctionPrompt.__module__).addFilter(_is_failure)
    logging.getLogger(FastMCP.__module__).addFilter(_in_one_line)


def _is_failure(record: logging.LogRecord) -> bool:
    return not record.exc_info or is_failure(record.exc_info[1])


def _in_one_line(record: logging.LogRecord) -> bool:
    """What is no failure is logged as that of a tool is: without the traceback of a user who said no."""
    if not _is_failure(record):
        record.exc_info = None
    return True


class _LetThrough(Middleware):
    """FastMCP wraps what a tool raises; this unwraps what our own middleware has to see."""

    async def on_request(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        _adopt_request(context)
        try:
            return await call_next(context)
        except Exception as exc:
            ours = find_ours(exc)
            call = current_call.get()
            if ours is None or call is None:
                raise
            if isinstance(ours, UrlElicitationRequired):
                raise restored(UrlElicitationRequired, ours.args, ours.__dict__) from None
            if isinstance(ours, UrlElicitationRequiredError):
                if lacks_the_error(call) is not None:
                    raise  # as it is without midcall
                raise UrlElicitationRequiredError(ours.elicitations, ours.message) from None
            raise _plain(ours).with_traceback(ours.__traceback__) from None


def _plain(error: MidcallError) -> MidcallError:
    """The error in its own class: no `ToolError` any more, which FastMCP would catch on the way out."""
    classes = cast("tuple[type[MidcallError], ...]", type(error).__mro__)
    return restored(next(base for base in classes if not issubclass(base, MCPError)), error.args, error.__dict__)


def _adopt_request(context: MiddlewareContext[Any]) -> None:
    call, request = current_call.get(), fastmcp_request_ctx.get()
    if call is not None:
        _follow(call)
    elif request is not None and request.protocol_version in MODERN_PROTOCOL_VERSIONS:
        _tell_of_outer(context)


def _reach_session(call: Call) -> None:
    """A tool's question has come to the session."""
    _follow(call)
    if (request := fastmcp_request_ctx.get()) is not None and call.modern:
        request.protocol_version = call.version


def _follow(call: Call) -> None:
    """Keep FastMCP's own copy of the request up to date with the call."""
    request = fastmcp_request_ctx.get()
    if request is not None and not any(request is each for each in call.followers):
        call.followers.append(request)


def _tell_of_outer(context: MiddlewareContext[Any]) -> None:
    """The author has installed midcall, and a call has come in by a server around it that lacks it."""
    if context.fastmcp_context is None or context.method not in INPUT_REQUIRED_METHODS:
        return
    installation = installation_on(context.fastmcp_context.fastmcp)
    if installation is not None and installation.adopt:
        installation.warn_once("outer", wording.only_on_mounted(installation.server_title))
