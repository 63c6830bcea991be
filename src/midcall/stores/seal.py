"""Sealing: named texts that only the holder of a key can open, and only as what they were sealed as."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from midcall.errors import Misuse, VaultLocked
from midcall.stores.keys import Key, derive
from midcall.wording import vault as wording

__all__ = ["Seal", "VaultLocked"]


class Seal:
    """Seals with the first key, opens with all.

    Owner and name are inside what is sealed, and checked when it is opened: a row that somebody copied to
    another owner opens for nobody.
    """

    def __init__(self, keys: Sequence[Key], purpose: str) -> None:
        each = [Fernet(urlsafe_b64encode(key)) for key in derive(keys, purpose)]
        self._first = each[0]
        self._all = MultiFernet(each)

    def close(self, owner: str, name: str, value: Mapping[str, str]) -> bytes:
        _check_texts(value)
        return self._first.encrypt(json.dumps({"owner": owner, "name": name, "value": dict(value)}).encode())

    def open(self, owner: str, name: str, sealed: bytes) -> dict[str, str]:
        """What was sealed.

        Raises:
            VaultLocked: None of the keys opens it, or it was sealed for another owner or name.
        """
        opened = _opened(self._all, sealed)
        if opened is None:
            raise VaultLocked(
                (
                    f"What is kept as {name!r} cannot be opened: it was sealed with a key that this server does not "
                    "have."
                ),
                advice=wording.vault_locked_advice(),
                for_model=_vault_locked_for_model(),
            )
        content = json.loads(opened)
        if (content["owner"], content["name"]) != (owner, name):
            raise VaultLocked(
                f"What is kept as {name!r} was sealed for another owner or under another name.",
                advice=(
                    "Somebody copied or moved it within the store, so it is not opened. Nothing was deleted. "
                    "`midcall vault forget OWNER NAME` removes it."
                ),
                for_model=_vault_locked_for_model(),
            )
        return content["value"]

    def is_current(self, sealed: bytes) -> bool:
        """Whether it was sealed with the first key."""
        return _opened(self._first, sealed) is not None


def _opened(fernet: Fernet | MultiFernet, sealed: bytes) -> bytes | None:
    try:
        return fernet.decrypt(sealed)
    except InvalidToken:
        return None


def _check_texts(value: Mapping[str, str]) -> None:
    """The value itself is in no message: it is a secret."""
    if not isinstance(value, Mapping) or not all(isinstance(part, str) for pair in value.items() for part in pair):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Misuse("The vault keeps named texts: a mapping of str to str.")


def _vault_locked_for_model() -> str:
    return (
        "Something that the user entrusted to this server cannot be opened at the moment, and whoever runs the "
        "server must put that right. Nothing was lost. Trying again now does not help."
    )
