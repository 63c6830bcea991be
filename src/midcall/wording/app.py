"""What the App says to the user."""

from __future__ import annotations

from midcall.wording import portal
from midcall.wording.client import page

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
decline = portal.decline
cancel = portal.cancel
what_they_do = portal.what_they_do
required_note = portal.required_note
server_says = portal.server_says
too_large = portal.form_too_large
asks = portal.form_title


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
