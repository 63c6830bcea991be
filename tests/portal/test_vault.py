"""The vault: a value comes back for its owner, with its key, and appears nowhere else."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcall.errors import InstallError, Misuse
from midcall.portal.vault import (
    StoredValue,
    Vault,
    VaultLocked,
    describe_namespace,
    forget_value,
    list_values,
    rotate_keys,
)
from midcall.stores.base import Value
from midcall.stores.memory import Memory
from tests.scanning import everything_about

OLD, NEW = "the key of last year, long enough ...", "the key of this year, long enough ..."
SERVER, OTHER = '["server", "repos"]', '["server", "calendar"]'
SECRET = "ghp_never_to_be_seen"
TOKEN = {"token": SECRET}
VALUES = st.just("") | st.text().map(lambda text: f"{text} {SECRET}")
"""Any text that is not in a log for another reason: hypothesis also draws words from our code."""


@pytest.fixture
def store() -> Memory:
    return Memory()


@pytest.fixture
def vault(store: Memory) -> Vault:
    return Vault(store, [OLD], SERVER)


# --- in and out ------------------------------------------------------------------------------
async def test_a_stored_value_comes_back(vault: Vault) -> None:
    assert await vault.get("ada", "github") is None
    await vault.keep("ada", "github", {"user": "ada", **TOKEN}, now=1.0)
    assert await vault.get("ada", "github") == {"user": "ada", **TOKEN}
    await vault.keep("ada", "github", {"user": "ada2"}, now=2.0)
    assert await vault.get("ada", "github") == {"user": "ada2"}
    assert await vault.names("ada") == [("github", 2.0)]


@given(st.dictionaries(st.text(), VALUES), st.text(min_size=1, max_size=40), st.text(max_size=40))
def test_any_text_comes_back_unchanged(value: Mapping[str, str], owner: str, name: str) -> None:
    async def there_and_back() -> dict[str, str] | None:
        vault = Vault(Memory(), [OLD], SERVER)
        await vault.keep(owner, name, value, now=1.0)
        return await vault.get(owner, name)

    assert asyncio.run(there_and_back()) == value


async def test_owners_do_not_see_each_other(vault: Vault) -> None:
    await vault.keep("ada", "github", TOKEN, now=1.0)
    assert await vault.get("eve", "github") is None
    assert await vault.names("eve") == []
    assert await vault.forget("eve", "github") is False
    assert await vault.get("ada", "github") == TOKEN


async def test_forgetting_deletes(vault: Vault) -> None:
    await vault.keep("ada", "github", TOKEN, now=1.0)
    assert await vault.forget("ada", "github") is True
    assert await vault.forget("ada", "github") is False
    assert await vault.get("ada", "github") is None


async def test_a_value_without_an_owner_is_rejected(vault: Vault) -> None:
    with pytest.raises(Misuse, match="would belong to everybody"):
        await vault.keep("", "github", TOKEN, now=1.0)


@pytest.mark.parametrize("value", [SECRET, {"token": SECRET.encode()}, {"token": None, "other": SECRET}, [SECRET]])
async def test_a_value_that_is_not_named_text_is_rejected_without_being_shown(
    vault: Vault, value: Mapping[str, str]
) -> None:
    with pytest.raises(Misuse, match="named texts") as caught:
        await vault.keep("ada", "github", value, now=1.0)
    assert SECRET not in everything_about(caught.value)


async def test_swap_replaces_only_the_entry_that_was_read(vault: Vault) -> None:
    await vault.keep("ada", "github", TOKEN, now=1.0)
    seen = await vault.entry("ada", "github")
    assert seen is not None
    assert await vault.swap("ada", "github", {"token": "2"}, instead_of=seen, now=2.0) is True
    assert await vault.swap("ada", "github", {"token": "3"}, instead_of=seen, now=3.0) is False
    assert await vault.get("ada", "github") == {"token": "2"}
    await vault.forget("ada", "github")
    assert await vault.swap("ada", "github", {"token": "4"}, instead_of=seen, now=4.0) is False
    assert await vault.get("ada", "github") is None


# --- bound to a server -----------------------------------------------------------------------
async def test_servers_do_not_see_each_others_values(vault: Vault, store: Memory) -> None:
    other = Vault(store, [OLD], OTHER)
    await vault.keep("ada", "github", TOKEN, now=1.0)
    assert await other.get("ada", "github") is None
    assert await other.names("ada") == []
    assert await other.forget("ada", "github") is False
    await other.keep("ada", "github", {"token": "of another server"}, now=2.0)
    assert await vault.get("ada", "github") == TOKEN
    assert await vault.names("ada") == [("github", 1.0)]
    assert await Vault(store, [NEW, OLD], "").rotate() == 2


@pytest.mark.parametrize("name", [f"{SERVER}\ngithub", f"\n{SERVER}\ngithub", "\ngithub", f'"]\n{SERVER}\ngithub'])
async def test_no_name_reaches_into_another_namespace(vault: Vault, store: Memory, name: str) -> None:
    await vault.keep("ada", "github", TOKEN, now=1.0)
    for namespace in ("", OTHER, '["server", "repos'):
        other = Vault(store, [OLD], namespace)
        assert await other.get("ada", name) is None
        await other.keep("ada", name, {"token": "another"}, now=2.0)
        assert [each for each, _ in await other.names("ada")] == [name]
        assert await other.forget("ada", name)
    assert await vault.get("ada", "github") == TOKEN


async def test_a_row_copied_to_another_server_does_not_open(vault: Vault, store: Memory) -> None:
    await vault.keep("ada", "github", TOKEN, now=1.0)
    row = await store.get("ada", f"{SERVER}\ngithub")
    assert row is not None
    await store.put(Value("ada", f"{OTHER}\ngithub", row.sealed, 2.0))
    with pytest.raises(VaultLocked, match="'github' was sealed for another owner"):
        await Vault(store, [OLD], OTHER).get("ada", "github")


async def test_a_server_in_a_deep_folder_has_a_namespace_of_its_own_that_every_store_takes(store: Memory) -> None:
    deep = [json.dumps(["server", "repos", f"/{'folder/' * 500}{name}.py"]) for name in ("one", "two")]
    one, two = (Vault(store, [OLD], namespace) for namespace in deep)
    await one.keep("ada", "github", TOKEN, now=1.0)
    assert await one.get("ada", "github") == TOKEN
    assert await two.get("ada", "github") is None
    [row] = await store.values("ada")
    assert len(row.name.encode()) < 1_024


@pytest.mark.parametrize(
    ("namespace", "shown"),
    [
        (SERVER, "repos"),
        ('["server", "repos", "/srv/repos.py"]', "repos (/srv/repos.py)"),
        ('["server", "repos", ""]', "repos"),
        ('["namespace", "shop"]', "namespace:shop"),
        ('["digest", "abc"]', "digest:abc"),
        ("not one of ours", "not one of ours"),
        ("7", "7"),
        ("", ""),
    ],
)
def test_a_namespace_is_shown_as_the_server_or_what_its_operator_set(namespace: str, shown: str) -> None:
    assert describe_namespace(namespace) == shown


# --- bound to owner and name -----------------------------------------------------------------
@pytest.mark.parametrize(("owner", "name"), [("eve", "github"), ("ada", "gitlab"), ("eve", "gitlab")])
async def test_a_row_copied_to_another_owner_or_name_does_not_open(
    vault: Vault, store: Memory, owner: str, name: str
) -> None:
    await vault.keep("ada", "github", TOKEN, now=1.0)
    row = await store.get("ada", f"{SERVER}\ngithub")
    assert row is not None
    await store.put(Value(owner, f"{SERVER}\n{name}", row.sealed, 2.0))
    with pytest.raises(VaultLocked, match="sealed for another owner") as caught:
        await vault.get(owner, name)
    assert SECRET not in everything_about(caught.value)
    assert await vault.get("ada", "github") == TOKEN


@pytest.mark.parametrize("position", [0, 20, -1])
async def test_a_row_that_was_changed_does_not_open_and_is_not_deleted(
    vault: Vault, store: Memory, position: int
) -> None:
    await vault.keep("ada", "github", TOKEN, now=1.0)
    row = await store.get("ada", f"{SERVER}\ngithub")
    assert row is not None
    changed = bytearray(row.sealed)
    changed[position] ^= 1
    await store.put(Value("ada", row.name, bytes(changed), 2.0))
    with pytest.raises(VaultLocked):
        await vault.get("ada", "github")
    assert await vault.names("ada") == [("github", 2.0)]


# --- keys come and go ------------------------------------------------------------------------
async def test_an_earlier_key_still_opens(vault: Vault, store: Memory) -> None:
    await vault.keep("ada", "github", TOKEN, now=1.0)
    assert await Vault(store, [NEW, OLD], SERVER).get("ada", "github") == TOKEN


async def test_without_its_key_a_value_is_locked_and_the_error_says_what_to_do(vault: Vault, store: Memory) -> None:
    await vault.keep("ada", "github", TOKEN, now=1.0)
    with pytest.raises(VaultLocked, match=r"'github' .* Nothing was deleted\. Add the earlier key") as caught:
        await Vault(store, [NEW], SERVER).get("ada", "github")
    assert "midcall vault rotate" in str(caught.value)
    assert "Do not try again now" in caught.value.for_model
    assert await vault.get("ada", "github") == TOKEN


async def test_rotating_seals_everything_with_the_first_key_and_changes_nothing_else(
    vault: Vault, store: Memory
) -> None:
    for number in range(5):
        await vault.keep(f"user {number}", "github", {"token": str(number)}, now=float(number))
    rotating = Vault(store, [NEW, OLD], SERVER)
    assert await rotating.rotate() == 5
    assert await rotating.rotate() == 0
    after = Vault(store, [NEW], SERVER)
    assert [await after.get(f"user {number}", "github") for number in range(5)] == [{"token": str(n)} for n in range(5)]
    assert await after.names("user 3") == [("github", 3.0)]
    with pytest.raises(VaultLocked):
        await vault.get("user 3", "github")


async def test_a_value_that_no_key_opens_does_not_stop_the_rotation_of_others(vault: Vault, store: Memory) -> None:
    await Vault(store, ["a key that somebody has lost long ago"], SERVER).keep("ada", "a", TOKEN, now=1.0)
    await vault.keep("ada", "b", TOKEN, now=1.0)
    with pytest.raises(VaultLocked, match=r"1 value could not be opened .*; 1 sealed again\. Nothing was deleted"):
        await Vault(store, [NEW, OLD], SERVER).rotate()
    assert await Vault(store, [NEW], SERVER).get("ada", "b") == TOKEN
    assert [name for name, _ in await vault.names("ada")] == ["a", "b"]


async def test_a_value_written_during_a_rotation_is_neither_lost_nor_left_under_the_old_key(
    vault: Vault,
) -> None:
    store = Interrupted()
    before = Vault(store, [OLD], SERVER)
    await before.keep("ada", "github", {"token": "1"}, now=1.0)
    store.meanwhile = lambda: before.keep("ada", "github", {"token": "2"}, now=2.0)
    assert await Vault(store, [NEW, OLD], SERVER).rotate() == 1
    assert await Vault(store, [NEW], SERVER).get("ada", "github") == {"token": "2"}


class Interrupted(Memory):
    """A store in which something happens between a look and a write."""

    meanwhile = None

    async def put(self, value: Value, *, instead_of: bytes | None = None) -> bool:
        if instead_of is not None and self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            await meanwhile()
        return await super().put(value, instead_of=instead_of)


@pytest.mark.parametrize("keys", [[], ["short"], [OLD, "short"]])
def test_a_vault_without_good_keys_does_not_start(store: Memory, keys: list[str]) -> None:
    with pytest.raises(InstallError, match="token_hex"):
        Vault(store, keys, SERVER)


# --- for operators ---------------------------------------------------------------------------
async def test_an_operator_lists_forgets_and_rotates_by_the_store_s_url(tmp_path: Path) -> None:
    from midcall.stores import open_store

    url = f"sqlite:///{tmp_path}/vault.db"
    store = open_store(url)
    await store.open()
    vault = Vault(store, [OLD], SERVER)
    await vault.keep("eve", "github", TOKEN, now=1.0)
    await vault.keep("ada", "oauth:acme", TOKEN, now=2.0)
    await store.close()

    ada, eve = StoredValue("ada", SERVER, "oauth:acme", 2.0), StoredValue("eve", SERVER, "github", 1.0)
    assert await list_values(url) == [ada, eve]
    assert await list_values(url, "eve") == [eve]
    assert await rotate_keys(url, [NEW, OLD]) == 2
    assert await forget_value(url, eve) is True
    assert await forget_value(url, eve) is False
    assert await list_values(url) == [ada]
    with pytest.raises(VaultLocked):
        await rotate_keys(url, [OLD])


async def test_a_store_that_is_open_stays_open(store: Memory, vault: Vault) -> None:
    await vault.keep("ada", "github", TOKEN, now=1.0)
    assert len(await list_values(store)) == 1
    assert await vault.get("ada", "github") == TOKEN


# --- nothing shows ---------------------------------------------------------------------------
async def test_no_value_and_no_key_appears_in_store_repr_log_or_error(
    vault: Vault, store: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await vault.keep("ada", "github", TOKEN, now=1.0)
    entry = await vault.entry("ada", "github")
    shown = [repr(entry), str(entry), repr(vault), repr(await vault.names("ada")), repr(vars(store))]
    with pytest.raises(VaultLocked) as caught:
        await Vault(store, [NEW], SERVER).get("ada", "github")
    shown += [everything_about(caught.value), repr(await list_values(store))]
    await Vault(store, [NEW, OLD], SERVER).rotate()
    shown += [f"{record.getMessage()} {vars(record)}" for record in caplog.records]
    for text in shown:
        assert SECRET not in text
        assert OLD not in text
        assert NEW not in text
