"""A line from the user, who can end the question at every prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from midcall.client.lines.display import Sheet
from midcall.client.lines.keyboard import Keyboard
from midcall.core.forms import typed
from midcall.core.forms.fields import Flag
from midcall.core.outcome import Cancelled, Declined
from midcall.wording.client import lines as wording

__all__ = ["Ended", "Prompt"]


class Ended(Exception):
    """The user wants no more of this question, or of `all` that came with it."""

    def __init__(self, outcome: Declined | Cancelled, *, all: bool = False) -> None:
        super().__init__(type(outcome).__name__)
        self.outcome = outcome
        self.all = all


class Prompt:
    """Asks for lines. `:decline`, `:cancel`, Ctrl-C and the end of input raise `Ended`.

    Args:
        keyboard: Where lines come from.
        sheet: Where prompts go.
        news: Waits for what the user should know while they type: a sentence.
    """

    def __init__(self, keyboard: Keyboard, sheet: Sheet, news: Callable[[], Awaitable[str]]) -> None:
        self._keyboard = keyboard
        self._sheet = sheet
        self._news = news

    async def line(self, before: str = "") -> str:
        """What the user types, without the spaces around it."""
        prompt = self._sheet.prompt(before)
        while True:
            line = await self._typed(prompt)
            if line is None:
                self._sheet.write("\n")
                raise Ended(Cancelled())
            line = line.strip()
            match line.casefold():
                case ":decline":
                    raise Ended(Declined())
                case ":cancel":
                    raise Ended(Cancelled())
                case ":cancel all":
                    raise Ended(Cancelled(), all=True)
                case _ if _has_controls(line):
                    self._sheet.complain(wording.no_control_characters())
                case _:
                    return line

    async def _typed(self, prompt: str) -> str | None:
        """The next line. If there is news first, it is told, and the prompt stands again below it."""
        telling = asyncio.ensure_future(self._tell_news(prompt))
        try:
            return await self._keyboard.line(lambda: self._sheet.write(prompt))
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)

    async def _tell_news(self, prompt: str) -> None:
        """The line that is being typed goes on: it must not get lost."""
        sentence = await self._news()
        self._sheet.write("\n")
        self._sheet.warn(sentence)
        self._sheet.write(prompt)

    async def line_unless(self, changed: Callable[[], Awaitable[None]], before: str = "") -> str | None:
        """The same, or None once something has changed that the user should see first."""
        reading = asyncio.ensure_future(self.line(before))
        watching = asyncio.ensure_future(changed())
        try:
            await asyncio.wait((reading, watching), return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                return reading.result()
            self._sheet.write("\n")
            return None
        finally:
            reading.cancel()
            watching.cancel()
            await asyncio.gather(reading, watching, return_exceptions=True)

    async def yes_or_no(self, question: str) -> bool:
        while True:
            match typed.read(Flag("agreed"), await self.line(f"{question} ")):
                case bool(agreed):
                    return agreed
                case _:
                    self._sheet.complain(wording.answer_yes_or_no())


def _has_controls(line: str) -> bool:
    return any(ord(char) < 32 or 127 <= ord(char) < 160 for char in line)
