"""A scripted user: prints each question and replies from a list."""

from __future__ import annotations

from typing import Any

REPLIES: list[dict[str, Any]] = [
    {"action": "accept", "content": {"answer": 300}},  # too large: the question comes again
    {"action": "accept", "content": {"answer": 3}},
    {"action": "accept", "content": {"confirmed": True}},
]


async def person(question: dict[str, Any]) -> dict[str, Any]:
    """Put your user interface here. Every text comes from the server: show it as text only."""
    print(f"  {question['server']['name']} asks: {question['message']}")
    for problem in question["problems"]:
        print(f"  ! {problem['field']} {problem['message']}")
    reply = REPLIES.pop(0)
    print(f"  > {reply['action']} {reply.get('content', '')}")
    return reply
