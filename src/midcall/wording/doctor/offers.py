"""What a server offers, seen from outside."""

from __future__ import annotations

from collections.abc import Sequence


def heading() -> str:
    return "What the server offers"


def tools(names: Sequence[str]) -> str:
    return f"{len(names)}: {', '.join(names)}" if names else "none"


def no_tools_within(seconds: float) -> str:
    return f"It connected, and did not list its tools within {seconds:g} s. {waits_longer()}"


def waits_longer() -> str:
    return "--timeout SECONDS waits longer."


def goes_on() -> str:
    return "midcall_continue is listed: a call that could not be finished goes on later."


def does_not_go_on() -> str:
    return "midcall_continue is not listed: the server has no store, or does not use midcall."


def no_probe() -> str:
    return "midcall_probe is not listed. With install(..., probe=True) its result would stand here."


def probe_failed(why: str) -> str:
    return f"midcall_probe failed: {why}"


def probe_failed_advice() -> str:
    return "The log of the server says more; --verbose shows that of a command."


def probe_unfinished() -> str:
    return (
        "midcall_probe asked by a link, which this command does not open: nothing can be pushed to this client. Over "
        "HTTP that is so where the server is stateless, on versions before 2026-07-28."
    )


def probe_was_run() -> str:
    return "midcall_probe was called, and answered by this command; a page was agreed to and not opened."
