"""What line prompts show: a question, its fields, the answers for review."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from midcall.client import typed
from midcall.client.ink import Ink
from midcall.client.plain import plain, plain_line
from midcall.core.check import Problem
from midcall.core.fields import Choice, Choices, Field
from midcall.core.form import Form
from midcall.wording import client as wording

__all__ = ["Sheet", "Writer"]

Writer: TypeAlias = Callable[[str], None]
"""Shows text as it is, at once."""

_WIDEST = 100


class Sheet:
    """Writes questions, line by line."""

    def __init__(self, write: Writer, ink: Ink, width: int | None = None) -> None:
        self.write = write
        self.ink = ink
        self._width = width

    def open(self, title: str, message: str, advice: str, note: str = "") -> None:
        """Who asks, and what. All that the server says stands behind a bar: it cannot pose as the client."""
        ink = self.ink
        self.write(f"\n{ink.accent('╭─')} {ink.bold(title)}{'  ' if note else ''}{ink.dim(note)}\n")
        for line in self._wrapped(message):
            self.write(f"{ink.accent('│')} {line}\n")
        self.write(f"{ink.accent('╰─')} {ink.dim(advice)}\n\n")

    def close(self, action: Literal["accept", "decline", "cancel"]) -> None:
        """What came of it."""
        if action == "accept":
            self.write(f"  {self.ink.good('✓')} {wording.sent()}\n")
        else:
            self.complain(wording.declined() if action == "decline" else wording.cancelled())

    def complain(self, sentence: str) -> None:
        self.write(f"  {self.ink.bad('✗')} {sentence}\n")

    def address(self, url: str) -> None:
        """The whole of it on a line of its own, unbroken, to be copied."""
        self.write(f"  {self.ink.bold(url)}\n\n")

    def field(self, form: Form, index: int, *, clearable: bool) -> None:
        """One field: label, constraints, description, options."""
        field, ink = form.fields[index], self.ink
        count = f"{index + 1}/{len(form)} " if len(form) > 1 else ""
        hints = "".join(f" · {hint}" for hint in (*typed.hints(field), *([wording.to_empty_it()] if clearable else ())))
        self.write(f"  {ink.dim(count)}{ink.bold(plain_line(field.label))}{ink.dim(hints)}\n")
        for line in self._wrapped(field.description or ""):
            self.write(f"  {ink.dim(line)}\n" if line else "")
        if isinstance(field, (Choice, Choices)):
            self._options(field)

    def problems(self, field: Field, problems: Sequence[Problem]) -> None:
        """The problems are said of the field: "Email must be an email address"."""
        label = plain_line(field.label)
        subject = label if label[-1:].isalnum() else wording.this_field()
        self.complain(f"{subject} {'; '.join(plain_line(problem.message) for problem in problems)}.")

    def answers(self, form: Form, content: Mapping[str, Any]) -> None:
        """All values, for review."""
        self.write(f"  {self.ink.bold(wording.review())}\n")
        labels = [plain_line(field.label) for field in form.fields]
        widest = max(map(len, labels))
        for number, (field, label) in enumerate(zip(form.fields, labels, strict=True), 1):
            mark = self.ink.accent(f"{number:>{len(str(len(form)))}}")
            value = content.get(field.name)
            shown = typed.shown(field, value)
            self.write(f"    {mark}  {label:<{widest}}  {self.ink.dim(shown) if value is None else shown}\n")

    def _options(self, field: Choice | Choices) -> None:
        by_number = typed.numbered(field)
        for number, title in enumerate(field.labels.values(), 1):
            mark = f"{number:>{len(str(len(field.values)))}}" if by_number else "-"
            self.write(f"    {self.ink.accent(mark)}  {plain_line(title)}\n")

    def _wrapped(self, text: str) -> list[str]:
        columns = max(20, (self._width or min(shutil.get_terminal_size().columns, _WIDEST)) - 3)
        lines = (textwrap.wrap(line, columns, replace_whitespace=False) or [""] for line in plain(text).split("\n"))
        return [piece for line in lines for piece in line]
