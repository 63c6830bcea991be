"""One client can't fill the store of a server: what the tool, the model and the operator see of its quota."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError

import midcall
from midcall import StoreFull, ask, once, visit
from midcall.doctor.checks.store import check_store
from midcall.doctor.inspection import Setup
from midcall.errors import InstallError
from midcall.server.installation import installation_on
from midcall.stores.memory import Memory
from midcall.testing import connect
from tests.kinds import KINDS, Kind, bare_server, server_with
from tests.server.codes import shown

KEYS = "a key of the tests: 0123456789abcdef"
TOO_MANY = "too many unfinished calls"


async def greet() -> str:
    """Asks, and has an effect."""
    name = await ask("Who are you?", str)
    return await once("greet", str, f"Hello {name}")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_client_that_fills_the_store_gets_an_error_and_no_effect_runs_uncounted(
    kind: Kind, caplog: pytest.LogCaptureFixture
) -> None:
    store = Memory()
    server = server_with(greet, kind=kind, keys=KEYS, store=store, max_caller_records=20)
    said: list[str] = []
    async with connect(server, lambda asked: "Ada") as client:
        for _ in range(30):
            try:
                said.append(shown(await client.call_tool("greet", {})))
            except MCPError as exc:
                said.append(str(exc))
    assert said[0] == "Hello Ada"
    assert TOO_MANY in said[-1]
    rows = [row.kind for row in vars(store)["_records"].values() if row.kind not in ("usage", "replica")]
    assert len(rows) == 20
    assert "MIDCALL_MAX_CALLER_RECORDS" in caplog.text
    caplog.clear()


async def test_a_full_store_ends_the_call_even_if_its_tool_catches_the_error(caplog: pytest.LogCaptureFixture) -> None:
    async def careless() -> str:
        try:
            return await once("check", str, "checked")
        except (MCPError, StoreFull):
            return "not checked, and deleted"

    server = server_with(careless, keys=KEYS, store=Memory(), max_store_records=3)
    async with connect(server) as client:
        said = [shown(await client.call_tool("careless", {})) for _ in range(5)]
    assert said[:3] == ["checked"] * 3
    assert all(TOO_MANY in each for each in said[3:])
    assert "All callers together have 3 records" in caplog.text
    caplog.clear()


@pytest.mark.parametrize("used", [1, 9])
async def test_doctor_says_how_full_the_store_is(used: int, tmp_path: Path) -> None:
    async def work() -> str:
        return await once("work", str, "done")

    server = server_with(work, keys=KEYS, store=f"sqlite://{tmp_path / 'store.db'}", max_store_records=10)
    async with connect(server) as client:
        for _ in range(used):
            await client.call_tool("work", {})
    installation = installation_on(server)
    assert installation is not None
    [found] = [finding for finding in await check_store(Setup(installation)) if finding.name == "quota"]
    assert f"This server keeps {used} record" in found.text
    assert found.state == ("ok" if used == 1 else "doubtful")
    assert ("MIDCALL_MAX_STORE_RECORDS" in found.advice) is (used == 9)
    await installation.close()


def test_quotas_come_from_arguments_then_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCALL_MAX_CALLER_RECORDS", "70")
    monkeypatch.setenv("MIDCALL_MAX_STORE_MB", "5")
    installation = midcall.install(bare_server("mcpserver"), store=Memory(), keys=KEYS, max_caller_records=60)
    assert installation.records is not None
    assert installation.records.quotas is not None
    limits = installation.records.quotas.limits
    assert (limits.caller.records, limits.caller.size) == (60, 256_000_000)
    assert (limits.all.records, limits.all.size) == (1_000_000, 5_000_000)


@pytest.mark.parametrize("name", ["max_caller_records", "max_caller_mb", "max_store_records", "max_store_mb"])
@pytest.mark.parametrize("wrong", [0, -1, 1.5, "many", True])
def test_a_quota_is_a_whole_number(name: str, wrong: Any) -> None:
    with pytest.raises(InstallError, match=f"{name}=.* must be a whole number from 1"):
        midcall.install(bare_server("mcpserver"), **{name: wrong})


async def test_visits_of_a_server_without_a_store_are_counted_too(caplog: pytest.LogCaptureFixture) -> None:
    async def sign_in() -> str:
        await visit("Sign in.", "https://example.com/sign-in")
        return "opened"

    server = server_with(sign_in, keys=KEYS, max_caller_records=3)
    async with connect(server, lambda asked: "go", era="2025-11-25") as client:
        said = [shown(await client.call_tool("sign_in", {})) for _ in range(5)]
    assert said[:3] == ["opened"] * 3
    assert TOO_MANY in said[-1]
    caplog.clear()
