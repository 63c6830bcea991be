"""The four kinds of page: what each shows, and what it takes for an answer.

secret.py      something that only the server may know
authorize.py   access to another service
approve.py     a yes to exactly these details
hosted.py      a form
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from midcall.portal.access.visitor import Met, Result
from midcall.portal.pages.posted import Posted
from midcall.stores.interactions import Interaction

__all__ = ["Page"]


class Page(Protocol):
    """One kind of page."""

    template: str
    headers: Mapping[str, str]

    def shown(self, interaction: Interaction, tried: Mapping[str, Any] | None) -> dict[str, Any]:
        """What its template is given; `tried` is what was wrong with an answer."""
        ...

    async def accept(self, met: Met, posted: Posted) -> Result:
        """What comes of a yes. Who it is, and that our page sent it, was checked."""
        ...
