"""Plain line prompts: questions answered at any terminal, one line at a time.

    async with Client(server, elicitation_callback=Lines()) as client:
        await client.call_tool("book", {"destination": "Oslo"})

The user sees who asks and what, answers field by field, reviews all of it, and can decline or
cancel at every prompt. Nothing is sent that was not checked against the form.
"""

from __future__ import annotations

import asyncio
import sys
import webbrowser
from collections.abc import Callable
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

from midcall.client import typed
from midcall.client.ink import Ink
from midcall.client.keyboard import Keyboard
from midcall.client.plain import plain_line
from midcall.client.sheet import Sheet, Writer
from midcall.core.check import check
from midcall.core.fields import Choices, Field, Flag
from midcall.core.form import Form
from midcall.errors import InvalidForm
from midcall.wording import client as wording

__all__ = ["Lines", "print_text"]

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
        note: Says more about the question that is shown, beside the server's name.
        width: Columns to write in; by default, those of the terminal.
    """

    def __init__(
        self,
        *,
        keyboard: Keyboard | None = None,
        write: Writer | None = None,
        ink: Ink | None = None,
        open_url: Callable[[str], bool] = webbrowser.open,
        note: Callable[[], str] | None = None,
        width: int | None = None,
    ) -> None:
        self._keyboard = keyboard or Keyboard()
        self._sheet = Sheet(write or print_text, ink or Ink.on_stream(sys.stdout), width)
        self._open_url = open_url
        self._note = note or str
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
                self._sheet.write("\n")
                self._sheet.complain(wording.withdrawn())
                raise
            if isinstance(result, ElicitResult):
                self._sheet.close(result.action)
            return result

    async def _answer(self, server: str, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        match params:
            case ElicitRequestURLParams():
                return await self._visit(server, params)
            case ElicitRequestFormParams() if params.requested_schema.get("properties"):
                return await self._form(server, params)
            case _:
                return await self._bare(server, params)

    # --- a form -------------------------------------------------------------------------------

    async def _form(self, server: str, params: ElicitRequestFormParams) -> ElicitResult | ErrorData:
        try:
            form = Form.from_schema(params.requested_schema, strict=False)
        except InvalidForm as error:
            return self._refuse(server, plain_line(str(error)))
        has_defaults = any(field.default is not None for field in form.fields)
        self._sheet.open(wording.asks(server), params.message, wording.how_to_answer(has_defaults), self._note())
        content: dict[str, Any] = {}
        for index in range(len(form)):
            await self._fill(form, index, content)
        await self._review(form, content)
        return ElicitResult(action="accept", content=content)

    async def _bare(self, server: str, params: ElicitRequestParams) -> ElicitResult:
        """A form without fields: only the user's yes or no is asked."""
        self._sheet.open(wording.asks(server), params.message, wording.how_to_answer(False), self._note())
        agreed = await self._yes_or_no(wording.says_yes_or_no())
        return ElicitResult(action="accept", content={}) if agreed else ElicitResult(action="decline")

    async def _fill(self, form: Form, index: int, content: dict[str, Any]) -> None:
        """Ask for one field until what is typed fits. What is there already stands as its default."""
        field = form.fields[index]
        current = content.get(field.name, field.default)
        clearable = field.name in content and not field.required and field.default is None
        self._sheet.field(form, index, clearable=clearable)
        bracketed = "" if current is None else f"[{typed.shown(field, current)}] "
        while True:
            line = await self._prompt(bracketed)
            value = _on_wire(typed.read(field, line) if line or _takes_none(field, current) else current)
            if (value is None and not field.required) or (line == ":clear" and clearable):
                content.pop(field.name, None)
                break
            problems = check(Form(field), {} if value is None else {field.name: value})
            if not problems:
                content[field.name] = value
                break
            if line and isinstance(field, Flag):
                self._sheet.complain(wording.answer_yes_or_no())
            else:
                self._sheet.problems(field, problems)
        if len(form) > 1:
            self._sheet.write("\n")

    async def _review(self, form: Form, content: dict[str, Any]) -> None:
        """Return when the user wants it sent."""
        while True:
            match await self._order(form, content):
                case "send":
                    return
                case "decline" | "cancel" as action:
                    raise _Ended(action)
                case int(index):
                    self._sheet.write("\n")
                    await self._fill(form, index, content)

    async def _order(self, form: Form, content: dict[str, Any]) -> Order:
        if len(form) == 1:
            offer = wording.send_one(self._sheet.ink.bold(typed.shown(form.fields[0], content.get(form.names[0]))))
        else:
            self._sheet.answers(form, content)
            offer = wording.send_all()
        while (order := _order(await self._prompt(f"{offer} "), len(form))) is None:
            self._sheet.complain(wording.not_understood(len(form)))
        return order

    def _refuse(self, server: str, why: str) -> ErrorData:
        sentence = wording.not_readable(server, why)
        self._sheet.complain(sentence)
        return ErrorData(code=INVALID_PARAMS, message=sentence)

    # --- a visit ------------------------------------------------------------------------------

    async def _visit(self, server: str, params: ElicitRequestURLParams) -> ElicitResult | ErrorData:
        if not _shows_itself(params.url):
            return self._refuse(server, wording.cannot_be_opened())
        self._sheet.open(wording.asks_to_open(server), params.message, wording.nothing_opens(), self._note())
        self._sheet.address(params.url)
        if not await self._yes_or_no(wording.open_it()):
            return ElicitResult(action="decline")
        opened = await anyio.to_thread.run_sync(self._open_url, params.url, abandon_on_cancel=True)
        self._sheet.write(f"  {wording.opened() if opened else wording.open_it_yourself()}\n")
        return ElicitResult(action="accept")

    # --- prompts ------------------------------------------------------------------------------

    async def _yes_or_no(self, question: str) -> bool:
        while True:
            match typed.read(Flag("agreed"), await self._prompt(f"{question} ")):
                case bool(agreed):
                    return agreed
                case _:
                    self._sheet.complain(wording.answer_yes_or_no())

    async def _prompt(self, before: str) -> str:
        """A line from the user, who can also end the question here."""
        prompt = f"  {before}{self._sheet.ink.accent('>')} "
        while True:
            line = await self._keyboard.line(lambda: self._sheet.write(prompt))
            if line is None:
                self._sheet.write("\n")
                raise _Ended("cancel")
            line = line.strip()
            match line.casefold():
                case ":decline":
                    raise _Ended("decline")
                case ":cancel":
                    raise _Ended("cancel")
                case _ if _has_controls(line):
                    self._sheet.complain(wording.no_control_characters())
                case _:
                    return line


