"""What became of an interaction."""

from __future__ import annotations


def title(kind: str, action: str) -> str:
    if action != "accept":
        return "You declined" if action == "decline" else "Cancelled"
    return {"secret": "Saved", "authorize": "Connected", "approve": "Approved", "form": "Sent"}[kind]


def hint(kind: str, action: str, server: str, client: str) -> str:
    if action == "decline":
        return f"{server} was told that you said no. Nothing else was done."
    if action == "cancel":
        return f"Nothing was done. {server} may ask again."
    done = {
        "secret": f"{server} has what it needs.",
        "authorize": f"{server} has the access that you gave.",
        "approve": f"{server} goes on with exactly what you saw.",
        "form": f"{server} has your answer.",
    }[kind]
    return f"{done} You can close this page and go back to {client}."


def already() -> str:
    return "This was answered already"


def already_hint(kind: str, action: str, moment: str) -> str:
    said = {"accept": title(kind, "accept").lower(), "decline": "declined", "cancel": "cancelled"}[action]
    return f"It was {said} on {moment} UTC. That cannot be changed here, and nothing was done a second time."


def already_somewhere() -> str:
    return "Another window or another press of the button was first. Nothing was done a second time."
