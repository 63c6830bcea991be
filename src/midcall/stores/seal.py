"""Sealing: named texts, encrypted and bound to their owner and name."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from typing import Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from midcall.errors import Misuse, VaultLocked
from midcall.stores.keys import Key, derive

LOCKED_ADVICE: Final = (
    "Nothing was deleted. Add the earlier key to MIDCALL_KEYS, after the current one; then `midcall vault rotate` "
    "encrypts everything with the current key, and you can remove the earlier one. If it is lost, "
    "`midcall vault forget OWNER NAME` lets the user enter the value again."
)
_FOR_MODEL: Final = (
    "This server cannot decrypt a secret of the user at the moment. Its operator has to fix that. Nothing was lost. "
    "Do not try again now."
)


class Seal:
    """Seals with the first key, opens with all keys.

    Owner and name are sealed too, and checked when it's opened: a row that was copied to another owner doesn't open.
    """

    def __init__(self, keys: Sequence[Key], purpose: str) -> None:
        each = [Fernet(urlsafe_b64encode(key)) for key in derive(keys, purpose)]
        self._first = each[0]
        self._all = MultiFernet(each)

    def close(self, owner: str, name: str, value: Mapping[str, str]) -> bytes:
        _check_texts(value)
        return self._first.encrypt(json.dumps({"owner": owner, "name": name, "value": dict(value)}).encode())

    def open(self, owner: str, name: str, sealed: bytes, *, label: str = "") -> dict[str, str]:
        """The sealed texts. Errors call them `label`; by default, their name.

        Raises:
            VaultLocked: None of the keys opens it, or it was sealed for another owner or name.
        """
        opened, label = _decrypt(self._all, sealed), label or name
        if opened is None:
            raise VaultLocked(
                f"The secret {label!r} cannot be opened: it was sealed with a key that this server does not have.",
                advice=LOCKED_ADVICE,
                for_model=_FOR_MODEL,
            )
        content = json.loads(opened)
        if (content["owner"], content["name"]) != (owner, name):
            raise VaultLocked(
                f"The secret {label!r} was sealed for another owner or under another name.",
                advice=(
                    "Someone copied or moved it within the store, so it is not opened. Nothing was deleted. "
                    "`midcall vault forget OWNER NAME` removes it."
                ),
                for_model=_FOR_MODEL,
            )
        return content["value"]

    def is_current(self, sealed: bytes) -> bool:
        """Whether it was sealed with the first key."""
        return _decrypt(self._first, sealed) is not None


def _decrypt(fernet: Fernet | MultiFernet, sealed: bytes) -> bytes | None:
    try:
        return fernet.decrypt(sealed)
    except InvalidToken:
        return None


def _check_texts(value: Mapping[str, str]) -> None:
    """No message quotes the value: it's a secret."""
    if not isinstance(value, Mapping) or not all(isinstance(part, str) for pair in value.items() for part in pair):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Misuse("The vault keeps named texts: a mapping of str to str.")
