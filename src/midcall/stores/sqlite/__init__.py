"""A store in one file: for one machine."""

from midcall.stores.sqlite.file import default_file
from midcall.stores.sqlite.store import SQLite

__all__ = ["SQLite", "default_file"]
