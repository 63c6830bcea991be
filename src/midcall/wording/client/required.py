"""Visits that a call needs before it can be made."""

from __future__ import annotations

from midcall.wording.client import questions

unnamed_server = questions.unnamed_server


def listener_failed(error: str) -> str:
    return f"a handler for finished visits failed with {error}"


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


def not_done_within(seconds: float | None) -> str:
    within = "" if seconds is None else f" within {seconds:g} s"
    return f"The server did not say{within} that the visit is done. When it is, call again."


def still_required(times: int) -> str:
    return f"The call was made {times} more times, and the server still wants the visit."


def wait_failed(error: str) -> str:
    return f"the answerer failed with {error} while a visit was waited for"
