"""The page of a form."""

from __future__ import annotations


def title(server: str) -> str:
    return f"{server} asks"


def send() -> str:
    return "Send"


def too_large() -> str:
    return "This form is too large for a page. You can only decline or cancel it."


def required_note() -> str:
    return "required"
