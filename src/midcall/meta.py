"""The keys of ours in the protocol's `_meta`: what a server and a client of ours tell each other."""

from __future__ import annotations

from typing import Final

__all__ = ["CODE", "RETRIES"]

CODE: Final = "midcall/code"
"""Goes on with a call that is not finished. In a result or an error, for the client; in a retry, back from it."""

RETRIES: Final = "midcall/retries"
"""In a request: how often this client makes the call again after the error -32042."""
