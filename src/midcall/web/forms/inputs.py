"""A form as data for templates, and what its controls post as content for `check`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

from midcall.core.forms import line_input
from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.core.forms.form import Form
from midcall.core.forms.formats import is_date
from midcall.core.forms.hints import (
    describe_amount,
    describe_format,
    describe_length,
    describe_number,
    describe_pattern,
)
from midcall.core.text import plain, reveal
from midcall.language import _, ngettext
from midcall.language.problems import Problem
from midcall.settings.web import MAX_CONTROLS, MAX_FIELDS, MAX_OPTIONS, PAGE_MESSAGE_CHARACTERS
from midcall.web.forms import excerpt

Control: TypeAlias = Literal["line", "area", "moment", "radios", "select", "boxes"]

FEW: Final = 7
"""Up to this many options are radio buttons; more become a list."""
MANY: Final = 12
"""More checkboxes than this scroll."""
_LONG_TEXT: Final = 200
_LINE: Final = 60
"""The characters that a line shows at once. Nobody would see the end of a longer default before it is sent."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a choice."""

    value: str
    title: str
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Input:
    """One field on a page. All texts are sanitized, but not escaped.

    Args:
        id: The name of the control in the posted form; a field's own name may hold anything.
        field: The field.
        control: The control for it.
        label: Its label.
        description: The server's description.
        hint: What to know before typing.
        value: The value to show.
        type: The type of a line.
        mode: The keyboard that a phone shows.
        options: The options to choose from; for a moment, the offsets.
        problems: What is wrong with the value, each a sentence.
        note: What is not shown.
    """

    id: str
    field: Field
    control: Control
    label: str
    description: str
    hint: str
    value: str = ""
    type: str = "text"
    mode: str = ""
    options: tuple[Option, ...] = ()
    problems: tuple[str, ...] = ()
    note: str = ""

    @property
    def required(self) -> bool:
        return bool(self.field.required)

    @property
    def is_group(self) -> bool:
        """Whether it consists of several controls."""
        return self.control in ("radios", "boxes", "moment")

    @property
    def scrolls(self) -> bool:
        return self.control == "boxes" and len(self.options) > MANY

    @property
    def short(self) -> bool:
        """Whether its options fit side by side."""
        return isinstance(self.field, Flag)

    @property
    def first(self) -> str:
        """The id of the control that takes the focus."""
        return f"{self.id}-0" if self.control in ("radios", "boxes") else self.id

    @property
    def descriptions(self) -> str:
        """The ids of the elements that describe it."""
        parts = (("about", self.description), ("hint", self.hint), ("note", self.note), ("problems", self.problems))
        return " ".join(f"{self.id}-{part}" for part, text in parts if text)


def inputs(
    form: Form,
    values: Mapping[str, Any] | None = None,
    problems: Sequence[Problem] = (),
    *,
    prefix: str = "f",
    zone: str = "+00:00",
) -> tuple[Input, ...]:
    """The controls of this form, in order. `Pages.form` explains the arguments."""
    values = _defaults(form) if values is None else values
    found = _by_field(form, problems)
    return tuple(
        _input(field, f"{prefix}{index}", values.get(field.name), found.get(field.name, ()), zone)
        for index, field in enumerate(form.fields)
    )


def too_large(form: Form) -> bool:
    """Whether this form has more fields or options than a page can hold."""
    options = sum(min(len(field.options), MAX_OPTIONS) for field in form if isinstance(field, (Choice, Choices)))
    return len(form) > MAX_FIELDS or options > MAX_CONTROLS


def sentence(field: Field, problem: Problem) -> str:
    """A problem as a sentence: "Email must be an email address."."""
    label = excerpt.line(field.label)
    subject = label if label[-1:].isalnum() else _("This")
    return f"{subject} {excerpt.line(problem.message, PAGE_MESSAGE_CHARACTERS)}."


def _defaults(form: Form) -> dict[str, Any]:
    """The defaults, sanitized: what is sent is exactly what was shown."""
    given = {field.name: field.default for field in form.fields if field.default is not None}
    choices = {field.name for field in form.fields if isinstance(field, Choice)}
    return {name: plain(v) if isinstance(v, str) and name not in choices else v for name, v in given.items()}


