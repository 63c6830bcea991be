"""The scripted demo: scenes that are played on every version, and printed as a transcript."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from mcp.client.session import ClientRequestContext, ElicitationFnT
from mcp_types import ElicitRequestFormParams, ElicitRequestParams, ElicitResult

from midcall.cli.demo.games import GAMES, Game
from midcall.cli.demo.match import matched
from midcall.client.lines.colors import Ink
from midcall.client.lines.display import Writer
from midcall.core.forms import typed
from midcall.core.forms.form import Form
from midcall.core.text import plain, plain_line

__all__ = ["SCENES", "Scene", "play_scenes"]

_GUESS, _TRIP = GAMES
_COLUMNS: Final = 92
_PLAYED: Final = "Every scene ended as it must. In a terminal, python -m midcall demo lets you play yourself."
_NOT_PLAYED: Final = "Not every scene ended as it must."


@dataclass(frozen=True, slots=True)
class Scene:
    """A game, what the user types into each field (in turn, where it is a list), and how it must end."""

    title: str
    game: Game
    typed: Mapping[str, str | Sequence[str]]
    ends: str
    drawn: int = 7
    fails: bool = False


SCENES: Final = (
    Scene(
        "Guess the number, with one answer that does not fit",
        _GUESS,
        {"confirmed": "yes", "answer": ["5", "70", "8", "7"]},
        ends="You found it with guess 3: it was 7.",
    ),
    Scene(
        "Book a trip, with every kind of field",
        _TRIP,
        {
            "name": "Ada Lovelace",
            "email": "ada@example.com",
            "newsletter": "no",
            "leaving": "2026-08-01",
            "days": "4",
            "budget": "120.50",
            "board": "half board",
            "luggage": "suitcase, bicycle",
            "choice": ["On the aisle", "Travel insurance, City guide"],
            "confirmed": "yes",
        },
        ends="Reference: FT-4711.",
        drawn=4711,
    ),
    Scene(
        "Book a trip, and decline",
        _TRIP,
        {"name": ":decline", "leaving": ":decline"},
        ends="The user declined to answer",
        fails=True,
    ),
)


async def play_scenes(game: str | None, eras: Sequence[str], write: Writer, ink: Ink) -> bool:
    """Play all scenes, or those of one game. Whether each ended as it must."""
    write(f"{ink.bold('midcall demo')}, played from a script\n\n")
    write("Each scene is one tool, written once and in a straight line, and called by a client of each\n")
    write("protocol version. In brackets: the version, and the channel that carried the question.\n")
    as_told = True
    for scene in SCENES:
        if game in (None, scene.game.name):
            write(f"\n\n{ink.bold(scene.title)}\n{ink.dim('=' * len(scene.title))}\n")
            for era in eras:
                as_told = await _play(scene, era, write, ink) and as_told
    write(f"\n\n{_PLAYED if as_told else _NOT_PLAYED}\n")
    return as_told


async def _play(scene: Scene, era: str, write: Writer, ink: Ink) -> bool:
    write("\n")

    def answerer(way: Callable[[], str]) -> ElicitationFnT:
        return _Scripted(scene.typed, way, write, ink)

    async with matched(scene.game, era, lambda least, most: scene.drawn, answerer) as match:
        result = await match.play()
    as_told = scene.ends in result.text and result.failed == scene.fails
    lines = [piece for line in plain(result.text).splitlines() for piece in textwrap.wrap(line, _COLUMNS)]
    told = "\n     ".join(lines)
    write(f"  {ink.good('=>') if as_told else ink.bad('=>')} {told}\n")
    write(f"     {ink.dim(match.account)}\n")
    return as_told


@dataclass(slots=True)
class _Scripted:
    """Answers from a scene, and writes down who asked what, by which way, and what was answered."""

    lines: Mapping[str, str | Sequence[str]]
    way: Callable[[], str]
    write: Writer
    ink: Ink
    _taken: dict[str, int] = field(default_factory=dict[str, int])

    async def __call__(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert isinstance(params, ElicitRequestFormParams), "no scene has a visit"
        info = context.session.server_info
        server = plain_line(info.title or info.name) if info else "The server"
        first, *more = plain(params.message).splitlines()
        told = f"  {self.ink.accent(f'[{self.way()}]')} {server} asks: {first}"
        told += "".join(f"\n      {line}" for line in more if line) + ("\n     " if more else " ")
        form = Form.from_schema(params.requested_schema, strict=False)
        content = {name: typed.read(form.field(name), line) for name in form.names if (line := self._line(name))}
        if ":decline" in content.values():
            self.write(f"{told} -> {self.ink.bad('declined')}\n")
            return ElicitResult(action="decline")
        self.write(f"{told}{self._answers(form, content)}\n")
        return ElicitResult(action="accept", content=content)

    def _line(self, name: str) -> str | None:
        """What is typed into this field now, if anything."""
        lines = self.lines.get(name)
        if lines is None or isinstance(lines, str):
            return lines
        index = self._taken.get(name, 0)
        self._taken[name] = index + 1
        return lines[index]

    def _answers(self, form: Form, content: Mapping[str, Any]) -> str:
        shown = {plain_line(each.label): typed.shown(each, content.get(each.name)) for each in form.fields}
        if len(shown) == 1:
            return f" -> {self.ink.bold(*shown.values())}"
        widest = max(map(len, shown))
        return "".join(f"\n      {label:<{widest}}  -> {self.ink.bold(value)}" for label, value in shown.items())
