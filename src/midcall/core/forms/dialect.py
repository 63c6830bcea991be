"""JSON Schema's patterns in Python: the dialect is JavaScript's, and most clients run it there."""

from __future__ import annotations

import re
from typing import Any, Final

__all__ = ["compiled", "python_only", "runs_everywhere"]

# Read past escapes and character classes; what is left of these is Python's own.
_PYTHON_ONLY: Final = re.compile(r"\\[AZz]|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?[P#(>aiLmsux-]|[*+?}]\+", re.DOTALL)

_PIECES: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[$.]", re.DOTALL)
_ESCAPES: Final = re.compile(r"\\.", re.DOTALL)
_SPACES: Final = r" \t\n\r\f\v\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_READ_AS: Final = {
    "$": r"\Z",  # Python's own is also right before a last line break
    ".": r"[^\n\r\u2028\u2029]",
    r"\s": f"[{_SPACES}]",
    r"\S": f"[^{_SPACES}]",
}


def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern as a client in JavaScript runs it: `\\d` and `\\w` are of ASCII, and `$` is the very end.

    Raises:
        re.error, RecursionError, OverflowError: It cannot be read.
    """
    return re.compile(_PIECES.sub(_in_python, pattern), re.ASCII)


def _in_python(piece: re.Match[str]) -> str:
    text = piece[0]
    if text[0] == "[":
        return text[0] + _ESCAPES.sub(lambda escape: _SPACES if escape[0] == r"\s" else escape[0], text[1:])
    return _READ_AS.get(text, text)


def python_only(pattern: str) -> str | None:
    """The first piece of a pattern that JSON Schema's dialect reads otherwise, or not at all.

    `\\Z`, for one, would ask for a letter Z there.
    """
    for piece in _PYTHON_ONLY.findall(pattern):
        if piece in (r"\A", r"\Z", r"\z") or piece[0] in "(*+?}":
            return piece
    return None


def runs_everywhere(pattern: Any) -> bool:
    """Whether this is a pattern that both we and clients can run."""
    try:
        compiled(pattern)
    except (re.error, TypeError, RecursionError, OverflowError):
        return False
    return python_only(pattern) is None
