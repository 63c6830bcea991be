"""`midcall doctor --settings`: every setting, its value in effect, and where it comes from."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from midcall.cli.console import columns, heading, indent, print_json, print_parts
from midcall.core.text import plain_line
from midcall.doctor.effective import Effective, Source
from midcall.settings.table import SETTINGS

_TABLE: Final = 110
"""Narrower terminals get the meaning on a separate line."""
_VALUE: Final = 36
_STYLES: Final[dict[Source, str]] = {"argument": "cyan", "environment": "yellow", "default": "dim", "fixed": "dim"}


def print_settings(rows: Sequence[Effective], *, as_json: bool) -> None:
    """Print the table; as JSON for programs."""
    if as_json:
        print_json([row.as_data() for row in rows])
        return
    settable = [row for row in rows if row.source != "fixed"]
    fixed = [row for row in rows if row.source == "fixed"]
    print_parts(*_draw("Settings", settable), Text(), *_draw("Fixed limits", fixed), wide=True)


def _draw(title: str, rows: Iterable[Effective]) -> Iterable[RenderableType]:
    is_wide = shutil.get_terminal_size().columns >= _TABLE
    yield heading(title)
    for subject, grouped in groupby(sorted(rows, key=_order), key=_subject):
        some = list(grouped)
        yield Text()
        yield indent(heading(subject))
        yield indent(_draw_wide(some) if is_wide else _draw_narrow(some))


def _draw_wide(rows: Iterable[Effective]) -> RenderableType:
    table = columns([("\n".join(_names(row)), _value(row), _source(row), _meaning(row)) for row in rows])
    table.columns[1].no_wrap, table.columns[1].max_width = False, _VALUE
    return table


def _draw_narrow(rows: Iterable[Effective]) -> RenderableType:
    return Group(*(part for row in rows for part in _draw_lines(row)))


def _draw_lines(row: Effective) -> Iterable[RenderableType]:
    yield Text(", ".join(_names(row)))
    yield indent(Text.assemble(_value(row), "  ", _source(row)))
    yield indent(_meaning(row))


_SUBJECTS: Final = list(dict.fromkeys(setting.subject for setting in SETTINGS))


def _order(row: Effective) -> int:
    return _SUBJECTS.index(row.setting.subject)


def _subject(row: Effective) -> str:
    return row.setting.subject


def _names(row: Effective) -> Sequence[str]:
    """What to write in code and in the environment; for a limit, its name in the table."""
    setting = row.setting
    return [name for name in (setting.argument.split(", ")[0], setting.env) if name] or [setting.name]


def _meaning(row: Effective) -> Text:
    """What it means and, on a separate line, what happens at the limit."""
    then = row.setting.then
    return Text.assemble(row.setting.meaning, (f"\nAt the limit: {then}", "dim") if then else "")


def _value(row: Effective) -> Text:
    return Text(plain_line(row.value), "bold")


def _source(row: Effective) -> Text:
    return Text("" if row.source == "fixed" else row.source, _STYLES[row.source])
