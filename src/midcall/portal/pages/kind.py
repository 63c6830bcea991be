"""What every kind of page does: what its template gets, and what comes of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from midcall.portal.access import Visitor
from midcall.stores.interactions import Interaction
from midcall.web.security import Posted


@dataclass(frozen=True, slots=True)
class Accepted:
    """The answer is good, and ends the interaction."""

    content: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Invalid:
    """The answer does not fit: show the page again, with this."""

    problems: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Redirect:
    """The user continues at another site, which sends the browser back with this state."""

    url: str = field(repr=False)
    state: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Rejected:
    """Nothing was done, and this notice says why."""

    why: str
    status: int


Result: TypeAlias = Accepted | Invalid | Redirect | Rejected


class Page(Protocol):
    """One kind of page."""

    template: str
    headers: Mapping[str, str]

    def context(self, interaction: Interaction, problems: Mapping[str, Any] | None) -> dict[str, Any]:
        """The variables of its template; `problems` is what was wrong with the last answer."""
        ...

    async def accept(self, visitor: Visitor, posted: Posted) -> Result:
        """Take an answer, after access and origin were checked."""
        ...
