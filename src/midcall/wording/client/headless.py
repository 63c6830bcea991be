"""Answers without a person."""

from __future__ import annotations

from midcall.wording.client import questions

unnamed_server = questions.unnamed_server


def headless(server: str, message: str, how: str) -> str:
    return f'{server or unnamed_server()} asked "{message}". Nobody is here to answer: it {how}.'


def headless_log(server: str, digest: str, how: str) -> str:
    return f"question {digest} of {server or unnamed_server()} {how}: nobody is here to answer"
