"""The games of the demo: two servers from `examples/`, loaded so that the demo can count what their tools do."""

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

from mcp.server import MCPServer

import midcall

_PACKAGE: Final = Path(midcall.__file__).parent
_FOLDERS: Final = (_PACKAGE / "examples", _PACKAGE.parent.parent / "examples")
"""In the wheel, and in the repository."""
EXAMPLES: Final = next((folder for folder in _FOLDERS if folder.is_dir()), _FOLDERS[0])


@dataclass(slots=True)
class Tally:
    """How often a tool ran, and how often its effect happened."""

    runs: int = 0
    effects: int = 0


@dataclass(frozen=True, slots=True)
class Game:
    """An example server, and the call that plays it."""

    name: str
    """Of the example, without `.py`."""
    title: str
    about: str
    tool: str
    effect: str
    """The example's function that the tool wraps in `once`."""
    report: tuple[str, str]
    """Reports the effect, before and after an optional "not"."""
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])

    def load_server(self, tally: Tally, result: object = None) -> MCPServer:
        """Load the example again and count into this tally.

        Args:
            tally: Counts runs of the tool, and its effect.
            result: What the effect returns, instead of something random.
        """
        example = _load(self.name)
        setattr(example, self.effect, _count_effect(getattr(example, self.effect), tally, result))
        server: MCPServer = example.mcp
        server.remove_tool(self.tool)
        server.add_tool(_count_runs(getattr(example, self.tool), tally))
        return server


GAMES: Final = (
    Game(
        "guess",
        "Guess the number",
        "a confirmation, then one guess after another",
        "guess_the_number",
        effect="draw",
        report=("The number was", "drawn"),
    ),
    Game(
        "trip",
        "Book a trip",
        "every kind of field, two forms in one round, one charge",
        "book",
        effect="charge",
        report=("The card was", "charged"),
        arguments={"destination": "Oslo"},
    ),
)


def _load(name: str) -> ModuleType:
    logging.basicConfig(level=logging.ERROR)  # else the example's server logs every request between the questions
    spec = importlib.util.spec_from_file_location(f"midcall_demo_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # pydantic resolves annotations there
    spec.loader.exec_module(module)
    return module


def _count_runs(tool: Callable[..., Awaitable[str]], tally: Tally) -> Callable[..., Awaitable[str]]:
    @functools.wraps(tool)
    async def count(*args: Any, **kwargs: Any) -> str:
        tally.runs += 1
        return await tool(*args, **kwargs)

    return count


def _count_effect(effect: Callable[..., object], tally: Tally, result: object) -> Callable[..., object]:
    def count(*args: Any) -> object:
        tally.effects += 1
        return effect(*args) if result is None else result

    return count
