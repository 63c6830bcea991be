"""Connect a command to its server, and always end with an exit code."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
import traceback
import warnings
from collections import deque
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, cast

from mcp import Client, MCPError
from mcp.client import InputRequiredRoundsExceededError
from mcp_types import Tool
from pydantic import ValidationError

from midcall.cli.console import Console, spin
from midcall.cli.exits import NOT_CONNECTED, TOOL_FAILED, Ends, Lost, is_interrupt, usage_error
from midcall.client.answerer import Answerer
from midcall.client.connection.connect import CannotConnect, Era
from midcall.client.connection.connect import connect as connect_client
from midcall.client.connection.older import ADVICE
from midcall.client.transport.intake import Intake
from midcall.client.transport.target import is_url
from midcall.core.text import plain_line
from midcall.settings.cli import ERROR_CHARACTERS, FAILURE_CHARACTERS, LAST_LOG_LINES, MAX_TOOL_PAGES
from midcall.settings.client import CONNECT_SECONDS

_KIND: Final = re.compile(r"[A-Z]\w+(Result|Content)|function-")
_LOST: Final = ("Connection closed", "SSE stream ended")
"""How the SDK says that the server is gone. Servers use the same code for their own errors."""
NO_RESULT: Final = "No result within {seconds:g} s: the call was cancelled."
OLDER: Final = "Add --downgrade, which calls the tool again on an older version, or --era legacy."
UNUSABLE: Final = "The server describes the tool {name} in a way that cannot be understood ({why})."


@dataclass(frozen=True, slots=True)
class ServerLink:
    """Which server to connect to, and how."""

    target: str
    era: Era
    headers: dict[str, str] = field(default_factory=dict[str, str])
    timeout: float | None = None
    verbose: bool = False
    console: Console = field(default_factory=Console)

    @classmethod
    def of(cls, target: str, era: str, headers: Sequence[str], timeout: float | None, verbose: bool) -> ServerLink:
        """The link for these options of a command."""
        pairs = [header.partition(":") for header in headers]
        if any(not colon or not name.strip() for name, colon, _ in pairs):  # its text may be a secret
            raise usage_error("midcall", "--header: a header looks like 'Name: value'")
        if headers and not is_url(target):
            raise usage_error(
                "midcall",
                "--header is for a URL, but this server is a command; set environment variables for a command",
            )
        named = {name.strip(): value.strip() for name, _, value in pairs}
        return cls(target, cast("Era", era), named, timeout, verbose)

    def run(self, work: Coroutine[Any, Any, int]) -> int:
        """Run this to its end. Report even an unexpected error on one line."""
        _set_up_logs(self.console, verbose=self.verbose)
        try:
            return asyncio.run(work)
        except Ends:
            raise
        except Exception as error:
            if is_interrupt(error):
                raise KeyboardInterrupt from None
            if self.verbose:
                self.console.quote(traceback.format_exc())
            self.console.report(
                plain_line(f"The call failed unexpectedly, with {type(error).__name__}: {error!s}")[:FAILURE_CHARACTERS]
            )
            raise Ends(TOOL_FAILED) from None

    @asynccontextmanager
    async def connect(self, answerer: Answerer, **options: Any) -> AsyncGenerator[Client]:
        """A client. An error ends the command, with a line or two."""
        log = _ServerLog(self.console, live=self.verbose)
        connection = connect_client(
            self.target,
            answerer,
            era=self.era,
            connect_timeout=self.timeout or CONNECT_SECONDS,
            env=os.environ,  # as for any command in this shell
            headers=self.headers,
            errlog=log.take,
            **options,
        )
        try:
            async with AsyncExitStack() as stack:
                async with spin(self.console, "connecting"):
                    client = await stack.enter_async_context(connection)
                yield client
        except InputRequiredRoundsExceededError:
            self.console.report(
                "The call is not done: the server kept asking for another round. It may be busy; try later."
            )
            raise Ends(TOOL_FAILED) from None
        except ValidationError as error:
            self.console.report(
                plain_line(f"The server's response is malformed: {_describe(error)}")[:FAILURE_CHARACTERS]
            )
            raise Ends(TOOL_FAILED) from None
        except CannotConnect as error:
            self.console.report(str(error))
            log.show()
            raise Ends(NOT_CONNECTED) from None
        except MCPError as error:
            lost = error.message.startswith(_LOST)
            said = (
                "The server is gone: it exited or closed the connection before the tool was done."
                if lost
                else f"The server answered with an error: {error.message} ({error.code})"
            )
            self.console.report(said[:ERROR_CHARACTERS])
            for note in getattr(error, "__notes__", ()):
                self.console.remark(note.replace(ADVICE, OLDER))
            log.show()
            raise (Lost() if lost else Ends(TOOL_FAILED)) from None


async def list_tools(client: Client) -> list[Tool]:
    """All tools, page by page."""
    found: list[Tool] = []
    cursor: str | None = None
    for _ in range(MAX_TOOL_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if cursor is None:
            break
    return found


def list_unusable(client: Client) -> Mapping[str, str]:
    """The listed tools that can't be understood, and what is wrong with each."""
    return client.server.unusable if isinstance(client.server, Intake) else {}


def _describe(error: ValidationError) -> str:
    """The first fault, and where: without our names for the kinds of results, which are tried one after the other."""
    errors = error.errors()
    is_round = any(isinstance(each["input"], dict) and "inputRequests" in each["input"] for each in errors)
    kind = "InputRequired" if is_round else ""
    first = next((each for each in errors if any(kind in str(part) for part in each["loc"])), errors[0])
    where = ".".join(str(part) for part in first["loc"] if not _KIND.search(str(part)))
    return f"{where}: {first['msg']}" if where else first["msg"]


class _ServerLog:
    """What a server that we started writes to its standard error: the last lines, and all as they come if `live`."""

    def __init__(self, console: Console, *, live: bool) -> None:
        self._console = console
        self._live = live
        self._lines: deque[str] = deque(maxlen=LAST_LOG_LINES)

    def take(self, line: str) -> None:
        """Add a line of the server's log."""
        self._lines.append(line)
        if self._live:
            self._say(line)

    def show(self) -> None:
        """Show the last lines, unless they were shown already."""
        if not self._live:
            for line in self._lines:
                self._say(line)

    def _say(self, line: str) -> None:
        self._console.quote(line, self._console.ink.dim)


class _PrintLog(logging.Handler):
    """Prints log records: always for this connection, others only with --verbose, and behind a bar."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.partition(".")[0] == "midcall":
            self._console.remark(record.getMessage())
        else:
            self._console.quote(record.getMessage(), self._console.ink.dim)


def _set_up_logs(console: Console, *, verbose: bool) -> None:
    ours = logging.getLogger("midcall.client.connection")
    ours.addHandler(_PrintLog(console))
    ours.propagate = False
    logging.getLogger().addHandler(_PrintLog(console) if verbose else logging.NullHandler())
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
