"""The guard before an answerer."""

from __future__ import annotations

from midcall.wording.client import questions

unnamed_server = questions.unnamed_server
unnamed_site = questions.unnamed_site


def server_not_allowed(server: str) -> str:
    return f"{server} may not ask questions here: what it asks is cancelled."


def asks_too_often(server: str) -> str:
    return f"{server} asks too often: until it slows down, what it asks is cancelled."


def too_many_wait(server: str) -> str:
    return f"Too many questions wait for you: what {server} asks is cancelled until some are answered."


def host_not_allowed(server: str, host: str) -> str:
    return f"{server} wanted to send you to {host}, which is not allowed here: it was cancelled."


def bad_rate(count: int, per: float) -> str:
    return f"Rate({count!r}, per={per!r}): it takes at least one question, and a positive number of seconds."


def not_a_rate(given: str) -> str:
    return f"rate={given}: a rate is written as Rate(5, per=60), for 5 questions in 60 seconds, or None for no limit."


def bad_host(entry: str) -> str:
    return f"{entry!r} is no host: write example.com, login.example.com or *.example.com, without https:// and path."


def not_a_list(name: str) -> str:
    return f"Write [{name!r}], and not {name!r}: this takes several names."


def audit_failed(error: str) -> str:
    return f"the audit log could not be written ({error}); the answer was not held back"


def tell_failed(error: str) -> str:
    return f"the user could not be told that a question was stopped ({error})"
