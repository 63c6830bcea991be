"""An outcome as a tool has it that asks for the value alone: a no of the user's is an exception."""

from __future__ import annotations

from typing import NoReturn, TypeVar

from midcall.core.outcome import Accepted, Declined, Outcome
from midcall.errors import UserCancelled, UserDeclined
from midcall.wording import unanswered as wording

__all__ = ["refused", "value_of"]

T = TypeVar("T")


def value_of(outcome: Outcome[T]) -> T:
    """What was accepted.

    Raises:
        UserDeclined, UserCancelled: Nothing was.
    """
    if isinstance(outcome, Accepted):
        return outcome.value
    return refused("decline" if isinstance(outcome, Declined) else "cancel")


def refused(action: str) -> NoReturn:
    """The user did this instead."""
    if action == "decline":
        raise UserDeclined(wording.declined(), for_model=wording.model_declined())
    raise UserCancelled(wording.cancelled(), for_model=wording.model_cancelled())
