"""Plain line prompts: questions answered at any terminal, one line at a time.

    async with Client(server, elicitation_callback=callback(Lines())) as client:
        await client.call_tool("book", {"destination": "Oslo"})

The user sees who asks and what, answers field by field, reviews all of it, and can decline or
cancel at every prompt. Nothing is sent that was not checked against the form.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final

import anyio
from anyio.lowlevel import checkpoint

from midcall.client.asked import Asked, Mode
from midcall.client.lines.backlog import asking
from midcall.client.lines.batches import Batch, Turn, Turns
from midcall.client.lines.colors import Ink
from midcall.client.lines.columns import one_line
from midcall.client.lines.display import Sheet, Writer
from midcall.client.lines.filling import Filling
from midcall.client.lines.keyboard import Keyboard
from midcall.client.lines.prompt import Ended, Prompt
from midcall.client.lines.review import Review
from midcall.client.lines.screen import has_terminal, print_error, print_on_screen, screen_ink
from midcall.client.queue_limit import MOST_WAITING, Crowd
from midcall.client.urls.consent import look, open_in_browser
from midcall.client.visits.waiting import Waiting
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome
from midcall.wording.client import lines as wording

__all__ = ["Lines"]

_MOST_NAME: Final = 80
_MOST_VERSION: Final = 30


class Lines:
    """An answerer at line prompts.

    Several questions at once, as one round may bring, are answered one after the other and then
    reviewed together. Without a terminal every question is cancelled, and standard error says so.

    Args:
        keyboard: Where lines come from; share one between all who read the same terminal. One that is
            given is trusted to be there.
        write: Where text goes; by default standard output, or standard error where the former is none.
        ink: Colours; by default, where text goes to a terminal that has them.
        open_url: Opens an address that the user agreed to visit, and tells whether it could.
        note: How a question came, beside the server's name; by default, protocol version and channel.
        width: Columns to write in; by default, those of the terminal.
        most_waiting: How many questions of one server may wait at once; None for any number. What comes on
            top is cancelled, and the user is told.
    """

    modes: tuple[Mode, ...] = ("form", "url")

    def __init__(
        self,
        *,
        keyboard: Keyboard | None = None,
        write: Writer | None = None,
        ink: Ink | None = None,
        open_url: Callable[[str], bool] = open_in_browser,
        note: Callable[[Asked], str] | None = None,
        width: int | None = None,
        most_waiting: int | None = MOST_WAITING,
    ) -> None:
        self._needs_terminal = keyboard is None
        self._sheet = sheet = Sheet(write or print_on_screen, ink or screen_ink(), width)
        self._prompt = Prompt(keyboard or Keyboard(), sheet, self._news)
        self._filling = Filling(self._prompt, sheet)
        self._review = Review(self._prompt, sheet, self._end)
        self._open_url = open_url
        self._note = note or _how_it_came
        self._lock = anyio.Lock()
        self._turns = Turns()
        self._crowd = Crowd(most_waiting)
        self._teller: asyncio.Task[None] | None = None

    async def answer(self, asked: Asked) -> Outcome[Any]:
        """Ask the user, after those who asked before."""
        if self._needs_terminal and not has_terminal():
            return _without_terminal(asked)
        with self._crowd.one_more(asked.server) as may_wait:
            return await self._in_turn(asked) if may_wait else self._turned_away()

    async def _in_turn(self, asked: Asked) -> Outcome[Any]:
        turn = self._turns.join(asked)
        try:
            await checkpoint()  # let those come that come together, so that they are counted
            async with self._terminal():
                await self._take(turn)
            while turn.outcome is None:
                await turn.batch.changed.wait()
                async with self._terminal():
                    await self._finish(turn.batch)
            return turn.outcome
        finally:
            self._turns.leave(turn)

    async def wait(self, waiting: Waiting) -> bool:
        """Show what a call waits for, until the user wants it tried again or given up."""
        if self._needs_terminal and not has_terminal():
            return False
        try:
            while True:
                async with self._terminal():  # let go at each change, since a question may come meanwhile
                    news = partial(_news, waiting, _done(waiting), self._turns.arrived)
                    self._sheet.waiting(waiting, _site)
                    line = await self._prompt.line_unless(news)
                match line.casefold() if line is not None else None:
                    case "" | "again" | "retry" | "yes" | "y":
                        return True
                    case "cancel" | "no" | "n":
                        return self._given_up()
                    case None:
                        pass
                    case _:
                        self._sheet.complain(wording.wait_not_understood())
        except Ended:
            return self._given_up()
        except asyncio.CancelledError:
            if waiting.finished:
                self._sheet.write("\n")
                self._sheet.say(wording.visits_done())
            else:
                self._withdrawn()
            raise

    @asynccontextmanager
    async def _terminal(self) -> AsyncGenerator[None]:
        """The terminal, for one at a time, and for nothing else."""
        async with self._lock:
            with asking():
                yield

    # --- in turn ------------------------------------------------------------------------------

    async def _take(self, turn: Turn) -> None:
        """Ask this question, and go on to the review if it was the last."""
        if turn.outcome is not None:
            return
        try:
            turn.outcome = await self._ask(turn)
        except Ended as ended:
            self._end(turn, ended)
        except asyncio.CancelledError:
            self._withdrawn()
            raise
        turn.batch.tell()
        await self._finish(turn.batch)
        self._tell_turned_away()

    def _end(self, turn: Turn, ended: Ended) -> None:
        if ended.all:
            self._cancel_all()
            return
        turn.outcome = ended.outcome if turn.outcome is None else turn.outcome
        self._sheet.close(ended.outcome)

    def _cancel_all(self) -> None:
        """The user wants none of them, whoever asks."""
        self._crowd.dismiss()
        turns = self._turns.waiting
        for turn in turns:
            turn.outcome = Cancelled()
        for batch in {turn.batch: None for turn in turns}:
            batch.tell()
        self._sheet.complain(wording.all_cancelled(len(turns)))

    # --- very many ----------------------------------------------------------------------------

    def _turned_away(self) -> Cancelled:
        if self._teller is None or self._teller.done():
            self._teller = asyncio.create_task(self._tell_when_calm(), name="midcall lines, turned away")
        return Cancelled()

    async def _tell_when_calm(self) -> None:
        await self._crowd.calm()
        async with self._terminal():
            self._tell_turned_away()

    def _tell_turned_away(self) -> None:
        if count := self._crowd.told():
            self._sheet.complain(wording.turned_away(count))

    async def _news(self) -> str:
        """Others that came after this question was shown."""
        return wording.others_wait(await self._turns.more() - 1)

    # --- one question -------------------------------------------------------------------------

    def _withdrawn(self) -> None:
        self._sheet.write("\n")
        self._sheet.complain(wording.withdrawn())

    async def _ask(self, turn: Turn) -> Outcome[Any] | None:
        """The outcome, or None for a form that is filled and not reviewed yet."""
        asked = turn.asked
        if asked.url is not None:
            return await self._visit(turn, asked.url)
        if asked.form is None:
            return await self._bare(turn)
        has_defaults = any(field.default is not None for field in asked.form.fields)
        self._open(turn, wording.asks(_server(asked)), wording.how_to_answer(has_defaults))
        turn.content = await self._filling.form(asked.form)
        return None

    def _open(self, turn: Turn, title: str, advice: str) -> None:
        asked, batch = turn.asked, turn.batch
        place = batch.size - len(batch.turns) + batch.turns.index(turn) + 1
        notes = [self._note(asked), wording.version(one_line(asked.server_version or "", _MOST_VERSION))]
        if asked.deadline is not None:
            notes.append(wording.answer_by(asked.deadline.astimezone().strftime("%H:%M:%S")))
        if batch.size > 1:
            notes.append(wording.question_of(place, batch.size))
        if (waiting := self._turns.known()) > 1:
            advice = f"{advice} · {wording.cancel_all(waiting)}"
        self._sheet.open(title, asked.message, advice, " · ".join(filter(None, notes)))

    # --- a question that is decided at once ---------------------------------------------------

    async def _bare(self, turn: Turn) -> Outcome[Any]:
        """A form without fields: only the user's yes or no is asked."""
        self._open(turn, wording.asks(_server(turn.asked)), wording.how_to_agree())
        agreed = await self._prompt.yes_or_no(wording.agree())
        outcome: Outcome[dict[str, Any]] = Accepted({}) if agreed else Declined()
        self._sheet.close(outcome)
        return outcome

    async def _visit(self, turn: Turn, url: str) -> Outcome[Any]:
        address = look(url)
        if not address.openable:
            self._sheet.complain(wording.not_readable(_server(turn.asked), address.why_not))
            return Cancelled()
        self._open(turn, wording.asks_to_open(_server(turn.asked)), wording.nothing_opens())
        self._sheet.address(address)
        if not await self._prompt.yes_or_no(wording.open_it()):
            self._sheet.close(Declined())
            return Declined()
        if await anyio.to_thread.run_sync(self._open_url, url, abandon_on_cancel=True):
            self._sheet.say(wording.opened())
        else:
            self._sheet.warn(wording.open_it_yourself())
        return Accepted(None)

    # --- the review ---------------------------------------------------------------------------

    async def _finish(self, batch: Batch) -> None:
        """Review what is filled, if nothing else is left to ask. All of it is sent at once."""
        if not batch.filled or not batch.drafts:
            return
        try:
            await self._review.go(batch)
            self._send(batch, None)
        except Ended as ended:
            self._cancel_all() if ended.all else self._send(batch, ended.outcome)
        except asyncio.CancelledError:
            self._withdrawn()
            raise
        batch.tell()

    def _send(self, batch: Batch, ended: Declined | Cancelled | None) -> None:
        drafts = batch.drafts
        for draft in drafts:
            draft.outcome = Accepted(draft.content) if ended is None else ended
        if drafts:
            self._sheet.close(Accepted(None) if ended is None else ended)

    def _given_up(self) -> bool:
        self._sheet.complain(wording.waiting_given_up())
        return False


def _done(waiting: Waiting) -> list[bool]:
    return list(map(waiting.is_done, waiting.asked))


async def _news(waiting: Waiting, known: list[bool], arrived: anyio.Event) -> None:
    """Return when a visit is done that was not known to be, or another question comes."""
    if _done(waiting) != known:
        return
    async with anyio.create_task_group() as tasks:
        for event in (waiting.changed, arrived.wait):
            tasks.start_soon(_then, event, tasks.cancel_scope.cancel)


async def _then(event: Callable[[], Awaitable[None]], call: Callable[[], None]) -> None:
    await event()
    call()


def _without_terminal(asked: Asked) -> Cancelled:
    print_error(f"midcall: {wording.no_terminal(_server(asked))}\n")
    return Cancelled()


def _server(asked: Asked) -> str:
    return one_line(asked.server, _MOST_NAME) or wording.unnamed_server()


def _how_it_came(asked: Asked) -> str:
    return " · ".join(filter(None, (one_line(asked.protocol or "", _MOST_VERSION), asked.via)))


def _site(url: str) -> str:
    address = look(url)
    return address.domain or wording.unnamed_site()
