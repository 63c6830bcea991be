"""Effects: what `once` cannot run, cannot record, or cannot know."""

from __future__ import annotations


def result_lost(name: str) -> str:
    return f"once({name!r}) returned what could not be recorded."


def not_recordable_advice() -> str:
    return "Return plain data, a pydantic model, a dataclass or a TypedDict, and annotate it."


def model_not_recorded(name: str) -> str:
    return (
        f"The step {name!r} of this tool was done, but its result could not be recorded, because of a mistake in the "
        "tool's own code. Do not make the call again before the user has checked."
    )


def model_once_unknown(name: str) -> str:
    return (
        f"The step {name!r} of this tool was begun, and it is not known whether it was finished. "
        "Do not make the call again before the user has checked."
    )
