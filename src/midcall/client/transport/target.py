"""Reach a URL, a command, or a server in this process: the transport to it, or why it fails."""

from __future__ import annotations

import logging
import os
import re
import shlex
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, cast
from urllib.parse import urlsplit

import httpx2
from mcp import MCPError
from mcp.client._memory import InMemoryTransport
from mcp.client._transport import Transport, TransportStreams
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel.server import Server
from mcp.server.mcpserver import MCPServer
from mcp_types import CONNECTION_CLOSED

from midcall.client.lines.excerpt import one_line
from midcall.client.transport.server_log import Errlog, server_log
from midcall.core.text import plain
from midcall.core.urls import is_web_url
from midcall.errors import MidcallError
from midcall.settings.client import HTTP_CONNECT_SECONDS, SILENT_STREAM_SECONDS
from midcall.web.certificates import advise, describe_fault, fault_of

Target: TypeAlias = str | Sequence[str] | StdioServerParameters | Server[Any] | MCPServer | Transport | object
"""A URL; a command, as one line or as a list of its arguments; a server object; or a transport."""

_HTTP_LOG: Final = logging.getLogger("mcp.client.streamable_http")

_Reason: TypeAlias = tuple[str, str]
"""Why the connection failed, and what to do about it."""

_NO_SUCH_COMMAND: Final[_Reason] = (
    "there is no such command",
    "Give the URL of a server, or the command that starts it.",
)
_ADDRESS: Final = re.compile(r"[\w.-]+:[0-9]+(/\S*)?", re.ASCII)
_INTERPRETERS: Final = {".py": "python", ".js": "node", ".mjs": "node"}


class CannotConnect(MidcallError):
    """Could not connect to a server. Says to which, why, and what to do."""

    @classmethod
    def because(cls, target: str, reason: _Reason) -> CannotConnect:
        why, advice = reason
        return cls(f"Cannot connect to {target}: {why}", advice=advice)


@dataclass(frozen=True, slots=True)
class ConnectOptions:
    """Options for connecting. A target ignores those it doesn't need."""

    env: Mapping[str, str] | None = None
    cwd: str | os.PathLike[str] | None = None
    errlog: Errlog | None = None
    headers: Mapping[str, str] | None = None
    auth: httpx2.Auth | None = None
    raise_exceptions: bool = False


@dataclass(slots=True)
class Reached:
    """A transport, the name of its target for messages, the command that it runs, its last HTTP status."""

    transport: Transport
    name: str
    command: str | None = None
    status: int | None = None

    def explain(self, error: BaseException, seconds: float | None) -> CannotConnect:
        """Why the connection failed within so many seconds."""
        return CannotConnect.because(self.name, _reason(error, seconds, self.command, self.status))


def is_url(target: str) -> bool:
    """Whether this is a URL rather than a command."""
    return "://" in target.split(" ")[0]


def reach(target: Target, options: ConnectOptions) -> Reached:
    """Make the transport to this target.

    Raises:
        CannotConnect: The target can't be understood.
    """
    match target:
        case str() if is_url(target):
            return _url(target, options)
        case str():
            return _command(_split(target), options)
        case StdioServerParameters():
            return _process(target, options)
        case list() | tuple():
            return _command([str(part) for part in cast("Sequence[object]", target)], options)
        case _:
            return _object(target, options)


# --- over HTTP ---------------------------------------------------------------------------------


def _url(url: str, options: ConnectOptions) -> Reached:
    if not is_web_url(url):
        shown = re.sub("//[^/?#]*@", "//", url)  # it may have a password, even if it can't be parsed
        raise CannotConnect.because(
            shown, ("it is not a web address", "An address looks like http://localhost:8000/mcp")
        )

    async def remember(response: httpx2.Response) -> None:
        reached.status = response.status_code

    parts = urlsplit(url)
    name = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()  # without a password
    reached = Reached(_http(url, options, remember), name)
    return reached


@asynccontextmanager
async def _http(
    url: str, options: ConnectOptions, remember: Callable[[httpx2.Response], Awaitable[None]]
) -> AsyncGenerator[TransportStreams]:
    _HTTP_LOG.addFilter(_sanitize)
    async with (
        httpx2.AsyncClient(
            headers=dict(options.headers or {}),
            auth=options.auth,
            timeout=httpx2.Timeout(HTTP_CONNECT_SECONDS, read=SILENT_STREAM_SECONDS),
            event_hooks={"response": [remember]},
        ) as http,
        streamable_http_client(url, http_client=http) as streams,
    ):
        yield streams


def _sanitize(record: logging.LogRecord) -> bool:
    """The SDK logs what a server sends unchanged, and without a logging setup that goes to the terminal."""
    record.msg, record.args = plain(record.getMessage()), None
    return True


# --- a process ---------------------------------------------------------------------------------


