"""The audit log: a line of JSON for each question, and no content."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from os import PathLike
from typing import Any, Final, TypeAlias

from midcall.client.asked import Asked
from midcall.client.lines.columns import one_line

__all__ = ["Recorder", "Sink"]

Sink: TypeAlias = Callable[[Mapping[str, Any]], object]
"""Takes a record."""

_log: Final = logging.getLogger("midcall.client")


class Recorder:
    """Records questions. A record that cannot be written is logged, and costs no answer."""

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
            _log.error(f"the audit log could not be written ({type(error).__name__}); the answer was not held back")


class _Lines:
    """Appends to a file that only its owner can read. It is opened for each line, so that it may be moved away."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = path

    def __call__(self, record: Mapping[str, Any]) -> None:
        line = f"{json.dumps(record)}\n".encode()
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, line)
        finally:
            os.close(file)
