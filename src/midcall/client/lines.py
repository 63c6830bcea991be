"""Plain line prompts: questions answered at any terminal, one line at a time.

    async with Client(server, elicitation_callback=Lines()) as client:
        await client.call_tool("book", {"destination": "Oslo"})

The user sees who asks and what, answers field by field, reviews all of it, and can decline or
cancel at every prompt. Nothing is sent that was not checked against the form.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import textwrap
import webbrowser
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, cast
from urllib.parse import urlsplit

import anyio
from mcp.client.session import ClientRequestContext
from mcp_types import (
    INVALID_PARAMS,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitRequestURLParams,
    ElicitResult,
    ErrorData,
)

from midcall.client import typed, wording
from midcall.client.ink import Ink
from midcall.client.keyboard import Keyboard, Reader
from midcall.client.plain import plain, plain_line
from midcall.core.check import Problem, check
from midcall.core.fields import Choice, Choices, Field, Flag
from midcall.core.form import Form
from midcall.errors import InvalidForm

__all__ = ["Lines", "Reader", "Writer", "print_text"]

Writer: TypeAlias = Callable[[str], None]
"""Shows text as it is, at once."""

Note: TypeAlias = Callable[[], str]

Order: TypeAlias = Literal["send", "decline", "cancel"] | int
"""What the user wants at the review; a number is the index of the field to change."""


class _Ended(Exception):
    """The user wants no more of this question."""

    def __init__(self, action: Literal["decline", "cancel"]) -> None:
        super().__init__(action)
        self.action: Literal["decline", "cancel"] = action


class Lines:
    """Answers questions at line prompts. Use it as the `elicitation_callback` of an `mcp.Client`.

    Several questions at once, as one round may bring, are answered one after the other.

    Args:
        keyboard: Where lines come from; share one between all who read the same terminal.
        write: Where text goes.
        ink: Colours; by default, where standard output is a terminal.
        open_url: Opens an address that the user agreed to visit, and tells whether it could.
        note: Says more about a question, beside the server's name.
        width: Columns to write in; by default, those of the terminal.
    """

    def __init__(
        self,
        *,
        keyboard: Keyboard | None = None,
        write: Writer | None = None,
        ink: Ink | None = None,
        open_url: Callable[[str], bool] = webbrowser.open,
        note: Note | None = None,
        width: int | None = None,
    ) -> None:
        self._keyboard = keyboard or Keyboard()
        self._write = write or print_text
        self._ink = ink if ink is not None else Ink.on_stream(sys.stdout)
        self._open_url = open_url
        self._note = note
        self._width = width
        self._lock = anyio.Lock()

    async def __call__(
        self, context: ClientRequestContext | None, params: ElicitRequestParams
    ) -> ElicitResult | ErrorData:
        async with self._lock:
            try:
                result = await self._answer(_server_name(context), params)
            except _Ended as ended:
                result = ElicitResult(action=ended.action)
            except asyncio.CancelledError:
                self._say(f"\n  {self._ink.bad('✗')} {wording.withdrawn()}\n")
                raise
            if isinstance(result, ElicitResult):
                self._close(result)
            return result

    async def _answer(self, server: str, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        if isinstance(params, ElicitRequestURLParams):
            return await self._visit(server, params)
        assert isinstance(params, ElicitRequestFormParams)
        if not params.requested_schema.get("properties"):
            return await self._plain_accept(server, params)
        try:
            form = Form.from_schema(params.requested_schema, strict=False)
        except InvalidForm as error:
            return self._refuse(server, plain_line(str(error)))
        self._open(wording.asks(server), params, wording.how_to_answer(_has_defaults(form)))
        content: dict[str, Any] = {}
        for index in range(len(form)):
            await self._fill(form, index, content)
            self._say("\n" if len(form) > 1 else "")
        await self._review(form, content)
        return ElicitResult(action="accept", content=content)

    # --- a form -------------------------------------------------------------------------------

    async def _fill(self, form: Form, index: int, content: dict[str, Any]) -> None:
        """Ask for one field until what is typed fits. What is there already stands as its default."""
        field = form.fields[index]
        current = content.get(field.name, field.default)
        clearable = field.name in content and not field.required and field.default is None
        self._introduce(form, index, clearable)
        bracketed = "" if current is None else f"[{typed.shown(field, current)}] "
        while True:
            line = await self._prompt(bracketed)
            value = typed.read(field, line) if line or _takes_none(field, current) else current
            if (value is None and not field.required) or (line == ":clear" and clearable):
                content.pop(field.name, None)
                return
            problems = check(Form(field), {} if value is None else {field.name: _on_wire(value)})
            if not problems:
                content[field.name] = _on_wire(value)
                return
            told = wording.answer_yes_or_no() if line and isinstance(field, Flag) else _sentence(field, problems)
            self._complain(told)

    def _introduce(self, form: Form, index: int, clearable: bool) -> None:
        field = form.fields[index]
        count = f"{index + 1}/{len(form)} " if len(form) > 1 else ""
        hints = [*typed.hints(field), *([wording.to_empty_it()] if clearable else [])]
        self._say(f"  {self._ink.dim(count)}{self._ink.bold(plain_line(field.label))}")
        self._say(self._ink.dim(f" · {' · '.join(hints)}\n" if hints else "\n"))
        if field.description:
            self._say(self._indented(self._ink.dim, field.description))
        if isinstance(field, (Choice, Choices)):
            self._list_options(field)

    def _list_options(self, field: Choice | Choices) -> None:
        by_number = typed.numbered(field)
        for number, title in enumerate(field.labels.values(), 1):
            mark = f"{number:>{len(str(len(field.values)))}}" if by_number else "-"
            self._say(f"    {self._ink.accent(mark)}  {plain_line(title)}\n")

    async def _review(self, form: Form, content: dict[str, Any]) -> None:
        """Return when the user wants it sent."""
        while True:
            match await self._order(form, content):
                case "send":
                    return
                case "decline" | "cancel" as action:
                    raise _Ended(action)
                case int(index):
                    self._say("\n")
                    await self._fill(form, index, content)
                    self._say("\n" if len(form) > 1 else "")

    async def _order(self, form: Form, content: dict[str, Any]) -> Order:
        if len(form) == 1:
            offer = wording.send_one(self._ink.bold(typed.shown(form.fields[0], content.get(form.names[0]))))
        else:
            self._list_answers(form, content)
            offer = wording.send_all()
        while (order := _order(await self._prompt(f"{offer} "), len(form))) is None:
            self._complain(wording.not_understood(len(form)))
        return order

    def _list_answers(self, form: Form, content: dict[str, Any]) -> None:
        self._say(f"  {self._ink.bold(wording.review())}\n")
        labels = [plain_line(field.label) for field in form.fields]
        widest = max(map(len, labels))
        for number, (field, label) in enumerate(zip(form.fields, labels, strict=True), 1):
            mark = self._ink.accent(f"{number:>{len(str(len(form)))}}")
            value = content.get(field.name)
            shown = typed.shown(field, value)
            self._say(f"    {mark}  {label:<{widest}}  {self._ink.dim(shown) if value is None else shown}\n")

    async def _plain_accept(self, server: str, params: ElicitRequestFormParams) -> ElicitResult:
        """A form without fields: only the user's yes or no is asked."""
        self._open(wording.asks(server), params, wording.how_to_answer(False))
        agreed = await self._yes_or_no(wording.says_yes_or_no())
        return ElicitResult(action="accept", content={}) if agreed else ElicitResult(action="decline")

    # --- a visit ------------------------------------------------------------------------------

    async def _visit(self, server: str, params: ElicitRequestURLParams) -> ElicitResult | ErrorData:
        url = params.url
        if not _can_be_shown(url):
            return self._refuse(server, wording.cannot_be_opened())
        self._open(wording.asks_to_open(server), params, wording.nothing_opens())
        self._say(f"  {self._ink.bold(url)}\n\n")
        if not await self._yes_or_no(wording.open_it()):
            return ElicitResult(action="decline")
        opened = await anyio.to_thread.run_sync(self._open_url, url, abandon_on_cancel=True)
        self._say(f"  {wording.opened() if opened else wording.open_it_yourself()}\n")
        return ElicitResult(action="accept")

    # --- prompts ------------------------------------------------------------------------------

    async def _yes_or_no(self, question: str) -> bool:
        flag = Flag("agreed")
        while True:
            match typed.read(flag, await self._prompt(f"{question} ")):
                case bool(agreed):
                    return agreed
                case _:
                    self._complain(wording.answer_yes_or_no())

    async def _prompt(self, before: str) -> str:
        """A line from the user, who can also end the question here."""
        while True:
            self._say(f"  {before}{self._ink.accent('>')} ")
            line = await self._keyboard.line()
            if line is None:
                self._say("\n")
                raise _Ended("cancel")
            line = line.strip()
            match line.casefold():
                case ":decline":
                    raise _Ended("decline")
                case ":cancel":
                    raise _Ended("cancel")
                case _ if _has_controls(line):
                    self._complain(wording.no_control_characters())
                case _:
                    return line

    # --- writing ------------------------------------------------------------------------------

    def _open(self, title: str, params: ElicitRequestParams, advice: str) -> None:
        """Who asks, and what. All that the server says stands behind a bar, so that it cannot pose as us."""
        note = self._note() if self._note else ""
        self._say(f"\n{self._ink.accent('╭─')} {self._ink.bold(title)}")
        self._say(f"  {self._ink.dim(note)}\n" if note else "\n")
        bar = self._ink.accent("│")
        for line in self._wrapped(params.message):
            self._say(f"{bar} {line}\n")
        self._say(f"{self._ink.accent('╰─')} {self._ink.dim(advice)}\n\n")

    def _close(self, result: ElicitResult) -> None:
        match result.action:
            case "accept":
                self._say(f"  {self._ink.good('✓')} {wording.sent()}\n")
            case "decline":
                self._say(f"  {self._ink.bad('✗')} {wording.declined()}\n")
            case "cancel":
                self._say(f"  {self._ink.bad('✗')} {wording.cancelled()}\n")

    def _refuse(self, server: str, why: str) -> ErrorData:
        sentence = wording.not_readable(server, why)
        self._say(f"\n  {self._ink.bad('✗')} {sentence}\n")
        return ErrorData(code=INVALID_PARAMS, message=sentence)

    def _complain(self, sentence: str) -> None:
        self._say(f"  {self._ink.bad('✗')} {sentence}\n")

    def _indented(self, paint: Callable[[str], str], text: str) -> str:
        return "".join(f"  {paint(line)}\n" for line in self._wrapped(text))

    def _wrapped(self, text: str) -> list[str]:
        columns = max(20, (self._width or min(shutil.get_terminal_size().columns, 100)) - 3)
        lines = (textwrap.wrap(line, columns, replace_whitespace=False) or [""] for line in plain(text).split("\n"))
        return [piece for line in lines for piece in line]

    def _say(self, text: str) -> None:
        self._write(text)