def _by_field(form: Form, problems: Sequence[Problem]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for problem in problems:
        if problem.field in form.names:
            text = sentence(form.field(problem.field), problem)
            found[problem.field] = (*found.get(problem.field, ()), text)
    return found


def _input(field: Field, id: str, value: Any, problems: tuple[str, ...], zone: str) -> Input:
    control = _control(field, value, zone)
    label, about = excerpt.line(field.label), excerpt.text(field.description or "", 2_000)
    return Input(id, field, label=label, description=about, hint=_hint(field), problems=problems, **control)


# --- controls --------------------------------------------------------------------------------


def _control(field: Field, value: Any, zone: str) -> dict[str, Any]:
    match field:
        case Text():
            return _text(field, "" if value is None else str(value), zone)
        case Number():
            line = "" if value is None else str(value)
            return {"control": "line", "value": line, "mode": _keyboard(field), "note": _explain_hidden(line, _LINE)}
        case Flag():
            return {"control": "radios", "options": _flags(field, value)}
        case Choice():
            return _choice(field, value)
        case Choices():
            chosen = _texts(value)
            return {"control": "boxes", "options": _options(field, chosen), "note": _note(field)}


def _text(field: Text, value: str, zone: str) -> dict[str, Any]:
    control = _line(field, value, zone)
    room = len(value) if control["control"] == "area" else _LINE
    return {**control, "note": _explain_hidden(value, room)}


def _explain_hidden(value: str, room: int) -> str:
    """What is sent, if an input with room for so many characters can't show all of it."""
    shown = reveal(value, layout=True)
    hidden = len(value) > room or shown.replace("⇥", "\t") != value
    return _("This will be sent: {value}").format(value=shown) if hidden else ""


def _line(field: Text, value: str, zone: str) -> dict[str, Any]:
    match field.format:
        case "email" | "uri" as format:
            return {"control": "line", "value": value, "type": "email" if format == "email" else "url"}
        case "date" if not value or is_date(value):
            return {"control": "line", "value": value, "type": "date"}
        case "date-time" if not value or split_moment(value):
            local, offset = split_moment(value) or ("", zone)
            return {"control": "moment", "value": local, "type": "datetime-local", "options": _offsets(offset)}
        case None if "\n" in value or len(value) > _LINE or (field.max_length or 0) > _LONG_TEXT:
            return {"control": "area", "value": value}
        case _other:  # a value that the browser's own control would drop stays visible
            return {"control": "line", "value": value}


def _keyboard(field: Number) -> str:
    """The keyboard of a phone. Its number pads have no minus."""
    if field.minimum is None or field.minimum < 0:
        return ""
    return "numeric" if field.integer else "decimal"


def _flags(field: Flag, value: Any) -> tuple[Option, ...]:
    """Two radio buttons: an unticked checkbox could mean "no" or no answer."""
    options = (Option("yes", _("Yes"), value is True), Option("no", _("No"), value is False))
    return options if field.required else (*options, Option("", _("No answer"), value is None))


def _choice(field: Choice, value: Any) -> dict[str, Any]:
    options = _options(field, [value])
    nothing = not any(option.chosen for option in options)
    if len(options) > FEW:
        empty = Option("", _("Please choose") if field.required else _("No answer"), nothing)
        return {"control": "select", "options": (empty, *options), "note": _note(field)}
    none = () if field.required else (Option("", _("No answer"), nothing),)
    return {"control": "radios", "options": (*options, *none)}


def _options(field: Choice | Choices, chosen: Iterable[Any]) -> tuple[Option, ...]:
    """Options are posted by number: a value may hold characters that a page cannot."""
    picked = {value for value in chosen if isinstance(value, str)}
    first = list(field.labels.items())[:MAX_OPTIONS]
    return tuple(Option(str(index), excerpt.line(title), value in picked) for index, (value, title) in enumerate(first))


def _note(field: Choice | Choices) -> str:
    beyond = len(field.options) - MAX_OPTIONS
    if beyond <= 0:
        return ""
    text = ngettext("{count} more option is not shown.", "{count} more options are not shown.", beyond)
    return text.format(count=f"{beyond:,}")


def _texts(value: Any) -> Iterable[Any]:
    return cast("Iterable[Any]", value) if isinstance(value, (list, tuple)) else ()


# --- hints -----------------------------------------------------------------------------------


def _hint(field: Field) -> str:
    hint = "; ".join(_hints(field))
    return hint[:1].upper() + hint[1:]


def _hints(field: Field) -> Iterable[str]:
    match field:
        case Text():
            yield from _text_hints(field)
        case Number():
            yield describe_number(field.integer, field.minimum, field.maximum)
        case Choices():
            yield _("choose {amount}").format(amount=describe_amount(field.min_items, field.max_items))
        case Flag() | Choice():
            return


def _text_hints(field: Text) -> Iterable[str]:
    if field.format in ("email", "uri"):
        yield describe_format(field.format)
    if field.min_length or field.max_length is not None:
        yield describe_length(field.min_length, field.max_length)
    if field.pattern is not None:
        yield describe_pattern(excerpt.line(field.pattern))


# --- dates and times -------------------------------------------------------------------------
# A date-time is a local time and an offset, because the browser's control has no offset.

_MOMENT: Final = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)[Tt](?P<time>[0-2]\d:[0-5]\d:[0-5]\d(?:\.\d{1,3})?)(?P<offset>[Zz]|[+-]\d\d:\d\d)",
    re.ASCII,
)
_LOCAL: Final = re.compile(r"(?P<date>\d{4}-\d\d-\d\d)[T ](?P<time>\d\d:\d\d)(?P<rest>:\d\d(?:\.\d+)?)?", re.ASCII)

