"""The tables in PostgreSQL. `@` marks names that may be in a schema."""

from __future__ import annotations

from midcall.stores.backend.migrations import OLDEST

VERSION_TABLE = """\
CREATE TABLE IF NOT EXISTS @midcall_schema (
    version integer NOT NULL,
    usable_from integer NOT NULL
);
"""

# The collation "C" compares bytes: the same order on every server, and cheap.
STEPS = (
    """\
CREATE TABLE IF NOT EXISTS @midcall_records (
    id text COLLATE "C" PRIMARY KEY,
    kind text NOT NULL,
    owner text NOT NULL,
    data text NOT NULL,
    created double precision NOT NULL,
    expires double precision NOT NULL,
    outcome text,
    consumed boolean NOT NULL DEFAULT false
);
CREATE INDEX IF NOT EXISTS midcall_records_expires ON @midcall_records (expires);
CREATE TABLE IF NOT EXISTS @midcall_values (
    owner text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    sealed bytea NOT NULL,
    updated double precision NOT NULL,
    PRIMARY KEY (owner, name)
);
""",
    """\
ALTER TABLE @midcall_records ADD COLUMN IF NOT EXISTS version integer NOT NULL DEFAULT 1;
""",
)


def qualify(sql: str, schema: str | None) -> str:
    """The statement for tables in this schema, or in the search path."""
    return sql.replace("@", "" if schema is None else f"{_quote(schema)}.")


def set_version(version: int) -> str:
    return f"DELETE FROM @midcall_schema;\nINSERT INTO @midcall_schema VALUES ({version}, {OLDEST});\n"


def make_schema(schema: str | None) -> str:
    return "" if schema is None else f"CREATE SCHEMA IF NOT EXISTS {_quote(schema)};\n"


def schema_sql(schema: str | None = None) -> str:
    """The SQL to run if midcall may not create tables. Running it again is harmless."""
    tables = qualify("".join((VERSION_TABLE, *STEPS, set_version(len(STEPS)))), schema)
    return f"BEGIN;\n{make_schema(schema)}{tables}COMMIT;\n"


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


SCHEMA = schema_sql()
