"""Forms in the terminal.

    async with Client(server, elicitation_callback=callback(Terminal())) as client:
        await client.call_tool("book", {"destination": "Oslo"})

Textual is loaded when the first form is shown.
"""

from midcall.client.terminal.terminal import Terminal

__all__ = ["Terminal"]