_OFFSETS: Final = (
    *("-12:00", "-11:00", "-10:00", "-09:30", "-09:00", "-08:00", "-07:00", "-06:00", "-05:00", "-04:00", "-03:30"),
    *("-03:00", "-02:00", "-01:00", "+00:00", "+01:00", "+02:00", "+03:00", "+03:30", "+04:00", "+04:30", "+05:00"),
    *("+05:30", "+05:45", "+06:00", "+06:30", "+07:00", "+08:00", "+08:45", "+09:00", "+09:30", "+10:00", "+10:30"),
    *("+11:00", "+12:00", "+12:45", "+13:00", "+14:00"),
)
"""Every offset in use."""


def split_moment(moment: str) -> tuple[str, str] | None:
    """The local time and the offset; None if the browser's control cannot show it."""
    found = _MOMENT.fullmatch(moment)
    if found is None:
        return None
    offset = found["offset"]
    return f"{found['date']}T{found['time']}", "+00:00" if offset in "Zz" else offset


def _join_moment(local: str, offset: str) -> str:
    """The local time and the offset as one text. An invalid local time stays as it is, for `check`."""
    found = _LOCAL.fullmatch(local)
    return local if found is None else f"{found['date']}T{found['time']}{found['rest'] or ':00'}{offset}"


def _offsets(chosen: str) -> tuple[Option, ...]:
    known = _OFFSETS if chosen in _OFFSETS else (chosen, *_OFFSETS)
    names = ["UTC" if each == "+00:00" else "UTC" + each.replace("-", "\N{MINUS SIGN}") for each in known]
    return tuple(Option(offset, name, offset == chosen) for offset, name in zip(known, names, strict=True))


# --- reading ---------------------------------------------------------------------------------


def read(form: Form, posted: Iterable[tuple[str, str]], *, prefix: str = "f") -> dict[str, Any]:
    """The content of a form that posted these pairs of name and value. Empty fields are omitted.

    A value that cannot be read stays text, and `check` says what is wrong with it.
    """
    given: dict[str, list[str]] = {}
    for name, value in posted:
        given.setdefault(name, []).append(value)
    content: dict[str, Any] = {}
    for index, field in enumerate(form.fields):
        id = f"{prefix}{index}"
        value = _read_field(field, given.get(id, ()), given.get(f"{id}-zone", ()))
        if value is not None:
            content[field.name] = value
    return content


def _read_field(field: Field, given: Sequence[str], zone: Sequence[str]) -> Any:
    if isinstance(field, Choices):
        return _read_choices(field, given)
    line = given[-1] if given else ""
    if isinstance(field, Text):
        return _read_text(field, line, zone[-1] if zone else "") or None
    if not line.strip():
        return None
    match field:
        case Number():
            return line_input.read(field, line.strip())
        case Flag():
            return {"yes": True, "no": False}.get(line, line)
        case Choice():
            return _read_option(field.values, line)


def _read_text(field: Text, line: str, zone: str) -> str:
    text = line.replace("\r\n", "\n")
    if field.format is None:
        return text
    return _join_moment(text.strip(), zone) if field.format == "date-time" and zone else text.strip()


def _read_choices(field: Choices, given: Sequence[str]) -> list[str] | None:
    """No ticks mean an empty list if the field is required or had ticks by default, otherwise no answer."""
    if not given and not field.required and not field.default:
        return None
    values = field.values
    return [_read_option(values, value) for value in dict.fromkeys(given)]


def _read_option(values: Sequence[str], number: str) -> str:
    if number.isascii() and number.isdigit() and len(number) < 9 and int(number) < len(values):
        return values[int(number)]
    return number
