"""Forms in the terminal.

    async with Client(server, elicitation_callback=callback(Terminal())) as client:
        await client.call_tool("book", {"destination": "Oslo"})

Textual is loaded when the first form is shown.
"""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import sys
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import anyio

from midcall.client.answerer import Waiting
from midcall.client.asked import Asked
from midcall.client.lines.display import format_all_cancelled, format_outcome, format_turned_away
from midcall.client.lines.excerpt import server_name, shorten
from midcall.client.lines.screen import Display, Ink, columns_of, find_display, print_error
from midcall.client.lines.wrapping import put_behind_bar
from midcall.client.queue import Notices, Queue, QueuedQuestion
from midcall.client.terminal.flow import Behind, QuestionFlow, Step
from midcall.client.urls import in_ascii, open_in_browser
from midcall.core.outcome import Accepted, Cancelled, Outcome
from midcall.errors import Misuse
from midcall.language import _
from midcall.settings.client import MAX_PENDING, MAX_TOGETHER, ROUND_SECONDS, TERMINAL_CLOSE_SECONDS

__all__ = ["Terminal"]

if TYPE_CHECKING:
    from midcall.client.lines.lines import Lines
    from midcall.client.terminal.question_app import QuestionApp
    from midcall.client.terminal.stage import Stage
    from midcall.client.terminal.wait_app import WaitApp

_log: Final = logging.getLogger("midcall.client")


