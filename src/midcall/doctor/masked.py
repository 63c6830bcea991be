"""Text of others without what is secret: an error may quote an address with its password, or a variable."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Final

__all__ = ["masked"]

_HIDDEN: Final = "***"
_SECRET: Final = re.compile("KEY|TOKEN|SECRET|PASS|CREDENTIAL", re.IGNORECASE)
_USERINFO: Final = re.compile(r"(?<=://)[^\s@'\"]*@")
_LEAST: Final = 6
"""What is shorter is hardly a secret, and may stand in any sentence."""


def masked(text: str, environ: Mapping[str, str] = os.environ) -> str:
    """The same, without user names and passwords in addresses, and without the values of secret variables."""
    for secret in sorted(_secrets(environ), key=len, reverse=True):
        text = text.replace(secret, _HIDDEN)
    return _USERINFO.sub(f"{_HIDDEN}@", text)


def _secrets(environ: Mapping[str, str]) -> Iterator[str]:
    """What secret variables hold, and each part of it: several keys are separated by commas."""
    for name, value in environ.items():
        if _SECRET.search(name):
            yield from (part for each in (value, *value.split(",")) if len(part := each.strip()) >= _LEAST)
