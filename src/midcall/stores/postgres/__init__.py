"""A store in PostgreSQL: for many machines."""

from midcall.stores.postgres.schema import SCHEMA, schema_sql
from midcall.stores.postgres.store import PostgreSQL

__all__ = ["SCHEMA", "PostgreSQL", "schema_sql"]
