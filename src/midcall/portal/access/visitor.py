"""Somebody who may see an interaction, and what came of what they did on its page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from midcall.stores.interactions import Ending, Interaction

__all__ = ["Elsewhere", "Met", "Refused", "Result", "Settled", "Tried"]


@dataclass(frozen=True, slots=True)
class Met:
    """An interaction, and who has come to it. Its text shows no id."""

    id: str = field(repr=False)
    interaction: Interaction
    ending: Ending | None
    visitor: str
    """The identity key; empty where the interaction is nobody's."""
    who: str
    """What to call them."""
    browser: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Settled:
    """It is answered."""

    content: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Tried:
    """It does not fit: the page is drawn again, with this."""

    said: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """It goes on at another site, which is to send the browser back with this state."""

    url: str = field(repr=False)
    state: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was done, and this is why: one of the refusals in the wording."""

    why: str
    status: int


Result: TypeAlias = Settled | Tried | Elsewhere | Refused
