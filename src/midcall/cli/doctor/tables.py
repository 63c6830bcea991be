"""What `midcall doctor` prints: what it found, and with `--settings` every setting and where its value comes from."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from midcall.cli.console import columns, heading, indent, print_parts
from midcall.cli.stdout import print_json
from midcall.core.text import plain_line
from midcall.doctor.effective import Effective, Source
from midcall.doctor.inspection import Finding, State

_MARKS: Final[dict[State, tuple[str, str]]] = {
    "ok": ("✓", "green"),
    "off": ("–", "dim"),
    "doubtful": ("!", "yellow"),
    "broken": ("✗", "red"),
}


def draw_findings(findings: Sequence[Finding]) -> RenderableType:
    """A mark, a name, the text, and below it what to do."""
    return indent(columns([_draw_finding(finding) for finding in findings]))


def _draw_finding(finding: Finding) -> tuple[Text, Text]:
    name = Text.assemble(_MARKS[finding.state], f" {finding.name}")
    advice = f"\n→ {plain_line(finding.advice)}" if finding.advice else ""
    return name, Text(plain_line(finding.text) + advice)


# --- settings ----------------------------------------------------------------------------------

_WIDE: Final = 110
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
    print_parts(*_draw_settings("Settings", settable), Text(), *_draw_settings("Fixed limits", fixed), wide=True)


def _draw_settings(title: str, rows: Iterable[Effective]) -> Iterable[RenderableType]:
    draw = _draw_wide if shutil.get_terminal_size().columns >= _WIDE else _draw_narrow
    yield heading(title)
    for subject, some in groupby(rows, key=lambda row: row.setting.subject):
        yield Text()
        yield indent(heading(subject))
        yield indent(draw(some))


def _draw_wide(rows: Iterable[Effective]) -> RenderableType:
    table = columns([("\n".join(_names(row)), _value(row), _source(row), _meaning(row)) for row in rows])
    table.columns[1].no_wrap, table.columns[1].max_width = False, _VALUE
    return table


def _draw_narrow(rows: Iterable[Effective]) -> RenderableType:
    lines: list[RenderableType] = []
    for row in rows:
        value = Text.assemble(_value(row), "  ", _source(row))
        lines += (Text(", ".join(_names(row))), indent(value), indent(_meaning(row)))
    return Group(*lines)


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
