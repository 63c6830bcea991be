"""The session that a tool sees under an installed midcall.

It is the SDK's own session, with one difference: what the tool asks the client (`elicitation/create`, and on
2026-07-28 `sampling/createMessage` and `roots/list` too) goes through midcall. It follows the newest request of its
call; between two requests it drops notifications, because there is nobody to hear them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import anyio
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.shared.dispatcher import CallOptions, ProgressFnT
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    CreateMessageRequest,
    ElicitRequest,
    ListRootsRequest,
    RequestId,
    ServerNotification,
    ServerRequest,
)
from pydantic import BaseModel

if TYPE_CHECKING:
    from midcall.server.call import Call

ResultT = TypeVar("ResultT", bound=BaseModel)

_BEAT: Final = 1e-3
"""How much a heartbeat adds to the progress: little, since it must stay below what the tool reports next."""


class _Nowhere:
    """The channel between two requests: it drops notifications."""

    can_send_request = False

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        pass

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        pass


_NOWHERE: Final[Any] = _Nowhere()


class AskingSession(ServerSession):
    _progress: float = 0

    def __init__(self, session: ServerSession, call: Call) -> None:
        # As little as possible: every call makes one, even if it never asks.
        self._session = session
        self._request_outbound = session._request_outbound
        self._connection = session._connection
        self._call = call

    def __getattr__(self, name: str) -> Any:
        """Whatever else the SDK's session of this request knows."""
        if name == "_session":  # a copy that is still being made
            raise AttributeError(name)
        return getattr(self._session, name)

    def follow(self, session: ServerSession) -> None:
        """A newer request continues the call. The connection stays that of the first one."""
        self._session = session
        self._request_outbound = session._request_outbound

    def detach(self) -> None:
        """The request returns, and the run stays."""
        self._request_outbound = _NOWHERE

    @property
    def connection(self) -> Connection:
        """The client, for as long as it is connected."""
        return self._connection

    @property
    def client_capabilities(self) -> Any:
        return self._session.client_capabilities

    @property
    def client_params(self) -> Any:
        return self._session.client_params

    @property
    def can_send_request(self) -> bool:
        """A tool can always ask: if the client can't be pushed to, the question leaves in a round."""
        return self._call.modern or self._request_outbound.can_send_request

    @property
    def cancel_requested(self) -> anyio.Event | None:
        """Set when the client gives up on this request, if the connection can tell."""
        return getattr(self._request_outbound, "cancel_requested", None)

    def push(self, params: dict[str, Any]) -> Awaitable[dict[str, Any]]:
        """Send `elicitation/create` on the stream of the request that asks, and await the raw answer."""
        return self._request_outbound.send_raw_request("elicitation/create", params)

    async def send_request(
        self,
        request: ServerRequest,
        result_type: type[ResultT],
        request_read_timeout_seconds: float | None = None,
        metadata: ServerMessageMetadata | None = None,
        progress_callback: ProgressFnT | None = None,
    ) -> ResultT:
        if (call := self._asking_call(request)) is not None:
            from midcall.server.frameworks.adoption import answer_for, reply_to

            if call.installation.on_ask is not None:
                call.installation.on_ask(call)
            if isinstance(request, ElicitRequest):
                return cast("ResultT", await answer_for(call, request.params, request_read_timeout_seconds))
            if isinstance(request, CreateMessageRequest | ListRootsRequest):
                return await reply_to(call, request, result_type, request_read_timeout_seconds)
        return await super().send_request(
            request, result_type, request_read_timeout_seconds, metadata, progress_callback
        )

    def _asking_call(self, request: ServerRequest) -> Call | None:
        """The call that asks this; None if the SDK sends it.

        A session that was kept from an earlier call asks through the call that runs now, if there is one.
        """
        call = self._call
        if call.ended or call.run.done:
            from midcall.server.call import current_call

            call = current_call.get()
            if call is None or ((call.ended or call.run.done) and call.run.ending is None):
                return None
        if not call.installation.adopt:
            return None
        if isinstance(request, ElicitRequest):
            return call
        return call if call.modern and isinstance(request, CreateMessageRequest | ListRootsRequest) else None

    async def send_notification(
        self, notification: ServerNotification, related_request_id: RequestId | None = None
    ) -> None:
        if self._request_outbound is not _NOWHERE:
            await super().send_notification(notification, related_request_id)

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        self._progress = max(self._progress, progress)
        await super().report_progress(progress, total, message)

    async def send_progress_notification(
        self,
        progress_token: str | int,
        progress: float,
        total: float | None = None,
        message: str | None = None,
        related_request_id: str | None = None,
    ) -> None:
        if progress_token == self._call.progress_token:
            self._progress = max(self._progress, progress)
        await super().send_progress_notification(progress_token, progress, total, message, related_request_id)

    async def beat(self, message: str) -> None:
        """A heartbeat on the caller's progress token, while a person thinks."""
        await self.report_progress(self._progress + _BEAT, message=message)


# --- what a framework holds of a request ----------------------------------------------------------
#
# A run keeps the connection of its first request. The channel, the request id, the progress token and the HTTP request
# are those of the newest one.

_FOLLOWING: Final = ("request", "close_sse_stream", "close_standalone_sse_stream")
_ALL_FIELDS: Final = len(fields(ServerRequestContext)) == 10
"""Whether `with_session` knows all fields of a context. A later SDK may have more."""


def with_session(ctx: ServerRequestContext[Any, Any], session: ServerSession) -> ServerRequestContext[Any, Any]:
    """`dataclasses.replace`, at a quarter of its price: every call pays it, even if it never asks."""
    if type(ctx) is not ServerRequestContext or not _ALL_FIELDS:
        return replace(ctx, session=session)
    changed = object.__new__(type(ctx))
    changed.session = session
    changed.lifespan_context = ctx.lifespan_context
    changed.protocol_version = ctx.protocol_version
    changed.method = ctx.method
    changed.params = ctx.params
    changed.request_id = ctx.request_id
    changed.meta = ctx.meta
    changed.request = ctx.request
    changed.close_sse_stream = ctx.close_sse_stream
    changed.close_standalone_sse_stream = ctx.close_standalone_sse_stream
    return changed


def with_params(ctx: ServerRequestContext[Any, Any], params: Mapping[str, Any]) -> ServerRequestContext[Any, Any]:
    changed = with_session(ctx, ctx.session)
    changed.params = params
    return changed


def follow_request(held: Any, newest: ServerRequestContext[Any, Any]) -> None:
    """Bring what the framework holds up to date: the SDK's context, or FastMCP's copy of it."""
    of_sdk = type(held) is type(newest)
    held.request_id = newest.request_id if of_sdk or newest.request_id is None else str(newest.request_id)
    held.meta = newest.meta if of_sdk else _raw_meta(newest.params)
    for name in _FOLLOWING:
        if hasattr(held, name):
            setattr(held, name, getattr(newest, name))


def _raw_meta(params: Mapping[str, Any] | None) -> dict[str, Any] | None:
    meta: Any = (params or {}).get("_meta")
    return dict(cast("Mapping[str, Any]", meta)) if isinstance(meta, Mapping) else None
