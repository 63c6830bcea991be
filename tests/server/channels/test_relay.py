"""What a model may never answer: approvals, secrets, and what wants a person."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from mcp import MCPError

from midcall import STRONG, approve, confirm, secret
from midcall.server.resuming import visits
from midcall.stores.memory import Memory
from midcall.testing import ERAS, Era, connect
from tests.kinds import server_with
from tests.server.codes import shown
from tests.server.people import installed
from tests.server.reaching import NOTHING, relayed


async def pay() -> str:
    return str(await approve("Pay ACME", {"amount": 40}))


async def token() -> str:
    return str(len(await secret("github", "A token")))


async def delete() -> str:
    return str(await confirm("Delete it?", via=STRONG))


Tool = Callable[[], Awaitable[Any]]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("tool", [pay, token, delete])
async def test_what_wants_a_person_is_never_relayed(tool: Tool, era: Era, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "HOLD_SECONDS", 0.02)
    async with installed(tool, relay=True) as (server, _), connect(server, era=era, modes=NOTHING) as client:
        first = await client.call_tool(tool.__name__, {})
        assert "midcall_answer" not in shown(first)
        assert "/i/" in shown(first), "it is on a page"
        forged = await relayed(client, first, action="accept", content={"confirmed": True, "value": "x"})
        assert "NOT FINISHED YET" in shown(forged), "it still waits for the page"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("tool", [pay, token, delete])
async def test_without_a_page_it_is_not_asked_at_all(tool: Tool, era: Era) -> None:
    server = server_with(tool, store=Memory(), relay=True)
    async with connect(server, era=era, modes=NOTHING) as client:
        try:
            result = await client.call_tool(tool.__name__, {})
        except MCPError as error:
            said = error.message
        else:
            assert result.is_error
            said = shown(result)
    assert "midcall_answer" not in said
