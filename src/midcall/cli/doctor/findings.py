"""Print what `midcall doctor` found: a mark, a name, the text, and below it what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import RenderableType
from rich.text import Text

from midcall.cli.console import columns, indent
from midcall.core.text import plain_line
from midcall.doctor.inspection import Finding, State

_MARKS: Final[dict[State, tuple[str, str]]] = {
    "ok": ("✓", "green"),
    "off": ("–", "dim"),
    "doubtful": ("!", "yellow"),
    "broken": ("✗", "red"),
}


def draw_findings(findings: Sequence[Finding]) -> RenderableType:
    """The findings in columns."""
    return indent(columns([_draw(finding) for finding in findings]))


def _draw(finding: Finding) -> tuple[Text, Text]:
    name = Text.assemble(_MARKS[finding.state], f" {finding.name}")
    advice = f"\n→ {plain_line(finding.advice)}" if finding.advice else ""
    return name, Text(plain_line(finding.text) + advice)
