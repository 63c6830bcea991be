"""On the way to the user: why there is none, and what is said while a question is under way."""

from __future__ import annotations


def no_channel(reasons: dict[str, str]) -> str:
    channels_for: dict[str, list[str]] = {}  # several often lack the same
    for channel, reason in reasons.items():
        channels_for.setdefault(reason, []).append(channel)
    told = "; ".join(f"{', '.join(channels)}: {reason}" for reason, channels in channels_for.items())
    return f"The user cannot be asked. {told}."


def no_channel_advice(mode: str) -> str:
    what = "URLs (mode: url)" if mode == "url" else "forms"
    default = "" if mode == "url" else "give the question a default=, "
    return (
        f"For clients that cannot show {what}: install a portal, which reaches everyone from a tool by a link "
        f"(install(..., portal=Portal())), {default}or look with can_ask() first. Clients that can need stdio, "
        "stateful HTTP or protocol 2026-07-28. `midcall doctor` tells what this server lacks."
    )


def model_cannot_ask() -> str:
    return (
        "The user has to be asked something, and there is no way to show the question here. "
        "Tell the user: another client may have one."
    )


def model_client_failed() -> str:
    return (
        "The user was to be asked something, and their client failed at it. "
        "Tell the user: it may work when it is tried again, or in another client."
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
