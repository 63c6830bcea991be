"""A form as the controls that a page needs: which control, its words, its value. Pure data; templates draw it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

from midcall.core.forms.check import Problem
from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.core.forms.form import Form
from midcall.core.forms.formats import is_date
from midcall.core.text import plain
from midcall.web.forms import moments, shown
from midcall.wording.client import html as wording

__all__ = ["Control", "Input", "Option", "Texts", "inputs", "sentence", "too_large"]

Control: TypeAlias = Literal["line", "area", "moment", "radios", "select", "boxes"]

FEW: Final = 7
"""Up to this many options are laid out; more go into a list."""
MANY: Final = 12
"""Boxes beyond this scroll."""
MOST_OPTIONS: Final = 5_000
MOST_FIELDS: Final = 2_000
MOST_CONTROLS: Final = 50_000
_LONG_TEXT: Final = 200


@dataclass(frozen=True, slots=True)
class Texts:
    """The words of the controls themselves, for pages in another language."""

    yes: str = wording.title_yes()
    no: str = wording.title_no()
    no_answer: str = wording.left_unanswered()
    choose: str = wording.choose_here()
    required: str = wording.is_required_mark()
    optional: str = wording.optional()
    time_zone: str = wording.time_zone()
    problems: Callable[[int], str] = wording.problems_found


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to choose."""

    value: str
    title: str
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Input:
    """One field on a page. All texts are safe to show, and still have to be escaped.

    Args:
        id: Names the control, and what is posted; a field's own name may hold anything.
        field: What it asks for.
        control: What draws it.
        label: What stands beside it.
        description: What the server says about it.
        hint: What has to be known before typing.
        value: What is filled in.
        type: The type of a line.
        mode: Which keyboard a phone shows.
        options: What can be chosen; for a moment, the offsets.
        problems: What is wrong with it, each a sentence.
        note: What could not be shown.
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
    def grouped(self) -> bool:
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
    def described_by(self) -> str:
        """The ids of what describes it."""
        told = (("about", self.description), ("hint", self.hint), ("note", self.note), ("problems", self.problems))
        return " ".join(f"{self.id}-{part}" for part, there in told if there)


def inputs(
    form: Form,
    values: Mapping[str, Any] | None = None,
    problems: Sequence[Problem] = (),
    *,
    prefix: str = "f",
    zone: str = "+00:00",
    texts: Texts | None = None,
) -> tuple[Input, ...]:
    """The controls of this form, in order.

    Args:
        form: What is asked.
        values: What is filled in; by default, the defaults of the fields.
        problems: What `check` found in those values.
        prefix: Begins all ids; choose another for a second form on the same page.
        zone: The offset from UTC to offer first for a date and time.
        texts: The words of the controls.
    """
    words = texts or Texts()
    values = _defaults(form) if values is None else values
    found = _by_field(form, problems)
    return tuple(
        _input(field, f"{prefix}{index}", values.get(field.name), found.get(field.name, ()), zone, words)
        for index, field in enumerate(form.fields)
    )


def too_large(form: Form) -> bool:
    """Whether this form has more to it than a page can bear."""
    options = sum(min(len(field.options), MOST_OPTIONS) for field in form if isinstance(field, (Choice, Choices)))
    return len(form) > MOST_FIELDS or options > MOST_CONTROLS


def sentence(field: Field, problem: Problem) -> str:
    """A problem, said of its field: "Email must be an email address."."""
    label = shown.line(field.label)
    subject = label if label[-1:].isalnum() else wording.this_field()
    return f"{subject} {shown.line(problem.message, shown.MESSAGE)}."


def _defaults(form: Form) -> dict[str, Any]:
    """As they are shown, so they are sent: nothing hides in them."""
    given = {field.name: field.default for field in form.fields if field.default is not None}
    choices = {field.name for field in form.fields if isinstance(field, Choice)}
    return {name: plain(v) if isinstance(v, str) and name not in choices else v for name, v in given.items()}


def _by_field(form: Form, problems: Sequence[Problem]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for problem in problems:
        if problem.field in form.names:
            said = sentence(form.field(problem.field), problem)
            found[problem.field] = (*found.get(problem.field, ()), said)
    return found


def _input(field: Field, id: str, value: Any, problems: tuple[str, ...], zone: str, texts: Texts) -> Input:
    drawn = _drawn(field, value, zone, texts)
    label, about = shown.line(field.label), shown.text(field.description or "", 2_000)
    return Input(id, field, label=label, description=about, hint=_hint(field), problems=problems, **drawn)


# --- which control, and what is in it --------------------------------------------------------
def _drawn(field: Field, value: Any, zone: str, texts: Texts) -> dict[str, Any]:
    match field:
        case Text():
            return _text(field, "" if value is None else str(value), zone)
        case Number():
            return {"control": "line", "value": "" if value is None else str(value), "mode": _keyboard(field)}
        case Flag():
            return {"control": "radios", "options": _flags(field, value, texts)}
        case Choice():
            return _choice(field, value, texts)
        case Choices():
            chosen = _texts(value)
            return {"control": "boxes", "options": _options(field, chosen), "note": _note(field)}


def _text(field: Text, value: str, zone: str) -> dict[str, Any]:
    match field.format:
        case "email" | "uri" as format:
            return {"control": "line", "value": value, "type": "email" if format == "email" else "url"}
        case "date" if not value or is_date(value):
            return {"control": "line", "value": value, "type": "date"}
        case "date-time" if not value or moments.split(value):
            local, offset = moments.split(value) or ("", zone)
            return {"control": "moment", "value": local, "type": "datetime-local", "options": _offsets(offset)}
        case None if "\n" in value or (field.max_length or 0) > _LONG_TEXT:
            return {"control": "area", "value": value}
        case _:  # what the browser's own control would drop stays to be seen and corrected
            return {"control": "line", "value": value}


def _keyboard(field: Number) -> str:
    """A phone's number pads have no minus."""
    if field.minimum is None or field.minimum < 0:
        return ""
    return "numeric" if field.integer else "decimal"


