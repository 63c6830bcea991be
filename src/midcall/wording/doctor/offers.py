"""What a server offers, seen from outside."""

from __future__ import annotations


def no_tools_within(seconds: float) -> str:
    return f"It connected, and did not list its tools within {seconds:g} s. {waits_longer()}"


def waits_longer() -> str:
    return "--timeout SECONDS waits longer."
