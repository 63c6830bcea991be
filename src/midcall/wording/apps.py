"""What hosts and models are told of the App. What it says to the user is in `app`."""

from __future__ import annotations


def title() -> str:
    return "A question to the user"


def description() -> str:
    return "Shows what a tool of this server asks the user in the middle of its work, and takes the answer."


def tool_title() -> str:
    return "Take an answer from the form"


def tool_description() -> str:
    return "For the form that this server shows. It takes what the user fills in there, and is of no use to a model."


def tool_said(state: str) -> str:
    said = {
        "asking": "There is a question to the user.",
        "waiting": "There is no question yet.",
        "done": "The question is answered.",
        "late": "The question can no longer be answered.",
    }
    return said.get(state, "There is no such question.")


def says(code: str) -> str:
    return f'I am done with the form. Please go on: call midcall_continue with {{"code": "{code}"}}.'
