"""A call that needs more rounds, or a larger state, than clients and proxies let through."""

from __future__ import annotations


def model_too_many_rounds() -> str:
    return (
        "This has to ask the user more often than one call allows, so it stopped. "
        "Its author can ask several things at once (ask_all)."
    )
