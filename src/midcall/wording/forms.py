"""What a form says of its own fields, where a client cannot show it; and why a form may not ask for a secret."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_TYPE_YOUR_CHOICES: Final = re.compile(r"\bType .+ of these, separated by commas: ")


def option(value: str, title: str | None) -> str:
    """An option as a user may type it, with its title where that tells more."""
    return value if title is None or title == value else f"{value} ({title})"


def is_type_your_choices(description: str | None) -> bool:
    """Whether this says so: for a script, whose list is then one answer."""
    return _TYPE_YOUR_CHOICES.search(description or "") is not None


def secrets_in_form(names: Sequence[str]) -> str:
    which = "this field asks" if len(names) == 1 else "these fields ask"
    return f"{which} for a secret, and a form passes through the client and may pass through the model."


def not_a_reason(given: object) -> str:
    return f'not_secret={given!r} must be the reason, a text: not_secret="a word in a party game".'
