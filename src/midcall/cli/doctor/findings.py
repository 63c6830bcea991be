"""What `midcall doctor` has found, as lines for a person."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Sequence
from typing import Final

from midcall.client.lines.colors import Ink
from midcall.core.text import plain_line
from midcall.doctor.checks import Finding, State

__all__ = ["told"]

_WIDEST: Final = 100


def told(findings: Sequence[Finding], ink: Ink) -> str:
    """A mark, a name, what was found, and below it what to do."""
    widest = max((len(finding.name) for finding in findings), default=0)
    return "".join(line for finding in findings for line in _lines(finding, widest, ink))


def _lines(finding: Finding, widest: int, ink: Ink) -> Iterable[str]:
    texts = [*_wrapped(finding.text, widest), *_wrapped(finding.advice and f"→ {finding.advice}", widest)]
    for index, text in enumerate(texts):
        before = f"{_mark(finding.state, ink)} {finding.name:<{widest}}" if index == 0 else " " * (widest + 2)
        yield f"  {before}  {text}\n"


def _mark(state: State, ink: Ink) -> str:
    match state:
        case "ok":
            return ink.good("✓")
        case "off":
            return ink.dim("–")
        case "doubtful":
            return ink.warn("!")
        case "broken":
            return ink.bad("✗")


def _wrapped(text: str, indent: int) -> list[str]:
    columns = max(30, min(shutil.get_terminal_size().columns, _WIDEST) - indent - 6)
    return textwrap.wrap(plain_line(text), columns, break_long_words=False, break_on_hyphens=False)
