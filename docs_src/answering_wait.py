from typing import Any

from midcall import Accepted, Declined, Outcome
from midcall.client import Asked, Waiting, look


class Kiosk:
    """Agrees to visits to one site, and shows their progress."""

    modes = ("url",)

    def __init__(self, site: str) -> None:
        self._site = site
        self.shown: list[str] = []

    async def answer(self, asked: Asked) -> Outcome[Any]:
        address = look(asked.url or "")
        return Accepted(None) if address.openable and address.registrable == self._site else Declined()

    async def wait(self, waiting: Waiting) -> bool:
        """Return True to call again now, False to give up. Cancelled once all visits are done, or time is up."""
        while not waiting.finished:
            left = [asked for asked in waiting.asked if not waiting.is_done(asked)]
            self.shown.append(f"{len(left)} to go")
            await waiting.changed()
        return True

    def completed(self, id: str) -> None:
        self.shown.append(f"{id} is done")
