"""Visits that a call needs before it can be made."""

from __future__ import annotations

from midcall.wording.client import questions

unnamed_server = questions.unnamed_server


def visit_declined(server: str) -> tuple[str, str]:
    return (
        f"You declined to open the page that {server or unnamed_server()} needs",
        "The call was not made again.",
    )


def visit_cancelled(server: str) -> tuple[str, str]:
    return (
        f"The page that {server or unnamed_server()} needs was not opened",
        "The call was not made again.",
    )


def visit_given_up(server: str) -> tuple[str, str]:
    return (
        f"You gave up waiting for what {server or unnamed_server()} needs",
        "Call again when it is done.",
    )
