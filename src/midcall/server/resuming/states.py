"""The states behind resume codes, in memory, for servers without a store."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from midcall.core.journal import Head
from midcall.core.remembered import Remembered
from midcall.server.running.waiting import busiest
from midcall.settings.live_runs import MAX_TURN_OUTCOMES

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.resuming.pages import Page
    from midcall.server.running.runs import Runs


class _Kept(NamedTuple):
    """A state behind a resume code."""

    head: Head
    holder: str
    caller: str
    ended: bool
    """Whether the run had ended by then."""
    state: str
    until: float
    pages: Sequence[Page]
    """What the code waits for."""


class States:
    """The states of one installation."""

    given_out = False
    """Whether a resume code was ever given out here."""

    def __init__(self, runs: Runs, *, most: int, seconds: float) -> None:
        self._runs = runs
        self._most = most
        self._seconds = seconds
        self._states: dict[str, _Kept] = {}
        """By code, oldest first."""
        self._concluded: Remembered[_Kept] = Remembered(MAX_TURN_OUTCOMES)
        """What is left of those whose turns have an outcome."""

    def put(self, code: str, call: Call, state: str) -> None:
        """Keep the state behind this code."""
        self.given_out = True
        now = call.run.loop.time()
        for old in [code for code, kept in self._states.items() if kept.until <= now]:
            del self._states[old]
        pages = () if call.suspension is None else tuple(call.suspension.pages.values())
        head = Head(call.name, call.journal.turn, call.journal.owner)
        self._states[code] = _Kept(head, call.holder, call.caller, call.ended, state, now + self._seconds, pages)
        if len(self._states) > self._most:
            most = busiest(kept.caller for kept in self._states.values())
            del self._states[next(code for code, kept in self._states.items() if kept.caller == most)]

    def behind(self, code: str, holder: str) -> str | None:
        """The state behind this code, for its holder. One that names a live run ends with it."""
        kept = self._kept(code)
        if kept is None or kept.holder != holder or kept.until <= asyncio.get_running_loop().time():
            return None
        live = self._runs.find(kept.head.call)
        is_live = live is not None and live.journal.turn == kept.head.turn
        is_known = kept.ended or is_live or (kept.head.call, kept.head.turn) in self._runs.past
        return kept.state if is_known else None

    def _kept(self, code: str) -> _Kept | None:
        return self._states.get(code) or self._concluded.get(code)

    def pages(self, code: str) -> list[Page]:
        """What the call of this code waits for."""
        kept = self._kept(code)
        return [] if kept is None else list(kept.pages)

    def __contains__(self, code: object) -> bool:
        """Whether the turn of this code has no outcome yet."""
        return code in self._states

    def conclude(self, code: str) -> None:
        """The turn of this code has an outcome: the code leads to that, and the call isn't run from its state again."""
        if (kept := self._states.pop(code, None)) is not None:
            head = kept.state.partition("\n")[0]
            self._concluded[code] = kept._replace(ended=False, state=head)

    def sizes(self) -> dict[str, tuple[str, int]]:
        """Whose each state is and how long, by call."""
        return {kept.head.call: (kept.caller, len(kept.state)) for kept in self._states.values()}
