from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from midcall import Accepted, Cancelled, Choice, Choices, Declined, Flag, Number, Outcome, Text
from midcall.client import Asked
from midcall.core.forms.check import check
from midcall.core.text import plain, plain_line

Say = Callable[[str], Awaitable[str | None]]
"""Writes to the chat and returns the user's reply, or None if they left."""


class Chat:
    """Asks in a chat, field by field."""

    modes = ("form",)  # it can't open web pages, so it doesn't declare URL mode

    def __init__(self, say: Say) -> None:
        self._say = say

    async def answer(self, asked: Asked) -> Outcome[dict[str, Any]]:
        content: dict[str, Any] = {}
        question = f"{plain_line(asked.server)} asks: {plain(asked.message)}"
        for field in asked.form or ():
            reply = await self._say(f"{question}\n{plain_line(field.label)}?{options(field)}")
            if reply is None:
                return Cancelled()  # nobody decided
            if reply == "/no":
                return Declined()  # the user said no
            content[field.name] = value(field, reply)
        if asked.form is not None and (problems := check(asked.form, content)):
            await self._say("\n".join(str(problem) for problem in problems))
            return await self.answer(asked)
        return Accepted(content)


def options(field: Text | Number | Flag | Choice | Choices) -> str:
    """One line per option. The user reads the title; your client sends the value."""
    if not isinstance(field, Choice | Choices):
        return ""
    return "".join(f"\n- {plain_line(value)}: {plain_line(title)}" for value, title in field.labels.items())


def value(field: Text | Number | Flag | Choice | Choices, reply: str) -> Any:
    match field:
        case Number():
            return number(reply)
        case Flag():
            return {"yes": True, "no": False}.get(reply.lower(), reply)
        case Choices():
            return [item.strip() for item in reply.split(",") if item.strip()]
        case _:
            return reply


def number(reply: str) -> int | float | str:
    """Anything that isn't a number stays text: `check` reports the problem."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(reply)
    return reply
