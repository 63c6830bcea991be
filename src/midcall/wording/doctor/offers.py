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


def probe_failed(why: str) -> str:
    return f"midcall_probe failed: {why}"


def probe_failed_advice() -> str:
    return "The log of the server says more; --verbose shows that of a command."
