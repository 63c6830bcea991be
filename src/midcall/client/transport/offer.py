"""What a client offers a server: which protocol version, which modes of elicitation.

The SDK's client offers its newest version and, once it can be asked at all, both modes. This
transport goes around another one and says on the wire what was meant.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

from mcp.client._transport import Transport
from mcp_types import CLIENT_CAPABILITIES_META_KEY, JSONRPCRequest

from midcall.client.transport.wrapper import Around

__all__ = ["Mode", "Offer"]

Mode = Literal["form", "url"]


class Offer(Around):
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
        super().__init__(transport)
        self._version = version
        self._modes = modes
        self._bare = bare

    def outgoing(self, request: JSONRPCRequest) -> JSONRPCRequest:
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
