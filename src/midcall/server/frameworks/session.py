"""The session that a tool sees under an installed midcall.

It is the SDK's own session, with one difference: what the tool asks the client (`elicitation/create`, and on
2026-07-28 `sampling/createMessage` and `roots/list` too) goes through midcall. It follows the newest request of its
call; between two requests it drops notifications, because there is nobody to hear them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import anyio
from mcp.server.connection import Connection
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


def find_outbound(session: ServerSession) -> Any:
    """The channel of the request that this session belongs to."""
    return session._request_outbound  # pyright: ignore[reportPrivateUsage]


def is_cancelled(session: ServerSession) -> bool:
    """Whether the client has given up on the request of this session, if the connection can tell."""
    event: anyio.Event | None = getattr(find_outbound(session), "cancel_requested", None)
    return event is not None and event.is_set()


@dataclass(eq=False, repr=False)
class AskingSession(ServerSession):
    """It has no state: every call makes one, even if it never asks."""

    _call: Call
    _connection: Connection
    """The client of the first request, for as long as it is connected."""

    def __getattr__(self, name: str) -> Any:
        """Whatever else the SDK's session of the newest request knows."""
        if name == "_call":  # a copy that is still being made
            raise AttributeError(name)
        return getattr(self._call.ctx.session, name)

    @property
    def _request_outbound(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The channel of the newest request, while it's being served."""
        return _NOWHERE if self._call.is_between_requests else find_outbound(self._call.ctx.session)

    @property
    def connection(self) -> Connection:
        return self._connection

    @property
    def client_capabilities(self) -> Any:
        return self._call.ctx.session.client_capabilities

    @property
    def client_params(self) -> Any:
        return self._call.ctx.session.client_params

    @property
    def can_send_request(self) -> bool:
        """A tool can always ask: if the client can't be pushed to, the question leaves in a round."""
        return self._call.modern or self._request_outbound.can_send_request

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
        if not self._call.is_between_requests:
            await super().send_notification(notification, related_request_id)

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        self._call.progress = max(self._call.progress, progress)
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
            self._call.progress = max(self._call.progress, progress)
        await super().send_progress_notification(progress_token, progress, total, message, related_request_id)

    async def beat(self, message: str) -> None:
        """A heartbeat on the caller's progress token, while a person thinks."""
        await self.report_progress(self._call.progress + _BEAT, message=message)
