"""How our states are sealed, beside states that other code seals."""

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
from midcall.server.resuming.sealing import Seal
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
async def test_our_states_are_marked_and_sealed(kind: Kind) -> None:
    async def tool() -> str:
        return await ask("Name?", str)

    async with connect(server_with(tool, kind=kind)) as client:
        state: str = (await raw_call(client, "tool", {}))["requestState"]
    assert state.startswith("midcall.")
    assert "Name?" not in state


# --- states of others ------------------------------------------------------------------------

SHARED = RequestStateSecurity(keys=["s key of the tests: 0123456789abcdef"])


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
    midcall.install(server, keys="k key of the tests: 0123456789abcdef")
    return server


@pytest.mark.parametrize("make", [plain, with_boundary_before, with_boundary_after, with_policy])
async def test_rounds_written_by_hand_resume_at_another_worker_as_without_midcall(make: Any) -> None:
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


async def test_a_foreign_state_sealed_with_the_same_key_is_not_ours_even_with_our_mark() -> None:
    arguments = {"state": approved(Question("Delete all?", bool))}
    async with connect(server_with(passes_on)) as client:
        sealed: str = (await raw_call(client, "passes_on", arguments))["requestState"]
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await raw_call(client, "passes_on", arguments, state=f"midcall.{sealed}")


async def test_our_state_without_its_mark_is_not_the_tools() -> None:
    async with connect(server_with(passes_on)) as client:
        sealed: str = (await raw_call(client, "passes_on", {"state": ""}))["requestState"]
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await raw_call(client, "passes_on", {"state": ""}, state=sealed.removeprefix("midcall."))


# --- our envelope ----------------------------------------------------------------------------

REFUSED = "Invalid or expired requestState"
KEY = "k key of the tests: 0123456789abcdef"
NAMES: dict[str, Any] = {"first": {"action": "accept", "content": {"answer": "Ada"}}}


async def named() -> str:
    return await ask("Name?", str, key="first")


async def state_of(client: Any) -> str:
    return (await raw_call(client, "named", {}))["requestState"]


async def refused(client: Any, state: str) -> None:
    with pytest.raises(MCPError, match=REFUSED) as caught:
        await raw_call(client, "named", {}, state=state, answers=NAMES)
    assert caught.value.error.data == {"reason": "invalid_request_state"}


async def test_a_state_opens_at_no_server_of_another_name_that_has_the_same_keys(
    caplog: pytest.LogCaptureFixture,
) -> None:
    here, there = server_with(named, keys=KEY), server_with(named, keys=KEY, name="elsewhere")
    async with connect(here) as client, connect(there) as elsewhere:
        await refused(elsewhere, await state_of(client))
    assert "it belongs to another user, server, tool, or other arguments" in caplog.text


async def test_a_state_that_was_changed_anywhere_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    async with connect(server_with(named, keys=KEY)) as client:
        state = await state_of(client)
        for position in range(len("midcall."), len(state), 7):
            changed = "A" if state[position] != "A" else "B"
            await refused(client, state[:position] + changed + state[position + 1 :])
        for rubbish in ("midcall.", "midcall.v1.", "midcall.v1.AAAA", state + "=", "midcall.é", state[:-9]):
            await refused(client, rubbish)
    assert "it was changed, or sealed with another key" in caplog.text


class SignsOnly:
    """A codec that others can read; what it opens may be anything that was signed."""

    def seal(self, payload: bytes) -> str:
        return payload.hex()

    def unseal(self, token: str) -> bytes:
        return bytes.fromhex(token)


async def test_a_codec_that_only_signs_shows_nobody_whose_a_state_is() -> None:
    server: MCPServer[Any] = MCPServer(
        "test", request_state_security=RequestStateSecurity(codec=SignsOnly(), bind_principal=lambda ctx: "ada")
    )
    server.add_tool(named)
    midcall.install(server)
    async with connect(server) as client:
        first, second = await state_of(client), await state_of(client)
        header = bytes.fromhex(first.removeprefix("midcall."))[:57]
        assert b"ada" not in header
        assert header[-32:] != bytes.fromhex(second.removeprefix("midcall."))[25:57]
        for payload in (b"", b"\x01", b"\x02" + header[1:], header[:-1]):
            await refused(client, f"midcall.{payload.hex()}")


@pytest.mark.parametrize("whose", [ZeroDivisionError, 7], ids=["raises", "no text"])
async def test_a_principal_that_fails_lets_no_state_out_and_none_in(
    whose: Any, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[Any] = ["ada"]

    def principal(ctx: object) -> Any:
        if isinstance(told[-1], type):
            raise told[-1]
        return told[-1]

    async with connect(server_with(named, keys=KEY, principal=principal)) as client:
        state = await state_of(client)
        told.append(whose)
        await refused(client, state)
        with pytest.raises(MCPError, match="Internal error"):
            await state_of(client)
        told.append("ada")
        assert text(await raw_call(client, "named", {}, state=state, answers=NAMES))
    assert "principal=" in caplog.text


class Fails(SignsOnly):
    works = True

    def seal(self, payload: bytes) -> str:
        if not self.works:
            raise OSError("no entropy")
        return super().seal(payload)

    def unseal(self, token: str) -> bytes:
        if not self.works:
            raise OSError("no entropy")
        return super().unseal(token)


async def test_a_codec_that_fails_lets_no_state_out_and_none_in(caplog: pytest.LogCaptureFixture) -> None:
    server: MCPServer[Any] = MCPServer("test", request_state_security=RequestStateSecurity(codec=(codec := Fails())))
    server.add_tool(named)
    midcall.install(server)
    async with connect(server) as client:
        state = await state_of(client)
        codec.works = False
        await refused(client, state)
        with pytest.raises(MCPError, match="Internal error"):
            await state_of(client)
    assert "no entropy" in caplog.text
