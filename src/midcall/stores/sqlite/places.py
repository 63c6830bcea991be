"""Where the file of a store is, if nobody says."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from midcall.stores.base import StoreError

__all__ = ["default_file", "make_default_file", "make_file"]


def default_file() -> Path:
    """One file under the user's data directory, as this system has it."""
    return _data_directory() / "midcall" / "midcall.db"


def _data_directory() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    chosen = Path(os.environ.get("XDG_DATA_HOME") or "")
    return chosen if chosen.is_absolute() else Path.home() / ".local" / "share"


def make_default_file() -> Path:
    """The file, made together with its directory, both for this user alone."""
    path = default_file()
    try:
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise StoreError(
            _no_directory(str(path.parent)),
            advice="Name a file in MIDCALL_STORE, as in sqlite:///var/lib/app/midcall.db.",
        ) from error
    return make_file(path)


def make_file(path: Path) -> Path:
    """See to it that the file is there. One that is made here only this user can read."""
    if not path.parent.is_dir():
        raise StoreError(_no_directory(str(path.parent)), advice="Make the directory, or correct the path.")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreError(
            f"The store cannot open {path!s}", advice="It must be a file that this user can read and write."
        ) from error
    return path


def _no_directory(path: str) -> str:
    return f"There is no directory {path} for the store"