def _offsets(chosen: str) -> tuple[Option, ...]:
    known = moments.OFFSETS if chosen in moments.OFFSETS else (chosen, *moments.OFFSETS)
    return tuple(Option(offset, moments.offset_name(offset), offset == chosen) for offset in known)


def _flags(field: Flag, value: Any, texts: Texts) -> tuple[Option, ...]:
    """Two answers to choose from: a box that is not ticked could be a no, or nothing at all."""
    options = (Option("yes", texts.yes, value is True), Option("no", texts.no, value is False))
    return options if field.required else (*options, Option("", texts.no_answer, value is None))


def _choice(field: Choice, value: Any, texts: Texts) -> dict[str, Any]:
    options = _options(field, [value])
    nothing = not any(option.chosen for option in options)
    if len(options) > FEW:
        empty = Option("", texts.choose if field.required else texts.no_answer, nothing)
        return {"control": "select", "options": (empty, *options), "note": _note(field)}
    none = () if field.required else (Option("", texts.no_answer, nothing),)
    return {"control": "radios", "options": (*options, *none)}


def _options(field: Choice | Choices, chosen: Iterable[Any]) -> tuple[Option, ...]:
    """An option goes by its number: its value may hold what a page cannot carry."""
    picked = {value for value in chosen if isinstance(value, str)}
    first = list(field.labels.items())[:MOST_OPTIONS]
    return tuple(Option(str(index), shown.line(title), value in picked) for index, (value, title) in enumerate(first))


def _note(field: Choice | Choices) -> str:
    beyond = len(field.options) - MOST_OPTIONS
    return wording.more_options(beyond) if beyond > 0 else ""


def _texts(value: Any) -> Iterable[Any]:
    return cast("Iterable[Any]", value) if isinstance(value, (list, tuple)) else ()


# --- what has to be known before -------------------------------------------------------------
def _hint(field: Field) -> str:
    said = "; ".join(_hints(field))
    return said[:1].upper() + said[1:]


def _hints(field: Field) -> Iterable[str]:
    match field:
        case Text():
            yield from _text_hints(field)
        case Number():
            yield wording.a_number(field.integer, field.minimum, field.maximum)
        case Choices():
            yield wording.tick_some(field.min_items, field.max_items)
        case Flag() | Choice():
            return


def _text_hints(field: Text) -> Iterable[str]:
    if field.format in ("email", "uri"):
        yield wording.a_format(field.format)
    if field.min_length or field.max_length is not None:
        yield wording.characters(field.min_length, field.max_length)
    if field.pattern is not None:
        yield wording.a_pattern(shown.line(field.pattern))
