"""A call that is answered on a page, behind a link or in an App runs once, too: what resumes it finds its live run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp_types import CallToolResult

from midcall import ask, secret
from midcall.testing import ERAS, Era, connect
from tests.kinds import KINDS, Kind, server_with
from tests.server.codes import go_on, shown
from tests.server.frames import Frame, host
from tests.server.people import TOKEN, WITH_URLS, Person, fills, installed
from tests.server.reaching import NOTHING, do, sends


class Charge:
    """A tool with an effect that is in no `once`."""

    def __init__(self) -> None:
        self.effects: list[str] = []

    async def tool(self) -> str:
        self.effects.append("charged")
        return f"{await ask('First?', str)} {await ask('Second?', str)}"

    async def with_secret(self) -> str:
        self.effects.append("charged")
        return f"{len(await secret('github', 'A token'))} {await ask('First?', str)}"


@pytest.mark.usefixtures("brief_holds")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_behind_a_link_the_code_continues_the_live_run(kind: Kind, era: Era) -> None:
    charge = Charge()
    async with asyncio.timeout(20), installed(charge.tool, kind=kind) as (server, _):
        async with connect(server, era=era, modes=NOTHING) as client:
            result: CallToolResult = await client.call_tool("tool", {})
            for word in ("1", "2"):
                await do(result, sends(answer=word))
                result = await go_on(client, result)
            assert shown(result) == "1 2"
    assert charge.effects == ["charged"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", WITH_URLS)
async def test_on_a_page_the_live_run_continues(kind: Kind, era: Era) -> None:
    charge, words = Charge(), ["1", "2"]

    async def act(visitor: Any, id: str) -> None:
        await sends(answer=words.pop(0))(visitor, id)

    async with asyncio.timeout(20), installed(charge.tool, kind=kind) as (server, _):
        async with connect(server, Person(act), era=era, modes=["url"]) as client:
            assert shown(await client.call_tool("tool", {})) == "1 2"
    assert charge.effects == ["charged"]


@pytest.mark.usefixtures("brief_holds")
@pytest.mark.parametrize("era", ERAS)
async def test_a_secret_that_is_entered_behind_a_link_continues_the_live_run(era: Era) -> None:
    charge = Charge()
    async with asyncio.timeout(20), installed(charge.with_secret) as (server, _):
        async with connect(server, era=era, modes=NOTHING) as client:
            result: CallToolResult = await client.call_tool("with_secret", {})
            for act in (fills(TOKEN), sends(answer="1")):
                await do(result, act)
                result = await go_on(client, result)
            assert shown(result) == f"{len(TOKEN)} 1"
    assert charge.effects == ["charged"]


@pytest.mark.usefixtures("never_shown")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_in_an_app_the_code_continues_the_live_run(kind: Kind, era: Era) -> None:
    charge = Charge()
    server = server_with(charge.tool, kind=kind, store="memory://")
    async with asyncio.timeout(20), host(server, era=era) as client:
        result: CallToolResult = await client.call_tool("tool", {})
        for word in ("1", "2"):
            frame = Frame(client)
            await frame.result(result)
            await frame.answers(word)
            result = await go_on(client, result)
        assert shown(result) == "1 2"
    assert charge.effects == ["charged"]
