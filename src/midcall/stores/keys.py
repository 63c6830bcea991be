"""Where keys come from, and what is made of them.

    keys=, MIDCALL_KEYS     what the author or the operator set; needed where several machines share a store
    a key file              of this user on this machine, 0600, where there is no keyring
    the OS keyring          of this user on this machine

One set of keys serves every purpose: each purpose gets keys of its own out of it, so that what one part
seals no other part opens.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, TypeAlias

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from midcall.errors import InstallError
from midcall.stores.sqlite.places import default_file
from midcall.wording import vault as wording

__all__ = ["Key", "check_keys", "derive", "find_keys"]

Key: TypeAlias = str | bytes

LEAST: Final = 32
SERVICE: Final = "midcall"
ACCOUNT: Final = "vault key"
FILE: Final = "midcall.key"


def derive(keys: Sequence[Key], purpose: str) -> list[bytes]:
    """Keys of 32 bytes for this purpose, one for each of these, in the same order.

    Raises:
        InstallError: There are none, or one is too short.
    """
    info = b"midcall/" + purpose.encode()
    return [HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(key) for key in check_keys(keys)]


def check_keys(keys: Sequence[Key | bytearray]) -> list[bytes]:
    """These keys as bytes, if all of them are long enough."""
    if not keys:
        raise InstallError("There is no key to encrypt with.", advice=wording.no_keys_advice())
    return [_bytes(key, position) for position, key in enumerate(keys, 1)]


def _bytes(key: Key | bytearray, position: int) -> bytes:
    if not isinstance(key, str | bytes | bytearray):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InstallError(f"Key {position} (of keys=) is neither text nor bytes.", advice=wording.no_keys_advice())
    raw = key.encode() if isinstance(key, str) else bytes(key)
    if len(raw) < LEAST:
        raise InstallError(
            f"Key {position} (of keys=, or MIDCALL_KEYS) has {len(raw)} bytes, and a key needs at least {LEAST}.",
            advice=wording.key_too_short_advice(),
        )
    return raw


def find_keys(given: Sequence[Key] = (), *, shared: bool = False, directory: Path | None = None) -> list[Key]:
    """The keys to use: those given, else those of the environment, else those of this machine.

    Args:
        given: What the author passed, if anything.
        shared: Whether other machines use the same store: then a key of this machine would not do.
        directory: Where a key file is looked for, and made. Default: beside the default store.

    Raises:
        InstallError: There is none and none can be made, or one cannot be used.
    """
    found = list(given) or from_environment()
    if not found and shared:
        raise InstallError(
            "This store is shared by several machines, and a key of this machine alone would lock the others out.",
            advice=wording.shared_store_needs_keys_advice(),
        )
    found = found or of_this_machine(directory or default_file().parent)
    check_keys(found)
    return found


def from_environment() -> list[Key]:
    """The keys in `MIDCALL_KEYS`, separated by commas."""
    return [key.strip() for key in os.environ.get("MIDCALL_KEYS", "").split(",") if key.strip()]


def of_this_machine(directory: Path) -> list[Key]:
    """The keys of this user on this machine; the first time, a fresh one.

    A key file comes first where there is one: a session without the keyring (over SSH, say) has only
    that, and must be able to open what a session at the desk has sealed.
    """
    path = directory / FILE
    with _alone(directory):
        found = [key for key in (_from_file(path), _from_keyring()) if key is not None]
        return list(found) if found else [_fresh(path)]


def _fresh(path: Path) -> Key:
    key = secrets.token_hex(32)
    if not _into_keyring(key):
        _into_file(path, key)
    return key


@contextmanager
def _alone(directory: Path) -> Generator[None]:
    """One process at a time, so that two that start at once do not make a key each.

    SQLite locks files on every system, and lets go when a process dies.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with closing(sqlite3.connect(directory / "midcall.lock", timeout=30, isolation_level=None)) as lock:
            lock.execute("BEGIN EXCLUSIVE")
            yield
    except (OSError, sqlite3.Error) as exc:
        raise _unusable(directory / FILE, str(exc)) from None


# --- the file --------------------------------------------------------------------------------
def _from_file(path: Path) -> str | None:
    if not path.exists():
        return None
    _check_private(path)
    key = path.read_text(encoding="ascii", errors="replace").strip()
    if len(key) < LEAST:
        raise _unusable(path, "it does not hold a key")
    return key


def _check_private(path: Path) -> None:
    if os.name != "posix":  # elsewhere the user's profile directory is private by itself
        return
    about = path.stat()
    if about.st_uid != os.getuid():
        raise _unusable(path, "it belongs to another user of this machine")
    if about.st_mode & 0o077:
        raise _unusable(path, "other users of this machine may read it (chmod 600 makes it yours alone)")


def _into_file(path: Path, key: str) -> None:
    """Whole or not at all: half a key would lock everything out for good."""
    draft = path.with_suffix(".new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(key + "\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _unusable(path: Path, why: str) -> InstallError:
    return InstallError(
        f"The key file {path!s} cannot be used: {why}.",
        advice=(
            "Put it right, or set MIDCALL_KEYS to the key that was in it. Do not delete it: what was kept under "
            "its key opens with no other."
        ),
    )


# --- the keyring -----------------------------------------------------------------------------
def _from_keyring() -> str | None:
    """The key in the keyring; None where it has none, or there is no keyring."""
    try:
        import keyring
        from keyring.errors import KeyringError, NoKeyringError
    except ImportError:
        return None
    try:
        return keyring.get_password(SERVICE, ACCOUNT)
    except NoKeyringError:
        return None
    except KeyringError as exc:
        # A locked keyring is not an empty one: a fresh key beside it would not open what is kept.
        raise InstallError(
            f"The keyring of this machine cannot be used ({exc!s}).",
            advice="Unlock it and start again, or set MIDCALL_KEYS. What was kept is still there.",
        ) from None


def _into_keyring(key: str) -> bool:
    """Whether the keyring took it, and gives it back."""
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return False
    try:
        keyring.set_password(SERVICE, ACCOUNT, key)
        return keyring.get_password(SERVICE, ACCOUNT) == key
    except KeyringError:
        return False
