"""Every store behaves like a few lines of Python, for any sequence of operations."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from midcall.stores import Record, Store, Value, open_store
from tests.contract.conftest import clean_up, url_of

IDS = st.sampled_from(["a", "b", "c\0"])
OWNERS = st.sampled_from(["ann", "bob", ""])
TIMES = st.sampled_from([0.0, 1.0, 1.5, 2.0, 3.0])
TEXTS = st.text(max_size=8) | st.sampled_from(["\0", "\x1a0000", "\ud83e"])
SEALED = st.sampled_from([b"", b"x", b" y", b"\0"])

VERSIONS = st.integers(0, 3)

RECORDS = st.builds(Record, IDS, TEXTS, OWNERS, TEXTS, TIMES, TIMES, st.none() | TEXTS, st.booleans(), VERSIONS)
VALUES = st.builds(Value, OWNERS, IDS, SEALED, TIMES)
OPERATIONS = st.one_of(
    st.tuples(st.just("create"), RECORDS),
    st.tuples(st.just("change"), RECORDS, VERSIONS),
    st.tuples(st.just("read"), IDS),
    st.tuples(st.just("look"), st.lists(IDS)),
    st.tuples(st.just("wait"), IDS, st.none() | VERSIONS),
    st.tuples(st.just("complete"), IDS, TEXTS, st.none() | OWNERS, TIMES),
    st.tuples(st.just("consume"), IDS, st.none() | OWNERS, TIMES),
    st.tuples(st.just("sweep"), TIMES),
    st.tuples(st.just("put"), VALUES, st.none() | SEALED),
    st.tuples(st.just("get"), OWNERS, IDS),
    st.tuples(st.just("values"), OWNERS),
    st.tuples(st.just("remove"), OWNERS, IDS),
    st.tuples(st.just("all")),
    st.tuples(st.just("reopen")),
)


class Model:
    """The contract in its shortest form."""

    def __init__(self) -> None:
        self.records: dict[str, dict[str, Any]] = {}
        self.kept: dict[tuple[str, str], Value] = {}

    def create(self, record: Record) -> tuple[Record, bool]:
        old = self.records.get(record.id)
        made = old is None or old["expires"] <= record.created
        if made:
            self.records[record.id] = {name: getattr(record, name) for name in Record.__slots__} | {"version": 1}
        return Record(**self.records[record.id]), made

    def change(self, record: Record, version: int) -> tuple[Record | None, bool]:
        old = self.read(record.id)
        if old is None or old.version != version:
            return old, False
        changed = replace(record, created=old.created, version=version + 1)
        self.records[record.id] = {name: getattr(changed, name) for name in Record.__slots__}
        return changed, True

    def read(self, id: str) -> Record | None:
        return Record(**self.records[id]) if id in self.records else None

    def look(self, ids: list[str]) -> dict[str, Record]:
        return {id: record for id in ids if (record := self.read(id)) is not None}

    def wait(self, id: str, version: int | None) -> Record | None:
        return self.read(id)

    def complete(self, id: str, outcome: str, owner: str | None, now: float) -> str:
        reasons: list[tuple[str, Callable[[dict[str, Any]], bool]]] = [
            ("foreign", lambda it: owner is not None and it["owner"] != owner),
            ("already", lambda it: it["outcome"] is not None),
            ("expired", lambda it: it["expires"] <= now),
        ]
        if id not in self.records:
            return "unknown"
        for reason, holds in reasons:
            if holds(self.records[id]):
                return reason
        self.records[id]["outcome"] = outcome
        self.records[id]["version"] += 1
        return "done"

    def consume(self, id: str, owner: str | None, now: float) -> Record | None:
        it = self.read(id)
        if it is None or it.consumed or it.expires <= now or (owner is not None and owner != it.owner):
            return None
        self.records[id]["consumed"] = True
        self.records[id]["version"] += 1
        return it

    def sweep(self, now: float) -> int:
        over = [id for id, it in self.records.items() if it["expires"] <= now]
        for id in over:
            del self.records[id]
        return len(over)

    def put(self, value: Value, instead_of: bytes | None) -> bool:
        now = self.get(value.owner, value.name)
        if instead_of is not None and (now is None or now.sealed != instead_of):
            return False
        self.kept[value.owner, value.name] = value
        return True

    def get(self, owner: str, name: str) -> Value | None:
        return self.kept.get((owner, name))

    def values(self, owner: str) -> list[Value]:
        return [value for (whose, _), value in sorted(self.kept.items()) if whose == owner]

    def remove(self, owner: str, name: str) -> bool:
        return self.kept.pop((owner, name), None) is not None

    def all(self) -> list[Value]:
        return [value for _, value in sorted(self.kept.items())]

    def reopen(self) -> None:
        pass


async def apply(store: Store, operation: tuple[Any, ...]) -> Any:
    match operation:
        case "complete", id, outcome, owner, now:
            return await store.complete(id, outcome, owner=owner, now=now)
        case "consume", id, owner, now:
            return await store.consume(id, owner=owner, now=now)
        case "wait", id, version:
            return await store.wait(id, 0, version=version)
        case "put", value, instead_of:
            return await store.put(value, instead_of=instead_of)
        case ("all",):
            return sorted([value async for value in store.all_values()], key=lambda it: (it.owner, it.name))
        case ("reopen",):
            await store.close()
            return await store.open()
        case name, *arguments:
            return await getattr(store, name)(*arguments)


async def compare(kind: str, tmp_path: Path, operations: list[tuple[Any, ...]]) -> None:
    name = f"midcall_test_{secrets.token_hex(6)}"
    directory = tmp_path / name
    directory.mkdir()
    store, model = open_store(url_of(kind, directory, name)), Model()
    try:
        for operation in operations:
            expected = getattr(model, operation[0])(*operation[1:])
            assert await apply(store, operation) == expected, operation
    finally:
        await store.close()
        await clean_up(kind, name)


@pytest.mark.parametrize(("kind", "examples"), [("memory", 200), ("sqlite", 40), ("postgres", 12), ("redis", 25)])
def test_every_store_agrees_with_the_model(kind: str, examples: int, tmp_path: Path) -> None:
    @settings(max_examples=examples, database=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(OPERATIONS, min_size=5, max_size=25))
    def agrees(operations: list[tuple[Any, ...]]) -> None:
        asyncio.run(compare(kind, tmp_path, operations))

    agrees()