def _split(line: str) -> list[str]:
    try:
        if sys.platform == "win32":  # a backslash is part of a path
            return [part.strip('"') for part in shlex.split(line, posix=False)]
        return shlex.split(line)
    except ValueError as error:
        raise CannotConnect.because(line, (f"the command cannot be parsed ({error})", "Check its quotes.")) from None


def _command(parts: Sequence[str], options: ConnectOptions) -> Reached:
    if not parts or not parts[0]:
        raise CannotConnect.because("''", _NO_SUCH_COMMAND)
    return _process(StdioServerParameters(command=parts[0], args=list(parts[1:])), options)


def _process(parameters: StdioServerParameters, options: ConnectOptions) -> Reached:
    if options.env is not None:
        parameters = parameters.model_copy(update={"env": {**(parameters.env or {}), **options.env}})
    if options.cwd is not None:
        parameters = parameters.model_copy(update={"cwd": Path(options.cwd)})
    name = shlex.join([parameters.command, *parameters.args])
    if parameters.cwd is not None and not Path(parameters.cwd).is_dir():
        raise CannotConnect.because(
            name, (f"there is no folder {parameters.cwd}", "Create it, or run the server somewhere else.")
        )
    return Reached(_start(parameters, options.errlog), name, parameters.command)


@asynccontextmanager
async def _start(parameters: StdioServerParameters, errlog: Errlog | None) -> AsyncGenerator[TransportStreams]:
    async with server_log(errlog) as file, stdio_client(parameters, errlog=file) as streams:
        yield streams


# --- in this process ---------------------------------------------------------------------------


def _object(target: object, options: ConnectOptions) -> Reached:
    if isinstance(target, (Server, MCPServer)):
        server = cast("Server[Any] | MCPServer", target)
        return Reached(InMemoryTransport(server, raise_exceptions=options.raise_exceptions), f"server {server.name!r}")
    if (lowlevel := getattr(target, "_mcp_server", None)) is not None:
        return Reached(_fastmcp(target, lowlevel, options), f"server {lowlevel.name!r}")
    if hasattr(target, "__aenter__") and hasattr(target, "__aexit__"):
        return Reached(cast("Transport", target), f"{type(target).__name__} transport")
    raise TypeError("a target is a URL, a command, a server object or a transport")


@asynccontextmanager
async def _fastmcp(server: object, lowlevel: Any, options: ConnectOptions) -> AsyncGenerator[TransportStreams]:
    """FastMCP keeps its lifespan outside the low-level server."""
    lifespan = cast("Any", getattr(server, "_lifespan_manager", nullcontext))
    context: AbstractAsyncContextManager[Any] = lifespan()
    async with context, InMemoryTransport(lowlevel, raise_exceptions=options.raise_exceptions) as streams:
        yield streams


# --- what went wrong ---------------------------------------------------------------------------


def leaf(error: BaseException) -> BaseException:
    """The first error in nested groups, which caused the others."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    return leaf(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])


def _reason(error: BaseException, seconds: float | None, command: str | None, status: int | None) -> _Reason:
    """Why the connection failed, and what to do about it."""
    match error:
        case TimeoutError():
            return (
                f"no answer within {seconds or 0:g} s",
                "Is it an MCP server? One that has to be downloaded first may need longer.",
            )
        case FileNotFoundError() | NotADirectoryError() | PermissionError() if command is not None:
            return _not_started(error, command)
        case httpx2.TransportError() if (fault := fault_of(error)) is not None:
            return describe_fault(fault), advise(fault)
        case httpx2.TransportError():
            return f"nothing answers there ({_detail(error)})", "Is the server running, and is the address right?"
        case _ if status is not None and status >= 400:
            return _http_error(status)
        case MCPError(code=code) if code == CONNECTION_CLOSED:
            return (
                "it ended, or closed the connection, before it answered",
                "Its standard error may say why.",
            )
        case _:
            return (
                f"it does not answer like an MCP server ({_detail(error)})",
                "Check that this is the right address or command.",
            )


def _detail(error: BaseException) -> str:
    """The error's text, which may be the server's."""
    return one_line(str(error)) or type(error).__name__


def _not_started(error: OSError, command: str) -> _Reason:
    if (interpreter := _INTERPRETERS.get(Path(command).suffix)) is not None and Path(command).exists():
        return "it is a script, not a command", f"Name the program that runs it: {interpreter} {command}"
    if _ADDRESS.fullmatch(command):
        return _NO_SUCH_COMMAND[0], f"If it is an address, write http://{command}"
    if isinstance(error, FileNotFoundError):
        return _NO_SUCH_COMMAND
    return "it cannot be run", "Check its permissions, or name the program that runs it."


def _http_error(status: int) -> _Reason:
    if status in (401, 403):
        return f"it wants to know who you are (HTTP {status})", "Pass what it expects, such as an Authorization header."
    if status in (404, 405):
        return f"there is no MCP server at this path (HTTP {status})", "Most servers are at /mcp."
    return f"it answered with HTTP {status}", "See the log of the server."
