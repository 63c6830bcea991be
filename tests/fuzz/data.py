"""Data of strangers: journals, schemas with their answers, and arguments on the command line."""

from __future__ import annotations

import copy
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any, Final

from midcall.cli.call.arguments import Argument, BadArgument, read, split
from midcall.cli.tools.schemas import describe, kinds_of
from midcall.client.asked import Asked, FormQuestion
from midcall.client.automatic.answers import UnfitAnswer, read_answer
from midcall.core.adopted import AdoptedQuestion
from midcall.core.forms import line_input
from midcall.core.forms.check import check, fill, tidy
from midcall.core.forms.form import Form
from midcall.core.forms.hints import format_value, list_hints
from midcall.core.forms.secrets import secret_fields, secret_properties
from midcall.core.journal import Entry, Foreign, Journal, decode, encode, read_head
from midcall.core.journal import Target as Called
from midcall.core.replay import Replay, parse_answer
from midcall.core.wire import find_unsendable
from midcall.errors import InvalidForm, InvalidJournal, InvalidQuestion, MalformedAnswer, MidcallError
from midcall.protocol import VERSIONS
from midcall.web.forms import PAGES
from midcall.web.forms import read as read_posted
from tests.fuzz.fuzzer import REJECTED, Finding, Take, Target
from tests.fuzz.mutation import flood_character, make_value, mutate_data, mutate_text

# --- journals ----------------------------------------------------------------------------------


def _journals() -> list[str]:
    """What real calls write: answered and pending questions, effects, states of others, resume codes."""
    plain = Journal("c4ll", turn=1, owner="0wner")
    plain.entries["?abc"], plain.asked = Entry("waiting", 1, "How many days?"), ("?abc",)
    full = Journal("an-unguessable-call", rounds=3, turn=4, strays=1, drifts=1, left=1e9)
    full.foreign = Foreign("state", {"a": {"action": "accept"}})
    full.entries |= {
        "?abc.1": Entry("waiting", 0, "Seat?", {"seat": "x"}, "", 2, 1e9, (("seat", "choice", "Choose one."),)),
        "seat": Entry("accept", 1, "Seat?", {"seat": "w"}, "sh4pe"),
        "?def": Entry("decline", 1, "Sure?", True),
        "!.charge": Entry("effect", 1, "charge", {"paid": [1, 2.5, None]}, "d1gest"),
        "!1.charge": Entry("lost", 1, "charge", None, "d1gest"),
        "!.mail": Entry("failed", 1, "mail", None, "x"),
        "#retry.": Entry("mark", 1, "retry", "d1gest"),
        "~sampling.abc": Entry("requested", 1, "sampling", None),
    }
    full.asked = ("?abc.1~2", "~sampling.abc")
    full.settle("?123", "window", "Which seat?", 1)
    full.settle("?456", {"a": 1, "b": "`\"'"}, "Two", 0)
    code = Journal("other", turn=2, target=Called("book", {"destination": "Oslo"}))
    return [encode(plain), encode(full), encode(code), encode(Journal("empty"))]


_JOURNALS: Final = _journals()
_RESPONSES: Final[dict[str, Any]] = {
    "?abc": {"action": "accept", "content": {"value": 3}},
    "?abc.1~2": {"action": "accept", "content": {"seat": "w"}},
    "seat": {"action": "decline"},
    "~sampling.abc": {"role": "assistant", "content": {"type": "text", "text": "x"}, "model": "m"},
}


def _make_journal(random: Random) -> tuple[str, dict[str, Any]]:
    return mutate_text(random, random.choice(_JOURNALS), _JOURNALS), mutate_data(random, _RESPONSES)


@asynccontextmanager
async def _open_journals() -> AsyncIterator[Take]:
    async def take(made: tuple[str, Any]) -> str:
        text, responses = made
        try:
            read_head(text)
            journal = decode(text)
        except InvalidJournal as error:
            _check_short(error)
            return REJECTED
        try:
            return _use_journal(journal, responses)
        except (InvalidJournal, MalformedAnswer) as error:
            _check_short(error)
            return "refused later"

    yield take


