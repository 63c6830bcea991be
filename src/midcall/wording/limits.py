"""A call that needs more rounds, or a larger state, than clients and proxies let through."""

from __future__ import annotations


def too_many_rounds(limit: int) -> str:
    return f"This call needs more than {limit} rounds, and clients give up after that."


def too_many_rounds_advice() -> str:
    return "Ask together what belongs together: ask_all(...) puts many questions into one round."


def model_too_many_rounds() -> str:
    return (
        "This has to ask the user more often than one call allows, so it stopped. "
        "Its author can ask several things at once (ask_all)."
    )


def waits_for_more_rounds() -> str:
    return "There is more to ask than one call allows."


def journal_too_large(size: int, limit: int) -> str:
    return f"The state of this call has grown to {size:,} bytes; at most {limit:,} travel with a request."


def journal_too_large_advice() -> str:
    return (
        "With a store the state stays on the server: install(..., store=...). Or record less: let `once` return an id "
        "or a summary, and bound what users can type (max_length)."
    )
