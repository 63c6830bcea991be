"""The tables in PostgreSQL. `@` stands before what may be in a schema of its own."""

from __future__ import annotations

from midcall.stores.sql.versions import OLDEST

__all__ = ["SCHEMA", "STEPS", "VERSION_TABLE", "make_schema", "schema_sql", "set_version", "within"]

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


def within(sql: str, schema: str | None) -> str:
    """The statement, for tables in this schema; without one, wherever the search path leads."""
    return sql.replace("@", "" if schema is None else f"{_quoted(schema)}.")


def set_version(version: int) -> str:
    return f"DELETE FROM @midcall_schema;\nINSERT INTO @midcall_schema VALUES ({version}, {OLDEST});\n"


def make_schema(schema: str | None) -> str:
    return "" if schema is None else f"CREATE SCHEMA IF NOT EXISTS {_quoted(schema)};\n"


def schema_sql(schema: str | None = None) -> str:
    """All that has to be run where midcall may not do it itself. Running it again does no harm."""
    tables = within("".join((VERSION_TABLE, *STEPS, set_version(len(STEPS)))), schema)
    return f"BEGIN;\n{make_schema(schema)}{tables}COMMIT;\n"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


SCHEMA = schema_sql()
