"""The doctor against servers that respond badly: invalid certificates, and hosts that drop every packet."""

from __future__ import annotations

import asyncio
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette

from midcall.doctor.inspection import Surroundings
from midcall.portal.app import Portal
from midcall.portal.identity import Oidc
from midcall.stores.memory import Memory
from midcall.stores.postgres import PostgreSQL
from midcall.stores.sqlite import SQLite
from midcall.web.local_server import bind
from tests.certificates import certificate, page_behind
from tests.doctor.test_checks import KEYS, by_name, look

NAMES_IT = "SSL_CERT_FILE"


async def portal_at(url: str, where: Surroundings | None = None) -> Any:
    report = await look(where or Surroundings(), keys=KEYS, store=Memory(), portal=Portal(url))
    return by_name(report.installation)["portal"]


# --- certificates --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "trusted", "state", "told", "advice"),
    [
        ({}, False, "doubtful", "self-signed", NAMES_IT),
        ({"since": -9, "until": -2}, True, "broken", "has expired", "Renew it"),
        ({"since": 2, "until": 9}, True, "broken", "not valid yet", "clock"),
        ({"host": "mcp.example.com"}, True, "broken", "for another host", "Get a certificate for this host"),
    ],
)
async def test_a_certificate_that_does_not_verify_is_reported(
    made: dict[str, Any],
    trusted: bool,
    state: str,
    told: str,
    advice: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pem = certificate(tmp_path / "made.pem", **made)
    if trusted:
        monkeypatch.setenv(NAMES_IT, str(pem))
    with page_behind(pem) as place:
        found = await portal_at(f"https://{place}/midcall")
    assert (found.state, told in found.text, advice in found.advice) == (state, True, True)
    assert "Nothing answers" not in found.text


async def test_plain_http_at_an_https_address_is_reported() -> None:
    with page_behind(None) as place:
        found = await portal_at(f"https://{place}/midcall")
    assert (found.state, "does not speak TLS" in found.text) == ("broken", True)


async def test_a_portal_behind_https_answers_where_its_own_authority_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem = certificate(tmp_path / "own.pem")
    monkeypatch.setenv(NAMES_IT, str(pem))
    where = bind("127.0.0.1", 0)
    portal = Portal(f"https://127.0.0.1:{where.getsockname()[1]}/midcall")
    app = Starlette()
    app.mount("/midcall", portal)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off", ssl_certfile=str(pem)))
    serving = asyncio.create_task(server.serve(sockets=[where]))
    try:
        found = by_name((await look(keys=KEYS, store=Memory(), portal=portal)).installation)["portal"]
    finally:
        server.should_exit = True
        await serving
    assert (found.state, found.text) == ("ok", f"{portal.url} answers.")


async def test_an_issuer_whose_certificate_does_not_verify_is_reported(tmp_path: Path) -> None:
    with page_behind(certificate(tmp_path / "issuer.pem")) as place:
        portal = Portal("http://127.0.0.1:9/midcall", identity=Oidc(f"https://{place}", "portal"))
        found = by_name((await look(keys=KEYS, store=Memory(), portal=portal)).installation)["identity"]
    assert (found.state, "its certificate is self-signed" in found.text) == ("broken", True)
    assert "openid-configuration" in found.advice


async def test_a_name_that_does_not_resolve_is_reported() -> None:
    found = await portal_at("https://mcp.invalid/midcall")
    assert (found.state, found.text) == ("doubtful", "mcp.invalid does not resolve here.")


# --- what drops everything -------------------------------------------------------------------------


@pytest.fixture
def hole() -> Iterator[str]:
    """Where connections are taken, and nothing ever comes back."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        yield f"127.0.0.1:{listening.getsockname()[1]}"


async def test_nobody_is_waited_for_longer_than_a_few_seconds_and_all_at_once(hole: str) -> None:
    portal = Portal(f"https://{hole}/midcall", identity=Oidc(f"http://{hole}", "portal"))
    begun = time.monotonic()
    report = await look(keys=KEYS, store=PostgreSQL(f"postgresql://ada:hush-hush@{hole}/shop"), portal=portal)
    assert time.monotonic() - begun < 5
    found = by_name(report.installation)
    assert {name: found[name].state for name in ("store", "portal", "identity")} == {
        "store": "broken",
        "portal": "doubtful",
        "identity": "broken",
    }
    assert all("within" in found[name].text for name in ("store", "portal", "identity"))
    assert "vault" not in found


async def test_a_portal_whose_own_store_hangs_is_not_said_to_be_out_of_reach(hole: str) -> None:
    found = by_name(
        (await look(keys=KEYS, store=PostgreSQL(f"postgresql://{hole}/shop"), portal=Portal())).installation
    )
    assert "its store is away" in found["portal"].text
    assert found["portal"].advice == "See the store."


async def test_a_file_that_another_process_has_locked_is_reported(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "held.db", isolation_level=None)) as holder:
        holder.execute("CREATE TABLE held (word)")
        holder.execute("BEGIN EXCLUSIVE")
        found = by_name((await look(store=SQLite(tmp_path / "held.db"))).installation)["store"]
    assert found.state == "broken"
    assert "another process holds the file" in found.text
