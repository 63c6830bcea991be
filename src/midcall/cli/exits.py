"""How a command ends: exit codes for scripts."""

from __future__ import annotations

from typing import Final

DONE: Final = 0
TOOL_FAILED: Final = 1
USAGE: Final = 2
UNANSWERED: Final = 3
"""A question was declined or cancelled, or had no answer."""
NOT_CONNECTED: Final = 4
INTERRUPTED: Final = 130


class Ends(Exception):
    """Ends the command with this code, and says why on standard error."""

    def __init__(self, code: int, sentence: str = "") -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


class Lost(Ends):
    """The server went away during the call, so its questions don't count as declined."""

    def __init__(self) -> None:
        super().__init__(TOOL_FAILED)


def usage_error(command: str, why: str) -> Ends:
    """Ends the command because it was called wrongly."""
    return Ends(USAGE, f"{command}: error: {why}")
