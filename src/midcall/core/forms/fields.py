"""The fields of a form: text, number, flag, choice and choices.

A field is checked when it's made. One that can't be asked raises `InvalidForm`, with its name as the path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from math import ceil, floor
from typing import Any, TypeAlias, cast

from midcall.core.forms.formats import FORMATS, Format
from midcall.core.forms.patterns import BadPattern, compile_pattern
from midcall.core.forms.rules import (
    Rule,
    choice_rule,
    choices_rule,
    flag_rule,
    is_number,
    number_rule,
    text_rule,
)
from midcall.core.wire import HALF_CHARACTER_ADVICE, describe_half_character, escape_halves, find_half_character
from midcall.errors import InvalidForm
from midcall.language.problems import describe

Options: TypeAlias = Sequence[str] | Mapping[str, str] | Sequence[tuple[str, str]]
"""Values, or values and their titles."""


@dataclass(frozen=True, slots=True)
class _Named:
    """What all fields have. With `required=None`, a field is required unless it has a default."""

    name: str
    _: KW_ONLY
    title: str | None = None
    description: str | None = None
    required: bool | None = None

    @property
    def label(self) -> str:
        """What to show beside the field: its title, else its name."""
        return self.title or self.name


@dataclass(frozen=True, slots=True)
class Text(_Named):
    """A line of text. A pattern may match anywhere, as in JSON Schema: anchor it with ^ and $."""

    _: KW_ONLY
    default: str | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    format: Format | None = None

    def __post_init__(self) -> None:
        _normalize(self)
        _check_sizes(self.name, "length", self.min_length, self.max_length)
        _check_pattern(self.name, self.pattern)
        if self.format is not None and self.format not in FORMATS:
            raise InvalidForm(f"format {self.format!r} is not one of: {', '.join(FORMATS)}", path=self.name)
        _check_default(self, self.default)

    def rule(self) -> Rule:
        return text_rule(self.min_length, self.max_length, self.pattern, self.format)


@dataclass(frozen=True, slots=True)
class Number(_Named):
    """A number; with `integer=True`, a whole one."""

    _: KW_ONLY
    integer: bool = False
    default: int | float | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None

    def __post_init__(self) -> None:
        _normalize(self)
        for bound in ("minimum", "maximum", "default"):
            _set(self, bound, _normalize_number(self.name, bound, getattr(self, bound)))
        if self.minimum is not None and self.maximum is not None:
            _check_range(self.name, self.minimum, self.maximum, whole=self.integer)
        _check_default(self, self.default)

    def rule(self) -> Rule:
        return number_rule(self.integer, self.minimum, self.maximum)


@dataclass(frozen=True, slots=True)
class Flag(_Named):
    """A yes or no."""

    _: KW_ONLY
    default: bool | None = None

    def __post_init__(self) -> None:
        _normalize(self)
        _check_default(self, self.default)

    def rule(self) -> Rule:
        return flag_rule()


@dataclass(frozen=True, slots=True)
class _WithOptions(_Named):
    """What both kinds of choice have. `options` becomes a tuple of values, or of values and titles."""

    options: Options

    @property
    def values(self) -> tuple[str, ...]:
        """The values, in order."""
        return tuple(option if isinstance(option, str) else option[0] for option in self.options)

    @property
    def titles(self) -> tuple[str, ...] | None:
        """The titles, in the order of the values, or None without titles."""
        titles = tuple(option[1] for option in self.options if not isinstance(option, str))
        return titles or None

    @property
    def labels(self) -> dict[str, str]:
        """What to show for each value, in order: its title, else the value."""
        return dict(zip(self.values, self.titles or self.values, strict=True))

    @property
    def shown_options(self) -> tuple[str, ...]:
        """What a person is told to choose from: the titles, unless two options have the same."""
        titles = tuple(self.labels.values())
        return titles if len({*titles}) == len(titles) else self.option_names

    def find(self, text: str) -> str:
        """The value of the option with this title, in any case; else the text itself."""
        if text in self.labels:
            return text
        folded = text.strip().casefold()
        found = [value for value, title in self.labels.items() if folded in (title.casefold(), value.casefold())]
        return found[0] if len(found) == 1 else text

    @property
    def option_names(self) -> tuple[str, ...]:
        """Each option as a sentence names it: `w (Window)`."""
        return tuple(name_option(value, title) for value, title in self.labels.items())


@dataclass(frozen=True, slots=True)
class Choice(_WithOptions):
    """One of several options. `legacy=True` sends their titles as `enumNames`, for old clients."""

    _: KW_ONLY
    default: str | None = None
    legacy: bool = False

    def __post_init__(self) -> None:
        _normalize(self)
        _normalize_options(self)
        if self.legacy and self.titles is None:
            _set(self, "options", tuple(self.labels.items()))
        _check_default(self, self.default)

    def rule(self) -> Rule:
        return choice_rule(self.values, self.shown_options)


@dataclass(frozen=True, slots=True)
class Choices(_WithOptions):
    """Any number of several options."""

    _: KW_ONLY
    default: Sequence[str] | None = None
    min_items: int | None = None
    max_items: int | None = None

    def __post_init__(self) -> None:
        _normalize(self)
        _normalize_options(self)
        _check_sizes(self.name, "items", self.min_items, self.max_items)
        if (self.min_items or 0) > len(self.values):
            raise InvalidForm(f"min_items {self.min_items} is more than there are options", path=self.name)
        if self.default is not None:
            if isinstance(self.default, str) or not isinstance(self.default, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise InvalidForm("default must be a list of options", path=self.name)
            _set(self, "default", tuple(self.default))
            _check_default(self, list(self.default))

    def rule(self) -> Rule:
        return choices_rule(self.values, self.shown_options, self.min_items, self.max_items)


Field: TypeAlias = Text | Number | Flag | Choice | Choices


def name_option(value: str, title: str) -> str:
    """An option as a user may type it, with its title if that says more."""
    return value if title == value else f"{value} ({title})"


def _set(target: Any, name: str, value: Any) -> None:
    """Set an attribute of a frozen field while it's being made."""
    object.__setattr__(target, name, value)


