"""A call that does not go the way that was recorded."""

from __future__ import annotations


def duplicate_key(key: str) -> str:
    return f"The key {key!r} was used for another question of this call."


def duplicate_key_advice() -> str:
    return "Keys are unique within a call: leave key= out, or put a counter into it."


def malformed_answer(why: str) -> str:
    return f"Malformed answer to a question: {why}."


def replay_mismatch(recorded: list[str], tried: str, effects: list[str], differs: str) -> str:
    """`differs` says in what, where both read the same."""
    past = f", past the effect {', '.join(map(repr, effects))}" if effects else ", and not for the first time"
    return (
        f"The tool did not go the way that was recorded{past}: "
        f"recorded was {', '.join(map(repr, recorded))}, met was {tried!r}{differs and ', '}{differs}."
    )


def differs_in_form() -> str:
    return "with the same message, but its form differs"


def differs_further_on() -> str:
    return "which begins alike, but its message differs further on, or its form differs"


def differs_in_arguments() -> str:
    return "with the same name, but its arguments differ"


def replay_mismatch_advice() -> str:
    return (
        "A replayed tool runs again from the top and must ask the same way each time. Put what changes between "
        "runs (time, random numbers, reads) into `once`; where only its message changes, a key= will do."
    )


def model_start_again() -> str:
    return "This call could not be continued, and nothing more was done. It has to be begun again."