def print_text(text: str) -> None:
    """Write to standard output, whatever its encoding, at once."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()


def _server_name(context: ClientRequestContext | None) -> str:
    info = context.session.server_info if context is not None else None
    return plain_line((info.title or info.name) if info is not None else "") or wording.unnamed_server()


def _has_defaults(form: Form) -> bool:
    return any(field.default is not None for field in form.fields)


def _order(line: str, fields: int) -> Order | None:
    """What the user wants at the review, if this says it."""
    words = line.casefold().split()
    match words:
        case [] | ["send" | "s" | "yes" | "y"]:
            return "send"
        case ["decline"]:
            return "decline"
        case ["cancel"]:
            return "cancel"
        case ["change" | "c"] if fields == 1:
            return 0
        case ["change" | "c", number] | [number] if number.isascii() and number.isdigit():
            return int(number) - 1 if 1 <= int(number[:6]) <= fields else None
        case _:
            return None


def _takes_none(field: Field, current: Any) -> bool:
    """Whether an empty line is an answer: none of several options, where one has to be given."""
    return isinstance(field, Choices) and bool(field.required) and current is None


def _on_wire(value: Any) -> Any:
    """The default of a multiple choice is a tuple; what is sent is a list."""
    return list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else value


def _sentence(field: Field, problems: Sequence[Problem]) -> str:
    """The problems are said of the field: "Email must be an email address"."""
    label = plain_line(field.label)
    subject = label if label[-1:].isalnum() else wording.this_field()
    return f"{subject} {'; '.join(plain_line(problem.message) for problem in problems)}."


def _has_controls(line: str) -> bool:
    return any(ord(char) < 32 or 127 <= ord(char) < 160 for char in line)


def _can_be_shown(url: str) -> bool:
    """Whether the user sees exactly what would be opened."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and url.isprintable() and " " not in url