def _use_journal(journal: Journal, responses: Any) -> str:
    again = decode(encode(journal))
    if (again.entries, again.settled) != (journal.entries, journal.settled) and not _has_nan(encode(journal)):
        raise Finding("it isn't the same when it was written and read again")
    journal.labels()
    for identity in (*journal.entries, *journal.settled):
        repr(journal.entry(identity))
    journal.effects()
    replay = Replay(journal)
    replay.identify_effect("charge", "d1gest")
    replay.depart_with_effect("nothing") if not journal.effects() else None
    if isinstance(responses, dict):
        replay.take_answers(responses, 1e9)
    replay.leftover()
    replay.leftover_of_branches()
    journal.forget(*list(journal.settled)[:1])
    encode(journal)
    return "replayed"


def _has_nan(text: str) -> bool:
    return "NaN" in text


def _check_short(error: MidcallError) -> None:
    if len(str(error)) > 2_000:
        raise Finding(f"the error quotes too much of the input: {len(str(error))} characters")


# --- schemas -----------------------------------------------------------------------------------

_FULL: Final[dict[str, Any]] = {
    "type": "object",
    "title": "Trip",
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 2, "maxLength": 40, "default": "Ada"},
        "mail": {"type": "string", "format": "email", "description": "Where to write to"},
        "home": {"type": "string", "format": "uri"},
        "day": {"type": "string", "format": "date", "default": "2026-07-28"},
        "at": {"type": "string", "format": "date-time"},
        "code": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]+$", "maxLength": 20},
        "days": {"type": "integer", "minimum": 1, "maximum": 30, "default": 4},
        "share": {"type": "number", "minimum": 0.5},
        "news": {"type": "boolean", "default": True},
        "seat": {"type": "string", "enum": ["w", "a"], "enumNames": ["Window", "Aisle"]},
        "meal": {"type": "string", "oneOf": [{"const": "v", "title": "Vegan"}, {"const": "m", "title": "Meat"}]},
        "extras": {"type": "array", "items": {"type": "string", "enum": ["bike", "skis"]}, "maxItems": 2},
        "more": {"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}]}, "minItems": 0, "default": ["x"]},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
    },
    "required": ["name", "days"],
}
_SCHEMAS: Final = (
    _FULL,
    *({"type": "object", "properties": {name: prop}} for name, prop in _FULL["properties"].items()),
    {"type": "object", "properties": {"n": {"type": "string", "enum": [f"option {n}" for n in range(60)]}}},
)
_CONTENT: Final[dict[str, Any]] = {
    "name": "Ada Lovelace",
    "mail": "ada@example.com",
    "home": "https://example.com/a?b#c",
    "day": "2026-07-28",
    "at": "2026-07-28T10:00:00.5+02:00",
    "code": "ABC-123",
    "days": 4,
    "share": 0.75,
    "news": False,
    "seat": "w",
    "meal": "v",
    "extras": ["bike"],
    "more": ["x"],
    "maybe": 3,
    "n": "option 59",
}


def _flood_pattern(random: Random) -> dict[str, Any]:
    """A schema whose pattern repeats one character."""
    pattern = flood_character(random, random.choice((r"^[A-Z]{3}-\d+$", "^(a)", "a{1,2}", "")))
    return {"type": "object", "properties": {"code": {"type": "string", "pattern": pattern}}}


def _make_schema(random: Random) -> tuple[Any, Any, str]:
    schema = _flood_pattern(random) if not random.randrange(20) else mutate_data(random, random.choice(_SCHEMAS))
    line = mutate_text(random, random.choice(("Ada", "yes", "4", "1, 2", "w", "2026-07-28", "1e5", "bike,skis", "")))
    return schema, mutate_data(random, _CONTENT), line


@asynccontextmanager
async def _open_schemas() -> AsyncIterator[Take]:
    async def take(made: tuple[Any, Any, str]) -> str:
        schema, content, line = made
        try:
            secret_properties(schema) if isinstance(schema, dict) else None
            if isinstance(schema, dict):
                _adopt(schema)
        except InvalidQuestion as error:
            str(error)
        forms: list[Form] = []
        for strict in (False, True):
            try:
                forms.append(Form.from_schema(schema, strict=strict))
            except InvalidForm as error:
                str(error)
        for form in forms:
            _use_form(form, content, line)
        return "shown" if forms else REJECTED

    yield take


def _adopt(schema: dict[str, Any]) -> None:
    """As `ctx.elicit` does with a schema of the author's."""
    question = AdoptedQuestion({"message": "Tell me", "requestedSchema": schema})
    repr(question.required_defaults)


