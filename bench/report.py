"""Format the table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_LABEL: Final = 46
_CELL: Final = 10


@dataclass(frozen=True, slots=True)
class Target:
    """A promised figure: at most `limit`, or at least `limit` with `at_least`."""

    label: str
    measured: float
    limit: float
    unit: str = "x"
    at_least: bool = False
    floor: float | None = None
    """The lower bound: the same figure for the candidate that does the least possible work."""

    @property
    def met(self) -> bool:
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit

    def __str__(self) -> str:
        mark = "✓" if self.met else "✗"
        bound = "at least" if self.at_least else "at most"
        measured, limit = (f"{value:.2f} {self.unit}" for value in (self.measured, self.limit))
        floor = "" if self.floor is None else f", lower bound {self.floor:.2f} {self.unit}"
        return f"  {mark} {self.label:<{_LABEL}}{measured:>12}   {bound} {limit}{floor}"


def heading(title: str, sizes: Sequence[int]) -> str:
    return f"\n{title:<{_LABEL}}" + "".join(f"{f'n = {n}':>{_CELL}}" for n in sizes)


def row(label: str, cells: Sequence[str]) -> str:
    return f"  {label:<{_LABEL - 2}}" + "".join(f"{cell:>{_CELL}}" for cell in cells)


def milliseconds(seconds: float | None) -> str:
    return "skipped" if seconds is None else f"{seconds * 1e3:.2f}"


def ratio(one: float | None, other: float | None) -> str:
    return "" if one is None or other is None else f"{one / other:.2f} x"


def summary(targets: Sequence[Target]) -> str:
    missed = sum(not target.met for target in targets)
    return f"\n{len(targets) - missed} of {len(targets)} targets met."
