"""Tokens that show that a form was drawn by us, for this browser and this very purpose."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Final

from midcall.web.cookies import Signing

__all__ = ["Tokens"]

_DAY: Final = 86_400.0


class Tokens:
    """Made anew each time that a form is drawn; good only with the mark of the browser that it was drawn for."""

    def __init__(self, signing: Signing) -> None:
        self._signing = signing

    def make(self, browser: str, purpose: str) -> str:
        return self._signing.seal("token", f"{secrets.token_urlsafe(9)} {_digest(browser, purpose)}")

    def holds(self, token: str, browser: str | None, purpose: str) -> bool:
        said = self._signing.open("token", token, within=_DAY)
        if browser is None or said is None:
            return False
        return hmac.compare_digest(said.rpartition(" ")[2].encode(), _digest(browser, purpose).encode())


def _digest(browser: str, purpose: str) -> str:
    return hashlib.sha256(f"{browser}\0{purpose}".encode("utf-8", "replace")).hexdigest()
