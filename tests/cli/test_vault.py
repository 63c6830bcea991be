"""`midcall vault` and `midcall store`: operators manage stored data from the command line."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest

from midcall.portal.vault import Vault
from midcall.stores import Record, open_store
from midcall.stores.postgres import schema_sql
from tests.cli.shell import here, midcall, screen

OLD, NEW = "o key of the tests: 0123456789abcdef", "n key of the tests: 0123456789abcdef"
ADA, EVE = "https://id.example.com ada", "local:1000"
SERVER, OTHER = '["server", "repos"]', '["server", "calendar", "/srv/calendar.py"]'
TOKEN = {"value": "hidden-hunter2"}
MOMENT = 1_790_000_000.0


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A store in which two users keep something, sealed with the old key."""
    url = f"sqlite:///{tmp_path}/kept.db"

    async def fill() -> None:
        store = open_store(url)
        vault = Vault(store, [OLD], SERVER)
        await vault.keep(ADA, "github", TOKEN, now=MOMENT)
        await vault.keep(ADA, "oauth:calendar", TOKEN, now=MOMENT)
        await vault.keep(EVE, "github", TOKEN, now=MOMENT)
        await store.close()

    asyncio.run(fill())
    return url


def kept(url: str, key: str, owner: str, name: str) -> dict[str, str] | None:
    async def look() -> dict[str, str] | None:
        store = open_store(url)
        try:
            return await Vault(store, [key], SERVER).get(owner, name)
        finally:
            await store.close()

    return asyncio.run(look())


# --- list ------------------------------------------------------------------------------------


def test_what_is_kept_is_listed_by_owner_and_name_and_never_shown(url: str) -> None:
    done = midcall("vault", "list", "--store", url, warm=False)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["OWNER", "SERVER", "NAME", "SINCE"]
    assert [line.split("  ")[0] for line in lines[1:]] == [f"'{ADA}'", f"'{ADA}'", EVE]
    assert [line.split()[-3] for line in lines[1:]] == ["github", "oauth:calendar", "github"]
    assert "hunter2" not in done.stdout


def test_the_list_can_be_of_one_owner_and_in_json(url: str) -> None:
    done = midcall("vault", "list", ADA, "--json", MIDCALL_STORE=url)
    assert (done.returncode, done.stderr) == (0, "")
    listed = json.loads(done.stdout)
    assert [(each["owner"], each["server"], each["name"]) for each in listed] == [
        (ADA, "repos", "github"),
        (ADA, "repos", "oauth:calendar"),
    ]
    assert {each["namespace"] for each in listed} == {SERVER}
    assert "hunter2" not in done.stdout
    nobody = here("vault", "list", "nobody", "--store", url)
    assert (nobody.returncode, nobody.stdout) == (0, "Nothing is stored for this owner.\n")


