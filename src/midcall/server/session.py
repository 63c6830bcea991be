"""The session that a tool sees under an installed midcall.

It is the SDK's own session of this request, with two differences: an `elicitation/create` that
the tool sends by the SDK's means becomes a question of ours, and progress only ever grows.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import anyio
from mcp.server.connection import Connection
from mcp.server.session import ServerSession
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.message import ServerMessageMetadata
from mcp_types import ElicitRequest, RequestId, ServerRequest
from pydantic import BaseModel

if TYPE_CHECKING:
    from midcall.server.call import Call

__all__ = ["AskingSession"]

ResultT = TypeVar("ResultT", bound=BaseModel)

_BEAT = 1e-3
"""How much a sign of life adds to the progress: little, since it must stay below what the tool reports next."""


class AskingSession(ServerSession):
    def __init__(self, session: ServerSession, call: Call) -> None:
        # As little as can be: every call makes one, also those that ask nothing.
        self._session = session
        self._request_outbound = session._request_outbound
        self._connection = session._connection
        self._call = call

    def __getattr__(self, name: str) -> Any:
        """Whatever else the SDK's session of this request knows."""
        if name == "_session":  # a copy that is still being made
            raise AttributeError(name)
        return getattr(self._session, name)

    @property
    def connection(self) -> Connection:
        """The client, for as long as it is connected."""
        return self._connection

    @property
    def cancel_requested(self) -> anyio.Event | None:
        """Set when the client gives up on this request, where the connection can tell."""
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
        if isinstance(request, ElicitRequest) and self._call.installation.adopt:
            from midcall.server.adopt import answer_for

            answer = await answer_for(self._call, request.params, request_read_timeout_seconds)
            return cast("ResultT", answer)
        return await super().send_request(
            request, result_type, request_read_timeout_seconds, metadata, progress_callback
        )

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        if self._grows(progress):
            await super().report_progress(progress, total, message)

    async def send_progress_notification(
        self,
        progress_token: str | int,
        progress: float,
        total: float | None = None,
        message: str | None = None,
        related_request_id: RequestId | None = None,
    ) -> None:
        if progress_token != self._call.progress_token or self._grows(progress):
            await super().send_progress_notification(
                progress_token, progress, total, message, cast("str | None", related_request_id)
            )

    async def beat(self, message: str) -> None:
        """A sign of life on the caller's progress token, while a person thinks."""
        seen = self._call.journal.progress or 0
        await self.report_progress(seen + _BEAT, message=message)

    def _grows(self, progress: float) -> bool:
        """Whether the caller has not seen this much yet: replayed code reports again what it did before."""
        journal = self._call.journal
        if journal.progress is not None and progress <= journal.progress:
            return False
        journal.progress = progress
        return True
