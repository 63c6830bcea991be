"""Count the messages that carry questions, to show which channel a question really came by."""

from __future__ import annotations

from mcp.client._transport import Transport
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse

from midcall.client.transport.wrapper import Around, Incoming


class TrafficCounter(Around):
    """A transport that counts pushed questions and rounds."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.pushed = 0
        self.rounds = 0

    @property
    def channel(self) -> str:
        """The channel of the latest question."""
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
