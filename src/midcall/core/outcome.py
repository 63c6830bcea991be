"""The outcome of a question: accepted, declined or cancelled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Generic, Literal, NoReturn, TypeAlias

from typing_extensions import TypeVar

from midcall.errors import UserCancelled, UserDeclined

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True, default=object)

Via: TypeAlias = Literal["push", "round", "page", "required", "app", "link", "relay", "default"]
"""The channel that carried an outcome."""

STRONG: Final[frozenset[Via]] = frozenset({"push", "round", "page", "required", "app", "link"})
"""The channels on which only a person can answer, not the model or a default."""


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
    unseen: bool = field(default=False, compare=False, repr=False)
    """Whether the client answered so fast that the user has probably not seen the question."""

    def __bool__(self) -> Literal[False]:
        return False


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The user closed the form without deciding."""

    via: Via = "push"
    unseen: bool = field(default=False, compare=False, repr=False)
    """Whether the client answered so fast that the user has probably not seen the question."""

    def __bool__(self) -> Literal[False]:
        return False


Outcome: TypeAlias = Accepted[T_co] | Declined | Cancelled


def value_of(outcome: Outcome[T]) -> T:
    """The accepted value.

    Raises:
        UserDeclined, UserCancelled: The user did not accept.
    """
    if isinstance(outcome, Accepted):
        return outcome.value
    return raise_refusal("decline" if isinstance(outcome, Declined) else "cancel", unseen=outcome.unseen)


def raise_refusal(action: str, *, unseen: bool = False) -> NoReturn:
    """Raise the error for this action of the user, `decline` or `cancel`."""
    raise (UserDeclined if action == "decline" else UserCancelled)(unseen=unseen)
