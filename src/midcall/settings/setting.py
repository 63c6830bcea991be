"""A row of the table of settings, and the subject that it is shown under."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, TypeVar

Value: TypeAlias = bool | int | float | str | tuple[float, ...] | None
T = TypeVar("T", bound=Value)


@dataclass(frozen=True, slots=True)
class Setting:
    """A value that you can set, or a limit that is fixed."""

    name: str
    default: Value
    unit: str
    meaning: str
    subject: str
    where: str
    """The folder that uses it."""
    argument: str = ""
    env: str = ""
    otherwise: str = ""
    """What applies without a default."""
    secret: bool = False
    then: str = ""
    """What happens at the limit."""
    interval: bool = False
    """Whether it is the time between two of the same, which has no limit to reach."""

    def format(self, value: Value) -> str:
        """A value of this setting, with its unit."""
        match value:
            case None:
                return self.otherwise
            case bool():
                return "yes" if value else "no"
            case str():
                return value
            case tuple():
                text = ", ".join(map(_format_number, value))
            case _:
                text = _format_number(value)
        return f"{text} {self.unit}".rstrip()

    @property
    def is_fixed(self) -> bool:
        """Whether nobody can set it."""
        return not (self.argument or self.env)

    @property
    def is_limit(self) -> bool:
        """Whether something happens when it is reached."""
        is_number = isinstance(self.default, int | float | tuple) and not isinstance(self.default, bool)
        return is_number and bool(self.unit) and not self.interval


def _format_number(value: float) -> str:
    return f"{int(value):,}" if float(value).is_integer() else f"{value:g}"


class Subject:
    """The rows under one heading, in their order."""

    def __init__(self, title: str, where: str) -> None:
        self.title = title
        self.where = where
        """The folder that uses most of them."""
        self.rows: list[Setting] = []

    def add(
        self,
        name: str,
        default: T,
        unit: str,
        meaning: str,
        *,
        then: str = "",
        interval: bool = False,
        argument: str = "",
        env: str = "",
        otherwise: str = "",
        secret: bool = False,
        where: str = "",
    ) -> T:
        """Add a row, and return the default for the constant that modules import."""
        place = where or self.where
        row = Setting(name, default, unit, meaning, self.title, place, argument, env, otherwise, secret, then, interval)
        self.rows.append(row)
        return default
