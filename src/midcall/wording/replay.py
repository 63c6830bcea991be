"""A call that does not go the way that was recorded."""

from __future__ import annotations


def malformed_answer(why: str) -> str:
    return f"Malformed answer to a question: {why}."


def replay_mismatch(recorded: list[str], tried: str, effects: list[str], differs: str) -> str:
    """`differs` says in what, where both read the same."""
    past = f", past the effect {', '.join(map(repr, effects))}" if effects else ", and not for the first time"
    return (
        f"The tool did not go the way that was recorded{past}: "
        f"recorded was {', '.join(map(repr, recorded))}, met was {tried!r}{differs and ', '}{differs}."
    )


def replay_mismatch_advice() -> str:
    return (
        "A replayed tool runs again from the top and must ask the same way each time. Put what changes between "
        "runs (time, random numbers, reads) into `once`; where only its message changes, a key= will do."
    )


def model_start_again() -> str:
    return "This call could not be continued, and nothing more was done. It has to be begun again."
