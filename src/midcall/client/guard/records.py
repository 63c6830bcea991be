"""The audit log: a line of JSON for each question, without its content."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from os import PathLike
from typing import Any, Final, TypeAlias

from midcall.client.asked import Asked
from midcall.client.lines.excerpt import one_line

Sink: TypeAlias = Callable[[Mapping[str, Any]], object]
"""Called with each record."""

_log: Final = logging.getLogger("midcall.client")


class Recorder:
    """Records questions. If a record can't be written, that is logged and the answer is sent all the same."""

    def __init__(self, target: str | PathLike[str] | Sink | None) -> None:
        self._write: Sink | None = target if target is None or callable(target) else _Lines(target)

    def record(self, asked: Asked, outcome: str, stopped: str, seconds: float) -> None:
        if self._write is None:
            return
        record: dict[str, Any] = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "server": one_line(asked.server),
            "question": asked.digest,
            "channel": asked.via,
            "mode": asked.mode,
            "outcome": outcome,
            "seconds": round(seconds, 3),
        }
        try:
            self._write(record | {"stopped": stopped} if stopped else record)
        except Exception as error:
            _log.error(f"could not write the audit log ({type(error).__name__}); the answer was sent all the same")


class _Lines:
    """Appends to a file that only its owner can read. Opens it for each line, so that it can be rotated."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = path

    def __call__(self, record: Mapping[str, Any]) -> None:
        line = f"{json.dumps(record)}\n".encode()
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, line)
        finally:
            os.close(file)
