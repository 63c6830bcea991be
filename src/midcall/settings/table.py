"""The table of all settings and limits, read from the modules of this folder."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import Final, TypeAlias

Value: TypeAlias = bool | int | float | str | tuple[float, ...] | None

_SUBJECTS: Final = {
    "install": "install",
    "portal": "Portal",
    "calls": "Calls and questions",
    "live_runs": "Live runs and once",
    "resuming": "Resuming",
    "stores": "Stores",
    "web": "Web",
    "client": "Client",
    "cli": "Command line",
}
"""The modules, and the headings that their rows are shown under."""
_OF_INSTALL: Final = re.compile(r"install\((\w+)=\)")
_FIELD: Final = re.compile(r"\n(?=(?:Then|Unit|Default|Argument|Variable): )")


@dataclass(frozen=True, slots=True)
class Setting:
    """A value that you can set, or a limit that is fixed."""

    name: str
    default: Value
    unit: str
    meaning: str
    subject: str
    argument: str
    env: str
    otherwise: str
    """What applies without a default."""
    then: str
    """What happens at the limit."""

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
    def of_install(self) -> str:
        """The argument of `install` that sets it; empty if none does."""
        return found[1] if (found := _OF_INSTALL.fullmatch(self.argument)) else ""

    @property
    def is_fixed(self) -> bool:
        """Whether nobody can set it."""
        return not (self.argument or self.env)

    @property
    def is_interval(self) -> bool:
        """Whether it is the time between two of the same, which has no limit to reach."""
        return self.meaning.startswith("Between two ")

    @property
    def is_limit(self) -> bool:
        """Whether something happens when it is reached."""
        return bool(self.unit) and not self.is_interval


def _format_number(value: float) -> str:
    return f"{int(value):,}" if float(value).is_integer() else f"{value:g}"


def _read(area: str, subject: str) -> Iterator[Setting]:
    module = import_module(f"midcall.settings.{area}")
    for node, after in pairwise(ast.parse(inspect.getsource(module)).body):
        match node, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield _row(name, getattr(module, name), text, subject)
            case _:
                pass


def _row(name: str, default: Value, text: str, subject: str) -> Setting:
    meaning, *lines = (" ".join(part.split()) for part in _FIELD.split(text))
    fields = dict(line.split(": ", 1) for line in lines)
    return Setting(
        name,
        default,
        fields.get("Unit", "") or _unit_of(name, default),
        meaning,
        subject,
        argument=fields.get("Argument", ""),
        env=fields.get("Variable", ""),
        otherwise=fields.get("Default", ""),
        then=fields.get("Then", ""),
    )


def _unit_of(name: str, default: Value) -> str:
    """The last word of the name, if it is a plural."""
    last = name.rpartition("_")[2].lower()
    if isinstance(default, bool | str | None) or not last.endswith("s"):
        return ""
    return "s" if last == "seconds" else last


SETTINGS: Final = tuple(row for area, subject in _SUBJECTS.items() for row in _read(area, subject))
"""In the order in which they are shown."""
