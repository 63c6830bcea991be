"""Where keys come from, and the keys derived from them.

    keys=, MIDCALL_KEYS     set by the author or operator; needed if several machines share a store
    a key file              this user's on this machine, mode 0600, if there's no keyring
    the OS keyring          this user's on this machine

Each purpose derives separate keys, so that one part can't open what another part has sealed.
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
from midcall.settings.stores import KEY_BYTES, KEY_LOCK_SECONDS, KEY_VARIETY
from midcall.stores.sqlite import default_file

Key: TypeAlias = str | bytes

SERVICE: Final = "midcall"
ACCOUNT: Final = "vault key"
FILE: Final = "midcall.key"
_MAKE_ONE: Final = 'make one with `python -c "import secrets; print(secrets.token_hex(32))"`'
_NO_KEYS: Final = f"Set MIDCALL_KEYS, or pass keys= to install(): {_MAKE_ONE}."


def derive(keys: Sequence[Key], purpose: str) -> list[bytes]:
    """Derive a 32-byte key for this purpose from each key, in the same order.

    Raises:
        InstallError: `keys` is empty, or a key is too short or easy to guess.
    """
    info = b"midcall/" + purpose.encode()
    return [HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(key) for key in check_keys(keys)]


def check_keys(keys: Sequence[Key | bytearray]) -> list[bytes]:
    """The keys as bytes, if all are long enough and none is easy to guess."""
    if not keys:
        raise InstallError("There is no key to encrypt with.", advice=_NO_KEYS)
    return [_bytes(key, position) for position, key in enumerate(keys, 1)]


def _bytes(key: Key | bytearray, position: int) -> bytes:
    if not isinstance(key, str | bytes | bytearray):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InstallError(f"Key {position} (of keys=) is neither text nor bytes.", advice=_NO_KEYS)
    raw = key.encode() if isinstance(key, str) else bytes(key)
    if len(raw) < KEY_BYTES:
        raise InstallError(
            f"Key {position} (of keys=, or MIDCALL_KEYS) has {len(raw)} bytes, and a key needs at least {KEY_BYTES}.",
            advice=f"Do not lengthen it: {_MAKE_ONE}.",
        )
    if _is_weak(raw):
        raise InstallError(
            f"Key {position} (of keys=, or MIDCALL_KEYS) is easy to guess: it repeats itself, or has fewer than "
            f"{KEY_VARIETY} different characters.",
            advice=f"A key is random: {_MAKE_ONE}.",
        )
    return raw


def _is_weak(key: bytes) -> bool:
    """Whether a key is long only by repetition. (A random one has 12 different characters or more, even in hex.)"""
    period = (key + key).index(key, 1)
    return period < len(key) or len(set(key)) < KEY_VARIETY


def find_keys(given: Sequence[Key] = (), *, shared: bool = False, directory: Path | None = None) -> list[Key]:
    """The keys to use: those given, else those of the environment, else those of this machine.

    Args:
        given: The author's keys, if any.
        shared: Whether other machines use the same store, so that a key of this machine isn't enough.
        directory: The folder of the key file. Default: beside the default store.

    Raises:
        InstallError: There's no key and none can be made, or a key can't be used.
    """
    found = list(given) or read_environment()
    if not found and shared:
        raise InstallError(
            "Several machines share this store, and a key of this machine alone would lock the others out.",
            advice=f"Set the same MIDCALL_KEYS wherever this server runs: {_MAKE_ONE}.",
        )
    found = found or load_machine_keys(directory or default_file().parent)
    check_keys(found)
    return found


def read_environment() -> list[Key]:
    """The keys in `MIDCALL_KEYS`, separated by commas."""
    return [key.strip() for key in os.environ.get("MIDCALL_KEYS", "").split(",") if key.strip()]


def load_machine_keys(directory: Path) -> list[Key]:
    """This user's keys on this machine. The first time, it makes one.

    A key file comes first: a session without a keyring (over SSH, say) has only the file, and must be able to open what
    other sessions have sealed.
    """
    path = directory / FILE
    with _lock(directory):
        found = [key for key in (_from_file(path), _from_keyring()) if key is not None]
        return list(found) if found else [_make_key(path)]


def _make_key(path: Path) -> Key:
    key = secrets.token_hex(32)
    if not _into_keyring(key):
        _into_file(path, key)
    return key


@contextmanager
def _lock(directory: Path) -> Generator[None]:
    """Let one process at a time make a key. SQLite locks files on every system, and unlocks when a process dies."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with closing(
            sqlite3.connect(directory / "midcall.lock", timeout=KEY_LOCK_SECONDS, isolation_level=None)
        ) as lock:
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
    if len(key) < KEY_BYTES:
        raise _unusable(path, "it does not contain a key")
    return key


def _check_private(path: Path) -> None:
    if os.name != "posix":  # on Windows the user's profile directory is private
        return
    about = path.stat()
    if about.st_uid != os.getuid():
        raise _unusable(path, "it belongs to another user of this machine")
    if about.st_mode & 0o077:
        raise _unusable(path, "other users of this machine may read it (run chmod 600)")


def _into_file(path: Path, key: str) -> None:
    """Write it atomically: half a key would lock everything out for good."""
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
            "Correct it, or set MIDCALL_KEYS to the key that was in it. Do not delete it: no other key opens what was "
            "sealed with it."
        ),
    )


# --- the keyring -----------------------------------------------------------------------------
def _from_keyring() -> str | None:
    """The key in the keyring, or None."""
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
        # A locked keyring isn't empty: a new key would not open existing secrets.
        raise InstallError(
            f"The keyring of this machine cannot be used ({exc!s}).",
            advice="Unlock it and start again, or set MIDCALL_KEYS. Nothing was lost.",
        ) from None


def _into_keyring(key: str) -> bool:
    """Store the key in the keyring. Returns whether it can be read back."""
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
