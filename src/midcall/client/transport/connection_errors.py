"""Why a connection failed, and what to do about it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, TypeAlias, cast

import httpx2
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED

from midcall.client.lines.excerpt import one_line
from midcall.errors import MidcallError
from midcall.web.certificates import advise, describe_fault, fault_of

Reason: TypeAlias = tuple[str, str]
"""Why the connection failed, and what to do about it."""

NO_SUCH_COMMAND: Final[Reason] = (
    "there is no such command",
    "Give the URL of a server, or the command that starts it.",
)

_ADDRESS: Final = re.compile(r"[\w.-]+:[0-9]+(/\S*)?", re.ASCII)
_INTERPRETERS: Final = {".py": "python", ".js": "node", ".mjs": "node"}


class CannotConnect(MidcallError):
    """Could not connect to a server. Says to which, why, and what to do."""

    @classmethod
    def because(cls, target: str, reason: Reason) -> CannotConnect:
        why, advice = reason
        return cls(f"Cannot connect to {target}: {why}", advice=advice)


def leaf(error: BaseException) -> BaseException:
    """The first error in nested groups, which caused the others."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    return leaf(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])


def reason_of(error: BaseException, seconds: float | None, command: str | None, status: int | None) -> Reason:
    """Why this failed, and what to do about it."""
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


def _not_started(error: OSError, command: str) -> Reason:
    if (interpreter := _INTERPRETERS.get(Path(command).suffix)) is not None and Path(command).exists():
        return "it is a script, not a command", f"Name the program that runs it: {interpreter} {command}"
    if _ADDRESS.fullmatch(command):
        return NO_SUCH_COMMAND[0], f"If it is an address, write http://{command}"
    if isinstance(error, FileNotFoundError):
        return NO_SUCH_COMMAND
    return "it cannot be run", "Check its permissions, or name the program that runs it."


def _http_error(status: int) -> Reason:
    if status in (401, 403):
        return f"it wants to know who you are (HTTP {status})", "Pass what it expects, such as an Authorization header."
    if status in (404, 405):
        return f"there is no MCP server at this path (HTTP {status})", "Most servers are at /mcp."
    return f"it answered with HTTP {status}", "See the log of the server."
