"""`midcall demo`: two tools that ask, played at the terminal or from a script."""

from __future__ import annotations

import os
import random
import sys
import textwrap
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, Final

import anyio
from mcp.client.session import ElicitationFnT

from midcall.cli import ERAS
from midcall.cli.demo.games import GAMES
from midcall.cli.demo.match import MODERN, matched
from midcall.cli.demo.scenes import play_scenes
from midcall.client.answerer import Answerer, callback
from midcall.client.asked import Asked
from midcall.client.lines.colors import Ink
from midcall.client.lines.display import Writer
from midcall.client.lines.keyboard import Keyboard
from midcall.client.lines.lines import Lines
from midcall.client.lines.screen import print_text
from midcall.client.terminal import Terminal
from midcall.client.terminal.place import place
from midcall.core.forms import typed
from midcall.core.forms.fields import Choice, Flag
from midcall.core.outcome import Outcome
from midcall.core.text import plain, plain_line

__all__ = ["Table", "run"]

SCRIPT_SECONDS: Final = 60.0
_COLUMNS: Final = 96

_GAMES: Final = {game.name: game for game in GAMES}
_ABOUT_GAMES: Final = {game.name: (game.title, game.about) for game in GAMES}
_ABOUT_ERAS: Final = {
    "2025-06-18": ("2025-06-18", "questions are pushed; the plainest forms"),
    "2025-11-25": ("2025-11-25", "questions are pushed; defaults, titles, multiple choice"),
    "2026-07-28": ("2026-07-28", "nothing is pushed: the call returns its questions and comes again"),
}


def run(game: str | None, era: str | None, *, scripted: bool) -> int:
    """Play at the terminal, or from a script where there is none. Returns the exit code."""
    if not scripted and sys.stdin.isatty() and sys.stdout.isatty():
        table = Table(Keyboard(), print_text, Ink.on_stream(sys.stdout))
        if not anyio.run(table.play, game, era):
            raise KeyboardInterrupt
        return 0
    return anyio.run(_scripted, game, era)


async def _scripted(game: str | None, era: str | None) -> int:
    try:
        with anyio.fail_after(SCRIPT_SECONDS):
            as_told = await play_scenes(game, (era,) if era else ERAS, _tell, Ink.on_stream(sys.stdout))
    except TimeoutError:
        print(f"The demo did not finish within {SCRIPT_SECONDS:g} seconds.", file=sys.stderr)
        return 1
    return 0 if as_told else 1


def _tell(text: str) -> None:
    """Print, also where the reader of a pipe has gone, as `head` does."""
    try:
        print_text(text)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Announced:
    """An answerer whose forms are gone once they are answered: a line stays that says what was asked, and how it came.

    Args:
        answerer: What shows the forms.
        way: How the question came.
        write: Where the line goes.
        ink: Its colours.
    """

    def __init__(self, answerer: Answerer, way: Callable[[], str], write: Writer, ink: Ink) -> None:
        self._answerer = answerer
        self._way = way
        self._write = write
        self._ink = ink

    async def answer(self, asked: Asked) -> Outcome[Any]:
        server, message = plain_line(asked.server), plain_line(asked.message)
        self._write(f"{self._ink.accent(f'[{self._way()}]')} {server} asks: {message}\n")
        return await self._answerer.answer(asked)


class _Leaves(Exception):
    """The user has had enough."""


class Table:
    """The interactive demo: choose a game and a version, and play."""

    def __init__(self, keyboard: Keyboard, write: Writer, ink: Ink) -> None:
        self._keyboard = keyboard
        self._write = write
        self._ink = ink

    async def play(self, game: str | None, era: str | None) -> bool:
        """Play until the user has had enough. False if they said so by Ctrl-C."""
        self._write(f"\n{self._ink.bold('midcall demo')}  A tool asks you in the middle of its call.\n")
        try:
            while True:
                name = game or await self._choose("What do you want to play?", _ABOUT_GAMES, "guess")
                version = era or await self._choose("On which protocol version?", _ABOUT_ERAS, MODERN)
                await self._match(name, version)
                if (game and era) or not await self._again():
                    return True
        except _Leaves:
            if not self._keyboard.interrupted:
                self._write("\n")
            return not self._keyboard.interrupted

    async def _match(self, name: str, era: str) -> None:
        game, ink = _GAMES[name], self._ink
        self._write(f"\n{ink.dim('Calling')} {game.tool} {ink.dim(f'on {era} ...')}\n")

        async with matched(game, era, random.randint, self._person) as match:
            result = await match.play()
            mark = ink.bad("✗") if result.failed else ink.good("✓")
            self._write(f"\n{mark} {ink.bold('The tool returned')}\n")
            for line in plain(result.text).splitlines():
                self._write(f"{textwrap.fill(line, _COLUMNS, initial_indent='  ', subsequent_indent='  ')}\n")
            self._write(f"  {ink.dim(match.account)}\n")

    def _person(self, way: Callable[[], str]) -> ElicitationFnT:
        """Forms where the terminal can show them, and line prompts where it cannot."""
        lines = Lines(keyboard=self._keyboard, write=self._write, ink=self._ink, note=lambda asked: way())
        if place() != "form" or find_spec("textual") is None:
            return callback(lines)
        return callback(Announced(Terminal(lines=lines, write=self._write), way, self._write, self._ink))

    async def _choose(self, message: str, options: Mapping[str, tuple[str, str]], default: str) -> str:
        field = Choice("option", {name: title for name, (title, _) in options.items()}, default=default)
        self._write(f"\n{self._ink.bold(message)}\n")
        widest = max(len(title) for title, _ in options.values())
        for number, (title, about) in enumerate(options.values(), 1):
            self._write(f"  {self._ink.accent(str(number))}  {title:<{widest}}  {self._ink.dim(about)}\n")
        while True:
            line = await self._line(f"[{typed.shown(field, default)}]")
            chosen = typed.read(field, line) if line else default
            if chosen in options:
                return chosen
            self._write(f"  {self._ink.bad('✗')} Type a number from 1 to {len(options)}.\n")

    async def _again(self) -> bool:
        self._write(f"\n{self._ink.bold('Once more?')}\n")
        while True:
            line = await self._line("[no]")
            answer = typed.read(Flag("again"), line) if line else False
            if isinstance(answer, bool):
                return answer
            self._write(f"  {self._ink.bad('✗')} Please answer yes or no.\n")

    async def _line(self, before: str) -> str:
        line = await self._keyboard.line(lambda: self._write(f"  {before} {self._ink.accent('>')} "))
        if line is None or line.strip().casefold() in ("q", "quit", "exit", ":cancel"):
            raise _Leaves
        return line.strip()
