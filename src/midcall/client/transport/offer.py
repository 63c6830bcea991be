"""Declare a protocol version and modes of elicitation.

The SDK's client declares its newest version and, if it has a callback, both modes. This transport rewrites the
declaration on its way to the server.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from mcp.client._transport import Transport
from mcp_types import CLIENT_CAPABILITIES_META_KEY, JSONRPCRequest

from midcall.client.asked import Mode
from midcall.client.transport.wrapper import Around


class Offer(Around):
    """Offers this version, and declares only these modes.

    `modes=None` leaves the declaration unchanged; an empty collection declares no elicitation. `bare=True` declares
    form mode the older way, as `{}`.
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
            params["capabilities"] = self._declare(params.get("capabilities") or {})
        else:
            meta = dict(params.get("_meta") or {})
            if CLIENT_CAPABILITIES_META_KEY not in meta:
                return request
            meta[CLIENT_CAPABILITIES_META_KEY] = self._declare(meta[CLIENT_CAPABILITIES_META_KEY])
            params["_meta"] = meta
        return request.model_copy(update={"params": params})

    def _declare(self, capabilities: dict[str, Any]) -> dict[str, Any]:
        if self._modes is None:
            return capabilities
        others = {name: value for name, value in capabilities.items() if name != "elicitation"}
        if self._modes:
            others["elicitation"] = {} if self._bare else {mode: {} for mode in self._modes}
        return others
