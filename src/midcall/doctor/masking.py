"""Hide secrets in other people's text: an error may quote a URL with its password, or a variable."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Final

from midcall.settings.cli import MASKED_CHARACTERS

_HIDDEN: Final = "***"
_SECRET: Final = re.compile("KEY|TOKEN|SECRET|PASS|CREDENTIAL", re.IGNORECASE)
_USERINFO: Final = re.compile(r"://[^\s@'\"]*(@?)")


def mask(text: str, environ: Mapping[str, str] = os.environ) -> str:
    """The text without credentials in URLs, and without the values of variables that are named like secrets."""
    for secret in sorted(_secrets(environ), key=len, reverse=True):
        text = text.replace(secret, _HIDDEN)
    # What has no @ after it is matched, too, so that it's read once.
    return _USERINFO.sub(lambda found: f"://{_HIDDEN}@" if found[1] else found[0], text)


def _secrets(environ: Mapping[str, str]) -> Iterator[str]:
    """The values of secret variables, and their parts: several keys are separated by commas."""
    for name, value in environ.items():
        if _SECRET.search(name):
            yield from (part for each in (value, *value.split(",")) if len(part := each.strip()) >= MASKED_CHARACTERS)
