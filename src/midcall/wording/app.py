"""What the App says to the user."""

from __future__ import annotations

from midcall.wording.client import page
from midcall.wording.portal import hosted, interaction

__all__ = [
    "again",
    "asks",
    "cancel",
    "decline",
    "done",
    "larger",
    "late",
    "lost",
    "of",
    "required_note",
    "said",
    "send",
    "sent",
    "server_says",
    "tell",
    "title",
    "too_large",
    "what_they_do",
]

send = page.send
decline = interaction.decline
cancel = interaction.cancel
what_they_do = interaction.what_they_do
required_note = hosted.required_note
server_says = interaction.server_says
too_large = hosted.too_large
asks = hosted.title


def title() -> str:
    return "A question to you"


def of(number: int, count: int) -> str:
    return f"{number} of {count}"


def larger() -> str:
    return "Open larger"


def sent() -> str:
    return "Sent. The tool goes on."


def said() -> str:
    return "Sent. The assistant was told to go on."


def tell() -> str:
    return "Sent. Now tell the assistant in the chat to go on."


def done() -> str:
    return "This form is finished. There is nothing left to do here."


def late() -> str:
    return "This form can no longer be answered. Ask the assistant to start again."


def lost() -> str:
    return "This form cannot be shown any more. Ask the assistant to go on, or to start again."


def again() -> str:
    return "That did not get through. Nothing is lost: please try again."
