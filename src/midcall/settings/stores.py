"""Limits of the stores, of keys, and of what one caller may have in a store."""

from __future__ import annotations

from typing import Final

STORE_TIMEOUT_SECONDS: Final = 10.0
"""Wait for PostgreSQL or Redis.
Then: The operation fails with `StoreError`.
Argument: ?timeout="""
STORE_POOL: Final = 10
"""Connections to PostgreSQL or Redis.
Unit: connections
Then: Requests wait for a free connection.
Argument: ?pool="""
STORE_BATCH: Final = 500
"""Read or delete this many records at a time.
Unit: records
Then: The next batch follows."""
SQLITE_BUSY_SECONDS: Final = 5.0
"""Wait for another process that writes to the same SQLite file.
Then: The operation fails with `StoreError`.
Argument: SQLite(busy=)"""
SQLITE_RETRY_SECONDS: Final = 0.01
"""Between two attempts to switch a SQLite file to WAL."""
SQLITE_POLL_SECONDS: Final = 0.05
"""Between two checks for changes in a SQLite file."""
STORE_POLL_SECONDS: Final = 0.1
"""Between two checks for changes in a store that doesn't notify."""
STORE_FALLBACK_POLL_SECONDS: Final = 5.0
"""Between two checks for changes in a store that notifies."""
STORE_RETRY_SECONDS: Final = (0.05, 0.2, 1.0, 2.0, 5.0)
"""Between two attempts to reach a store, one after the other."""
POSTGRES_LISTEN_SECONDS: Final = 1.0
"""Wait for our own notification, to see whether PostgreSQL passes any on.
Then: A warning is logged, and midcall polls instead."""
POSTGRES_LISTEN_AGAIN_SECONDS: Final = 60.0
"""Between two attempts to listen, if PostgreSQL passes none on."""
POSTGRES_PING_SECONDS: Final = 30.0
"""Between two pings of the listening connection to PostgreSQL."""
POSTGRES_PONG_SECONDS: Final = 5.0
"""Wait for the answer to such a ping.
Then: midcall reconnects, and polls meanwhile."""
POSTGRES_CLOSE_SECONDS: Final = 2.0
"""Wait for the listening connection to close.
Then: The connection is terminated."""
POSTGRES_RELEASE_SECONDS: Final = 1.0
"""Wait for a connection that didn't answer to be given up.
Then: The pool replaces the connection."""
REDIS_PING_SECONDS: Final = 15
"""Between two pings of a connection to Redis."""
PURGE_EVERY_SECONDS: Final = 600.0
"""Between two purges by a `Sweeper`.
Argument: Sweeper(every=)"""
EXPIRED_KEEP_SECONDS: Final = 86_400
"""Keep expired records this long, so that people who come late get an explanation.
Then: The records are purged, and their pages don't exist any more.
Argument: Sweeper(keep=), midcall store sweep --keep"""
CLOSED_KEEP_SECONDS: Final = 3600.0
"""Keep an interaction this long after its page has closed; its call may resume later.
Then: Its record expires, and its call can't be resumed."""
USE_KEEP_SECONDS: Final = 7 * 86_400.0
"""Remember this long that a call has used an approval, a secret or an authorization; a replay needs it.
Then: A replay that is older ends with `OnceUnknown`."""
KEY_LOCK_SECONDS: Final = 30.0
"""Wait for another process that makes the key of this machine.
Then: `install` fails, and says which file is locked."""
ID_BYTES: Final = 1024
"""The longest id, owner or name; an index of PostgreSQL holds two of them.
Then: The operation fails, and names the text that is too long."""
QUOTA_BATCH: Final = 16
"""A process writes down what it has counted after this many records.
Unit: records
Then: The count is written, and read again by all replicas."""
QUOTA_BATCH_BYTES: Final = 1_000_000
"""Or after this many bytes.
Then: The count is written, and read again by all replicas."""
QUOTA_FRESH_SECONDS: Final = 1.0
"""A caller who has too much in the store is counted again after this long.
Then: Their next write reads the count again."""
QUOTA_PERIOD_SECONDS: Final = 300.0
"""Records that expire within this time are counted together.
Then: The next records are counted apart."""
QUOTA_LOG_SECONDS: Final = 60.0
"""Between two log lines about a full store, at least."""
LONGEST_COUNT_SECONDS: Final = 315_360_000.0
"""A record counts this long, even if it never expires.
Then: It no longer counts."""
MAX_COUNTED_CALLERS: Final = 10_000
"""A process remembers what this many callers have in the store.
Then: The oldest is forgotten, and counted again when needed."""
RECORD_BYTES: Final = 500
"""What a record counts in addition to its data: its names, times and indexes.
Then: It counts towards the quota of its caller."""
LOGGED_RECORDS: Final = 1_000
"""Log this many refused records; after that, they are only refused.
Then: Further ones are refused without a line in the log."""
KEY_BYTES: Final = 32
"""A key needs at least this many.
Then: `InstallError` says how to make one."""
KEY_VARIETY: Final = 8
"""A key needs at least this many different ones.
Unit: characters
Then: `InstallError` says how to make one."""
QUOTA_PERIODS: Final = 30
"""Count what a caller keeps in periods, about this many, by when it expires.
Then: Longer periods are used: what lasts long counts for a little longer."""
QUOTA_RACES: Final = 10
"""Try to write down what a caller uses this often, while others do so, too.
Unit: attempts
Then: It's written down the next time."""
SQL_RACES: Final = 5
"""Try a change to a record this often, while others change it, too.
Unit: attempts
Then: The change fails with `StoreError`."""
