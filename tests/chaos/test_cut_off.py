"""`kill -9` in the middle of a `once`: nobody knows whether it ended, and the error says exactly that."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError

from midcall.testing import connect
from tests.chaos import cut_off_server
from tests.chaos.proxy import proxy
from tests.contract.conftest import place
from tests.portal.running import KEYS, Process, running
from tests.rounds import accept, raw_call, text
from tests.serving import environment, free_port
from tests.warm import started

ANSWER = {"card": accept(answer="visa")}


@contextmanager
def till(store: str, home: Path) -> Iterator[Process]:
    port = free_port()
    script = str(Path(cut_off_server.__file__))
    command = [script, "--port", str(port), "--store", store, "--files", str(home)]
    with (home / "log").open("a") as log:
        popen = started(command, stderr=log, env=environment(MIDCALL_KEYS=KEYS))
    process = Process(popen, f"http://127.0.0.1:{port}", home / "log")
    with running([process]):
        yield process


def charged(home: Path) -> list[str]:
    ledger = home / "ledger"
    return ledger.read_text().split() if ledger.exists() else []


async def cut_off(store: str, home: Path, tool: str) -> str:
    """The state of a call whose process was killed while its effect ran."""
    (home / "gate").touch()
    with till(store, home) as process:
        async with proxy() as front:  # behind a proxy, a client survives its server
            front.replicas = [process.url]
            async with connect(f"{front.url}/mcp") as client:
                state = (await raw_call(client, tool, {}))["requestState"]
                call = asyncio.create_task(raw_call(client, tool, {}, state=state, answers=ANSWER))
                await until_charged(home)
                process.kill()
                with pytest.raises(MCPError, match="error response"):
                    await call
    (home / "gate").unlink()
    return state


async def until_charged(home: Path) -> None:
    async with asyncio.timeout(20):
        while not charged(home):
            await asyncio.sleep(0.02)


async def sent_again(store: str, home: Path, tool: str, state: str) -> list[Any]:
    """What a new process returns for the same round, twice."""
    with till(store, home) as process:
        async with connect(process.mcp) as client:
            return [await raw_call(client, tool, {}, state=state, answers=ANSWER) for _ in range(2)]


@pytest.mark.parametrize("kind", ["sqlite", "postgres", "redis"])
async def test_an_effect_that_was_cut_off_is_unknown_and_does_not_run_again(kind: str, tmp_path: Path) -> None:
    async with place(kind, tmp_path) as store:
        state = await cut_off(store, tmp_path, "charge")
        for result in await sent_again(store, tmp_path, "charge", state):
            assert result["isError"]
            assert "nobody knows whether it finished" in text(result)
        assert charged(tmp_path) == ["visa"]


async def test_an_effect_that_is_safe_to_repeat_runs_again_once(tmp_path: Path) -> None:
    async with place("sqlite", tmp_path) as store:
        state = await cut_off(store, tmp_path, "charge_again")
        for result in await sent_again(store, tmp_path, "charge_again", state):
            assert text(result) == "charged visa"
        assert charged(tmp_path) == ["visa", "visa"]