def _normalize(this: Field) -> None:
    if not _is_text(this.name) or not this.name:
        raise InvalidForm(f"a field needs a name, not {this.name!r}")
    _check_sendable(this.name, "the name", this.name)
    for what, text in (("title", this.title), ("description", this.description)):
        if text is None:
            continue
        if not _is_text(text):
            raise InvalidForm(f"{what} must be text", path=this.name)
        _check_sendable(this.name, f"the {what}", text)
    if this.required is None:
        _set(this, "required", this.default is None)
    elif not isinstance(this.required, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidForm("required must be True, False or None", path=this.name)


def _normalize_options(this: Choice | Choices) -> None:
    if isinstance(this.options, str):
        raise InvalidForm("options must be a list or a mapping of value to title, not one text", path=this.name)
    if isinstance(this.options, (set, frozenset)):
        raise InvalidForm("options must have an order, and a set does not", path=this.name, advice="Use sorted(...).")
    if not isinstance(this.options, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        kind = type(this.options).__name__
        raise InvalidForm(f"options must be a list or a mapping of value to title, not {kind}", path=this.name)
    options: tuple[Any, ...] = tuple(this.options.items() if isinstance(this.options, Mapping) else this.options)
    if not options:
        raise InvalidForm("a choice needs at least one option", path=this.name)
    if not all(map(_is_text, options)) and not all(map(_is_titled, options)):
        raise InvalidForm("options and their titles must be text", path=this.name)
    _set(this, "options", options)
    _check_sendable(this.name, "one of the options", *this.values, *(this.titles or ()))
    if len(set(this.values)) < len(options):
        raise InvalidForm("two options have the same value", path=this.name)


def _check_sendable(name: str, what: str, *texts: str) -> None:
    if "".join(texts).isascii():
        return
    for text in texts:
        if (position := find_half_character(text)) is not None:
            why = f"{what} {describe_half_character(position)}"
            raise InvalidForm(why, path=escape_halves(name), advice=HALF_CHARACTER_ADVICE)


def _is_titled(option: Any) -> bool:
    pair = cast("tuple[Any, ...]", option) if isinstance(option, tuple) else ()
    return len(pair) == 2 and all(map(_is_text, pair))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _check_sizes(name: str, what: str, least: int | None, most: int | None) -> None:
    for end, size in (("min", least), ("max", most)):
        if size is not None and (type(size) is not int or size < 0):
            raise InvalidForm(f"{end}_{what} must be a whole number from 0 on", path=name)
    if least is not None and most is not None and least > most:
        raise InvalidForm(f"min_{what} {least} is above max_{what} {most}", path=name)


def _check_pattern(name: str, pattern: str | None) -> None:
    if pattern is None:
        return
    if not _is_text(pattern):
        raise InvalidForm(f"pattern {pattern!r} is not text", path=name)
    _check_sendable(name, "the pattern", pattern)
    try:
        compile_pattern(pattern)
    except BadPattern as error:
        raise InvalidForm(f"pattern {pattern!r} {error}", path=name, advice=error.advice) from None


def _normalize_number(name: str, what: str, value: Any) -> int | float | None:
    """JSON has one kind of number: 18.0 and 18 make the same form."""
    if value is None or type(value) is int:
        return value
    if not is_number(value):
        raise InvalidForm(f"{what} must be a finite number", path=name)
    return int(value) if value == int(value) and abs(value) <= 2**53 else value


def _check_range(name: str, least: float, most: float, *, whole: bool) -> None:
    if least > most:
        raise InvalidForm(f"minimum {least} is above maximum {most}", path=name)
    if whole and ceil(least) > floor(most):
        raise InvalidForm(f"there is no whole number from {least} to {most}", path=name)


def _check_default(this: Field, default: Any) -> None:
    if default is None:
        return
    if faults := this.rule()(default):
        raise InvalidForm(f"default {default!r} {' and '.join(describe(*fault) for fault in faults)}", path=this.name)
