"""What a server and a client of ours tell each other: keys in the protocol's `_meta`, and the tool that goes on."""

from __future__ import annotations

from typing import Final

__all__ = ["CODE", "CONTINUE", "NOW", "RETRIES"]

CODE: Final = "midcall/code"
"""Goes on with a call that is not finished. In a result or an error, for the client; in a retry, back from it."""

NOW: Final = "midcall/now"
"""Beside a code: nobody has anything to do first, and a client may continue at once."""

RETRIES: Final = "midcall/retries"
"""In a request: how often this client makes the call again after the error -32042."""

CONTINUE: Final = "midcall_continue"
"""The tool that goes on with a code. Where a call is not finished, models use it, and people in a shell."""
