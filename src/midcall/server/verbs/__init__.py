"""The verbs: everything a tool needs to ask."""

from midcall.server.verbs.once import once
from midcall.server.verbs.pages import approve, authorize, secret
from midcall.server.verbs.questions import ask, ask_all, choose, confirm, elicit, visit
from midcall.server.verbs.status import can_ask, complete, suspending

__all__ = [
    "approve",
    "ask",
    "ask_all",
    "authorize",
    "can_ask",
    "choose",
    "complete",
    "confirm",
    "elicit",
    "once",
    "secret",
    "suspending",
    "visit",
]
