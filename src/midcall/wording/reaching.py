"""On the way to the user: why there is none, and what is said while a question is under way."""

from __future__ import annotations

from typing import Final

_SAID: Final = 200
"""A model needs no more of what a client says."""


def no_channel(reason: str) -> str:
    return f"The user cannot be asked: {reason}."


def _each_channel(reasons: dict[str, str]) -> str:
    channels_for: dict[str, list[str]] = {}  # several often lack the same
    for channel, reason in reasons.items():
        channels_for.setdefault(reason, []).append(channel)
    told = "; ".join(f"{', '.join(channels)}: {reason}" for reason, channels in channels_for.items())
    return f"Channel by channel: {told}."


def refused_by_question() -> str:
    return "the question refuses it"


def no_portal() -> str:
    return "no portal is installed"


def no_default() -> str:
    return "the question has no default"


def no_way_back() -> str:
    return "this connection has no way back to the client (stateless HTTP, or HTTP that answers in plain JSON)"


def no_channel_advice(mode: str, reasons: dict[str, str]) -> str:
    """Why each channel does not serve, and what would help of what is not there yet."""
    lacking = set(reasons.values())
    what = "URLs (mode: url)" if mode == "url" else "forms"
    helps = ["Allow the question more channels: its via= refuses some."] if refused_by_question() in lacking else []
    others = ["look with can_ask() first"]
    if no_default() in lacking:
        others.insert(0, "give the question a default=")
    if no_portal() in lacking:
        portal = "install a portal, which reaches everyone from a tool by a link (install(..., portal=Portal()))"
        others.insert(0, portal)
    helps.append(f"For clients that cannot show {what}: {', or '.join(others)}.")
    helps.append("Clients that can need stdio, stateful HTTP or protocol 2026-07-28.")
    return " ".join([_each_channel(reasons), *helps, "`midcall doctor` tells what this server lacks."])


def model_cannot_ask() -> str:
    return (
        "The user has to be asked something, and there is no way to show the question here. "
        "Tell the user: another client may have one."
    )


def model_client_failed(said: str) -> str:
    """`said` is the client's own text, if it has one."""
    why = f" ({said[:_SAID]})" if said else ""
    return (
        f"This tool needed input from the user, but the user's client could not show the question{why}. "
        "Tell the user to try again, or to use another client."
    )


def client_gone() -> str:
    return "The client went away while the user was asked."


def client_error(code: int, message: str) -> str:
    return f"The client answered the question with an error ({code}: {message})."


def client_error_advice() -> str:
    return "The user may not have seen the question. Treat it as not answered."


def waiting_for_user() -> str:
    return "Waiting for the user"


def ask_again(message: str, problems: list[tuple[str, str]]) -> str:
    told = "\n".join(f"- {label}: {text}" if label else f"- {text}" for label, text in problems)
    return f"{message}\n\nPlease correct:\n{told}"


def completion_not_sent() -> str:
    return "A visit is complete, but its client could not be told."
