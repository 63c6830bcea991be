"""A command's connection: made, used, and ended with a code whatever happens."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import traceback
import warnings
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, cast

from mcp import Client, MCPError
from mcp_types import Tool

from midcall.cli.console import Console
from midcall.cli.exits import NOT_CONNECTED, TOOL_FAILED, USAGE, Ends, Lost
from midcall.cli.server_log import ServerLog
from midcall.cli.spinner import spinning
from midcall.client.answerer import Answerer
from midcall.client.connection import CannotConnect, Era, connect
from midcall.client.transport.intake import Intake
from midcall.client.transport.target import is_url
from midcall.core.text import plain, plain_line
from midcall.wording import cli as wording

__all__ = ["Link", "tools_of", "unusable_of"]

_CONNECT_SECONDS: Final = 60.0
_PAGES: Final = 100
_LONGEST: Final = 500
_MOST_SAID: Final = 10_000
_LOST: Final = ("Connection closed", "SSE stream ended")
"""How the SDK says that the server is gone. The code alone does not tell: servers use it for errors of their own."""


@dataclass(frozen=True, slots=True)
class Link:
    """To which server, and how."""

    target: str
    era: Era
    headers: dict[str, str] = field(default_factory=dict[str, str])
    timeout: float | None = None
    verbose: bool = False
    console: Console = field(default_factory=Console)

    @classmethod
    def of(cls, target: str, era: str, headers: Sequence[str], timeout: float | None, verbose: bool) -> Link:
        """The link that these options describe."""
        pairs = [header.partition(":") for header in headers]
        if wrong := next((name for name, colon, _ in pairs if not colon or not name.strip()), None):
            raise Ends(USAGE, wording.usage("midcall", f"--header {wrong!r}: a header looks like 'Name: value'"))
        if headers and not is_url(target):
            raise Ends(
                USAGE,
                wording.usage(
                    "midcall",
                    "--header is for a URL, and this server is a command; give a command its settings as variables",
                ),
            )
        named = {name.strip(): value.strip() for name, _, value in pairs}
        return cls(target, cast("Era", era), named, timeout, verbose)

    @property
    def hides_log(self) -> bool:
        """Whether the server writes a log that is not shown: that of a command is ours to show."""
        return not self.verbose and not is_url(self.target)

    def run(self, work: Coroutine[Any, Any, int]) -> int:
        """Run this to its end. What nobody expected is told in a line, too."""
        _settle_logs(self.console, verbose=self.verbose)
        try:
            return asyncio.run(work)
        except Ends:
            raise
        except Exception as error:
            if self.verbose:
                self.console.say(plain(traceback.format_exc()))
            self.failed(plain_line(f"The call failed unexpectedly, with {type(error).__name__}: {error!s}")[:_LONGEST])
            raise Ends(TOOL_FAILED) from None

    @asynccontextmanager
    async def connected(self, answerer: Answerer, **options: Any) -> AsyncGenerator[Client]:
        """A client. What goes wrong ends the command, in a line or two."""
        log = ServerLog(self.console, live=self.verbose)
        try:
            async with AsyncExitStack() as stack:
                async with spinning(self.console, "connecting"):
                    client = await stack.enter_async_context(self._connection(answerer, log, **options))
                yield client
        except CannotConnect as error:
            self.failed(plain(str(error)))
            log.tell()
            raise Ends(NOT_CONNECTED) from None
        except MCPError as error:
            lost = error.message.startswith(_LOST)
            said = (
                "The server is gone: it ended, or closed the connection, before the tool was done."
                if lost
                else f"The server answered with an error: {error.message} ({error.code})"
            )
            self.failed(plain(said[:_MOST_SAID]))
            for note in getattr(error, "__notes__", ()):
                self.console.say(f"  {note}")
            log.tell()
            raise (Lost() if lost else Ends(TOOL_FAILED)) from None

    def _connection(self, answerer: Answerer, log: ServerLog, **options: Any) -> AbstractAsyncContextManager[Client]:
        return connect(
            self.target,
            answerer,
            era=self.era,
            connect_timeout=self.timeout or _CONNECT_SECONDS,
            env=os.environ,  # as for any command that is typed into this shell
            headers=self.headers,
            errlog=log.take,
            **options,
        )

    def failed(self, sentence: str) -> None:
        """Say what went wrong."""
        self.console.say(f"{self.console.ink.bad('✗')} {sentence}")


async def tools_of(client: Client) -> list[Tool]:
    """All tools, page by page."""
    found: list[Tool] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if cursor is None:
            break
    return found


def unusable_of(client: Client) -> Mapping[str, str]:
    """The tools that were listed and cannot be understood, and what is wrong with them."""
    return client.server.unusable if isinstance(client.server, Intake) else {}


class _Said(logging.Handler):
    """What our own connection has to say is for the user; what others log is for --verbose."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        self._console.say(self._console.ink.dim(f"  {plain(record.getMessage())}"))


def _settle_logs(console: Console, *, verbose: bool) -> None:
    ours = logging.getLogger("midcall.client.connection")
    ours.addHandler(_Said(console))
    ours.propagate = False
    logging.getLogger().addHandler(_Said(console) if verbose else logging.NullHandler())
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
