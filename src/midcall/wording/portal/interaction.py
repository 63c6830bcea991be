"""What the four kinds of page have in common: who asks, through whom, until when, and how to say no."""

from __future__ import annotations


def unnamed_server() -> str:
    return "A server without a name"


def unnamed_client() -> str:
    return "a client without a name"


def server_says(server: str) -> str:
    return f"{server} says"


def facts() -> str:
    return "About this page"


def fact_server() -> str:
    return "Server"


def fact_client() -> str:
    return "Asked through"


def fact_until() -> str:
    return "Open until"


def until(moment: str) -> str:
    return f"{moment} UTC"


def time_left(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute left"
    if minutes < 120:
        return f"{minutes} {'minute' if minutes == 1 else 'minutes'} left"
    hours = minutes // 60
    return f"{hours} hours left" if hours < 48 else f"{hours // 24} days left"


def decline() -> str:
    return "Decline"


def cancel() -> str:
    return "Cancel"


def what_they_do(server: str) -> str:
    return f"Decline tells {server} that you said no. Cancel decides nothing: you can be asked again."
