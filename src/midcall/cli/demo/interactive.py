"""The interactive demo: choose a game and a protocol version, and answer the questions yourself."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, Final

from mcp.client.session import ElicitationFnT

from midcall.cli.demo.games import GAMES, play
from midcall.cli.stdout import print_out
from midcall.client.answerer import Answerer
from midcall.client.asked import Asked
from midcall.client.connection.callback import callback
from midcall.client.lines.keyboard import Keyboard
from midcall.client.lines.lines import Lines
from midcall.client.lines.screen import Ink, find_display
from midcall.client.terminal import Terminal
from midcall.core.forms import line_input
from midcall.core.forms.check import check
from midcall.core.forms.fields import Choice, Flag
from midcall.core.forms.form import Form
from midcall.core.forms.hints import format_value
from midcall.core.outcome import Outcome
from midcall.core.text import plain, plain_line
from midcall.protocol import NEWEST

_COLUMNS: Final = 96

_ABOUT_GAMES: Final = {name: (game.title, game.about) for name, game in GAMES.items()}
_ABOUT_ERAS: Final = {
    "2025-06-18": ("2025-06-18", "questions are pushed; the simplest forms"),
    "2025-11-25": ("2025-11-25", "questions are pushed; defaults, titles, multiple choice"),
    "2026-07-28": ("2026-07-28", "the call returns its questions, and the client repeats it with the answers"),
}


class Announcer:
    """Prints a line for each question, with its channel: the form disappears once it's answered."""

    def __init__(self, answerer: Answerer, channel: Callable[[], str], ink: Ink) -> None:
        self._answerer = answerer
        self._channel = channel
        self._ink = ink

    async def answer(self, asked: Asked) -> Outcome[Any]:
        server, message = plain_line(asked.server), plain_line(asked.message)
        print_out(f"{self._ink.accent(f'[{self._channel()}]')} {server} asks: {message}\n")
        return await self._answerer.answer(asked)


class _Quit(Exception):
    """The user leaves the menu."""


class InteractiveDemo:
    """Lets the user choose a game and a version, and play."""

    def __init__(self) -> None:
        self._keyboard = Keyboard()
        self._ink = Ink.on_stream(sys.stdout)

    async def play(self, game: str | None, era: str | None) -> bool:
        """Play until the user quits. Returns False if they pressed Ctrl-C."""
        print_out(f"\n{self._ink.bold('midcall demo')}  A tool asks you in the middle of its call.\n")
        try:
            while True:
                name = game or await self._choose("What do you want to play?", _ABOUT_GAMES, "guess")
                version = era or await self._choose("On which protocol version?", _ABOUT_ERAS, NEWEST)
                await self._play(name, version)
                if (game and era) or not await self._ask_again():
                    return True
        except _Quit:
            if not self._keyboard.interrupted:
                print_out("\n")
            return not self._keyboard.interrupted

    async def _play(self, name: str, era: str) -> None:
        ink = self._ink
        print_out(f"\n{ink.dim('Calling')} {GAMES[name].tool} {ink.dim(f'on {era} ...')}\n")
        result = await play(name, era, self._answerer)
        mark = ink.bad("✗") if result.failed else ink.good("✓")
        print_out(f"\n{mark} {ink.bold('The tool returned')}\n")
        for line in plain(result.text).splitlines():
            print_out(f"{textwrap.fill(line, _COLUMNS, initial_indent='  ', subsequent_indent='  ')}\n")
        print_out(f"  {ink.dim(result.summary)}\n")

    def _answerer(self, channel: Callable[[], str]) -> ElicitationFnT:
        """Forms if the terminal can show them, otherwise line prompts."""
        lines = Lines(keyboard=self._keyboard, write=print_out, ink=self._ink, note=lambda asked: channel())
        if find_display() != "form" or find_spec("textual") is None:
            return callback(lines)
        return callback(Announcer(Terminal(lines=lines, write=print_out), channel, self._ink))

    async def _choose(self, message: str, options: Mapping[str, tuple[str, str]], default: str) -> str:
        print_out(f"\n{self._ink.bold(message)}\n")
        widest = max(len(title) for title, _ in options.values())
        for number, (title, about) in enumerate(options.values(), 1):
            print_out(f"  {self._ink.accent(str(number))}  {title:<{widest}}  {self._ink.dim(about)}\n")
        titles = {name: title for name, (title, _) in options.items()}
        return await self._ask(Choice("option", titles, default=default), f"Type a number from 1 to {len(options)}.")

    async def _ask_again(self) -> bool:
        print_out(f"\n{self._ink.bold('Once more?')}\n")
        return await self._ask(Flag("again", default=False), "Please answer yes or no.")

    async def _ask(self, field: Choice | Flag, advice: str) -> Any:
        """Ask for this field until the answer is valid. An empty line is its default."""
        prompt = f"  [{format_value(field, field.default)}] {self._ink.accent('>')} "
        while True:
            line = await self._keyboard.line(lambda: print_out(prompt))
            if line is None or line.strip().casefold() in ("q", "quit", "exit", ":cancel"):
                raise _Quit
            answer = line_input.read(field, line.strip()) if line.strip() else field.default
            if not check(Form(field), {field.name: answer}):
                return answer
            print_out(f"  {self._ink.bad('✗')} {advice}\n")
