"""Watches what comes over the wire, to tell by which channel a question came."""

from __future__ import annotations

from mcp.client._transport import Transport
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse

from midcall.client.transport.wrapper import Around, Incoming

__all__ = ["Watched"]


class Watched(Around):
    """A transport that counts the questions which are pushed, and the rounds."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.pushed = 0
        self.rounds = 0

    @property
    def channel(self) -> str:
        """What carried the question that came last."""
        return f"round {self.rounds}" if self.rounds else "push"

    def incoming(self, item: Incoming) -> Incoming:
        match item:
            case SessionMessage(message=JSONRPCRequest(method="elicitation/create")):
                self.pushed += 1
            case SessionMessage(message=JSONRPCResponse(result={"resultType": "input_required"})):
                self.rounds += 1
            case _:
                pass
        return item
