"""The games of the demo: two servers from `examples/`, and one call of a game's tool on one protocol version.

Server and client run in this process and exchange JSON-RPC over a transport in memory. The demo watches this traffic:
it shows the channel that a question came by, not the one it should have come by.
"""

from __future__ import annotations

import functools
import importlib.util
import logging
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from mcp import Client
from mcp.client._memory import InMemoryTransport
from mcp.client._transport import Transport
from mcp.client.session import ElicitationFnT
from mcp.server import MCPServer
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse, TextContent

import midcall
from midcall.client.transport.offer import Offer
from midcall.client.transport.wrapper import Around, Incoming
from midcall.protocol import NEWEST

_PACKAGE: Final = Path(midcall.__file__).parent
_FOLDERS: Final = (_PACKAGE / "examples", _PACKAGE.parent.parent / "examples")
"""In the wheel, and in the repository."""
EXAMPLES: Final = next((folder for folder in _FOLDERS if folder.is_dir()), _FOLDERS[0])


@dataclass(frozen=True, slots=True)
class Game:
    """An example server, and the call that plays it."""

    title: str
    about: str
    tool: str
    effect: str
    """The example's function that the tool wraps in `once`."""
    report: tuple[str, str]
    """Reports the effect, before and after an optional "not"."""
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])


GAMES: Final = {
    "guess": Game(
        "Guess the number",
        "a confirmation, then one guess after another",
        "guess_the_number",
        effect="draw",
        report=("The number was", "drawn"),
    ),
    "trip": Game(
        "Book a trip",
        "every kind of field, two forms in one round, one charge",
        "book",
        effect="charge",
        report=("The card was", "charged"),
        arguments={"destination": "Oslo"},
    ),
}
"""By the name of the example, without `.py`."""


@dataclass(frozen=True, slots=True)
class Result:
    """What the tool returned, and a sentence about how often it ran."""

    text: str
    failed: bool
    summary: str = ""


async def play(
    name: str, era: str, answerer: Callable[[Callable[[], str]], ElicitationFnT], *, effect: object = None
) -> Result:
    """Call the tool of a new server of this game.

    Args:
        name: Which game.
        era: The protocol version.
        answerer: Makes the client's callback. It gets a function that names the latest question's channel.
        effect: What the game's effect returns, instead of something random.
    """
    game, tally = GAMES[name], _Tally()
    traffic = _WatchedTransport(InMemoryTransport(_load_server(name, tally, effect)), tally)
    async with Client(
        Offer(traffic, version=None if era == NEWEST else era),
        mode="auto" if era == NEWEST else "legacy",
        elicitation_callback=answerer(lambda: f"{era} · {tally.channel}"),
    ) as client:
        assert client.protocol_version == era, f"negotiated {client.protocol_version} instead of {era}"
        result = await client.call_tool(game.tool, game.arguments)
    text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
    return Result(text, bool(result.is_error), tally.summarize(game))


@dataclass(slots=True)
class _Tally:
    """What happened in a call."""

    runs: int = 0
    effects: int = 0
    pushed: int = 0
    rounds: int = 0

    @property
    def channel(self) -> str:
        """The channel of the latest question."""
        return f"round {self.rounds}" if self.rounds else "push"

    def summarize(self, game: Game) -> str:
        """How often the tool ran, over how many rounds or pushed questions, and whether its effect happened."""
        ways = f"in {_count(self.rounds, 'round')}", f"with {_count(self.pushed, 'question')} pushed"
        subject, verb = game.report
        effect = f"{verb} {_times(self.effects)}" if self.effects else f"not {verb}"
        return f"The tool ran {_times(self.runs)}, {ways[0] if self.rounds else ways[1]}. {subject} {effect}."


class _WatchedTransport(Around):
    """A transport that counts pushed questions and rounds."""

    def __init__(self, transport: Transport, tally: _Tally) -> None:
        super().__init__(transport)
        self._tally = tally

    def incoming(self, item: Incoming) -> Incoming:
        match item:
            case SessionMessage(message=JSONRPCRequest(method="elicitation/create")):
                self._tally.pushed += 1
            case SessionMessage(message=JSONRPCResponse(result={"resultType": "input_required"})):
                self._tally.rounds += 1
            case _:
                pass
        return item


def _load_server(name: str, tally: _Tally, result: object) -> MCPServer:
    """The server of a new copy of the example, whose tool and effect are counted."""
    game, example = GAMES[name], _load(name)
    tool, effect = getattr(example, game.tool), getattr(example, game.effect)

    @functools.wraps(tool)
    async def count_runs(*args: Any, **kwargs: Any) -> str:
        tally.runs += 1
        call: Callable[..., Awaitable[str]] = tool
        return await call(*args, **kwargs)

    def count_effects(*args: Any) -> object:
        tally.effects += 1
        return effect(*args) if result is None else result

    setattr(example, game.effect, count_effects)
    server: MCPServer = example.mcp
    server.remove_tool(game.tool)
    server.add_tool(count_runs)
    return server


def _load(name: str) -> ModuleType:
    logging.basicConfig(level=logging.ERROR)  # else the example's server logs every request between the questions
    spec = importlib.util.spec_from_file_location(f"midcall_demo_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # pydantic resolves annotations there
    spec.loader.exec_module(module)
    return module


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
