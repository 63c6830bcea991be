"""What line prompts show: a question, its fields, the answers for review."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from midcall.client.asked import Asked
from midcall.client.lines.colors import Ink
from midcall.client.lines.columns import clipped, cut, one_line, padded, width, wrapped
from midcall.client.urls.consent import Address
from midcall.client.visits.waiting import Waiting
from midcall.core.forms import typed
from midcall.core.forms.check import Problem
from midcall.core.forms.fields import Choice, Choices, Field
from midcall.core.forms.form import Form
from midcall.core.outcome import Accepted, Declined, Outcome
from midcall.core.text import plain
from midcall.wording.client import lines as wording

__all__ = ["Sheet", "Writer"]

Writer: TypeAlias = Callable[[str], None]
"""Shows text as it is, at once."""

_WIDEST: Final = 100
_MOST_TEXT: Final = 6_000
_MOST_LINES: Final = 80
_MOST_LABEL: Final = 200
_MOST_OPTIONS: Final = 20


class Sheet:
    """Writes questions, line by line. Text without end is shown up to a limit, and that is said."""

    def __init__(self, write: Writer, ink: Ink, columns: int | None = None) -> None:
        self.write = write
        self.ink = ink
        self._columns = columns

    # --- a question ---------------------------------------------------------------------------

    def open(self, title: str, message: str, advice: str, note: str = "") -> None:
        """Who asks, and what. All that the server says stands behind a bar: it cannot pose as the client."""
        ink, bar = self.ink, self.ink.accent("│")
        beside = width(title) + width(note) + 5 <= self._width
        first, *more = wrapped(title, self._width - 3)
        self.write(f"\n{ink.accent('╭─')} {ink.bold(first)}{f'  {ink.dim(note)}' if note and beside else ''}\n")
        for line in more:
            self.write(f"{bar} {ink.bold(line)}\n")
        for line in wrapped(note, self._width - 2) if note and not beside else ():
            self.write(f"{bar} {ink.dim(line)}\n")
        lines, left_out = self._limited(message)
        for line in lines:
            self.write(f"{bar} {line}\n")
        self._after(advice, left_out)
        self.write("\n")

    def _after(self, advice: str, left_out: int) -> None:
        if left_out:
            self.write(f"{self.ink.accent('├─')} {self.ink.warn(wording.text_left_out(left_out))}\n")
        first, *more = wrapped(advice, self._width - 3)
        self.write(f"{self.ink.accent('╰─')} {self.ink.dim(first)}\n")
        for line in more:
            self.write(f"   {self.ink.dim(line)}\n")

    def close(self, outcome: Outcome[Any]) -> None:
        """What came of it."""
        match outcome:
            case Accepted():
                self.say(wording.sent())
            case Declined():
                self.complain(wording.declined())
            case _:
                self.complain(wording.cancelled())

    def say(self, sentence: str) -> None:
        self._marked(self.ink.good("✓"), sentence)

    def complain(self, sentence: str) -> None:
        self._marked(self.ink.bad("✗"), sentence)

    def warn(self, sentence: str) -> None:
        self._marked(self.ink.warn("!"), sentence)

    def advise(self, sentence: str) -> None:
        self._marked(" ", sentence)

    # --- a visit ------------------------------------------------------------------------------

    def address(self, address: Address) -> None:
        """The whole of it on a line of its own, unbroken, to be copied; its site; what speaks against it."""
        before, domain, after = address.parts
        self.write(f"  {before}{self.ink.strong(domain)}{after}\n\n")
        self.write(f"  {wording.site(self.ink.bold(domain))}\n")
        for doubt in address.doubts:
            self.warn(doubt)
        self.write("\n")

    def waiting(self, waiting: Waiting, site: Callable[[str], str]) -> None:
        """The visits that a call waits for, and which of them are done."""
        self.write(f"\n  {self.ink.bold(wording.waiting_for(len(waiting.asked)))}\n")
        for asked in waiting.asked:
            done = waiting.is_done(asked)
            mark = self.ink.good("✓") if done else self.ink.accent("·")
            told = f"{site(asked.url or '')} {self.ink.dim(wording.visit_standing(done))}"
            self.write(f"    {mark} {told}\n")
            self.write(f"      {self.ink.dim(cut(one_line(asked.message), self._width - 6))}\n")
        for line in wrapped(wording.how_to_wait(waiting.attempt, waiting.attempts), self._width - 2):
            self.write(f"  {self.ink.dim(line)}\n")

    # --- a field ------------------------------------------------------------------------------

    def field(self, form: Form, index: int, *, clearable: bool) -> None:
        """One field: label, constraints, description, options."""
        field, ink = form.fields[index], self.ink
        count = f"{index + 1}/{len(form)} " if len(form) > 1 else ""
        pieces = [clipped(hint, _MOST_LABEL) for hint in typed.hints(field)]
        hints = " · ".join((*pieces, *([wording.to_empty_it()] if clearable else ())))
        label = one_line(field.label)
        beside = width(f"  {count}{label} · {hints}") <= self._width
        self.write(f"  {ink.dim(count)}{ink.bold(label)}{ink.dim(f' · {hints}') if hints and beside else ''}\n")
        for line in wrapped(hints, self._width - 2) if hints and not beside else ():
            self.write(f"  {ink.dim(line)}\n")
        lines, left_out = self._limited(field.description or "")
        for line in lines if field.description else ():
            self.write(f"  {ink.dim(line)}\n")
        if left_out:
            self.warn(wording.text_left_out(left_out))
        if isinstance(field, (Choice, Choices)):
            self._options(field, field.values)

    def found(self, field: Choice | Choices, found: Sequence[str]) -> None:
        """The options that were searched for."""
        self._options(field, found)

    def problems(self, field: Field, problems: Sequence[Problem]) -> None:
        """The problems are said of the field: "Email must be an email address"."""
        label = one_line(field.label)
        subject = label if label[-1:].isalnum() else wording.this_field()
        self.complain(f"{subject} {'; '.join(one_line(problem.message, 400) for problem in problems)}.")

    def _options(self, field: Choice | Choices, values: Sequence[str]) -> None:
        labels, by_number = field.labels, typed.numbered(field)
        places = {value: number for number, value in enumerate(field.values, 1)} if by_number else {}
        shown = values[:_MOST_OPTIONS] if typed.searched(field) else values
        widest = max(len(str(places.get(value, "-"))) for value in shown)
        for value in shown:
            mark = self.ink.accent(f"{places.get(value, '-'):>{widest}}")
            self.write(f"    {mark}  {one_line(labels[value])}\n")
        if len(shown) < len(values):
            self.advise(self.ink.dim(wording.options_left_out(len(values) - len(shown))))

    # --- the review ---------------------------------------------------------------------------

    def value(self, field: Field, value: Any) -> str:
        return clipped(typed.shown(field, value), _MOST_LABEL)

    def review(self, filled: Iterable[tuple[Asked, Form, Mapping[str, Any]]]) -> None:
        """All values, numbered through. More than one question: each under what it asked."""
        filled = tuple(filled)
        self.write(f"\n  {self.ink.bold(wording.review())}\n")
        number, last = 0, sum(len(form) for _, form, _ in filled)
        for asked, form, content in filled:
            if len(filled) > 1:
                self.write(f"    {self.ink.dim(cut(one_line(asked.message), self._width - 4))}\n")
            self._values(form, content, number, len(str(last)))
            number += len(form)

    def _values(self, form: Form, content: Mapping[str, Any], before: int, digits: int) -> None:
        labels = [one_line(field.label) for field in form.fields]
        widest = min(max(map(width, labels)), self._width // 2)
        for number, (field, label) in enumerate(zip(form.fields, labels, strict=True), before + 1):
            value = content.get(field.name)
            shown = self.value(field, value)
            mark = self.ink.accent(f"{number:>{digits}}")
            self.write(f"    {mark}  {padded(label, widest)}  {self.ink.dim(shown) if value is None else shown}\n")

    # --- lines --------------------------------------------------------------------------------

    def prompt(self, before: str) -> str:
        """What stands before the cursor. On a narrow terminal it breaks between words."""
        mark = self.ink.accent(">")
        asked = plain(before)
        if width(asked) + 4 <= self._width:
            return f"  {before}{mark} "
        return "\n".join(f"  {line}" for line in wrapped(asked, self._width - 4)) + f" {mark} "

    @property
    def _width(self) -> int:
        return max(20, self._columns or min(shutil.get_terminal_size().columns, _WIDEST))

    def _marked(self, mark: str, sentence: str) -> None:
        first, *more = wrapped(sentence, self._width - 4)
        self.write(f"  {mark} {first}\n")
        for line in more:
            self.write(f"    {line}\n")

    def _limited(self, text: str) -> tuple[list[str], int]:
        """The lines to show, and how many characters are left out."""
        shown = plain(text[:_MOST_TEXT])
        lines = wrapped(shown, self._width - 2)
        kept = lines[:_MOST_LINES]
        cut = sum(len(line) + 1 for line in lines[_MOST_LINES:])
        return kept, max(0, len(text) - _MOST_TEXT) + cut
