"""What a server, or a host's log, is told about a question. There is no content in it."""

from __future__ import annotations

from midcall.wording.client import addresses, questions

cannot_be_opened = addresses.cannot_be_opened
not_readable = questions.not_readable
unnamed_server = questions.unnamed_server


def no_more_of_these() -> str:
    return "More of this kind is no longer told."


def mode_not_declared(mode: str) -> str:
    return f"this client did not offer to be asked in {mode} mode"


def gave_up(server: str, digest: str, seconds: float) -> str:
    return f"question {digest} of {server or unnamed_server()} was cancelled: nobody answered within {seconds:g} s"


def answerer_failed(server: str, digest: str, error: str) -> str:
    return f"question {digest} of {server or unnamed_server()} was cancelled: its answerer failed with {error}"


def unfit(problems: list[str]) -> str:
    return f"the answer does not fit the form and was not sent ({', '.join(problems)})"


def malformed() -> str:
    return "the question is malformed"


def cannot_answer(server: str, digest: str) -> str:
    return f"question {digest} of {server or unnamed_server()} was cancelled: there was no answer for it"


def answerer_class(name: str) -> str:
    return f"an answerer is an object: write {name}() instead of {name}"


def no_answerer(kind: str) -> str:
    return f"an answerer has a method answer(asked), and {kind} has none"


def no_outcome(server: str, digest: str, why: str) -> str:
    return f"question {digest} of {server or unnamed_server()} was cancelled: {why}"


def returned(kind: str) -> str:
    what = "None" if kind == "NoneType" else kind
    return f"its answerer returned {what}. An answerer returns Accepted(content) with a dict, Declined() or Cancelled()"


def no_content(kind: str) -> str:
    return f"its answerer returned Accepted with {kind}. The content of Accepted(content) is a dict"


def not_async() -> str:
    return "the method answer of its answerer is not async. Make it async: async def answer(self, asked)"
