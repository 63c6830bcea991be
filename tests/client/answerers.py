"""Small answerers for tests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from midcall.client.asked import Asked
from midcall.client.waiting import Waiting
from midcall.core.outcomes import Accepted, Outcome


class Answers:
    """Answers by a function, and remembers what was asked."""

    def __init__(self, answer: Callable[[Asked], Any] = lambda asked: Accepted({}), **attributes: Any) -> None:
        self._answer = answer
        self.asked: list[Asked] = []
        for name, value in attributes.items():
            setattr(self, name, value)

    async def answer(self, asked: Asked) -> Outcome[Any]:
        self.asked.append(asked)
        outcome = self._answer(asked)
        return await outcome if isinstance(outcome, Awaitable) else outcome


class Watcher(Answers):
    """An answerer with a user who watches the waiting."""

    def __init__(self, word: Callable[[Waiting], Awaitable[bool]], **more: Any) -> None:
        super().__init__(lambda asked: Accepted(None), **more)
        self._word = word
        self.waited: list[Waiting] = []

    async def wait(self, waiting: Waiting) -> bool:
        self.waited.append(waiting)
        return await self._word(waiting)
