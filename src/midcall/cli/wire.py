"""Watches what comes over the wire, to tell by which channel a question came."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType

from mcp.client._transport import ReadStream, Transport, TransportStreams
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse

__all__ = ["Watched"]

Incoming = SessionMessage | Exception


class Watched(AbstractAsyncContextManager[TransportStreams]):
    """A transport that counts the questions which are pushed, and the rounds."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.pushed = 0
        self.rounds = 0

    @property
    def channel(self) -> str:
        """What carried the question that came last."""
        return f"round {self.rounds}" if self.rounds else "push"

    async def __aenter__(self) -> TransportStreams:
        read, write = await self._transport.__aenter__()
        return _Watching(read, self._see), write

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._transport.__aexit__(kind, value, trace)

    def _see(self, item: Incoming) -> None:
        match item:
            case SessionMessage(message=JSONRPCRequest(method="elicitation/create")):
                self.pushed += 1
            case SessionMessage(message=JSONRPCResponse(result={"resultType": "input_required"})):
                self.rounds += 1
            case _:
                pass


class _Watching(ReadStream[Incoming]):
    def __init__(self, stream: ReadStream[Incoming], see: Callable[[Incoming], None]) -> None:
        self._stream = stream
        self._see = see

    async def receive(self) -> Incoming:
        item = await self._stream.receive()
        self._see(item)
        return item

    def __aiter__(self) -> _Watching:
        return self

    async def __anext__(self) -> Incoming:
        item = await self._stream.__anext__()
        self._see(item)
        return item

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> _Watching:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, value, trace)
