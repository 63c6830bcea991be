"""One call of a game's tool, on one protocol version, by a real client.

Server and client run in this process and exchange JSON-RPC over a transport in memory. The demo watches
this traffic: it shows the channel that a question came by, not the one it should have come by.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from mcp import Client
from mcp.client._memory import InMemoryTransport
from mcp.client._transport import Transport
from mcp.client.session import ElicitationFnT
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse, TextContent

from midcall.cli.demo.games import Game, Tally
from midcall.client.transport.offer import Offer
from midcall.client.transport.wrapper import Around, Incoming

MODERN: Final = "2026-07-28"


@dataclass(frozen=True, slots=True)
class Result:
    """What the tool returned."""

    text: str
    failed: bool


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


@dataclass(slots=True)
class Match:
    """A client, connected and ready to call a game's tool."""

    game: Game
    client: Client
    traffic: TrafficCounter
    tally: Tally

    async def play(self) -> Result:
        result = await self.client.call_tool(self.game.tool, self.game.arguments)
        text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
        return Result(text, bool(result.is_error))

    @property
    def summary(self) -> str:
        """How often the tool ran, over how many rounds or pushed questions, and whether its effect happened."""
        if self.traffic.rounds:
            how = f"in {_count(self.traffic.rounds, 'round')}"
        else:
            how = f"with {_count(self.traffic.pushed, 'question')} pushed"
        return f"The tool ran {_times(self.tally.runs)}, {how}. {self._effect()}."

    def _effect(self) -> str:
        subject, verb = self.game.report
        return f"{subject} {verb} {_times(self.tally.effects)}" if self.tally.effects else f"{subject} not {verb}"


@asynccontextmanager
async def open_match(
    game: Game, era: str, answerer: Callable[[Callable[[], str]], ElicitationFnT], *, effect: object = None
) -> AsyncGenerator[Match]:
    """Connect a client to a new server of this game.

    Args:
        game: Which.
        era: The protocol version.
        answerer: Makes the client's callback. It gets a function that names the latest question's channel.
        effect: What the game's effect returns, instead of something random.
    """
    tally = Tally()
    traffic = TrafficCounter(InMemoryTransport(game.load_server(tally, effect)))
    async with Client(
        Offer(traffic, version=None if era == MODERN else era),
        mode="auto" if era == MODERN else "legacy",
        elicitation_callback=answerer(lambda: f"{era} · {traffic.channel}"),
    ) as client:
        assert client.protocol_version == era, f"negotiated {client.protocol_version} instead of {era}"
        yield Match(game, client, traffic, tally)


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
