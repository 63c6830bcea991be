"""A transport around another one: all that comes in and goes out passes through it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from contextvars import Context
from types import TracebackType
from typing import TypeAlias

from mcp.client._transport import ReadStream, Transport, TransportStreams, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest

__all__ = ["Around", "Incoming"]

Incoming: TypeAlias = SessionMessage | Exception


class Around(AbstractAsyncContextManager[TransportStreams]):
    """Passes everything on. A subclass says what becomes of it on the way."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def incoming(self, item: Incoming) -> Incoming:
        """What the client gets of this."""
        return item

    def outgoing(self, request: JSONRPCRequest) -> JSONRPCRequest:
        """What the server gets of this."""
        return request

    async def __aenter__(self) -> TransportStreams:
        read, write = await self._transport.__aenter__()
        return _Reading(read, self.incoming), _Writing(write, self.outgoing)

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._transport.__aexit__(kind, value, trace)


class _Reading(ReadStream[Incoming]):
    def __init__(self, stream: ReadStream[Incoming], passed: Callable[[Incoming], Incoming]) -> None:
        self._stream = stream
        self._passed = passed

    @property
    def last_context(self) -> Context | None:
        """The SDK handles a message in the context of whoever sent it, where the stream knows that."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Incoming:
        return self._passed(await self._stream.receive())

    def __aiter__(self) -> _Reading:
        return self

    async def __anext__(self) -> Incoming:
        return self._passed(await self._stream.__anext__())

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> _Reading:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, value, trace)


class _Writing(WriteStream[SessionMessage]):
    def __init__(self, stream: WriteStream[SessionMessage], passed: Callable[[JSONRPCRequest], JSONRPCRequest]) -> None:
        self._stream = stream
        self._passed = passed

    async def send(self, item: SessionMessage, /) -> None:
        if isinstance(item.message, JSONRPCRequest):
            item = SessionMessage(message=self._passed(item.message), metadata=item.metadata)
        await self._stream.send(item)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> _Writing:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, value, trace)
