"""Plain line prompts: questions answered at any terminal, one line at a time.

    async with Client(server, elicitation_callback=callback(Lines())) as client:
        await client.call_tool("book", {"destination": "Oslo"})

The user sees who asks and what, answers field by field, reviews the answers, and can decline or cancel at every
prompt. Every answer is validated against the form before it's sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
from anyio.lowlevel import checkpoint

from midcall.client.answerer import Waiting
from midcall.client.asked import Asked, Mode
from midcall.client.lines.batches import Batch, BatchedQuestion, Batches
from midcall.client.lines.dialog import Dialog
from midcall.client.lines.display import Sheet, Writer, format_all_cancelled, format_turned_away
from midcall.client.lines.excerpt import one_line, server_name
from midcall.client.lines.keyboard import Keyboard
from midcall.client.lines.prompt import EndedByUser, Prompt
from midcall.client.lines.screen import TERMINAL, Ink, has_terminal, print_error, print_on_screen, screen_ink
from midcall.client.queue import Notices, Queue
from midcall.client.urls import look, open_in_browser
from midcall.core.forms.form import Form
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome
from midcall.language import _, ngettext
from midcall.settings.client import MAX_PENDING, VERSION_CHARACTERS


class Lines:
    """An answerer with line prompts.

    The questions of one round are answered one after the other, then reviewed together. Without a terminal, every
    question is cancelled, with a line on standard error.

    Args:
        keyboard: Reads lines; share one between all code that reads the same terminal. If you pass one, no terminal
            is needed.
        write: Shows text; by default, on standard output, or on standard error if only that is a terminal.
        ink: Colours; by default, those that the terminal supports.
        open_url: Opens an address that the user agreed to visit; returns whether it could.
        note: What to show beside the server's name; by default, the protocol version and the channel.
        width: Columns to use; by default, those of the terminal.
        most_waiting: How many questions of one server may wait at once; None for any number. More are cancelled, and
            the user is told how many.
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
        most_waiting: int | None = MAX_PENDING,
    ) -> None:
        self._needs_terminal = keyboard is None
        self._sheet = sheet = Sheet(write or print_on_screen, ink or screen_ink(), width)
        self._prompt = Prompt(keyboard or Keyboard(), sheet, self._news)
        self._dialog = Dialog(self._prompt, sheet, self._end)
        self._open_url = open_url
        self._note = note
        self._lock = anyio.Lock()
        self._batches = Batches()
        self._queue = Queue(most_waiting)
        self._notices = Notices(
            self._queue,
            self._terminal,
            lambda sentence: sheet.complain(sentence, quotes=True),
            lambda count: sheet.complain(format_turned_away(count)),
        )

    async def answer(self, asked: Asked) -> Outcome[Any]:
        """Ask the user, after earlier questions."""
        if self._needs_terminal and not has_terminal():
            sentence = _("{server} asked a question, but there is no terminal to answer it at. It was cancelled.")
            print_error(f"midcall: {sentence.format(server=server_name(asked.server))}\n")
            return Cancelled(unseen=True)
        if self._queue.is_full(asked.sender):
            self._notices.refuse(asked.sender)
            return Cancelled()
        with self._queue.join(asked):
            return await self._in_turn(asked)

    async def _in_turn(self, asked: Asked) -> Outcome[Any]:
        question = self._batches.join(asked)
        try:
            await checkpoint()  # let questions that arrive together be counted together
            async with self._terminal():
                await self._take(question)
            while question.outcome is None:
                await question.batch.changed.wait()
                async with self._terminal():
                    await self._finish(question.batch)
            return question.outcome
        finally:
            self._batches.leave(question)

    async def wait(self, waiting: Waiting) -> bool:
        """Show what a call waits for, until the user tries again (True) or gives up (False)."""
        if self._needs_terminal and not has_terminal():
            return False
        try:
            while True:
                async with self._terminal():  # released at each change, so that a question can be asked
                    news = partial(_news, waiting, _list_done(waiting), self._batches.arrived)
                    self._sheet.waiting(waiting)
                    line = await self._prompt.line_unless(news)
                match line.casefold() if line is not None else None:
                    case "" | "again" | "retry" | "yes" | "y":
                        return True
                    case "cancel" | "no" | "n":
                        raise EndedByUser(Cancelled())
                    case None:
                        pass
                    case _:
                        self._sheet.complain(_("Press Enter to try again now, or type :cancel to give up."))
        except EndedByUser:
            self._sheet.complain(_("Stopped waiting."))
            return False
        except asyncio.CancelledError:
            if waiting.finished:
                self._sheet.write("\n")
                self._sheet.say(_("Done. Continuing."))
            elif waiting.overdue:
                self._sheet.write("\n")
                self._sheet.say(_("Trying again."))
            else:
                self._tell_withdrawn()
            raise

    def tell(self, sentence: str) -> None:
        """Show this when no question is on the screen."""
        if self._needs_terminal and not has_terminal():
            print_error(f"midcall: {sentence}\n")
        else:
            self._notices.tell(sentence)

    @asynccontextmanager
    async def _terminal(self) -> AsyncGenerator[None]:
        """Hold the terminal for one question, and hold other output back."""
        async with self._lock:
            with TERMINAL.asking():
                yield

    # --- questions ----------------------------------------------------------------------------

    async def _take(self, question: BatchedQuestion) -> None:
        """Ask this question, and review the batch if it was the last."""
        if question.outcome is not None:
            return
        try:
            question.outcome = await self._ask(question)
        except EndedByUser as ended:
            self._end(question, ended)
        except asyncio.CancelledError:
            self._tell_withdrawn()
            raise
        question.batch.tell()
        await self._finish(question.batch)
        self._notices.tell_refused()

    def _end(self, question: BatchedQuestion, ended: EndedByUser) -> None:
        if ended.all:
            self._cancel_all()
            return
        question.outcome = ended.outcome if question.outcome is None else question.outcome
        self._sheet.close(ended.outcome)

    def _cancel_all(self) -> None:
        """Cancel all pending questions of all servers."""
        self._queue.dismiss()
        questions = self._batches.waiting
        for question in questions:
            question.outcome = Cancelled()
        for batch in {question.batch: None for question in questions}:
            batch.tell()
        self._sheet.complain(format_all_cancelled(len(questions)))

    async def _news(self) -> str:
        """A sentence about questions that arrived after this one was shown."""
        count = await self._batches.more() - 1
        return ngettext(
            "{count:,} more question is waiting. :cancel all closes all of them.",
            "{count:,} more questions are waiting. :cancel all closes all of them.",
            count,
        ).format(count=count)

    # --- one question -------------------------------------------------------------------------

    def _tell_withdrawn(self) -> None:
        self._sheet.write("\n")
        self._sheet.complain(_("The question was withdrawn."))

    async def _ask(self, question: BatchedQuestion) -> Outcome[Any] | None:
        """Return the outcome, or None for a form that must be reviewed first."""
        asked = question.asked
        if asked.url is not None:
            return await self._visit(question, asked.url)
        if asked.form is None:
            return await self._confirm(question)
        self._open(question, _("{server} asks"), _explain_answering(asked.form))
        question.content = await self._dialog.fill(asked.form)
        return None

    def _open(self, question: BatchedQuestion, title: str, advice: str) -> None:
        asked, batch = question.asked, question.batch
        place = batch.size - len(batch.questions) + batch.questions.index(question) + 1
        origin = (one_line(asked.protocol or "", VERSION_CHARACTERS), asked.via)
        notes = [*origin] if self._note is None else [self._note(asked)]
        if asked.server_version:
            notes.append(_("version {version}").format(version=one_line(asked.server_version, VERSION_CHARACTERS)))
        if asked.deadline is not None:
            notes.append(_("answer by {time}").format(time=asked.deadline.astimezone().strftime("%H:%M:%S")))
        if batch.size > 1:
            notes.append(_("question {number} of {count}").format(number=place, count=batch.size))
        if (waiting := self._batches.count_shown()) > 1:
            cancel_all = _(":cancel all closes all {count:,} questions").format(count=waiting)
            advice = f"{advice} · {cancel_all}"
        title = title.format(server=server_name(asked.server))
        self._sheet.open(title, asked.shown_message, advice, " · ".join(filter(None, notes)))

    # --- questions without a review -----------------------------------------------------------

    async def _confirm(self, question: BatchedQuestion) -> Outcome[Any]:
        """Ask yes or no for a form without fields."""
        self._open(question, _("{server} asks"), _("yes agrees · no declines · :cancel closes"))
        agreed = await self._prompt.yes_or_no(_("Do you agree? yes or no"))
        outcome: Outcome[dict[str, Any]] = Accepted({}) if agreed else Declined()
        self._sheet.close(outcome)
        return outcome

    async def _visit(self, question: BatchedQuestion, url: str) -> Outcome[Any]:
        address = look(url)
        if not address.openable:
            sentence = _("{server} asked something that cannot be shown: {reason}")
            sentence = sentence.format(server=server_name(question.asked.server), reason=address.why_not)
            self._sheet.complain(sentence, quotes=True)
            return Cancelled()
        advice = _("Nothing opens until you say yes · no declines · :cancel closes")
        self._open(question, _("{server} asks you to open a web page"), advice)
        self._sheet.address(address)
        if not await self._prompt.yes_or_no(_("Open this address in your browser? yes or no")):
            self._sheet.close(Declined())
            return Declined()
        if await anyio.to_thread.run_sync(self._open_url, url, abandon_on_cancel=True):
            self._sheet.say(_("Opened in your browser."))
        else:
            self._sheet.warn(_("Could not start a browser here. Open the address yourself."))
            self._sheet.copyable(address)
        return Accepted(None)

    # --- the review ---------------------------------------------------------------------------

    async def _finish(self, batch: Batch) -> None:
        """If all forms of the batch are filled in, review them and send them together."""
        if not batch.is_filled or not batch.drafts:
            return
        try:
            await self._dialog.review(batch)
            self._send(batch, None)
        except EndedByUser as ended:
            self._cancel_all() if ended.all else self._send(batch, ended.outcome)
        except asyncio.CancelledError:
            self._tell_withdrawn()
            raise
        batch.tell()

    def _send(self, batch: Batch, ended: Declined | Cancelled | None) -> None:
        drafts = batch.drafts
        for draft in drafts:
            draft.outcome = Accepted(draft.content) if ended is None else ended
        if drafts:
            self._sheet.close(Accepted(None) if ended is None else ended)


def _list_done(waiting: Waiting) -> list[bool]:
    return list(map(waiting.is_done, waiting.asked))


async def _news(waiting: Waiting, known: list[bool], arrived: anyio.Event) -> None:
    """Wait until another visit is done or a question arrives."""
    if _list_done(waiting) != known:
        return
    async with anyio.create_task_group() as tasks:
        for event in (waiting.changed, arrived.wait):
            tasks.start_soon(_then, event, tasks.cancel_scope.cancel)


async def _then(event: Callable[[], Awaitable[None]], call: Callable[[], None]) -> None:
    await event()
    call()


def _explain_answering(form: Form) -> str:
    advice = [_(":decline says no"), _(":cancel closes")]
    if any(field.default is not None for field in form.fields):
        advice.insert(0, _("Enter takes the value in [brackets]"))
    return " · ".join(advice)
