"""What a server, or a host's log, is told about a question. There is no content in it."""

from __future__ import annotations

from midcall.wording.client import addresses, questions

cannot_be_opened = addresses.cannot_be_opened
not_readable = questions.not_readable
unnamed_server = questions.unnamed_server


def gave_up(server: str, digest: str, seconds: float) -> str:
    return f"question {digest} of {server or unnamed_server()} was cancelled: nobody answered within {seconds:g} s"


def answerer_failed(server: str, digest: str, error: str) -> str:
    return f"question {digest} of {server or unnamed_server()} was cancelled: its answerer failed with {error}"


def cannot_answer(server: str, digest: str) -> str:
    return f"question {digest} of {server or unnamed_server()} was cancelled: there was no answer for it"


def no_outcome(server: str, digest: str, why: str) -> str:
    return f"question {digest} of {server or unnamed_server()} was cancelled: {why}"
