"""How a question can end without a value."""

from __future__ import annotations


def declined() -> str:
    return "The user declined."


def model_declined() -> str:
    return (
        "The user declined to answer, and the call ended there. Do not ask again for the same thing; "
        "offer an alternative or ask the user how to go on."
    )


def cancelled() -> str:
    return "The user cancelled."


def model_cancelled() -> str:
    return (
        "The user closed the question without answering, and the call ended there. "
        "Call again later if the user still wants it."
    )


def timed_out(seconds: float | None) -> str:
    return "The user did not answer in time." if seconds is None else f"The user did not answer within {seconds:g} s."


def model_timed_out() -> str:
    return "The user did not answer in time, and the call ended there. Call again when the user is there."


def invalid_answer(attempts: int, problems: list[str]) -> str:
    times = "once" if attempts == 1 else f"{attempts} times"
    return f"The answer did not fit the form, asked {times}: {'; '.join(problems)}."


def model_invalid_answer() -> str:
    return (
        "The answers given did not fit the form, and the call ended there. "
        "Tell the user what is needed, and call again."
    )


def model_done_before(steps: list[str]) -> str:
    """Goes behind any of these where effects have been recorded."""
    named = ", ".join(map(repr, steps))
    return (
        f"Steps that were done before: {named}. Calling again may do them again, "
        "so ask the user first where that matters."
    )


def visit_not_done() -> str:
    return "The visit was not completed in time."


def model_visit_not_done() -> str:
    return "The user has not finished on the web page yet. Make the call again when they say that they are done."
