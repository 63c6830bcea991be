"""The seal of our states, beside whatever seals those of others."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp_types import CallToolRequestParams, CallToolResult, InputRequiredResult, TextContent

import midcall
from midcall import Question, ask, confirm
from midcall.core.journal import Journal, encode
from midcall.server.sealing import Seal
from midcall.testing import connect
from tests.kinds import KINDS, Kind, server_with
from tests.rounds import raw_call, text


@pytest.mark.parametrize("kind", KINDS)
def test_every_server_has_exactly_one_seal_afterwards(kind: Kind) -> None:
    """The server's own boundary is inside it: no state is sealed twice."""
    server = server_with(kind=kind)
    lowlevel = getattr(server, "_lowlevel_server", None) or getattr(server, "_mcp_server", server)
    seals = [type(each) for each in lowlevel.middleware if isinstance(each, (Seal, RequestStateBoundary))]
    assert seals == [Seal]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_state_of_ours_is_marked_and_sealed(kind: Kind) -> None:
    async def tool() -> str:
        return await ask("Name?", str)

    async with connect(server_with(tool, kind=kind)) as client:
        state: str = (await raw_call(client, "tool", {}))["requestState"]
    assert state.startswith("midcall.")
    assert "Name?" not in state


# --- states of others ------------------------------------------------------------------------

SHARED = RequestStateSecurity(keys=["s" * 32])


async def own_rounds(ctx: Context) -> str | InputRequiredResult:
    return ctx.request_state or InputRequiredResult(request_state="written by hand")


async def own_rounds_below(ctx: ServerRequestContext[Any], params: CallToolRequestParams) -> Any:
    if params.request_state is None:
        return InputRequiredResult(request_state="written by hand")
    return CallToolResult(content=[TextContent(text=params.request_state)])


def bare() -> Server[Any]:
    return Server("test", on_call_tool=own_rounds_below)


def plain() -> Server[Any]:
    server = bare()
    midcall.install(server)
    return server


def with_boundary_before() -> Server[Any]:
    server = bare()
    server.middleware.append(RequestStateBoundary(SHARED, default_audience="test"))
    midcall.install(server)
    return server


def with_boundary_after() -> Server[Any]:
    server = bare()
    midcall.install(server)
    server.middleware.append(RequestStateBoundary(SHARED, default_audience="test"))
    return server


def with_policy() -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("test", request_state_security=SHARED)
    server.add_tool(own_rounds)
    midcall.install(server, keys="k" * 32)
    return server


@pytest.mark.parametrize("make", [plain, with_boundary_before, with_boundary_after, with_policy])
async def test_rounds_written_by_hand_go_on_at_another_worker_as_they_do_without_midcall(make: Any) -> None:
    async with connect(make()) as one, connect(make()) as two:
        state: str = (await raw_call(one, "own_rounds", {}))["requestState"]
        assert text(await raw_call(two, "own_rounds", {}, state=state)) == "written by hand"
    assert (state == "written by hand") is (make is plain)
    assert not state.startswith("midcall.")


async def test_a_key_of_one_process_seals_them_too_as_the_server_does_without_midcall() -> None:
    async with connect(server_with(own_rounds)) as one, connect(server_with(own_rounds)) as two:
        state: str = (await raw_call(one, "own_rounds", {}))["requestState"]
        assert text(await raw_call(one, "own_rounds", {}, state=state)) == "written by hand"
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await raw_call(two, "own_rounds", {}, state=state)


# --- neither passes for the other ------------------------------------------------------------


def approved(question: Question[bool]) -> str:
    """A journal in which somebody has said yes to this."""
    journal = Journal(call="forged", rounds=1)
    journal.settle(question.base, True, question.message[:16], 1)
    return encode(journal)


async def passes_on(ctx: Context, state: str) -> str | InputRequiredResult:
    """A tool whose own state is the caller's to choose."""
    if ctx.request_state is None and state:
        return InputRequiredResult(request_state=state)
    return f"deleted {await confirm('Delete all?')}"


async def test_a_state_of_others_that_is_sealed_with_the_same_key_is_none_of_ours_by_its_mark() -> None:
    arguments = {"state": approved(Question("Delete all?", bool))}
    async with connect(server_with(passes_on)) as client:
        sealed: str = (await raw_call(client, "passes_on", arguments))["requestState"]
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await raw_call(client, "passes_on", arguments, state=f"midcall.{sealed}")


async def test_a_state_of_ours_without_its_mark_is_none_of_the_tools() -> None:
    async with connect(server_with(passes_on)) as client:
        sealed: str = (await raw_call(client, "passes_on", {"state": ""}))["requestState"]
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await raw_call(client, "passes_on", {"state": ""}, state=sealed.removeprefix("midcall."))
