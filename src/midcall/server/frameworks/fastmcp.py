"""What FastMCP needs in addition: it refuses before and after the hooks that the SDK offers."""

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
from midcall.server.call import Call, current_call
from midcall.server.channels.required import UrlElicitationRequired
from midcall.server.frameworks.errors import find_ours, is_failure, look_inside
from midcall.server.frameworks.session import AskingSession
from midcall.server.installation import Installation, installation_on

_MARK: Final = "__midcall__"


def prepare(server: FastMCP[Any], installation: Installation) -> None:
    """Let our errors through FastMCP, and let its `ctx.elicit` reach the session."""
    installation.on_ask = _reach_session
    server.add_middleware(_LetThrough())
    _look_inside_classes()
    if not hasattr(Context.elicit, _MARK):  # patch the class once: outside our calls nothing changes
        Context.elicit = _passing(Context.elicit)


def _passing(elicit: Callable[..., Awaitable[Any]]) -> Any:
    """`Context.elicit`, which refuses 2026-07-28 by the version in the request before it reaches the session.

    It sees a version that can push, for one step only: when the question reaches the session, the real version is back,
    and no other code has seen this one.
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


def _look_inside_classes() -> None:
    """Look at what a tool, prompt or resource raises, even in mounted servers.

    Patches the classes once: outside our calls nothing changes. A prompt logs its own failure before anybody else sees
    it, and the server logs any error of a prompt or a resource with its traceback, so both get filters.
    """
    look_inside(Tool, "_run")
    look_inside(Prompt, "_render")
    for cls in (Resource, ResourceTemplate, *ResourceTemplate.__subclasses__()):  # subclasses override it
        look_inside(cls, "_read")
    logging.getLogger(FunctionPrompt.__module__).addFilter(_is_failure)
    logging.getLogger(FastMCP.__module__).addFilter(_shorten)


def _is_failure(record: logging.LogRecord) -> bool:
    return not record.exc_info or is_failure(record.exc_info[1])


def _shorten(record: logging.LogRecord) -> bool:
    """Log expected outcomes (the user declined) on one line, without a traceback."""
    if not _is_failure(record):
        record.exc_info = None
    return True


class _LetThrough(Middleware):
    """Unwraps our errors, which FastMCP has wrapped, for our own middleware."""

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
                raise MidcallError.rebuild(UrlElicitationRequired, ours.args, ours.__dict__) from None
            if isinstance(ours, UrlElicitationRequiredError):
                if call.lacks_visit_errors() is not None:
                    raise  # as without midcall
                raise UrlElicitationRequiredError(ours.elicitations, ours.message) from None
            # In its own class: FastMCP would catch a `ToolError` on the way out.
            classes = cast("tuple[type[MidcallError], ...]", type(ours).__mro__)
            own = next(base for base in classes if not issubclass(base, MCPError))
            raise MidcallError.rebuild(own, ours.args, ours.__dict__).with_traceback(ours.__traceback__) from None


def _adopt_request(context: MiddlewareContext[Any]) -> None:
    call, request = current_call.get(), fastmcp_request_ctx.get()
    if call is not None:
        _follow(call)
    elif request is not None and request.protocol_version in MODERN_PROTOCOL_VERSIONS:
        _warn_of_outer_server(context)


def _follow(call: Call) -> None:
    """Keep FastMCP's own copy of the request up to date with the call."""
    request = fastmcp_request_ctx.get()
    if request is not None and not any(request is each for each in call.followers):
        call.followers.append(request)


def _reach_session(call: Call) -> None:
    """A tool's question has reached the session: restore the version."""
    _follow(call)
    if (request := fastmcp_request_ctx.get()) is not None and call.modern:
        request.protocol_version = call.version


def _warn_of_outer_server(context: MiddlewareContext[Any]) -> None:
    """Warn if midcall is installed on a mounted server, and the call came by an outer server without it."""
    if context.fastmcp_context is None or context.method not in INPUT_REQUIRED_METHODS:
        return
    installation = installation_on(context.fastmcp_context.fastmcp)
    if installation is not None and installation.adopt:
        installation.warn_once(
            "outer",
            f"A call came to {installation.server_title}, which is mounted in a server without midcall. There, "
            "ctx.elicit is not adopted and fails on 2026-07-28. Call midcall.install(...) on the outer server, which "
            "clients connect to.",
        )
