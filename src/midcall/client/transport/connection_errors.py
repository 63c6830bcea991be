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
            return wording.no_answer_within(seconds or 0)
        case FileNotFoundError() | NotADirectoryError() | PermissionError() if command is not None:
            return _not_started(error, command)
        case httpx2.TransportError() if (fault := fault_of(error)) is not None:
            return certificates.wrong(fault), certificates.advice(fault)
        case httpx2.TransportError():
            return wording.nobody_there(str(error) or type(error).__name__)
        case _ if status is not None and status >= 400:
            return wording.http_refused(status)
        case MCPError(code=code) if code == CONNECTION_CLOSED:
            return wording.ended_early()
        case _:
            return wording.no_mcp(str(error) or type(error).__name__)


def _not_started(error: OSError, command: str) -> tuple[str, str]:
    if (interpreter := _INTERPRETERS.get(Path(command).suffix)) is not None and Path(command).exists():
        return wording.script_without_interpreter(interpreter, command)
    if _ADDRESS.fullmatch(command):
        return wording.address_without_scheme(command)
    return wording.no_such_command() if isinstance(error, FileNotFoundError) else wording.not_executable()
