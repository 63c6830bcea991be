"""Stands for the person in front of the agent: prints what is asked, and replies from a script."""

from __future__ import annotations

from typing import Any

REPLIES: list[dict[str, Any]] = [
    {"action": "accept", "content": {"answer": 300}},  # does not fit: it is asked again
    {"action": "accept", "content": {"answer": 3}},
    {"action": "accept", "content": {"confirmed": True}},
]


async def person(question: dict[str, Any]) -> dict[str, Any]:
    """Your user interface stands here. All texts are the server's: show them as text."""
    print(f"  {question['server']['name']} asks: {question['message']}")
    for problem in question["problems"]:
        print(f"  ! {problem['field']} {problem['message']}")
    reply = REPLIES.pop(0)
    print(f"  > {reply['action']} {reply.get('content', '')}")
    return reply