class Terminal:
    """Answers questions with forms in the terminal: `callback(Terminal())`, `connect(url, Terminal())`.

    The whole form is on one page, and answers are validated while the user types. Nothing is sent until the user
    sends it, and they can always decline or cancel. The questions of one round become one flow, with a review at the
    end. A web page opens only if the user agrees.

    If the terminal can't show a form (too small, TERM=dumb) or the user wants plain text (NO_COLOR, MIDCALL_PLAIN,
    ACCESSIBLE), line prompts do the same. Without a terminal, questions are cancelled, with a line on standard error.

    Args:
        open_url: Opens an address that the user agreed to visit; returns whether it could.
        lines: The line prompts to fall back on.
        inline: Show forms below the existing output, and leave one line of each. Windows and `inline=False` use the
            whole screen and restore it.
        place: Decides how to ask; by default, by what this process and its terminal can do.
        stage: Shows forms; by default, on the terminal of this process.
        write: Prints the line that stays after each question; by default, to standard error.
        most_waiting: How many questions of one server may wait at once; None for any number. More are cancelled, and
            the user is told how many.
    """

    modes: Final = ("form", "url")

    def __init__(
        self,
        *,
        open_url: Callable[[str], bool] | None = None,
        lines: Lines | None = None,
        inline: bool = True,
        place: Callable[[], Display] = find_display,
        stage: Stage | None = None,
        write: Callable[[str], None] | None = None,
        most_waiting: int | None = MAX_PENDING,
    ) -> None:
        if importlib.util.find_spec("textual") is None:
            why = "Terminal() shows its forms with Textual, which is not installed"
            raise Misuse(f'{why}: pip install "midcall[terminal]"')
        self._lines = lines
        self._inline = inline
        self._place = place
        self._stage = stage
        self._open_url = open_url or open_in_browser
        self._write = write or print_error
        self._queue = Queue(most_waiting)
        self._shown: dict[Step, QueuedQuestion] = {}
        self._app: QuestionApp | None = None
        self._room: WaitApp | None = None
        self._server: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()
        self._over = asyncio.Event()
        self._notices = Notices(
            self._queue,
            lambda: self._turn,
            self._complain,
            lambda count: self._complain(format_turned_away(count)),
        )

    async def answer(self, asked: Asked) -> Outcome[Any]:
        """Ask the user, and return the outcome."""
        match self._place():
            case "nowhere":
                self._complain(_("there is no terminal to ask at, so the question was cancelled."), asked)
                return Cancelled(asked.via, unseen=True)
            case "lines":
                return await self._line_prompts().answer(asked)
            case "form":
                return await self._ask_by_form(asked)

    async def wait(self, waiting: Waiting) -> bool:
        """Show what a call waits for, until the user tries again (True) or gives up (False)."""
        match self._place():
            case "nowhere":
                return False
            case "lines":
                return await self._line_prompts().wait(waiting)
            case "form":
                return await self._waiting_room(waiting)

    def tell(self, sentence: str) -> None:
        """Show this when no form is on the screen."""
        match self._place():
            case "form":
                self._notices.tell(sentence)
            case "lines":
                self._line_prompts().tell(sentence)
            case "nowhere":
                self._complain(sentence)

    # --- one question -------------------------------------------------------------------------

    async def _ask_by_form(self, asked: Asked) -> Outcome[Any]:
        if self._queue.is_full(asked.sender):
            self._notices.refuse(asked.sender)
            return Cancelled(asked.via)
        with self._queue.join(asked) as entry:
            self._start()
            try:
                return await entry.outcome
            except asyncio.CancelledError:
                await self._withdraw(entry)
                raise

    def _start(self) -> None:
        """Start to ask questions, unless that is under way."""
        if self._room is not None:  # it's shown again after the questions
            self._room.call_later(self._room.exit)
        if self._server is None or self._server.done():
            self._server = asyncio.create_task(self._serve(), name="midcall terminal")

    async def _withdraw(self, entry: QueuedQuestion) -> None:
        """Close the form of a withdrawn question, and wait until it's off the screen."""
        step = next((step for step, shown in self._shown.items() if shown is entry), None)
        if self._app is not None and step is not None:
            last = all(each is entry or each.outcome.cancelled() for each in self._shown.values())
            self._app.call_later(self._app.withdraw, step)
            if last:
                with anyio.move_on_after(TERMINAL_CLOSE_SECONDS, shield=True):
                    await self._over.wait()

    # --- all questions ------------------------------------------------------------------------

    async def _serve(self) -> None:
        await asyncio.sleep(ROUND_SECONDS)
        while self._queue.untaken:
            async with self._turn:
                if self._queue.untaken:  # it may have been withdrawn meanwhile
                    await self._ask(self._queue.take(MAX_TOGETHER))

    async def _ask(self, batch: list[QueuedQuestion]) -> None:
        self._shown = {Step(entry.asked): entry for entry in batch}
        flow = QuestionFlow(self._shown)
        self._over = asyncio.Event()
        try:
            if flow.steps:
                await self._show(flow)
            if flow.all_cancelled:
                self._complain(format_all_cancelled(len(flow.steps) + self._queue.dismiss()))
            else:
                await self._finish(flow)
            self._notices.tell_refused()
        finally:
            self._over.set()
            self._shown = {}
            for entry in batch:
                entry.settle()

    async def _show(self, flow: QuestionFlow) -> None:
        from midcall.client.terminal.question_app import QuestionApp

        app = self._app = QuestionApp(flow, lambda: Behind(len(self._queue.untaken), self._queue.refused))
        try:
            await self._on_stage().show(app)
        except Exception as error:
            app.failure = error
        finally:
            self._app = None
        if app.failure is not None:
            _log.warning("the form failed with %s; asking its questions line by line", type(app.failure).__name__)
            _log.debug("the form's failure", exc_info=app.failure)
            for step in flow.steps:
                if step.outcome is None:
                    step.outcome = await self._line_prompts().answer(step.asked)

    async def _finish(self, flow: QuestionFlow) -> None:
        """Print each outcome, open the addresses that the user agreed to, and settle the questions."""
        for step in flow.withdrawn:
            self._complain(_("The question was withdrawn."), step.asked)
        for step in flow.steps:
            outcome = step.outcome if step.outcome is not None else Cancelled(step.asked.via)
            note = "" if flow.alone else shorten(step.asked.message.partition("\n")[0], 60)
            await self._tell_outcome(step.asked, outcome, note)
            self._shown[step].settle(outcome)

    # --- the line that stays ------------------------------------------------------------------

    async def _tell_outcome(self, asked: Asked, outcome: Outcome[Any], note: str) -> None:
        """Print the outcome of this question. If it's an accepted visit, open the address first."""
        if asked.url is None or not isinstance(outcome, Accepted):
            said = f"{format_outcome(outcome)}  {note}" if note else format_outcome(outcome)
            self._print("✓" if isinstance(outcome, Accepted) else "✗", said, asked)
        elif await anyio.to_thread.run_sync(self._open_url, asked.url, abandon_on_cancel=True):
            self._print("✓", _("Opened in your browser."), asked)
        else:
            self._print("✓", _("Could not start a browser here. Open the address yourself."), asked)
            self._write(f"\n{in_ascii(asked.url)}\n\n")

    def _complain(self, sentence: str, asked: Asked | None = None) -> None:
        """Print what is wrong, with this question if one is named."""
        self._print("✗", sentence, asked)

    def _print(self, mark: str, sentence: str, asked: Asked | None) -> None:
        ink = Ink.on_stream(sys.stderr)
        painted = ink.good(mark) if mark == "✓" else ink.bad(mark)
        said = sentence if asked is None else f"{server_name(asked.server)}: {sentence}"
        self._write("".join(put_behind_bar(said, columns_of(sys.stderr), first=f"{painted} ")))

    # --- waiting ------------------------------------------------------------------------------

    async def _waiting_room(self, waiting: Waiting) -> bool:
        from midcall.client.terminal.wait_app import WaitApp

        began = monotonic()
        while True:
            if self._server is not None:  # questions come first
                await asyncio.wait({self._server})
            async with self._turn:
                room = self._room = WaitApp(waiting, began)
                try:
                    await self._on_stage().show(room)
                finally:
                    self._room = None
            if room.choice is not None:
                return room.choice
            if room.failure is not None:
                return await self._line_prompts().wait(waiting)

    # --- where ---------------------------------------------------------------------------------

    def _on_stage(self) -> Stage:
        if self._stage is None:
            from midcall.client.terminal.stage import OwnTerminal

            self._stage = OwnTerminal(self._inline)
        return self._stage

    def _line_prompts(self) -> Lines:
        if self._lines is None:
            from midcall.client.lines.lines import Lines

            self._lines = Lines(open_url=self._open_url, most_waiting=self._queue.per_server)
        return self._lines
