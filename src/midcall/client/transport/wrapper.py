"""A transport around another one, which every message passes through."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from contextvars import Context
from types import TracebackType
from typing import Generic, Self, TypeAlias, TypeVar

from mcp.client._transport import ReadStream, Transport, TransportStreams, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest

Incoming: TypeAlias = SessionMessage | Exception
StreamT = TypeVar("StreamT", ReadStream[Incoming], WriteStream[SessionMessage])


class Around(AbstractAsyncContextManager[TransportStreams]):
    """Passes every message on. Subclasses change messages on the way."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def incoming(self, item: Incoming) -> Incoming:
        """The message that the client gets instead of this one."""
        return item

    def outgoing(self, request: JSONRPCRequest) -> JSONRPCRequest:
        """The request that the server gets instead of this one."""
        return request

    async def before(self, request: JSONRPCRequest) -> None:
        """Wait before this request is sent. The caller's deadline runs meanwhile."""

    async def __aenter__(self) -> TransportStreams:
        read, write = await self._transport.__aenter__()
        return _Reader(read, self.incoming), _Writer(write, self)

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._transport.__aexit__(kind, value, trace)


class _Stream(Generic[StreamT]):
    _stream: StreamT

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, value, trace)


class _Reader(_Stream[ReadStream[Incoming]], ReadStream[Incoming]):
    def __init__(self, stream: ReadStream[Incoming], change: Callable[[Incoming], Incoming]) -> None:
        self._stream = stream
        self._change = change

    @property
    def last_context(self) -> Context | None:
        """The sender's context, if the stream knows it: the SDK handles a message in it."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Incoming:
        return self._change(await self._stream.receive())

    def __aiter__(self) -> _Reader:
        return self

    async def __anext__(self) -> Incoming:
        return self._change(await self._stream.__anext__())


class _Writer(_Stream[WriteStream[SessionMessage]], WriteStream[SessionMessage]):
    def __init__(self, stream: WriteStream[SessionMessage], around: Around) -> None:
        self._stream = stream
        self._around = around

    async def send(self, item: SessionMessage, /) -> None:
        if isinstance(item.message, JSONRPCRequest):
            await self._around.before(item.message)
            item = SessionMessage(message=self._around.outgoing(item.message), metadata=item.metadata)
        await self._stream.send(item)
