"""Servers that negotiate 2026-07-28, and then refuse to ask there, because their tools push their questions.

Most servers that use `elicitation/create` of the Go, Python and Ruby SDKs do so. They work on an older version.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Final

from mcp import Client, MCPError
from mcp_types import CallToolResult, TextContent

from midcall.core.text import plain_line
from midcall.settings.client import REFUSAL_CHARACTERS

_log: Final = logging.getLogger("midcall.client")

_REFUSAL: Final = re.compile(
    "cannot be sent while serving a request on protocol version"  # the official Go SDK
    "|server-initiated requests (are|is) (not (supported|available)|unavailable)"  # mcp-go, FastMCP, Ruby
    "|no back-channel for server-initiated requests",  # the Python SDK
    re.IGNORECASE,
)

WHY: Final = "The server pushes its question, and protocol version 2026-07-28 doesn't allow that."
ADVICE: Final = 'Pass era="legacy" to connect, or downgrade=True to call again on an older version.'


def refuses_push(outcome: object) -> bool:
    """Whether this result or error says that the server can't push on this version."""
    match outcome:
        case MCPError(message=text):
            return _REFUSAL.search(text[:REFUSAL_CHARACTERS]) is not None
        case CallToolResult(is_error=True, content=content):
            texts = (block.text[:REFUSAL_CHARACTERS] for block in content if isinstance(block, TextContent))
            return any(_REFUSAL.search(text) for text in texts)
        case _:
            return False


def explain(outcome: object, name: str) -> None:
    """Say what happened and what to pass: at an error in a note, else in the log."""
    if isinstance(outcome, MCPError):
        outcome.add_note(f"{WHY} {ADVICE}")
    else:
        _log.warning(f"{plain_line(name)} failed. {WHY} {ADVICE}")


class Older:
    """A second connection to the same server, on an older version, opened when a call needs it.

    Its own task opens and closes it: calls come from any task, and the SDK's client must be left where it was entered.
    """

    def __init__(self, connect: Callable[[], AbstractAsyncContextManager[Client]]) -> None:
        self._connect = connect
        self._task: asyncio.Task[None] | None = None
        self._client: asyncio.Future[Client] | None = None
        self._over = asyncio.Event()

    @property
    def is_open(self) -> bool:
        """Whether calls go to the older version from now on."""
        return self._client is not None and self._client.done() and self._client.exception() is None

    async def client(self) -> Client:
        """The client on the older version. Raises what its connection raises."""
        if self._client is None:
            self._client = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._run(self._client), name="midcall older version")
        return await asyncio.shield(self._client)

    async def close(self) -> None:
        """Close the connection, if there is one."""
        self._over.set()
        if self._task is not None:
            await self._task

    async def _run(self, opened: asyncio.Future[Client]) -> None:
        try:
            async with self._connect() as client:
                opened.set_result(client)
                await self._over.wait()
        except Exception as error:
            if opened.done():
                _log.warning(f"the connection on an older version ended with {type(error).__name__}")
            else:
                opened.set_exception(error)
