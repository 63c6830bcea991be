"""Colours on a terminal, and none anywhere else."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TextIO

__all__ = ["Ink"]


@dataclass(frozen=True, slots=True)
class Ink:
    """Puts weight and colour on text, if they are `on`."""

    on: bool = False

    @classmethod
    def on_stream(cls, stream: TextIO | None) -> Ink:
        """Coloured if this is a terminal that can, and nobody set NO_COLOR."""
        return cls(stream is not None and stream.isatty() and not os.environ.get("NO_COLOR") and _understands_escapes())

    def bold(self, text: str) -> str:
        return self._painted("1", text)

    def dim(self, text: str) -> str:
        return self._painted("2", text)

    def strong(self, text: str) -> str:
        return self._painted("1;4", text)

    def warn(self, text: str) -> str:
        return self._painted("33", text)

    def bad(self, text: str) -> str:
        return self._painted("31", text)

    def good(self, text: str) -> str:
        return self._painted("32", text)

    def accent(self, text: str) -> str:
        return self._painted("36", text)

    def _painted(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.on and text else text


def _understands_escapes() -> bool:
    if sys.platform == "win32":
        return bool({"WT_SESSION", "TERM", "ANSICON"} & os.environ.keys())
    return os.environ.get("TERM", "dumb") != "dumb"
