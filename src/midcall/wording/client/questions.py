"""What is said about a question wherever it is shown: who asks, and what became of it."""

from __future__ import annotations


def asks(server: str) -> str:
    return f"{server} asks"


def unnamed_server() -> str:
    return "A server without a name"


def not_readable(server: str, why: str) -> str:
    return f"{server} asked something that cannot be shown: {why}"


def all_cancelled(count: int) -> str:
    return cancelled() if count == 1 else f"{count:,} questions cancelled: nothing was sent."


def turned_away(count: int) -> str:
    noun = "question was" if count == 1 else "questions were"
    return f"{count:,} more {noun} cancelled without being shown: too many came at once."


def withdrawn() -> str:
    return "The question was withdrawn."


def sent() -> str:
    return "Sent."


def declined() -> str:
    return "Declined."


def cancelled() -> str:
    return "Cancelled: nothing was sent."


def asks_to_open(server: str) -> str:
    return f"{server} asks you to open a web page"


def opened() -> str:
    return "Opened in your browser."


def open_it_yourself() -> str:
    return "No browser could be started here: open the address yourself."


def unnamed_site() -> str:
    return "a site without a name"


def lines_left_out(count: int) -> str:
    return f"  … {count:,} lines were left out."
