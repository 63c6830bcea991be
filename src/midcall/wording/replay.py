"""A call that does not go the way that was recorded."""

from __future__ import annotations


def replay_mismatch_advice() -> str:
    return (
        "A replayed tool runs again from the top and must ask the same way each time. Put what changes between "
        "runs (time, random numbers, reads) into `once`; where only its message changes, a key= will do."
    )


def model_start_again() -> str:
    return "This call could not be continued, and nothing more was done. It has to be begun again."