def print_text(text: str) -> None:
    """Write to standard output, whatever its encoding, at once."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()


def _server_name(context: ClientRequestContext | None) -> str:
    info = context.session.server_info if context is not None else None
    return plain_line((info.title or info.name) if info is not None else "") or wording.unnamed_server()


def _order(line: str, fields: int) -> Order | None:
    """What the user wants at the review, if this says it."""
    match line.casefold().split():
        case [] | ["send" | "s" | "yes" | "y"]:
            return "send"
        case ["decline"]:
            return "decline"
        case ["cancel"]:
            return "cancel"
        case ["change" | "c"] if fields == 1:
            return 0
        case ["change" | "c", number] | [number] if number in map(str, range(1, fields + 1)):
            return int(number) - 1
        case _:
            return None


def _takes_none(field: Field, current: Any) -> bool:
    """Whether an empty line is an answer: none of several options, where one has to be given."""
    return isinstance(field, Choices) and bool(field.required) and current is None


def _on_wire(value: Any) -> Any:
    """The default of a multiple choice is a tuple; what is sent is a list."""
    return list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else value


def _has_controls(line: str) -> bool:
    return any(ord(char) < 32 or 127 <= ord(char) < 160 for char in line)


def _shows_itself(url: str) -> bool:
    """Whether this is a web address, and the user sees exactly what would be opened."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and url.isprintable() and " " not in url