def test_names_that_would_steer_the_terminal_are_made_safe(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/kept.db"

    async def fill() -> None:
        store = open_store(url)
        await Vault(store, [OLD], SERVER).keep("\x1b[2Jeve", "a\nb", TOKEN, now=MOMENT)
        await store.close()

    asyncio.run(fill())
    with screen("vault", "list", "--store", url) as shown:
        assert shown.exit_code() == 0
    assert "\x1b[2J" not in shown.text
    assert "\n'⟨U+001B⟩[2Jeve'  repos   'a↵b'  " in shown.text


# --- forget ----------------------------------------------------------------------------------


def test_one_value_is_deleted_and_no_other(url: str) -> None:
    done = midcall("vault", "forget", ADA, "github", "--store", url)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Deleted github.\n", "")
    assert kept(url, OLD, ADA, "github") is None
    assert kept(url, OLD, EVE, "github") == TOKEN
    again = here("vault", "forget", ADA, "github", "--store", url)
    assert again.returncode == 1
    assert "has no value with this name" in again.stdout


def test_what_an_operator_deletes_is_in_the_audit_trail_without_its_value(url: str, tmp_path: Path) -> None:
    trail = tmp_path / "audit.jsonl"
    for name in ("github", "oauth:calendar", "never-stored"):
        midcall("vault", "forget", ADA, name, "--store", url, MIDCALL_AUDIT=str(trail))
    told = [json.loads(line) for line in trail.read_text().splitlines()]
    assert [(each["event"], each["outcome"], each["user"], each["details"]) for each in told] == [
        ("secret.deleted", "operator", ADA, {"name": "github"}),
        ("account.disconnected", "operator", ADA, {"provider": "calendar"}),
    ]
    assert TOKEN["value"] not in trail.read_text()


def test_forgetting_an_account_warns_that_the_provider_is_not_told(url: str) -> None:
    done = here("vault", "forget", ADA, "oauth:calendar", "--store", url)
    assert (done.returncode, done.stdout) == (0, "Deleted oauth:calendar.\n")
    assert "calendar was not notified" in done.stderr


def test_if_several_servers_have_a_value_with_this_name_one_must_be_named(url: str) -> None:
    async def fill() -> None:
        store = open_store(url)
        await Vault(store, [OLD], OTHER).keep(ADA, "github", TOKEN, now=MOMENT)
        await store.close()

    asyncio.run(fill())
    both = here("vault", "forget", ADA, "github", "--store", url)
    assert both.returncode == 1
    assert "nothing was deleted" in both.stdout
    assert "  --server repos\n" in both.stdout
    assert "  --server 'calendar (/srv/calendar.py)'\n" in both.stdout
    wrong = here("vault", "forget", ADA, "github", "--server", "payments", "--store", url)
    assert (wrong.returncode, "no value with this name for this server" in wrong.stdout) == (1, True)
    assert kept(url, OLD, ADA, "github") == TOKEN
    one = here("vault", "forget", ADA, "github", "--server", "calendar (/srv/calendar.py)", "--store", url)
    assert (one.returncode, one.stdout) == (0, "Deleted github.\n")
    assert kept(url, OLD, ADA, "github") == TOKEN
    assert here("vault", "forget", ADA, "github", "--server", SERVER, "--store", url).returncode == 0
    assert kept(url, OLD, ADA, "github") is None


# --- rotate ----------------------------------------------------------------------------------


def test_after_a_rotation_the_new_key_alone_opens_everything(url: str) -> None:
    done = midcall("vault", "rotate", "--store", url, MIDCALL_KEYS=f"{NEW},{OLD}")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "Re-encrypted 3 values. Everything is encrypted with the first key.\n"
    assert kept(url, NEW, ADA, "github") == TOKEN
    again = here("vault", "rotate", "--store", url, MIDCALL_KEYS=NEW)
    assert (again.returncode, again.stdout) == (0, "Everything is encrypted with the first key.\n")


def test_without_the_earlier_key_nothing_is_lost_and_the_command_says_what_to_do(url: str) -> None:
    done = here("vault", "rotate", "--store", url, MIDCALL_KEYS=NEW)
    assert (done.returncode, done.stdout) == (1, "")
    assert "3 values could not be opened" in done.stderr
    assert "Add the earlier key to MIDCALL_KEYS" in done.stderr
    assert kept(url, OLD, EVE, "github") == TOKEN


def test_without_keys_of_the_environment_those_of_this_machine_are_used(tmp_path: Path) -> None:
    home = {"XDG_DATA_HOME": str(tmp_path), "HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path), "MIDCALL_KEYS": ""}
    done = midcall("vault", "rotate", "--store", f"sqlite:///{tmp_path}/kept.db", **home)
    assert (done.returncode, done.stderr) == (0, "")


# --- what is wrong ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "keys", "code", "said"),
    [
        (["vault", "rotate", "--store", "sqlite:///{}/x.db"], "k" * 64, 2, "Key 1 (of keys=, or MIDCALL_KEYS) is easy"),
        (["vault", "rotate", "--store", "sqlite:///{}/x.db"], "short", 2, "Key 1 (of keys=, or MIDCALL_KEYS) has 5"),
        (["vault", "rotate", "--store", "redis://127.0.0.1:1/0"], NEW, 4, "cannot be reached"),
        (["vault", "list", "--store", "mysql://ann:hunter2@db/x"], NEW, 2, "no store for mysql://"),
        (["vault", "list", "--store", "postgresql://ann:hunter2@127.0.0.1:1/x"], NEW, 4, "cannot be reached"),
        (["vault", "list", "--store", "sqlite:///{}/no/where/x.db"], NEW, 4, "no directory"),
        (["vault", "forget", "ada"], NEW, 2, "Missing argument 'NAME'"),
        (["vault"], NEW, 2, "Missing command"),
        (["store", "check", "redis://:hunter2@127.0.0.1:1/0"], NEW, 4, "cannot be reached"),
        (["store", "check", "redis://:hunter2@localhost:99999"], NEW, 2, "Correct the port"),
        (["store", "check", "postgresql://ann:hunter2@localhost:99999/x"], NEW, 2, "Correct the port"),
        (["store", "sweep", "--keep", "-1"], NEW, 2, "--keep"),
        (["store", "schema", "redis://:hunter2@db"], NEW, 2, "only PostgreSQL"),
    ],
)
def test_an_error_is_one_sentence_without_passwords_and_an_exit_code(
    arguments: list[str], keys: str, code: int, said: str, tmp_path: Path
) -> None:
    done = here(*(part.format(tmp_path) for part in arguments), MIDCALL_KEYS=keys)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "hunter2" not in done.stderr


# --- store -----------------------------------------------------------------------------------


def test_a_store_is_checked_and_swept_by_url_or_environment(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/kept.db"
    checked = midcall("store", "check", url, warm=False)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert checked.stdout.endswith("works.\n")

    async def fill() -> None:
        store = open_store(url)
        now = time.time()
        for age in (10, 100_000):
            await store.create(Record(f"r{age}", "form", ADA, "{}", now - age - 1, now - age))
        await store.close()

    asyncio.run(fill())
    assert midcall("store", "sweep", MIDCALL_STORE=url).stdout == "Removed 1 record.\n"
    assert here("store", "sweep", url, "--keep", "0").stdout == "Removed 1 record.\n"


def test_a_store_is_named_as_for_the_vault_too_and_only_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/kept.db"
    other = {"MIDCALL_STORE": f"sqlite:///{tmp_path}/no/where.db"}
    assert here("store", "check", "--store", url, **other).stdout.endswith("works.\n")
    assert here("store", "check", url, **other).stdout.endswith("works.\n")
    assert here("store", "sweep", "--store", url, "--keep", "0", **other).stdout == "Removed 0 records.\n"
    both = here("store", "check", url, "--store", url)
    assert (both.returncode, both.stdout) == (2, "")
    assert "Name the store once" in both.stderr
    assert here("store", "check", "").returncode == 2, "an empty name is a slip, and not the usual store"


def test_the_sql_for_postgresql_is_printed_for_the_schema_that_is_meant() -> None:
    assert here("store", "schema").stdout == schema_sql()
    assert here("store", "schema", "--schema", "app").stdout == schema_sql("app")
    assert here("store", "schema", "postgresql://ann@db/x?schema=app").stdout == schema_sql("app")
    assert here("store", "schema", MIDCALL_STORE="postgresql://ann@db/x?schema=app").stdout == schema_sql("app")
    assert here("store", "schema", MIDCALL_STORE="redis://db/0?schema=app").stdout == schema_sql()
