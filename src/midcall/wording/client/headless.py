"""Answers without a person."""

from __future__ import annotations

from midcall.wording.client import questions

unnamed_server = questions.unnamed_server


def unknown_policy(policy: str, known: list[str]) -> str:
    return f"policy={policy!r} is none of: {', '.join(known)}."


def headless(server: str, message: str, how: str) -> str:
    return f'{server or unnamed_server()} asked "{message}". Nobody is here to answer: it {how}.'


def headless_log(server: str, digest: str, how: str) -> str:
    return f"question {digest} of {server or unnamed_server()} {how}: nobody is here to answer"


def was_cancelled() -> str:
    return "was cancelled"


def was_declined() -> str:
    return "was declined, as this host is set up to do"


def took_defaults() -> str:
    return "was answered with its defaults"


def no_defaults(fields: list[str], count: int) -> str:
    more = f" and {count - len(fields)} more" if count > len(fields) else ""
    return f"was cancelled, since it has no default for {', '.join(fields)}{more}"


def ended_with_an_error() -> str:
    return "ended with an error"


def cancelled_in_a_round() -> str:
    return "was cancelled, since a question of a round cannot end with an error"


def nobody_answers() -> str:
    return "Nobody is there to answer questions at this client."
