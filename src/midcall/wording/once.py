"""Effects: what `once` cannot run, cannot record, or cannot know."""

from __future__ import annotations


def empty_effect_name() -> str:
    return "once() needs a name for its effect, such as 'charge'."


def not_a_function(kind: str) -> str:
    return f"once() takes a function and its arguments, and not {kind}: once('charge', charge, amount)."


def result_not_recordable(name: str, kind: str) -> str:
    return f"once({name!r}) returned {kind}, which JSON cannot hold as the function's annotation says."


def result_not_plain(name: str, kind: str) -> str:
    return f"once({name!r}) returned {kind}, which is no plain data, and the function has no annotation that says it."


def number_not_recordable(name: str) -> str:
    return (
        f"once({name!r}) returned a number that is not finite (NaN or infinity), and JSON has no other. A function "
        "whose annotation says float may return one."
    )


def result_lost(name: str) -> str:
    return f"once({name!r}) returned what could not be recorded."


def has_run() -> str:
    return "The function has run, and its result is lost."


def annotation_not_recordable(function: str, annotation: object) -> str:
    return f"The result of {function} cannot be recorded: its return annotation {annotation!r} has no JSON form."


def secret_not_recordable(function: str) -> str:
    return f"The result of {function} cannot be recorded: it holds a secret, and a journal passes through the client."


def secret_not_recordable_advice() -> str:
    return "Keep the secret where the function has it, and return what names it; secret() is for those of the user."


def excluded_not_recordable(function: str) -> str:
    return f"The result of {function} cannot be recorded: a field of it is excluded from what is written."


def annotation_not_found(function: str, annotation: object) -> str:
    return f"The result of {function} cannot be recorded: its return annotation {annotation!r} names what is not there."


def annotation_not_found_advice() -> str:
    return "Import it outside of `if TYPE_CHECKING:`, or define it at the top of a module."


def not_recordable_advice() -> str:
    return "Return plain data, a pydantic model, a dataclass or a TypedDict, and annotate it."


def model_not_recorded(name: str) -> str:
    return (
        f"The step {name!r} of this tool was done, but its result could not be recorded, because of a mistake in the "
        "tool's own code. Do not make the call again before the user has checked."
    )


def once_unknown(name: str) -> str:
    return f"once({name!r}) was begun before, and nobody knows whether it has ended"


def once_unknown_advice() -> str:
    return (
        "The process that ran it may have died. If the function is safe to repeat, use once.retry(...), or let it take "
        "`idempotency_key`."
    )


def model_once_unknown(name: str) -> str:
    return (
        f"The step {name!r} of this tool was begun, and it is not known whether it was finished. "
        "Do not make the call again before the user has checked."
    )
