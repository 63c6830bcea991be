"""When a server stops, it releases calls waiting for a person, and they resume on another replica."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.shared.exceptions import MCPError

import midcall
from midcall import visit
from midcall.portal import Portal
from midcall.stores import StoreError
from midcall.stores.memory import Memory
from midcall.stores.sqlite import SQLite
from midcall.testing import connect
from tests.kinds import bare_server
from tests.rounds import accept, raw_call, text
from tests.server.codes import code_of, go_on, shown

KEYS = ["k key of the tests: 0123456789abcdef"]


async def page() -> str:
    return f"done {await visit('Please sign in', 'https://example.com/x', id='signing-in', key='v', wait=True)}"


async def page_with_a_deadline() -> str:
    await visit("Please sign in", "https://example.com/x", id="soon", key="v", wait=True, timeout=30.0)
    return "done soon"


def replica(store: Memory) -> tuple[Any, midcall.Installation]:
    server = bare_server("mcpserver", page, page_with_a_deadline)
    return server, midcall.install(server, keys=KEYS, store=store)


async def held(installation: midcall.Installation) -> None:
    """Wait until a call is held."""
    async with asyncio.timeout(5):
        while not installation.visits._held:  # pyright: ignore[reportPrivateUsage]
            await asyncio.sleep(0)


@pytest.mark.parametrize(("tool", "id"), [("page", "signing-in"), ("page_with_a_deadline", "soon")])
async def test_a_held_call_returns_its_round_and_resumes_at_another_replica(tool: str, id: str, either: str) -> None:
    store = Memory()
    (one, stopping), (two, other) = replica(store), replica(store)
    async with asyncio.timeout(5), connect(one) as here:
        first = await raw_call(here, tool, {})
        again = {"state": first["requestState"], "answers": {"v": accept()}}
        call = asyncio.create_task(raw_call(here, tool, {}, **again))
        await held(stopping)
        stopping.stop()
        second = await call
        assert second["inputRequests"] == {}
    async with asyncio.timeout(5), connect(two) as there:
        call = asyncio.create_task(raw_call(there, tool, {}, state=second["requestState"]))
        await held(other)
        assert await other.complete(id)
        assert text(await call) == f"done {id}"


async def test_a_call_that_comes_after_it_is_not_held_either() -> None:
    server, installation = replica(Memory())
    async with asyncio.timeout(5), connect(server) as client:
        first = await raw_call(client, "page", {})
        installation.stop()
        second = await raw_call(client, "page", {}, state=first["requestState"], answers={"v": accept()})
        assert "requestState" in second


async def test_a_pushed_call_ends_with_a_code_that_another_replica_takes() -> None:
    store = Memory()
    (one, stopping), (two, other) = replica(store), replica(store)
    async with asyncio.timeout(5), connect(one, ["go"], era="2025-11-25") as here:
        call = asyncio.create_task(here.call_tool("page", {}))
        await held(stopping)
        stopping.stop()
        ended = await call
        assert code_of(ended)
    await other.complete("signing-in")
    async with connect(two, era="2025-11-25") as there:
        assert shown(await go_on(there, ended)) == "done signing-in"


async def test_a_replica_with_other_keys_does_not_use_up_a_code_that_it_cannot_open() -> None:
    store = Memory()
    (one, stopping), (two, other) = replica(store), replica(store)
    astray = bare_server("mcpserver", page)
    midcall.install(astray, keys=["another key, of a replica that was set up wrong"], store=store)
    async with asyncio.timeout(5), connect(one, ["go"], era="2025-11-25") as here:
        call = asyncio.create_task(here.call_tool("page", {}))
        await held(stopping)
        stopping.stop()
        ended = await call
    await other.complete("signing-in")
    async with connect(astray, era="2025-11-25") as there:
        with pytest.raises(MCPError, match="failed a security check"):
            await go_on(there, ended)
    async with connect(two, era="2025-11-25") as there:
        assert shown(await go_on(there, ended)) == "done signing-in"


async def test_a_server_that_closes_has_nothing_to_complain_of_and_can_be_used_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    server, installation = replica(Memory())
    async with asyncio.timeout(5), connect(server, ["go"] * 2, era="2025-11-25") as client:
        call = asyncio.create_task(client.call_tool("page", {}))
        await held(installation)
        installation.stop()
        assert "NOT FINISHED YET" in shown(await call)
        await installation.close()
        again = asyncio.create_task(go_on(client, call.result()))
        await held(installation)
        await installation.complete("signing-in")
        assert shown(await again) == "done signing-in"
    assert "watched" not in caplog.text


async def test_a_replica_that_has_only_served_pages_lets_go_of_its_store_too(tmp_path: Path) -> None:
    store = SQLite(tmp_path / "pages.db")
    server, portal = bare_server("mcpserver"), Portal("https://mcp.example.com/midcall")
    installation = midcall.install(server, keys=KEYS, store=store, portal=portal)
    transport = httpx2.ASGITransport(portal)
    async with httpx2.AsyncClient(transport=transport, base_url="https://mcp.example.com") as http:
        assert (await http.get("/health")).status_code == 200
    await installation.close()
    with pytest.raises(StoreError, match="closed"):
        await store.read("an-id")
