"""Answers from a script."""

from __future__ import annotations

from typing import Final

from midcall.wording.client import questions

_MOST_NAMES: Final = 10

unnamed_server = questions.unnamed_server


def no_answer(message: str, server: str, fields: list[str], more: int, why: str, near: list[str]) -> str:
    about = f" (fields: {_and_more(fields, more)})" if fields else ""
    question = f'the question "{message}" of {server or unnamed_server()}{about}'
    if why:
        return f"the answer to {question} does not fit: {why.rstrip('.')}."
    meant = f" Did you mean {' or '.join(repr(name) for name in near)}?" if near else ""
    return f"no answer for {question}.{meant}"


def bad_action(actions: list[str]) -> str:
    return f"an action is one of {', '.join(actions)}, and nothing but content may stand beside it"


def takes_fields(names: list[str]) -> str:
    return f"this question has {len(names)} fields, so its answer must name them: {_listed(names)}"


def unknown_fields(unknown: list[str], known: list[str]) -> str:
    return f"it names {_listed(unknown)}, and the fields are {_listed(known)}"


def _listed(names: list[str]) -> str:
    return _and_more(names[:_MOST_NAMES], max(0, len(names) - _MOST_NAMES))


def _and_more(names: list[str], more: int) -> str:
    return ", ".join(names) + (f" and {more} more" if more else "")
