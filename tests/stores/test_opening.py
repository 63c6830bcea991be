"""Which store a URL means, and what is said where it means none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcall.stores import StoreError, open_store
from midcall.stores.memory import Memory
from midcall.stores.postgres import PostgreSQL
from midcall.stores.redis import Redis
from midcall.stores.sqlite import SQLite, default_file


def path_of(url: str | Path) -> Path:
    store = open_store(url)
    assert isinstance(store, SQLite)
    return store.path


def test_the_scheme_chooses_the_store() -> None:
    assert isinstance(open_store("memory://"), Memory)
    for url in ("postgresql://", "postgres://ann@db/app", "POSTGRESQL://db:5432,db2:5433/app?sslmode=require"):
        assert isinstance(open_store(url), PostgreSQL)
    for url in ("redis://", "rediss://:secret@cache:6380/1", "redis://[::1]:6379"):
        assert isinstance(open_store(url), Redis)


def test_a_store_is_returned_as_it_is() -> None:
    store = Memory()
    assert open_store(store) is store


def test_a_file_is_named_by_url_or_path(tmp_path: Path) -> None:
    assert path_of("sqlite:///var/lib/app/mid%20call.db") == Path("/var/lib/app/mid call.db")
    assert path_of("sqlite:////var/lib/app/midcall.db") == Path("/var/lib/app/midcall.db")
    assert path_of("sqlite:///C:/data/midcall.db") == Path("C:/data/midcall.db").absolute()
    assert path_of("./data/midcall.db") == Path.cwd() / "data/midcall.db"
    assert path_of(tmp_path / "any name") == tmp_path / "any name"
    assert path_of("sqlite://") == path_of("sqlite:///") == default_file()


def test_without_a_url_it_is_what_the_environment_says_or_a_file_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCALL_STORE", "memory://")
    assert isinstance(open_store(), Memory)
    monkeypatch.setenv("MIDCALL_STORE", "")
    assert path_of(open_store().path) == default_file()  # pyright: ignore


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", r"no scheme.*memory://.*sqlite://.*postgresql://.*redis://"),
        ("hunter2", r"no scheme"),
        ("hunter2@db/app", r"no scheme"),
        ("mysql://ann:hunter2@db/app", r"no store for mysql://.*A store is named by"),
        ("postgresql+asyncpg://ann:hunter2@db/app", r"no store for postgresql\+asyncpg://"),
        ("http://[hunter2", r"no store for http://"),
        ("postgresql://ann:hunter2@[db/app", r"postgresql:// URL of the store cannot be read.*Percent-encode"),
        ("postgresql://ann:hun/ter2@db/app", r"cannot be read.*Percent-encode"),
        ("postgresql://ann:hun#ter2@db/app", r"cannot be read.*Percent-encode"),
        ("postgresql://ann:hun?ter2@db/app", r"cannot be read.*Percent-encode"),
        ("postgresql://ann:hun@ter2@db/app", r"cannot be read.*Percent-encode"),
        ("postgresql://ann:hunter2@db:port/app", r"cannot be read"),
        ("postgresql://ann:hunter2@db:99999/app", r"postgresql:// URL .* an invalid port.*port.*1 to 65535"),
        ("postgresql://db:5432,db2:0/app", r"an invalid port"),
        ("redis://:hunter2@[::1]:65536/0", r"redis:// URL .* an invalid port.*port.*1 to 65535"),
        ("redis://cache:1234567890", r"an invalid port"),
        ("postgresql://db/app?create=hunter2", r"'create' in the URL of the store must be true or false"),
        ("postgresql://db/app?pool=0", r"'pool'.*must be a whole number from 1"),
        ("postgresql://db/app?timeout=soon", r"'timeout'.*must be a number of seconds"),
        ("redis://:hun/ter2@cache", r"redis:// URL of the store cannot be read.*Percent-encode"),
        ("redis://cache/0?prefix=*", r"'prefix'.*letters, digits"),
        ("sqlite://hunter2/midcall.db", r"names a host, and a file has no host.*three slashes"),
        ("sqlite:///midcall.db?hunter2=1", r"unknown option: it can have only busy"),
        ("memory://hunter2", r"has nothing after the slashes"),
    ],
)
def test_the_error_for_a_malformed_url_says_what_is_accepted_and_quotes_nothing(url: str, said: str) -> None:
    with pytest.raises(StoreError, match=said) as caught:
        open_store(url)
    assert "hunter2" not in str(caught.value)
    assert "ter2" not in str(caught.value)


@pytest.mark.parametrize("url", ["redis://cache/0?hunter2=1", "redis://cache/hunter2?db=x"])
async def test_options_that_the_driver_does_not_know_are_reported_too(url: str) -> None:
    with pytest.raises(StoreError) as caught:
        await open_store(url).open()
    assert "hunter2=" not in str(caught.value)


@given(
    st.sampled_from(["postgresql", "postgres", "redis", "rediss", "mysql", "sqlite", "memory", ""]),
    st.text(st.sampled_from("@/:?#[]%&= ab1"), max_size=6),
    st.sampled_from(["db", "db:5432", "", "[::1]"]),
)
def test_no_message_and_no_name_of_a_store_has_a_password_in_it(scheme: str, around: str, host: str) -> None:
    password = f"{around}hunter2{around}"
    url = f"{scheme}://ann:{password}@{host}/app" if scheme else f"ann:{password}@{host}/app"
    try:
        said = repr(open_store(url))
    except StoreError as error:
        said = f"{error} {error!r} {error.__cause__!r} {error.__context__ if not error.__suppress_context__ else ''}"
    assert "hunter2" not in said


def test_an_object_that_is_not_a_store_is_rejected() -> None:
    with pytest.raises(StoreError, match="neither a store nor the URL of one"):
        open_store(42)  # pyright: ignore


@pytest.mark.parametrize(
    ("url", "module", "extra"),
    [("postgresql://db/app", "asyncpg", "postgres"), ("redis://cache", "redis.asyncio", "redis")],
)
def test_a_driver_that_is_missing_is_named_with_what_to_install(
    url: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(StoreError, match=rf'not installed. Install it with: pip install "midcall\[{extra}\]"'):
        open_store(url)


def test_stores_that_are_not_used_load_no_driver() -> None:
    import subprocess

    code = "import sys, midcall.stores; midcall.stores.open_store('memory://'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"asyncpg", "redis", "sqlite3", "mcp", "pydantic"} & set(loaded)
