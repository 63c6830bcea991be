from __future__ import annotations

from typing import Any

import anyio
import fastmcp
import pytest
from mcp import Client
from mcp.server import MCPServer
from mcp_types import ElicitResult, ToolListChangedNotification

import midcall
from midcall import ask, visit
from midcall.client import attach
from midcall.core.outcome import Accepted
from midcall.errors import Misuse
from tests.client.answerers import Answers
from tests.client.raw import Raw, Refusal, told
from tests.rounds import text

VISIT = {"mode": "url", "message": "Go", "url": "https://example.com/", "elicitationId": "a"}


def server() -> MCPServer:
    mcp = MCPServer("travel", log_level="ERROR")
    midcall.install(mcp)

    @mcp.tool()
    async def book() -> str:
        return f"{await ask('How many days?', int)} days"

    @mcp.tool()
    async def go() -> str:
        await visit("Go there", "https://example.com/")
        return "gone"

    return mcp


def three(asked: Any) -> Any:
    return Accepted(dict.fromkeys(asked.form.names, 3) if asked.form else None)


def refusing_once() -> Raw:
    async def handle(raw: Raw, call: dict[str, Any]) -> dict[str, Any]:
        if len(raw.calls()) == 1:
            raise Refusal(-32042, "first", {"elicitations": [VISIT]})
        return told()

    return Raw(handle)


@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
async def test_a_client_of_the_hosts_own_answers_on_every_version(mode: Any) -> None:
    answerer = Answers(three)
    async with attach(Client(server(), mode=mode), answerer) as client:
        assert text(await client.call_tool("book")) == "3 days"
        assert text(await client.call_tool("go")) == "gone"
    assert [asked.mode for asked in answerer.asked] == ["form", "url"]


async def test_it_declares_only_what_its_answerer_can_serve() -> None:
    async def handle(raw: Raw, call: dict[str, Any]) -> dict[str, Any]:
        return told()

    raw = Raw(handle)
    async with attach(Client(raw.transport()), Answers(modes=("form",))) as client:
        await client.call_tool("it")
    assert raw.calls("initialize")[0]["capabilities"]["elicitation"] == {"form": {}}


async def test_a_required_visit_is_made_and_the_existing_message_handler_still_gets_everything() -> None:
    raw = refusing_once()
    messages: list[Any] = []
    completed: list[tuple[str, bool]] = []

    async def handler(message: Any) -> None:
        messages.append(message)

    async def answer(asked: Any) -> Any:
        await raw._send({"method": "notifications/tools/list_changed"})
        await raw.complete("a")
        return Accepted(None)

    client = Client(raw.transport(), message_handler=handler)
    attach(client, Answers(answer), on_complete=lambda id, known: completed.append((id, known)))
    with anyio.fail_after(10):
        async with client:
            await client.call_tool("it")
    assert completed == [("a", True)]
    assert any(isinstance(message, ToolListChangedNotification) for message in messages)
    assert len(messages) == 2


async def test_a_client_that_is_connected_cannot_be_attached_to() -> None:
    async with Client(server()) as client:
        with pytest.raises(Misuse, match=r"already connected\. Call attach before you enter the client"):
            attach(client, Answers())


async def test_a_client_that_answers_already_cannot_be_attached_to() -> None:
    async def mine(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="cancel")

    client = Client(server(), elicitation_callback=mine)
    with pytest.raises(Misuse, match=r"already has a callback for questions\. Leave elicitation_callback out"):
        attach(client, Answers())
    attached = attach(Client(server()), Answers())
    with pytest.raises(Misuse, match="already has a callback for questions"):
        attach(attached, Answers())


async def test_an_object_that_is_not_a_client_is_reported() -> None:
    with pytest.raises(TypeError, match=r"takes an mcp.Client or a fastmcp.Client, and not MCPServer"):
        attach(server(), Answers())
    with pytest.raises(TypeError, match=r"needs a method answer\(asked\), and str has none"):
        attach(Client(server()), "yes")  # type: ignore[arg-type]


# --- FastMCP -----------------------------------------------------------------------------------


async def test_fastmcps_client_answers_too() -> None:
    fast = fastmcp.FastMCP("fast")
    midcall.install(fast)

    @fast.tool
    async def book() -> str:
        return f"{await ask('How many days?', int)} days"

    for mode in ("auto", "legacy"):
        async with attach(fastmcp.Client(fast, mode=mode), Answers(three)) as client:
            assert (await client.call_tool("book")).data == "3 days"
            with pytest.raises(Misuse, match="already connected"):
                attach(client, Answers())
    with pytest.raises(Misuse, match="already has a callback"):
        attach(client, Answers())


async def test_fastmcps_client_makes_required_visits_too() -> None:
    calls: list[int] = []
    mcp = MCPServer("needy", log_level="ERROR")
    installed = midcall.install(mcp)

    @mcp.tool()
    async def needy() -> str:
        calls.append(1)
        if len(calls) == 1:
            raise midcall.UrlElicitationRequired([midcall.Visit("Go", "https://example.com/", id="a")])
        return "done"

    completed: list[tuple[str, bool]] = []

    async def answer(asked: Any) -> Any:
        await installed.complete("a")
        return Accepted(None)

    client = attach(
        fastmcp.Client(mcp, mode="legacy"), Answers(answer), on_complete=lambda id, known: completed.append((id, known))
    )
    with anyio.fail_after(10):
        async with client:
            assert (await client.call_tool("needy")).structured_content == {"result": "done"}
    assert completed == [("a", True)]
    assert len(calls) == 2
