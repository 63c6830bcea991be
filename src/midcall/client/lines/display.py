"""What line prompts show: a question, its fields, and the answers for review. Rich wraps and measures the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final, TypeAlias

from midcall.client.answerer import Waiting
from midcall.client.asked import Asked
from midcall.client.lines.excerpt import clip, format_missing, one_line
from midcall.client.lines.screen import Ink, columns_here
from midcall.client.lines.wrapping import BAR, break_anywhere, cut, put_behind_bar, width_of, wrap
from midcall.client.urls import Address, in_ascii, look
from midcall.core.forms import line_input
from midcall.core.forms.fields import Choice, Choices, Field
from midcall.core.forms.form import Form
from midcall.core.forms.hints import format_value, list_hints
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome
from midcall.core.text import plain, reveal
from midcall.language import _, ngettext
from midcall.language.problems import Problem
from midcall.settings.client import (
    HINT_CHARACTERS,
    LINES_TEXT_CHARACTERS,
    LINES_TEXT_LINES,
    LISTED_OPTIONS,
    REVIEWED_CHARACTERS,
)

Writer: TypeAlias = Callable[[str], None]
"""Shows text unchanged, at once."""

_WIDEST: Final = 100


class Sheet:
    """Writes questions, line by line. Long texts are truncated, with a note."""

    def __init__(self, write: Writer, ink: Ink, columns: int | None = None) -> None:
        self.write = write
        self.ink = ink
        self._columns = columns

    # --- a question ---------------------------------------------------------------------------

    def open(self, title: str, message: str, advice: str, note: str = "") -> None:
        """Show who asks, and what. The server's text is behind a bar, so it can't pose as the client."""
        ink, bar = self.ink, self.ink.accent("│")
        beside = width_of(title) + width_of(note) + 5 <= self._width
        first, *more = wrap(title, self._width - 3)
        self.write(f"\n{ink.accent('╭─')} {ink.bold(first)}{f'  {ink.dim(note)}' if note and beside else ''}\n")
        for line in more:
            self.write(f"{bar} {ink.bold(line)}\n")
        for line in wrap(note, self._width - 2) if note and not beside else ():
            self.write(f"{bar} {ink.dim(line)}\n")
        lines, left_out = self._limit(message)
        for line in lines:
            self.write(f"{bar} {line}\n")
        if left_out:
            self.write(f"{ink.accent('├─')} {ink.warn(format_missing(left_out))}\n")
        self._wrap(advice, f"{ink.accent('╰─')} ", "   ", ink.dim)
        self.write("\n")

    def close(self, outcome: Outcome[Any]) -> None:
        """Show the outcome."""
        tell = self.say if isinstance(outcome, Accepted) else self.complain
        tell(format_outcome(outcome))

    def say(self, sentence: str) -> None:
        self._mark(self.ink.good("✓"), sentence)

    def complain(self, sentence: str, *, quotes: bool = False) -> None:
        """Show what is wrong. `quotes` if the sentence has text of others."""
        self._mark(self.ink.bad("✗"), sentence, quotes=quotes)

    def warn(self, sentence: str, *, quotes: bool = False) -> None:
        self._mark(self.ink.warn("!"), sentence, quotes=quotes)

    def advise(self, sentence: str) -> None:
        self._mark(" ", sentence)

    # --- a visit ------------------------------------------------------------------------------

    def address(self, address: Address) -> None:
        """Show the address, its site, and every reason for doubt. If it's too wide, it's broken behind a bar."""
        self._address(address)
        site = _("Site: {domain}").format(domain=self.ink.bold(cut(address.domain, self._width - 10)))
        self.write(f"\n  {site}\n")
        for doubt in address.doubts:
            self.warn(doubt, quotes=True)
        self.write("\n")

    def _address(self, address: Address) -> None:
        before, domain, after = address.parts
        if width_of(address.url) + 2 <= self._width:
            self.write(f"  {before}{self.ink.strong(domain)}{after}\n")
            return
        start, end, at = len(before), len(before) + len(domain), 0
        for piece in break_anywhere(address.url, self._width - len(BAR)):
            first, last = (min(max(place - at, 0), len(piece)) for place in (start, end))
            self.write(f"{self._bar}{piece[:first]}{self.ink.strong(piece[first:last])}{piece[last:]}\n")
            at += len(piece)

    def copyable(self, address: Address) -> None:
        """Show the address once more, to be copied, unless it was on one line."""
        if width_of(address.url) + 2 > self._width:
            self.write(f"\n{in_ascii(address.url)}\n\n")

    def waiting(self, waiting: Waiting) -> None:
        """Show the visits that a call waits for, and which are done."""
        title = ngettext(
            "Waiting until you are done with this page",
            "Waiting until you are done with these pages",
            len(waiting.asked),
        )
        self.write(f"\n  {self.ink.bold(title)}\n")
        for asked in waiting.asked:
            done = waiting.is_done(asked)
            mark = self.ink.good("✓") if done else self.ink.accent("·")
            state = _("(done)") if done else _("(not done yet)")
            site = look(asked.url or "").domain or _("an unnamed site")
            name = cut(site, self._width - width_of(state) - 8)
            self.write(f"    {mark} {name} {self.ink.dim(state)}\n")
            self.write(f"  {self._bar}{self.ink.dim(cut(one_line(asked.message), self._width - 6))}\n")
            if waiting.attempt > 1:  # its id may be another one than that of the page that the user opened
                for line in put_behind_bar(asked.url or "", self._width - 2, bar=f"  {self._bar}"):
                    self.write(line)
        attempt = _("Enter tries again now (attempt {number} of {attempts})")
        advice = (
            _("The call continues automatically"),
            attempt.format(number=waiting.attempt, attempts=waiting.attempts),
            _(":cancel gives up"),
        )
        self._wrap(" · ".join(advice), "  ", "  ", self.ink.dim)

    # --- a field ------------------------------------------------------------------------------

    def field(self, form: Form, index: int, *, clearable: bool) -> None:
        """Show a field: label, hints, description, options.

        No line of the server's text begins where ours do, so it can't pose as the client.
        """
        field, ink = form.fields[index], self.ink
        count = f"{index + 1}/{len(form)} " if len(form) > 1 else ""
        pieces = [clip(hint, HINT_CHARACTERS) for hint in list_hints(field)]
        hints = " · ".join((*pieces, *([_(":clear empties it")] if clearable else ())))
        label = one_line(field.label)
        begin = f"  {ink.dim(count)}" if count else self._bar
        room = self._width - width_of(f"  {count}" if count else BAR)
        beside = width_of(f"{label} · {hints}") <= room
        first, *more = wrap(label, room)
        self.write(f"{begin}{ink.bold(first)}{ink.dim(f' · {hints}') if hints and beside else ''}\n")
        for line in more:
            self.write(f"{self._bar}{ink.bold(line)}\n")
        if hints and not beside:
            self.write("".join(self._behind_bar(hints, paint=ink.dim)))
        lines, left_out = self._limit(field.description or "", len(BAR))
        for line in lines if field.description else ():
            self.write(f"{self._bar}{ink.dim(line)}\n")
        if left_out:
            self.warn(format_missing(left_out))
        if isinstance(field, (Choice, Choices)):
            self.options(field, field.values)

    def problems(self, field: Field, problems: Sequence[Problem]) -> None:
        """Show problems as a sentence about the field: "Email must be an email address"."""
        label = one_line(field.label)
        subject = label if label[-1:].isalnum() else _("This field")
        self.complain(f"{subject} {'; '.join(one_line(problem.message, 400) for problem in problems)}.", quotes=True)

    def options(self, field: Choice | Choices, values: Sequence[str]) -> None:
        """Show these options of a field, by number if numbers can't be mistaken for options."""
        labels, by_number = field.labels, line_input.has_numbers(field)
        places = {value: number for number, value in enumerate(field.values, 1)} if by_number else {}
        shown = values[:LISTED_OPTIONS] if line_input.is_searched(field) else values
        widest = max(len(str(places.get(value, "-"))) for value in shown)
        for value in shown:
            mark = self.ink.accent(f"{places.get(value, '-'):>{widest}}")
            self._wrap(one_line(labels[value]), f"    {mark}  ", " " * (widest + 6))
        if len(shown) < len(values):
            more = _("… and {count:,} more. Type part of a name to search.").format(count=len(values) - len(shown))
            self.advise(self.ink.dim(more))

    # --- the review ---------------------------------------------------------------------------

    def value(self, field: Field, value: Any) -> str:
        """The value in full: it is what is sent."""
        return format_value(field, value)

    def review(self, filled: Iterable[tuple[Asked, Form, Mapping[str, Any]]]) -> None:
        """Show all answers, numbered consecutively, under the message of their question if there are several."""
        filled = tuple(filled)
        title = _("Your answers")
        self.write(f"\n  {self.ink.bold(title)}\n")
        number, last = 0, sum(len(form) for _, form, _ in filled)
        for asked, form, content in filled:
            if len(filled) > 1:
                self.write(f"{self._bar}{self.ink.dim(cut(one_line(asked.message), self._width - 4))}\n")
            self._values(form, content, number, len(str(last)))
            number += len(form)

    def _values(self, form: Form, content: Mapping[str, Any], before: int, digits: int) -> None:
        labels = [one_line(field.label, REVIEWED_CHARACTERS, reveal) for field in form.fields]
        widest = min(max(map(width_of, labels)), self._width // 2)
        room = max(10, self._width - widest - digits - 8)
        for number, (field, label) in enumerate(zip(form.fields, labels, strict=True), before + 1):
            value = content.get(field.name)
            mark = self.ink.accent(f"{number:>{digits}}")
            for name, line in zip_longest(wrap(label, widest), wrap(self.value(field, value), room), fillvalue=""):
                shown = self.ink.dim(line) if value is None else line
                self.write(f"    {mark}  {name}{' ' * (widest - width_of(name))}  {shown}\n")
                mark = " " * digits

    # --- lines --------------------------------------------------------------------------------

    def prompt(self, asked: str, default: str = "") -> str:
        """The text before the cursor: what we ask, and a default in brackets, behind a bar if it's too wide."""
        mark = self.ink.accent(">")
        before = " ".join(filter(None, (asked, default and f"[{default}]")))
        if self.fits(f"{before} > "):
            return f"  {before}{' ' if before else ''}{mark} "
        if default:
            return f"{''.join(self._behind_bar(f'[{default}]'))}  {mark} "
        return "\n".join(f"  {line}" for line in wrap(plain(asked), self._width - 4)) + f" {mark} "

    def fits(self, text: str) -> bool:
        """Whether this fits on one line."""
        return width_of(plain(text)) + 2 <= self._width

    @property
    def _width(self) -> int:
        return max(20, self._columns or min(columns_here(), _WIDEST))

    @property
    def _bar(self) -> str:
        return f"  {self.ink.accent('│')} "

    def _behind_bar(self, text: str, first: str | None = None, paint: Callable[[str], str] = str) -> Iterable[str]:
        return put_behind_bar(text, self._width, first=first, bar=self._bar, paint=paint)

    def _mark(self, mark: str, sentence: str, *, quotes: bool = False) -> None:
        """Show our sentence. If it quotes others, only its first line begins like one."""
        if quotes:
            self.write("".join(self._behind_bar(sentence, f"  {mark} ")))
        else:
            self._wrap(sentence, f"  {mark} ", "    ")

    def _wrap(self, text: str, first: str, rest: str, paint: Callable[[str], str] = str) -> None:
        """Write our text: its first line behind `first`, and the others behind `rest`, which is as wide."""
        for line in wrap(text, self._width - len(rest)):
            self.write(f"{first}{paint(line)}\n")
            first = rest

    def _limit(self, text: str, margin: int = 2) -> tuple[list[str], int]:
        """The lines to show, and how many characters are left out."""
        lines = wrap(plain(text[:LINES_TEXT_CHARACTERS]), self._width - margin)
        left_out = sum(len(line) + 1 for line in lines[LINES_TEXT_LINES:])
        return lines[:LINES_TEXT_LINES], max(0, len(text) - LINES_TEXT_CHARACTERS) + left_out


def format_outcome(outcome: Outcome[Any]) -> str:
    match outcome:
        case Accepted():
            return _("Sent.")
        case Declined():
            return _("Declined.")
        case Cancelled():
            return _("Cancelled: nothing was sent.")


def format_all_cancelled(count: int) -> str:
    return ngettext("Cancelled: nothing was sent.", "{count:,} questions cancelled: nothing was sent.", count).format(
        count=count
    )


def format_turned_away(count: int) -> str:
    return ngettext(
        "{count:,} more question was cancelled without being shown: too many came at once.",
        "{count:,} more questions were cancelled without being shown: too many came at once.",
        count,
    ).format(count=count)
