"""The page of an approval."""

from __future__ import annotations

from midcall.wording.portal import interaction


def title(server: str) -> str:
    return f"{server} asks for your approval"


def details() -> str:
    return "Exactly this will be done"


def go() -> str:
    return "Approve"


def note(server: str) -> str:
    return f"Your approval is good for exactly what is shown here, and once. {interaction.what_they_do(server)}"


def nothing() -> str:
    return "(nothing)"


def yes_or_no(value: bool) -> str:
    return "Yes" if value else "No"
