"""The app that asks questions: one page for each, then a review."""

from __future__ import annotations

from collections.abc import Callable

from textual.widgets import OptionList

from midcall.client.lines.excerpt import server_name
from midcall.client.terminal.flow import Behind, QuestionFlow, Step
from midcall.client.terminal.question_pages import QuestionPage, ReviewPage, portion_of
from midcall.client.terminal.widgets.frame import TerminalPage
from midcall.client.terminal.widgets.window import Window
from midcall.language import _, ngettext
from midcall.settings.client import TERMINAL_QUEUE_SECONDS


class QuestionApp(Window):
    """Asks the questions of a flow. When it exits, each step has its outcome.

    Args:
        flow: The questions.
        behind: Counts the questions queued behind them.
    """

    def __init__(self, flow: QuestionFlow, behind: Callable[[], Behind] = Behind) -> None:
        super().__init__()
        self._flow = flow
        self._behind = behind
        self._warned = False

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(TERMINAL_QUEUE_SECONDS, self._look)

    def _look(self) -> None:
        if isinstance(page := self._page, QuestionPage):
            page.look_behind(self._behind())

    @property
    def _page(self) -> TerminalPage | None:
        """The current page, unless its question was just withdrawn."""
        page = self.screen
        gone = isinstance(page, QuestionPage) and page.step not in self._flow.steps
        return page if isinstance(page, TerminalPage) and not gone else None

    def first_page(self) -> TerminalPage | None:
        return self._question(self._flow.steps[0]) if self._flow.steps else None

    # --- from outside -------------------------------------------------------------------------

    def withdraw(self, step: Step) -> None:
        """Close this question, because nobody waits for its answer any more."""
        self._flow.withdraw(step)
        if not self._flow.steps:
            self.exit()
            return
        page = self.screen
        if isinstance(page, ReviewPage):
            page.fill()
        elif isinstance(page, QuestionPage) and page.step is step:
            self._advance(step)
        self.call_later(self._tell_withdrawn, step)

    def _tell_withdrawn(self, step: Step) -> None:
        if (page := self._page) is not None:
            page.retitle()
            page.tell(_("{server} withdrew a question.").format(server=server_name(step.asked.server)))

    # --- acts ---------------------------------------------------------------------------------

    def do(self, act: str) -> None:
        page = self.screen
        if isinstance(page, ReviewPage):
            self._on_review(page, act)
        elif isinstance(page, QuestionPage):
            self._on_question(page, act)

    def _on_question(self, page: QuestionPage, act: str) -> None:
        step = page.step
        match act:
            case "send" | "next" | "yes" | "open" | "agree":
                self._accept(page)
            case "decline":
                step.decline()
                self._advance(step)
            case "cancel":
                step.cancel()
                self._advance(step)
            case "cancel_all":
                self._cancel_all()
            case "copy":
                self.copy_to_clipboard(step.asked.url or "")
                page.tell(_("Address copied to the clipboard."))
            case "back":
                self._turn(self._question(self._flow.before(step) or step))
            case "more" | "less":
                self._turn(self._question(step, page.portion + (1 if act == "more" else -1)))
            case _:
                pass

    def _on_review(self, page: ReviewPage, act: str) -> None:
        match act:
            case "send":
                self.exit()
            case "back":
                self._turn(self._question(self._flow.steps[-1]))
            case "cancel_all" | "cancel":
                if self._warned:
                    self._cancel_all()
                self._warned = True
                sentence = _("Press again to cancel all {count:,} questions. Nothing has been sent yet.")
                page.tell(sentence.format(count=len(self._flow.steps) + self._behind().waiting))
            case _:
                pass

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Go to the field of this line of the review."""
        if isinstance(page := self.screen, ReviewPage):
            step, name = page.place(event.option_index)
            self._go_to(step, name)

    def action_act(self, key: str) -> None:
        if key == "escape" and isinstance(page := self.screen, ReviewPage):
            self._on_review(page, "cancel")
        else:
            super().action_act(key)

    # --- next pages ---------------------------------------------------------------------------

    def _accept(self, page: QuestionPage) -> None:
        step = page.step
        problems = step.draft.problems() if step.draft is not None else ()
        if problems:
            count = len({each.field for each in problems})
            notice = ngettext("{count:,} answer is not valid yet.", "{count:,} answers are not valid yet.", count)
            self._go_to(step, problems[0].field, notice.format(count=count))
        elif page.may_accept:
            step.accept()
            self._advance(step)

    def _advance(self, step: Step) -> None:
        """Go to the next undecided question, then to the review, then exit."""
        following = self._flow.after(step)
        if following is not None:
            self._turn(self._question(following))
        elif self._flow.needs_review:
            self._warned = False
            self._turn(ReviewPage(self._flow))
        else:
            self.exit()

    def _cancel_all(self) -> None:
        self._flow.cancel_all()
        self.exit()

    def _go_to(self, step: Step, name: str, notice: str = "") -> None:
        """Go to this field of this question."""
        page = self.screen
        portion = portion_of(step, name) if name else 0
        if not isinstance(page, QuestionPage) or page.step is not step or page.portion != portion:
            page = self._question(step, portion)
            self._turn(page)
        self.call_later(self._point, page, name, notice)

    def _point(self, page: QuestionPage, name: str, notice: str) -> None:
        page.show_field(name)
        if notice:
            page.judge()
            page.tell(notice)

    def _question(self, step: Step, portion: int = 0) -> QuestionPage:
        return QuestionPage(self._flow, step, portion, self._behind())

    def _turn(self, page: TerminalPage) -> None:
        self.switch_screen(page)  # pyright: ignore[reportUnknownMemberType]
