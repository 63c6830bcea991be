"""Which server can read what a user entered, and what is kept if the call was cancelled meanwhile."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

import midcall
from midcall import secret
from midcall.core.caller import Caller
from midcall.portal.app import Portal
from midcall.testing import Era, connect
from tests.kinds import KINDS, Kind, bare_server
from tests.portal.sites import Visitor
from tests.server.codes import KEYS, shown
from tests.server.people import TOKEN, WITH_URLS, WITHIN, Person, fills, installed


async def read_repo() -> str:
    return await secret("github", "A token, please.")


class Servers:
    """Programs of one user on one machine, with one store."""

    def __init__(self, folder: Path, kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._kind: Kind = kind
        self._monkeypatch = monkeypatch

    async def ask(self, file: str, name: str = "repos", *, enters: str, **how: Any) -> str:
        """What the tool of this server gets, if the user enters this when they're asked. `file` is its program."""
        (self._folder / file).touch()
        self._monkeypatch.setattr(sys, "argv", [str(self._folder / file)])
        server = bare_server(self._kind, read_repo, name=name)
        store = f"sqlite://{self._folder}/store.db"
        installation = midcall.install(server, keys=KEYS, store=store, portal=Portal(), **how)
        try:
            async with asyncio.timeout(WITHIN), connect(server, Person(fills(enters))) as client:
                return shown(await client.call_tool("read_repo", {}))
        finally:
            await installation.close()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_server_cannot_read_what_the_user_gave_another_one(
    kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = Servers(tmp_path, kind, monkeypatch)
    assert await servers.ask("a.py", enters="for a") == "for a"
    assert await servers.ask("a.py", enters="nobody asks") == "for a", "the same server, started again"
    assert await servers.ask("b.py", enters="for b") == "for b", "the same name, installed elsewhere"
    assert await servers.ask("a.py", "other", enters="for-the-other-name") == "for-the-other-name", (
        "another name in the same file"
    )
    assert await servers.ask("a.py", enters="nobody asks") == "for a"


async def test_servers_share_secrets_only_if_both_have_the_same_namespace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = Servers(tmp_path, "mcpserver", monkeypatch)
    assert await servers.ask("a.py", enters="alone") == "alone"
    assert await servers.ask("a.py", enters="shared-swordfish", namespace="team") == "shared-swordfish"
    assert await servers.ask("b.py", "other", enters="nobody asks", namespace="team") == "shared-swordfish"
    assert await servers.ask("b.py", "other", enters="apart", namespace="repos") == "apart"
    assert await servers.ask("a.py", enters="nobody asks") == "alone"


@pytest.mark.parametrize("era", WITH_URLS)
async def test_what_is_entered_for_a_call_that_was_cancelled_is_not_kept(era: Era) -> None:
    opened, done = asyncio.Event(), asyncio.Event()

    async def check(value: str) -> str | None:
        return None

    async def tool() -> str:
        return str(len(await secret("github", "A token", check=check)))

    async def act(visitor: Visitor, id: str) -> None:
        controls = await visitor.controls(id)
        opened.set()
        while (await visitor.open(id)).status_code == 200:
            await asyncio.sleep(0)
        late = await visitor.post(f"/i/{id}", {**controls, "s0": TOKEN, "do": "accept"})
        assert (late.status_code, "no longer needed" in late.text) == (409, True)
        done.set()

    async with asyncio.timeout(WITHIN), installed(tool) as (server, portal):
        async with connect(server, Person(act), era=era) as client:
            calling = asyncio.create_task(client.call_tool("tool", {}))
            await opened.wait()
            calling.cancel()
            await done.wait()
        owner = portal.owner_of(Caller())
        assert await portal.vault.get(owner, "github") is None
