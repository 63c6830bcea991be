"""Where interactions live: SQLite, PostgreSQL, Redis, or memory for tests.

    store = open_store("postgresql://app@db.example.com/app")

The stores themselves are in `midcall.stores.memory`, `.sqlite`, `.postgres` and `.redis`; each one loads
its driver when it is made, so that nobody needs a driver that they do not use.
"""

from midcall.stores.background.purge import Sweeper
from midcall.stores.base import Completion, Record, Store, StoreError, Value
from midcall.stores.factory import open_store

__all__ = ["Completion", "Record", "Store", "StoreError", "Sweeper", "Value", "open_store"]
