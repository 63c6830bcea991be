"""Where interactions and journals are kept: SQLite, PostgreSQL, Redis, or memory for tests.

    store = open_store("postgresql://app@db.example.com/app")

The stores are in `midcall.stores.memory`, `.sqlite`, `.postgres` and `.redis`. Each loads its driver when you create
it, so you only need the drivers you use.
"""

from midcall.errors import StoreError
from midcall.stores.address import open_store
from midcall.stores.base import Completion, Record, Store, Value
from midcall.stores.purge import Sweeper

__all__ = ["Completion", "Record", "Store", "StoreError", "Sweeper", "Value", "open_store"]
