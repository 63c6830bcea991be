"""Questions that wait for an answer from elsewhere."""

from __future__ import annotations

from midcall.wording.client import questions

unnamed_server = questions.unnamed_server


def not_pending(id: str) -> str:
    return f"no question is open under the id {id[:64]!r}: it was answered or withdrawn, or never asked"


def does_not_fit(problems: list[str]) -> str:
    return f"the answer does not fit the form, and the question stays open ({'; '.join(problems)})"


def not_a_reply(why: str) -> str:
    return f'this is no answer to a question: {why}. One looks like {{"id": ..., "action": "accept", "content": {{}}}}'


def asked_twice(id: str) -> str:
    return f"a question with the id {id[:64]!r} is open already"


def too_many_open(server: str, limit: int) -> str:
    return (
        f"questions of {server or unnamed_server()} are being cancelled: {limit} are open, and no more can be at once"
    )


def bad_limit(given: str) -> str:
    return f"limit={given}: it takes the number of questions that may be open at once, at least 1"
