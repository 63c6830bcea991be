"""What becomes of a question: accepted, declined or cancelled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Generic, Literal, TypeAlias

from typing_extensions import TypeVar

__all__ = ["STRONG", "Accepted", "Cancelled", "Declined", "Outcome", "Via"]

T_co = TypeVar("T_co", covariant=True, default=object)

Via: TypeAlias = Literal["push", "round", "page", "required", "app", "link", "relay", "default"]
"""The channel that carried an outcome."""

STRONG: Final[frozenset[Via]] = frozenset({"push", "round", "page", "required", "app", "link"})
"""The channels on which a person acts: neither the model nor a default can answer."""


@dataclass(frozen=True, slots=True)
class Accepted(Generic[T_co]):
    """The user answered. The only outcome that is truthy."""

    value: T_co
    via: Via = "push"

    def __bool__(self) -> Literal[True]:
        return True


@dataclass(frozen=True, slots=True)
class Declined:
    """The user said no."""

    via: Via = "push"

    def __bool__(self) -> Literal[False]:
        return False


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The user closed the form without deciding."""

    via: Via = "push"

    def __bool__(self) -> Literal[False]:
        return False


Outcome: TypeAlias = Accepted[T_co] | Declined | Cancelled
