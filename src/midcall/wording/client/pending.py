"""Questions that wait for an answer from elsewhere."""

from __future__ import annotations

from midcall.wording.client import questions

unnamed_server = questions.unnamed_server


def too_many_open(server: str, limit: int) -> str:
    return (
        f"questions of {server or unnamed_server()} are being cancelled: {limit} are open, and no more can be at once"
    )