def _use_form(form: Form, content: Any, line: str) -> None:
    """Everything that clients and pages do with a form."""
    for version in VERSIONS:
        schema = form.schema(version)
        if (unsendable := find_unsendable(schema)) is not None and "half a character" not in unsendable.why:
            raise Finding(f"the schema can't be sent: {unsendable}")
    if Form.from_schema(form.schema(), strict=False).digest != form.digest:
        raise Finding("the form that its own schema describes is another one")
    secret_fields(form)
    problems = check(form, content)
    if isinstance(content, dict):
        if not check(form, tidied := tidy(form, content)):
            fill(form, tidied)
        form.lift(content, VERSIONS[0])
        PAGES.form(form, content, problems).encode("utf-8", "replace")
        try:
            read_answer(Asked(FormQuestion("Tell me", form), "1"), content)
        except UnfitAnswer as error:
            str(error)
    PAGES.form(form).encode("utf-8", "replace")
    posted = [(f"f{number}", line) for number in range(len(form))]
    check(form, read_posted(form, posted))
    for field in form.fields:
        list_hints(field)
        value = line_input.read(field, line)
        line_input.search(field, value)
        format_value(field, value)
        if field.default is not None:
            format_value(field, field.default)
    for problem in problems:
        str(problem.message)


# --- arguments of `midcall call` ---------------------------------------------------------------

_TOOL: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "pattern": "^(x+)+$"},
        "count": {"type": "integer", "minimum": 1},
        "share": {"type": "number"},
        "flag": {"type": "boolean"},
        "board": {"enum": ["half", "full", 3]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "extra": {"type": "object"},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "trip": {"$ref": "#/$defs/Trip"},
        "free": {},
    },
    "$defs": {"Trip": {"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]}},
    "required": ["text"],
}
_ITSELF: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"text": {"$ref": "#/$defs/A"}, "count": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "integer"}]}},
    "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/A"}, {"$ref": "#/$defs/A"}, {"$ref": "#"}]}},
}
_ARGUMENTS: Final = (
    *("text=hello", "count=5", "share=.5", "flag=yes", "board=Full", "tags=a", 'tags:=["a", "b"]', 'extra={"a": [1]}'),
    *("maybe=null", 'trip={"days": 3}', "free:=[1, {}]", "free=@/nonexistent", "text=", "x=1"),
)


def _make_arguments(random: Random) -> tuple[list[str], Any]:
    """The schema comes from a server, too."""
    typed = [_make_argument(random, each) for each in random.sample(_ARGUMENTS, random.randint(1, 3))]
    if not any(each.startswith("text") for each in typed):
        typed.append("text=x")
    schema = copy.deepcopy(_TOOL) if random.randrange(3) else mutate_data(random, random.choice((_TOOL, _ITSELF)))
    return typed, schema if isinstance(schema, dict) else _TOOL


def _make_argument(random: Random, argument: str) -> str:
    """Mostly one whose name is known."""
    name, equals, value = argument.partition("=")
    if random.randrange(8):
        return f"{name}{equals}{mutate_text(random, value)}"
    return mutate_text(random, argument)


@asynccontextmanager
async def _open_arguments() -> AsyncIterator[Take]:
    async def take(made: tuple[list[str], dict[str, Any]]) -> str:
        typed, schema = made
        for kind in kinds_of(schema).values():
            describe(kind)
        given: list[Argument] = []
        try:
            given = split(typed)
            read(given, schema)
        except BadArgument as error:
            str(error)
            return "doesn't fit" if given else REJECTED
        return "read"

    yield take


def _make_answer(random: Random) -> Any:
    return mutate_data(random, random.choice([*_RESPONSES.values(), make_value(random)]))


@asynccontextmanager
async def _open_answers() -> AsyncIterator[Take]:
    async def take(answer: Any) -> str:
        try:
            kind, content = parse_answer(answer)
            json.dumps(content)
        except MalformedAnswer as error:
            _check_short(error)
            return REJECTED
        return kind

    yield take


TARGETS: Final = (
    Target("journals", _make_journal, _open_journals, short=1_500, share=200, must=("replayed", "refused later")),
    Target("schemas", _make_schema, _open_schemas, short=500, share=120, must=("shown",)),
    Target("arguments", _make_arguments, _open_arguments, short=600, share=100, must=("read",)),
    Target("answers", _make_answer, _open_answers, short=1_500, share=50, must=("accept", "decline")),
)
