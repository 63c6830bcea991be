"""Asks the user for a line. Every prompt lets them end the question."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Awaitable, Callable

from midcall.client.lines.display import Sheet
from midcall.client.lines.keyboard import Keyboard
from midcall.core.forms import line_input
from midcall.core.forms.fields import Flag
from midcall.core.outcome import Cancelled, Declined
from midcall.language import _


class EndedByUser(Exception):
    """The user ended this question, or `all` pending questions."""

    def __init__(self, outcome: Declined | Cancelled, *, all: bool = False) -> None:
        super().__init__(type(outcome).__name__)
        self.outcome = outcome
        self.all = all


class Prompt:
    """Asks for lines. `:decline`, `:cancel`, Ctrl-C and the end of input raise `EndedByUser`.

    Args:
        keyboard: Reads lines.
        sheet: Shows prompts.
        news: Waits for a sentence that the user should see while they type.
    """

    def __init__(self, keyboard: Keyboard, sheet: Sheet, news: Callable[[], Awaitable[str]]) -> None:
        self._keyboard = keyboard
        self._sheet = sheet
        self._news = news

    async def line(self, asked: str = "", *, default: str = "", strip: bool = True, fresh: bool = False) -> str:
        """Return what the user types. Without `strip`, the spaces around it stay, unless there's nothing else.

        A line that was typed for a prompt that this one has replaced doesn't count. With `fresh`, nor does what was
        typed before this prompt is shown: it is the first of its question, or decides about it.
        """
        prompt = self._sheet.prompt(asked, default)
        while True:
            if fresh:
                self._keyboard.forget_typed()
            line = await self._read(prompt)
            if line is None:
                self._sheet.write("\n")
                raise EndedByUser(Cancelled())
            if self._keyboard.hasty:
                self._sheet.complain(
                    _("You typed this for the question before. Read this one, and type the line again.")
                )
                continue
            line = line.strip("\t\n\v\f\r")
            match (word := line.strip()).casefold():
                case ":decline":
                    raise EndedByUser(Declined())
                case ":cancel":
                    raise EndedByUser(Cancelled())
                case ":cancel all":
                    raise EndedByUser(Cancelled(), all=True)
                case _ if any(unicodedata.category(char) == "Cc" for char in line):
                    self._sheet.complain(_("Arrow keys and control characters do not work here. Type the line again."))
                case _:
                    return word if strip or not word else line

    async def _read(self, prompt: str) -> str | None:
        """Return the next line. If there's news first, show it, and the prompt again below it."""
        telling = asyncio.ensure_future(self._tell_news(prompt))
        try:
            return await self._keyboard.line(lambda: self._sheet.write(prompt))
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)

    async def _tell_news(self, prompt: str) -> None:
        """Leave the read running, so that what the user has typed so far isn't lost."""
        sentence = await self._news()
        self._sheet.write("\n")
        self._sheet.warn(sentence)
        self._sheet.write(prompt)

    async def line_unless(self, changed: Callable[[], Awaitable[None]], asked: str = "") -> str | None:
        """Return a line, or None if something changes that the user should see first."""
        reading = asyncio.ensure_future(self.line(asked, fresh=True))
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
        """Return what the user decides."""
        while True:
            match line_input.read(Flag("agreed"), await self.line(question, fresh=True)):
                case bool(agreed):
                    return agreed
                case _:
                    self._sheet.complain(_("Please answer yes or no."))
