"""One call of a game's tool, on one protocol version, by a real client.

Server and client run in this process and talk over a transport in memory, in JSON-RPC, as they
would over any other. What comes over it is watched: the channel that is shown was seen, not assumed.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from mcp import Client
from mcp.client._memory import InMemoryTransport
from mcp.client.session import ElicitationFnT
from mcp_types import TextContent

from midcall.cli.demo.games import Game, Tally
from midcall.cli.demo.wire import Watched
from midcall.client.transport.offer import Offer

__all__ = ["MODERN", "Match", "Random", "Result", "matched"]

MODERN: Final = "2026-07-28"

Random: TypeAlias = Callable[[int, int], int]


@dataclass(frozen=True, slots=True)
class Result:
    """What the tool returned."""

    text: str
    failed: bool


@dataclass(slots=True)
class Match:
    """A client that is about to call a game's tool."""

    game: Game
    client: Client
    wire: Watched
    tally: Tally = field(default_factory=Tally)

    async def play(self) -> Result:
        result = await self.client.call_tool(self.game.tool, self.game.arguments)
        text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
        return Result(text, bool(result.is_error))

    @property
    def account(self) -> str:
        """How often the tool ran, in how many rounds or with how many pushed questions."""
        if self.wire.rounds:
            how = f"in {_counted(self.wire.rounds, 'round')}"
        else:
            how = f"with {_counted(self.wire.pushed, 'question')} pushed"
        return f"The tool ran {_times(self.tally.runs)}, {how}. {self._effect()}."

    def _effect(self) -> str:
        begun, done = self.game.effect
        return f"{begun} {done} {_times(self.tally.effects)}" if self.tally.effects else f"{begun} not {done}"


@asynccontextmanager
async def matched(
    game: Game, era: str, random: Random, answerer: Callable[[Callable[[], str]], ElicitationFnT]
) -> AsyncGenerator[Match]:
    """Connect to a new server of this game. The answerer is told how to name a question's way here."""
    tally = Tally()
    wire = Watched(InMemoryTransport(game.server(tally, random)))
    async with Client(
        Offer(wire, version=None if era == MODERN else era),
        mode="auto" if era == MODERN else "legacy",
        elicitation_callback=answerer(lambda: f"{era} · {wire.channel}"),
    ) as client:
        assert client.protocol_version == era, f"{client.protocol_version} was agreed on instead of {era}"
        yield Match(game, client, wire, tally)


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
