"""The doctor and the vault: whether what users entrusted can be opened, and never what it is."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from midcall.doctor.inspection import Finding, Surroundings
from midcall.portal.app import Portal
from midcall.portal.vault import Vault, rotate_keys
from midcall.stores.sqlite import SQLite
from tests.doctor.test_checks import by_name, look

OLD, NEW = "old key of the tests: 0123456789abcdef", "new key of the tests: 0123456789abcdef"
SERVER = '["server", "repos"]'
VALUE = "a-value-that-nobody-may-see"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "kept.db"


async def keep(place: Path, *names: str, key: str = OLD) -> None:
    store = SQLite(place)
    for name in names:
        await Vault(store, [key], SERVER).keep("ada", name, {"value": VALUE}, now=time.time())
    await store.close()


async def seen(place: Path, *keys: str, where: Surroundings | None = None, **options: Any) -> Finding:
    report = await look(where or Surroundings(), keys=list(keys) or None, store=SQLite(place), portal=Portal())
    told = json.dumps(report.as_data())
    assert not any(secret in told for secret in (OLD, NEW, VALUE))
    assert report.broken == (by_name(report.installation)["vault"].state == "broken")
    return by_name(report.installation)["vault"]


async def test_an_empty_vault_opens_with_any_key(place: Path) -> None:
    assert await seen(place, NEW) == Finding("vault", "ok", "Empty.")


async def test_values_sealed_with_a_key_that_was_removed_too_early_are_reported(place: Path) -> None:
    await keep(place, "github", "gitlab")
    await keep(place, "jira", key=NEW)
    found = await seen(place, NEW)
    assert found.state == "broken"
    assert "2 of 3 values cannot be opened" in found.text
    assert "behind those in MIDCALL_KEYS" in found.advice


async def test_a_rotation_is_followed_to_its_end(place: Path) -> None:
    await keep(place, "github")
    under_way = await seen(place, NEW, OLD)
    assert under_way.state == "doubtful"
    assert "midcall vault rotate" in under_way.advice
    await rotate_keys(str(place), [NEW, OLD])
    assert await seen(place, NEW) == Finding("vault", "ok", "1 value can be opened with these keys.")


async def test_without_a_key_the_advice_is_that_the_servers_keys_may_be_missing(place: Path) -> None:
    await keep(place, "github")
    found = await seen(place)
    assert found.state == "broken"
    assert "No key was given here" in found.advice


async def test_without_a_portal_there_is_no_vault(place: Path) -> None:
    await keep(place, "github")
    assert "vault" not in by_name((await look(keys=[NEW], store=SQLite(place))).installation)


async def test_keys_of_a_container_go_with_it(place: Path) -> None:
    report = await look(Surroundings(container=True), store=SQLite(place), portal=Portal())
    found = by_name(report.installation)
    assert found["keys"].state == "doubtful"
    assert "on a volume" in found["keys"].advice
    assert "on a volume" in found["store"].text
