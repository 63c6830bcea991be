"""What a client offers a server: which protocol version, which modes of elicitation.

The SDK's client offers its newest version and, once it can be asked at all, both modes. This
transport goes around another one and says on the wire what was meant.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Literal

from mcp.client._transport import Transport, TransportStreams, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import CLIENT_CAPABILITIES_META_KEY, JSONRPCRequest

__all__ = ["Mode", "Offer"]

Mode = Literal["form", "url"]


class Offer(AbstractAsyncContextManager[TransportStreams]):
    """A transport that offers this version, and declares only these modes.

    `modes=None` leaves the declaration as it is; an empty collection declares no elicitation.
    `bare=True` declares form mode in the older way, as `{}`.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        version: str | None = None,
        modes: Collection[Mode] | None = None,
        bare: bool = False,
    ) -> None:
        self._transport = transport
        self._version = version
        self._modes = modes
        self._bare = bare

    async def __aenter__(self) -> TransportStreams:
        read, write = await self._transport.__aenter__()
        return read, _Rewriting(write, self._rewrite)

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._transport.__aexit__(kind, value, trace)

    def _rewrite(self, request: JSONRPCRequest) -> JSONRPCRequest:
        params: dict[str, Any] = dict(request.params or {})
        if request.method == "initialize":
            if self._version is not None:
                params["protocolVersion"] = self._version
            params["capabilities"] = self._declared(params.get("capabilities") or {})
        else:
            meta = dict(params.get("_meta") or {})
            if CLIENT_CAPABILITIES_META_KEY not in meta:
                return request
            meta[CLIENT_CAPABILITIES_META_KEY] = self._declared(meta[CLIENT_CAPABILITIES_META_KEY])
            params["_meta"] = meta
        return request.model_copy(update={"params": params})

    def _declared(self, capabilities: dict[str, Any]) -> dict[str, Any]:
        if self._modes is None:
            return capabilities
        kept = {name: value for name, value in capabilities.items() if name != "elicitation"}
        if self._modes:
            kept["elicitation"] = {} if self._bare else {mode: {} for mode in self._modes}
        return kept


class _Rewriting(WriteStream[SessionMessage]):
    def __init__(self, stream: WriteStream[SessionMessage], rewrite: Any) -> None:
        self._stream = stream
        self._rewrite = rewrite

    async def send(self, item: SessionMessage, /) -> None:
        if isinstance(item.message, JSONRPCRequest):
            item = SessionMessage(message=self._rewrite(item.message), metadata=item.metadata)
        await self._stream.send(item)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> _Rewriting:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, value, trace)
