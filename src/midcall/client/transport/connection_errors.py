"""Why a connection could not be made, in words, and what to do about it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, cast

import httpx2
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED

from midcall.errors import MidcallError
from midcall.web.certificates import fault_of
from midcall.wording import certificates
from midcall.wording.client import connecting as wording

__all__ = ["CannotConnect", "leaf", "reason_of"]

_ADDRESS: Final = re.compile(r"[\w.-]+:[0-9]+(/\S*)?", re.ASCII)
_INTERPRETERS: Final = {".py": "python", ".js": "node", ".mjs": "node"}


class CannotConnect(MidcallError):
    """There is no connection to the server. Says to what, why, and what to do."""

    @classmethod
    def because(cls, target: str, reason: tuple[str, str]) -> CannotConnect:
        why, advice = reason
        return cls(f"Cannot connect to {target}: {why}", advice=advice)


def leaf(error: BaseException) -> BaseException:
    """The first error in a group of groups: the others follow from it."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    return leaf(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])


def reason_of(error: BaseException, seconds: float | None, command: str | None, status: int | None) -> tuple[str, str]:
    """Why this failed, and what to do."""
    match error:
        case TimeoutError():
            return _no_answer_within(seconds or 0)
        case FileNotFoundError() | NotADirectoryError() | PermissionError() if command is not None:
            return _not_started(error, command)
        case httpx2.TransportError() if (fault := fault_of(error)) is not None:
            return certificates.wrong(fault), certificates.advice(fault)
        case httpx2.TransportError():
            return _nobody_there(str(error) or type(error).__name__)
        case _ if status is not None and status >= 400:
            return _http_refused(status)
        case MCPError(code=code) if code == CONNECTION_CLOSED:
            return _ended_early()
        case _:
            return _no_mcp(str(error) or type(error).__name__)


def _not_started(error: OSError, command: str) -> tuple[str, str]:
    if (interpreter := _INTERPRETERS.get(Path(command).suffix)) is not None and Path(command).exists():
        return _script_without_interpreter(interpreter, command)
    if _ADDRESS.fullmatch(command):
        return _address_without_scheme(command)
    return wording.no_such_command() if isinstance(error, FileNotFoundError) else _not_executable()


def _address_without_scheme(address: str) -> tuple[str, str]:
    return "there is no such command", f"If it is an address, write http://{address}"


def _script_without_interpreter(interpreter: str, script: str) -> tuple[str, str]:
    return "it is a script, and no command", f"Name what runs it: {interpreter} {script}"


def _not_executable() -> tuple[str, str]:
    return "it cannot be run", "Check its permissions, or name the program that runs it."


def _ended_early() -> tuple[str, str]:
    return (
        "it ended, or closed the connection, before it answered",
        "What it wrote to its standard error may say why.",
    )


def _no_answer_within(seconds: float) -> tuple[str, str]:
    return (
        f"no answer within {seconds:g} s",
        "Is it an MCP server? One that has to be downloaded first may need longer.",
    )


def _nobody_there(detail: str) -> tuple[str, str]:
    return f"nothing answers there ({detail})", "Is the server running, and is the address right?"


def _http_refused(status: int) -> tuple[str, str]:
    if status in (401, 403):
        return f"it wants to know who you are (HTTP {status})", "Pass what it expects, such as an Authorization header."
    if status in (404, 405):
        return f"there is no MCP server at this path (HTTP {status})", "Most servers are at /mcp."
    return f"it answered with HTTP {status}", "See the log of the server."


def _no_mcp(detail: str) -> tuple[str, str]:
    return f"it does not answer as an MCP server does ({detail})", "Check that this is the right address or command."
