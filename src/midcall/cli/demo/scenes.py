"""The scripted demo: play the scenes of `examples/demo.toml` on every version, and print a transcript."""

from __future__ import annotations

import textwrap
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from mcp.client.session import ClientRequestContext, ElicitationFnT
from mcp_types import ElicitRequestFormParams, ElicitRequestParams, ElicitResult
from pydantic import TypeAdapter

from midcall.cli.demo.games import EXAMPLES, Result, play
from midcall.cli.stdout import print_out
from midcall.client.connection.incoming import server_of
from midcall.client.lines.screen import Ink
from midcall.core.forms import line_input
from midcall.core.forms.form import Form
from midcall.core.forms.hints import format_value
from midcall.core.text import plain, plain_line
from midcall.protocol import DECIDED

_COLUMNS: Final = 92
_PASSED: Final = "Every scene ended as expected. In a terminal, python -m midcall demo lets you play yourself."
_FAILED: Final = "Not every scene ended as expected."


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A game, what the user types, and how it must end. `examples/demo.toml` explains the fields."""

    title: str
    game: Literal["guess", "trip"]
    types: dict[str, str | list[str]]
    effect: int | str | None = None
    returns: str | None = None
    fails: str | None = None

    def ends_with(self, result: Result) -> bool:
        """Whether this is the result that the scene must have."""
        expected = self.fails if result.failed else self.returns
        return expected is not None and expected in result.text


def load_scenes() -> list[Scene]:
    """Read the script."""
    script = tomllib.loads((EXAMPLES / "demo.toml").read_text("utf-8"))
    return TypeAdapter(list[Scene]).validate_python(script["scenes"])


async def play_scenes(game: str | None, eras: Sequence[str], ink: Ink) -> bool:
    """Play all scenes, or those of one game. Returns whether each ended as expected."""
    print_out(f"{ink.bold('midcall demo')}, played from a script\n\n")
    print_out("Each scene is one tool, written once and in a straight line, and called by a client of each\n")
    print_out("protocol version. In brackets: the version, and the channel that carried the question.\n")
    passed = True
    for scene in load_scenes():
        if game in (None, scene.game):
            print_out(f"\n\n{ink.bold(scene.title)}\n{ink.dim('=' * len(scene.title))}\n")
            for era in eras:
                passed = await _play(scene, era, ink) and passed
    print_out(f"\n\n{_PASSED if passed else _FAILED}\n")
    return passed


async def _play(scene: Scene, era: str, ink: Ink) -> bool:
    print_out("\n")

    def answerer(channel: Callable[[], str]) -> ElicitationFnT:
        return _Typist(scene.types, channel, ink)

    result = await play(scene.game, era, answerer, effect=scene.effect)
    passed = scene.ends_with(result)
    lines = [piece for line in plain(result.text).splitlines() for piece in textwrap.wrap(line, _COLUMNS)]
    text = "\n     ".join(lines)
    print_out(f"  {ink.good('=>') if passed else ink.bad('=>')} {text}\n")
    print_out(f"     {ink.dim(result.summary)}\n")
    return passed


@dataclass(slots=True)
class _Typist:
    """Answers from a scene, and writes who asked what, on which channel, and the answer."""

    lines: Mapping[str, str | Sequence[str]]
    channel: Callable[[], str]
    ink: Ink
    _typed: dict[str, int] = field(default_factory=dict[str, int])

    async def __call__(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert isinstance(params, ElicitRequestFormParams), "no scene has a visit"
        server = plain_line(server_of(context.session)[0])
        first, *more = plain(params.message).splitlines()
        question = f"  {self.ink.accent(f'[{self.channel()}]')} {server} asks: {first}"
        question += "".join(f"\n      {line}" for line in more if line) + ("\n     " if more else " ")
        form = Form.from_schema(params.requested_schema, strict=False)
        content = {
            name: line_input.read(form.field(name), line) for name in form.names if (line := self._next_line(name))
        }
        if ":decline" in content.values():
            print_out(f"{question} -> {self.ink.bad('declined')}\n")
            return ElicitResult(action="decline", _meta={DECIDED: True})
        print_out(f"{question}{self._format_answers(form, content)}\n")
        return ElicitResult(action="accept", content=content)

    def _next_line(self, name: str) -> str | None:
        """The line to type into this field now, if any."""
        lines = self.lines.get(name)
        if lines is None or isinstance(lines, str):
            return lines
        index = self._typed.get(name, 0)
        self._typed[name] = index + 1
        return lines[index]

    def _format_answers(self, form: Form, content: Mapping[str, Any]) -> str:
        answers = {plain_line(each.label): format_value(each, content.get(each.name)) for each in form.fields}
        if len(answers) == 1:
            return f" -> {self.ink.bold(*answers.values())}"
        widest = max(map(len, answers))
        return "".join(f"\n      {label:<{widest}}  -> {self.ink.bold(value)}" for label, value in answers.items())
