"""Limits of the stores, of keys, and of what one caller may have in a store."""

from __future__ import annotations

from typing import Final

from midcall.settings.setting import Subject

stores: Final = Subject("Stores", "stores")

STORE_TIMEOUT_SECONDS: Final = stores.add(
    "STORE_TIMEOUT_SECONDS",
    10.0,
    "s",
    "Wait for PostgreSQL or Redis.",
    then="The operation fails with `StoreError`.",
    argument="?timeout=",
)
STORE_POOL: Final = stores.add(
    "STORE_POOL",
    10,
    "connections",
    "Connections to PostgreSQL or Redis.",
    then="Requests wait for a free connection.",
    argument="?pool=",
)
STORE_BATCH: Final = stores.add(
    "STORE_BATCH", 500, "records", "Read or delete this many records at a time.", then="The next batch follows."
)
SQLITE_BUSY_SECONDS: Final = stores.add(
    "SQLITE_BUSY_SECONDS",
    5.0,
    "s",
    "Wait for another process that writes to the same SQLite file.",
    then="The operation fails with `StoreError`.",
    argument="SQLite(busy=)",
)
SQLITE_RETRY_SECONDS: Final = stores.add(
    "SQLITE_RETRY_SECONDS", 0.01, "s", "Between two attempts to switch a SQLite file to WAL.", interval=True
)
SQLITE_POLL_SECONDS: Final = stores.add(
    "SQLITE_POLL_SECONDS", 0.05, "s", "Between two checks for changes in a SQLite file.", interval=True
)
STORE_POLL_SECONDS: Final = stores.add(
    "STORE_POLL_SECONDS", 0.1, "s", "Between two checks for changes in a store that doesn't notify.", interval=True
)
STORE_FALLBACK_POLL_SECONDS: Final = stores.add(
    "STORE_FALLBACK_POLL_SECONDS", 5.0, "s", "Between two checks for changes in a store that notifies.", interval=True
)
STORE_RETRY_SECONDS: Final = stores.add(
    "STORE_RETRY_SECONDS",
    (0.05, 0.2, 1.0, 2.0, 5.0),
    "s",
    "Between two attempts to reach a store, one after the other.",
    interval=True,
)
POSTGRES_LISTEN_SECONDS: Final = stores.add(
    "POSTGRES_LISTEN_SECONDS",
    1.0,
    "s",
    "Wait for our own notification, to see whether PostgreSQL passes any on.",
    then="A warning is logged, and midcall polls instead.",
)
POSTGRES_LISTEN_AGAIN_SECONDS: Final = stores.add(
    "POSTGRES_LISTEN_AGAIN_SECONDS",
    60.0,
    "s",
    "Between two attempts to listen, if PostgreSQL passes none on.",
    interval=True,
)
POSTGRES_PING_SECONDS: Final = stores.add(
    "POSTGRES_PING_SECONDS", 30.0, "s", "Between two pings of the listening connection to PostgreSQL.", interval=True
)
POSTGRES_PONG_SECONDS: Final = stores.add(
    "POSTGRES_PONG_SECONDS",
    5.0,
    "s",
    "Wait for the answer to such a ping.",
    then="midcall reconnects, and polls meanwhile.",
)
POSTGRES_CLOSE_SECONDS: Final = stores.add(
    "POSTGRES_CLOSE_SECONDS",
    2.0,
    "s",
    "Wait for the listening connection to close.",
    then="The connection is terminated.",
)
POSTGRES_RELEASE_SECONDS: Final = stores.add(
    "POSTGRES_RELEASE_SECONDS",
    1.0,
    "s",
    "Wait for a connection that didn't answer to be given up.",
    then="The pool replaces the connection.",
)
REDIS_PING_SECONDS: Final = stores.add(
    "REDIS_PING_SECONDS", 15, "s", "Between two pings of a connection to Redis.", interval=True
)
PURGE_EVERY_SECONDS: Final = stores.add(
    "PURGE_EVERY_SECONDS", 600.0, "s", "Between two purges by a `Sweeper`.", interval=True, argument="Sweeper(every=)"
)
EXPIRED_KEEP_SECONDS: Final = stores.add(
    "EXPIRED_KEEP_SECONDS",
    86_400,
    "s",
    "Keep expired records this long, so that people who come late get an explanation.",
    then="The records are purged, and their pages don't exist any more.",
    argument="Sweeper(keep=), midcall store sweep --keep",
)
CLOSED_KEEP_SECONDS: Final = stores.add(
    "CLOSED_KEEP_SECONDS",
    3600.0,
    "s",
    "Keep an interaction this long after its page has closed; its call may resume later.",
    then="Its record expires, and its call can't be resumed.",
)
USE_KEEP_SECONDS: Final = stores.add(
    "USE_KEEP_SECONDS",
    7 * 86_400.0,
    "s",
    "Remember this long that a call has used an approval, a secret or an authorization; a replay needs it.",
    then="A replay that is older ends with `OnceUnknown`.",
)
KEY_LOCK_SECONDS: Final = stores.add(
    "KEY_LOCK_SECONDS",
    30.0,
    "s",
    "Wait for another process that makes the key of this machine.",
    then="`install` fails, and says which file is locked.",
)
ID_BYTES: Final = stores.add(
    "ID_BYTES",
    1024,
    "bytes",
    "The longest id, owner or name; an index of PostgreSQL holds two of them.",
    then="The operation fails, and names the text that is too long.",
)
QUOTA_BATCH: Final = stores.add(
    "QUOTA_BATCH",
    16,
    "records",
    "A process writes down what it has counted after this many records.",
    then="The count is written, and read again by all replicas.",
)
QUOTA_BATCH_BYTES: Final = stores.add(
    "QUOTA_BATCH_BYTES",
    1_000_000,
    "bytes",
    "Or after this many bytes.",
    then="The count is written, and read again by all replicas.",
)
QUOTA_FRESH_SECONDS: Final = stores.add(
    "QUOTA_FRESH_SECONDS",
    1.0,
    "s",
    "A caller who has too much in the store is counted again after this long.",
    then="Their next write reads the count again.",
)
QUOTA_PERIOD_SECONDS: Final = stores.add(
    "QUOTA_PERIOD_SECONDS",
    300.0,
    "s",
    "Records that expire within this time are counted together.",
    then="The next records are counted apart.",
)
QUOTA_LOG_SECONDS: Final = stores.add(
    "QUOTA_LOG_SECONDS",
    60.0,
    "s",
    "Between two log lines about a full store, at least.",
    interval=True,
)
LONGEST_COUNT_SECONDS: Final = stores.add(
    "LONGEST_COUNT_SECONDS",
    315_360_000.0,
    "s",
    "A record counts this long, even if it never expires.",
    then="It no longer counts.",
)
MAX_COUNTED_CALLERS: Final = stores.add(
    "MAX_COUNTED_CALLERS",
    10_000,
    "callers",
    "A process remembers what this many callers have in the store.",
    then="The oldest is forgotten, and counted again when needed.",
)
RECORD_BYTES: Final = stores.add(
    "RECORD_BYTES",
    500,
    "bytes",
    "What a record counts in addition to its data: its names, times and indexes.",
    then="It counts towards the quota of its caller.",
)
LOGGED_RECORDS: Final = stores.add(
    "LOGGED_RECORDS",
    1_000,
    "records",
    "Log this many refused records; after that, they are only refused.",
    then="Further ones are refused without a line in the log.",
)
KEY_BYTES: Final = stores.add(
    "KEY_BYTES",
    32,
    "bytes",
    "A key needs at least this many.",
    then="`InstallError` says how to make one.",
)
KEY_VARIETY: Final = stores.add(
    "KEY_VARIETY",
    8,
    "characters",
    "A key needs at least this many different ones.",
    then="`InstallError` says how to make one.",
)
QUOTA_PERIODS: Final = stores.add(
    "QUOTA_PERIODS",
    30,
    "periods",
    "Count what a caller keeps in periods, about this many, by when it expires.",
    then="Longer periods are used: what lasts long counts for a little longer.",
)
QUOTA_RACES: Final = stores.add(
    "QUOTA_RACES",
    10,
    "attempts",
    "Try to write down what a caller uses this often, while others do so, too.",
    then="It's written down the next time.",
)
SQL_RACES: Final = stores.add(
    "SQL_RACES",
    5,
    "attempts",
    "Try a change to a record this often, while others change it, too.",
    then="The change fails with `StoreError`.",
)
