"""The file of a SQLite store, and where it is by default."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from midcall.errors import StoreError


def default_file() -> Path:
    """One file in the user's data directory."""
    return _data_directory() / "midcall" / "midcall.db"


def _data_directory() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    chosen = Path(os.environ.get("XDG_DATA_HOME") or "")
    return chosen if chosen.is_absolute() else Path.home() / ".local" / "share"


def make_default_file() -> Path:
    """Create the file and its directory, both private to this user."""
    path = default_file()
    try:
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"There is no directory {path.parent} for the store",
            advice="Name a file in MIDCALL_STORE, as in sqlite:///var/lib/app/midcall.db.",
        ) from error
    return make_file(path)


def make_file(path: Path) -> Path:
    """Create the file if it doesn't exist, private to this user."""
    if not path.parent.is_dir():
        raise StoreError(
            f"There is no directory {path.parent} for the store", advice="Create the directory, or correct the path."
        )
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreError(
            f"The store cannot open {path!s}", advice="It must be a file that this user can read and write."
        ) from error
    return path
