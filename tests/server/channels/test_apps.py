"""The app channel: a client that shows MCP Apps, and cannot be asked, gets the form as an App."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID
from mcp.server.mcpserver import MCPServer

import midcall
from midcall import STRONG, Accepted, Question, ask, ask_all, can_ask, confirm, elicit, visit
from midcall.server.channels.apps import channel
from midcall.server.resuming import visits
from midcall.stores.memory import Memory
from midcall.testing import ERAS, Era, connect
from tests.kinds import KINDS, Kind, server_with
from tests.rounds import raw_call
from tests.server.channels.test_reach import Trip
from tests.server.codes import KEYS, code_of, go_on, shown
from tests.server.frames import APPS, NOTHING, Frame, host
from tests.server.people import installed
from tests.server.reaching import do, sends

FORM = "ui://midcall/form"


async def book(to: str = "") -> str:
    match await elicit(f"Tell me about the trip{to}", Trip):
        case Accepted(value=trip, via=via):
            return f"{trip.city} {trip.days} {via}"
        case other:
            return f"{type(other).__name__} {other.via}"


async def two() -> str:
    return f"{await ask('First?', int)} {await ask('Second?', str)}"


# --- shown while the call is held ---------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_a_form_that_is_shown_while_the_call_is_held_answers_that_call(kind: Kind, era: Era) -> None:
    async with host(server_with(book, kind=kind, store=Memory()), era=era) as client:
        call = asyncio.create_task(client.call_tool("book", {"to": " there"}))
        frame = Frame(client)
        asked = await frame.finds({"to": " there"}, tool="book")
        assert "Tell me about the trip there" in asked["html"]
        await frame.answers("Oslo", 3)
        assert shown(await call) == "Oslo 3 app"


@pytest.mark.parametrize(("action", "expected"), [("decline", "Declined app"), ("cancel", "Cancelled app")])
async def test_declining_in_the_form_declines_the_question(action: str, expected: str) -> None:
    async with host(server_with(book, store=Memory())) as client:
        call = asyncio.create_task(client.call_tool("book", {}))
        frame = Frame(client)
        await frame.finds({})
        assert (await frame.answers(action=action))["state"] == "done"
        assert shown(await call) == expected


@pytest.mark.parametrize("era", ERAS)
async def test_what_is_wrong_comes_back_to_the_fields_and_nothing_is_lost(era: Era) -> None:
    async with host(server_with(book, store=Memory()), era=era) as client:
        call = asyncio.create_task(client.call_tool("book", {}))
        frame = Frame(client)
        await frame.finds({})
        wrong = await frame.answers("O", 99)
        assert wrong["state"] == "asking"
        assert wrong["html"].count('aria-invalid="true"') == 2
        assert 'value="99"' in wrong["html"]
        assert "Days must be at most 30" in wrong["html"]
        await frame.answers("Oslo", 3)
        assert shown(await call) == "Oslo 3 app"


async def test_an_answer_that_only_the_tool_can_refuse_is_asked_for_again_in_the_same_frame() -> None:
    async with host(server_with(book, store=Memory())) as client:
        call = asyncio.create_task(client.call_tool("book", {}))
        frame = Frame(client)
        await frame.finds({})
        await frame.answers("Nowhere", 3)
        again = await frame.looks_on()
        assert "is not a place" in again["html"]
        assert 'value="3"' in again["html"], "what was right is still there"
        await frame.answers("Oslo", 3)
        assert shown(await call) == "Oslo 3 app"


@pytest.mark.parametrize("era", ERAS)
async def test_the_next_question_of_a_call_comes_to_the_same_frame(era: Era) -> None:
    async with host(server_with(two, store=Memory()), era=era) as client:
        call = asyncio.create_task(client.call_tool("two", {}))
        frame = Frame(client)
        assert "First?" in (await frame.finds({}))["html"]
        await frame.answers(7)
        assert "Second?" in (await frame.looks_on())["html"]
        await frame.answers("x")
        assert shown(await call) == "7 x"


async def test_questions_that_are_asked_together_come_one_after_the_other() -> None:
    async def tool() -> str:
        return str(await ask_all(Question("One?", int), Question("Two?", int)))

    async with host(server_with(tool, store=Memory())) as client:
        call = asyncio.create_task(client.call_tool("tool", {}))
        frame = Frame(client)
        assert "1 of 2" in (await frame.finds({}))["html"]
        second = await frame.answers(1)
        assert "Two?" in second["html"]
        assert "2 of 2" in second["html"]
        await frame.answers(2)
        assert shown(await call) == "(1, 2)"


async def test_after_a_decline_the_other_questions_of_ask_all_are_not_asked() -> None:
    async def tool() -> str:
        return str(await ask_all(Question("One?", int), Question("Two?", int)))

    async with host(server_with(tool, store=Memory())) as client:
        call = asyncio.create_task(client.call_tool("tool", {}))
        frame = Frame(client)
        await frame.finds({})
        assert (await frame.answers(action="decline"))["state"] == "done"
        assert "declined" in shown(await call)


async def test_numbers_that_a_host_writes_in_its_own_way_lead_to_the_call() -> None:
    async def pay(amount: float, big: int) -> str:
        return str(await confirm(f"Pay {amount}?"))

    async with host(server_with(pay, store=Memory())) as client:
        call = asyncio.create_task(client.call_tool("pay", {"amount": 30.0, "big": 2**60 + 1}))
        frame = Frame(client)
        await frame.finds({"big": float(2**60), "amount": 30})
        await frame.answers("yes")
        assert shown(await call) == "True"


# --- shown with the result ------------------------------------------------------------------------


@pytest.mark.usefixtures("never_shown")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_a_form_shown_with_the_result_answers_and_the_model_resumes(kind: Kind, era: Era) -> None:
    async with host(server_with(book, kind=kind, store=Memory()), era=era) as client:
        first = await client.call_tool("book", {})
        assert not first.is_error
        assert "NOT FINISHED YET" in shown(first)
        assert "Tell me about the trip" in shown(first)
        frame = Frame(client)
        assert (await frame.result(first))["state"] == "asking"
        done = await frame.answers("Oslo", 3, code=code_of(first))
        assert done["say"] == wording_for(code_of(first))
        assert shown(await go_on(client, first)) == "Oslo 3 app"


def wording_for(code: str) -> str:
    return f'I have filled in the form. Please continue: call midcall_continue with {{"code": "{code}"}}.'


@pytest.mark.usefixtures("never_shown")
@pytest.mark.parametrize("era", ERAS)
async def test_the_next_question_comes_with_the_next_result(era: Era) -> None:
    async with host(server_with(two, store=Memory()), era=era) as client:
        result = await client.call_tool("two", {})
        for answer in (7, "x"):
            frame = Frame(client)
            await frame.result(result)
            await frame.answers(answer)
            result = await go_on(client, result)
        assert shown(result) == "7 x"


@pytest.mark.usefixtures("never_shown")
async def test_the_nonce_is_in_no_text_and_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "midcall")
    async with host(server_with(book, store=Memory())) as client:
        first = await client.call_tool("book", {})
        frame = Frame(client)
        nonce = (await frame.result(first))["nonce"]
        await frame.answers("Oslo", 3)
        last = await go_on(client, first)
    assert len(nonce) == 29
    assert nonce not in shown(first) + shown(last) + caplog.text
    assert nonce not in (first.meta or {})["midcall/code"]


@pytest.mark.usefixtures("never_shown")
async def test_a_finished_form_is_marked_and_accepts_nothing_more() -> None:
    async with host(server_with(book, store=Memory())) as client:
        first = await client.call_tool("book", {})
        frame, kept = Frame(client), Frame(client, "another")
        await frame.result(first)
        await kept.result(first)
        await frame.answers("Oslo", 3)
        assert (await kept.answers("Rome", 9))["state"] == "done"
        assert shown(await go_on(client, first)) == "Oslo 3 app"
        again = await Frame(client).result(first)
        assert again["state"] == "done"
        assert "say" not in again, "the code was used: nobody is told to continue"


async def test_what_is_in_the_store_opens_nothing() -> None:
    store = Memory()
    async with host(server_with(book, store=store)) as client:
        call = asyncio.create_task(client.call_tool("book", {}))
        frame = Frame(client)
        nonce = (await frame.finds({}))["nonce"]
        records = list(store._records.values())  # pyright: ignore[reportPrivateUsage]
        assert {record.kind for record in records} == {"app", "form", "frame"}
        assert nonce not in repr(records)
        await frame.answers("Oslo", 3)
        await call


@pytest.mark.usefixtures("never_shown")
@pytest.mark.parametrize("where", ["memory", "sqlite"])
async def test_it_resumes_at_another_replica_and_after_a_restart(where: str, tmp_path: Path) -> None:
    store: Any = Memory() if where == "memory" else f"sqlite:///{tmp_path / 'midcall.db'}"
    async with host(server_with(book, store=store, keys=KEYS)) as one:
        first = await one.call_tool("book", {})
    async with host(server_with(book, store=store, keys=KEYS)) as two:
        frame = Frame(two)
        await frame.result(first)
        await frame.answers("Oslo", 3)
    async with host(server_with(book, store=store, keys=KEYS)) as three:
        assert shown(await go_on(three, first)) == "Oslo 3 app"


async def test_a_form_that_is_shown_but_not_answered_in_time_comes_with_the_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(visits, "HOLD_SECONDS", 0.2)
    async with host(server_with(book, store=Memory())) as client:
        call = asyncio.create_task(client.call_tool("book", {}))
        frame = Frame(client)
        nonce = (await frame.finds({}))["nonce"]
        first = await call
        assert (first.meta or {})["midcall/app"]["nonce"] == nonce, "what the user is typing into stays good"
        assert "say" in await frame.answers("Oslo", 3, code=code_of(first))
        assert shown(await go_on(client, first)) == "Oslo 3 app"


async def test_resuming_while_the_user_still_types_waits_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "APP_SECONDS", 0.02)
    async with host(server_with(book, store=Memory())) as client:
        first = await client.call_tool("book", {})
        frame = Frame(client)
        await frame.result(first)
        call = asyncio.create_task(go_on(client, first))
        assert not (await asyncio.wait({call}, timeout=0.1))[0]
        assert "say" not in await frame.answers("Oslo", 3, code=code_of(first)), "the call continues automatically"
        assert shown(await call) == "Oslo 3 app"


@pytest.mark.usefixtures("never_shown")
async def test_if_the_host_does_not_show_the_app_the_user_gets_a_link() -> None:
    async with installed(book) as (server, _), host(server) as client:
        first = await client.call_tool("book", {})
        assert "If no form appears" in shown(first)
        await do(first, sends(city="Oslo", days=3))
        assert shown(await go_on(client, first)) == "Oslo 3 link"
        assert (await Frame(client).result(first))["state"] == "done", "an App that comes now is too late"


@pytest.mark.usefixtures("never_shown")
async def test_the_address_is_repeated_until_the_user_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "HOLD_SECONDS", 0.02)
    async with installed(book) as (server, _), host(server) as client:
        first = await client.call_tool("book", {})
        second = await go_on(client, first)
        assert "shows it with this result" not in shown(second)
        assert re.findall(r"http\S+", shown(second)) == re.findall(r"http\S+", shown(first)), "it is the same page"
        await do(second, sends(city="Oslo", days=3))
        assert shown(await go_on(client, second)) == "Oslo 3 link"


@pytest.mark.usefixtures("never_shown")
async def test_an_app_that_comes_after_all_takes_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "HOLD_SECONDS", 0.02)
    async with installed(book) as (server, _), host(server) as client:
        first = await client.call_tool("book", {})
        second = await go_on(client, first)
        frame = Frame(client)
        await frame.result(first)
        await frame.answers("Oslo", 3)
        assert shown(await go_on(client, second)) == "Oslo 3 app"


@pytest.mark.usefixtures("never_shown")
async def test_a_deadline_holds_in_the_app_too(either: str) -> None:
    async def tool() -> str:
        return await ask("Name?", str, timeout=0.2)

    async with host(server_with(tool, store=Memory())) as client:
        first = await client.call_tool("tool", {})
        result = first
        async with asyncio.timeout(5):
            while "NOT FINISHED YET" in shown(result):
                result = await go_on(client, result)
        assert "in time" in shown(result)


# --- whose answer it is ---------------------------------------------------------------------------


async def test_two_calls_at_once_never_mix() -> None:
    async with host(server_with(book, store=Memory())) as client:
        calls = [asyncio.create_task(client.call_tool("book", {"to": to})) for to in (" A", " B")]
        for to, city in ((" B", "Bonn"), (" A", "Aden")):
            frame = Frame(client, to)
            assert f"the trip{to}" in (await frame.finds({"to": to}))["html"]
            await frame.answers(city, 3)
        assert [shown(await call) for call in calls] == ["Aden 3 app", "Bonn 3 app"]


async def test_equal_calls_each_have_their_own_form() -> None:
    async with host(server_with(book, store=Memory())) as client:
        calls = [asyncio.create_task(client.call_tool("book", {})) for _ in range(3)]
        nonces: set[str] = set()
        for city in ("Oslo", "Rome", "Bonn"):
            frame = Frame(client, city)
            await frame.finds({})
            nonces.add(frame.reply["nonce"])
            await frame.answers(city, 3)
        assert len(nonces) == 3
        assert sorted([shown(await call) for call in calls]) == ["Bonn 3 app", "Oslo 3 app", "Rome 3 app"]


async def test_a_frame_that_is_redrawn_finds_its_call_by_the_request_id() -> None:
    async with host(server_with(book, store=Memory()), era="2025-11-25") as client:
        call = asyncio.create_task(client.call_tool("book", {}))
        one = await Frame(client, "one").finds({})
        requests = [n for n in range(20) if await _finds(client, n)]
        assert len(requests) == 1
        again = Frame(client, "two")
        assert (await again.finds({}, request=requests[0]))["nonce"] == one["nonce"]
        await again.answers("Oslo", 3)
        assert shown(await call) == "Oslo 3 app"


async def _finds(client: Client, request: int) -> bool:
    frame = Frame(client, "probe")
    return (await frame.tool(action="find", arguments={}, frame="probe", request=request))["state"] == "asking"


@pytest.mark.parametrize(
    "forged",
    [
        {},
        {"nonce": None},
        {"nonce": "A" * 24},
        {"nonce": ["x"]},
        {"nonce": "x", "step": -1, "question": "0"},
        {"nonce": "x", "step": 10**30},
        {"nonce": "\ud800"},
        {"nonce": "x", "code": "\ud800"},
    ],
)
@pytest.mark.parametrize("action", ["look", "accept", "decline", "cancel", "other"])
@pytest.mark.usefixtures("never_shown")
async def test_a_nonce_that_was_made_up_opens_nothing(forged: dict[str, Any], action: str) -> None:
    async with host(server_with(book, store=Memory())) as client:
        await client.call_tool("book", {})
        result = await client.call_tool("midcall_app", {"action": action, "fields": [["f0", "x"]], **forged})
        assert result.is_error
        assert (result.meta or {})["midcall/app"]["state"] == "unknown"


@pytest.mark.usefixtures("never_shown")
async def test_the_nonce_of_one_user_opens_nothing_for_another() -> None:
    who = ["ada"]
    server = server_with(book, store=Memory(), principal=lambda ctx: who[0])
    async with host(server) as client:
        first = await client.call_tool("book", {})
        frame = Frame(client)
        who[0] = "bob"
        assert (await frame.result(first))["state"] == "unknown"
        frame.reply = {**(first.meta or {})["midcall/app"], "question": 0}
        assert (await frame.answers("Oslo", 3))["state"] == "unknown"
        who[0] = "ada"
        assert (await Frame(client).result(first))["state"] == "asking"


async def test_a_call_is_found_only_on_its_own_connection_where_nobody_is_signed_in() -> None:
    server = server_with(book, store=Memory())
    async with host(server) as ada, host(server) as eve:
        call = asyncio.create_task(ada.call_tool("book", {}))
        frame = Frame(ada)
        await frame.finds({})
        assert (await Frame(eve, "eve").tool(action="find", arguments={}, frame="eve"))["state"] == "waiting"
        await frame.answers("Oslo", 3)
        await call


async def test_a_user_who_is_signed_in_finds_their_call_on_any_connection_and_nobody_else_does() -> None:
    who = ["ada"]
    store = Memory()
    one, two = (server_with(book, store=store, keys=KEYS, principal=lambda ctx: who[0]) for _ in range(2))
    async with host(one) as there, host(two) as here:
        call = asyncio.create_task(there.call_tool("book", {}))
        frame = Frame(here)
        await frame.finds({})
        who[0] = "eve"
        assert (await Frame(there, "eve").tool(action="find", arguments={}, frame="eve"))["state"] == "waiting"
        who[0] = "ada"
        await frame.answers("Oslo", 3)
        assert shown(await call) == "Oslo 3 app"


async def test_a_question_that_is_answered_cannot_be_answered_again() -> None:
    async with host(server_with(two, store=Memory())) as client:
        call = asyncio.create_task(client.call_tool("two", {}))
        frame = Frame(client)
        asked = await frame.finds({})
        await frame.answers(7)
        frame.reply = asked
        assert (await frame.answers(8))["state"] == "done"
        await frame.looks_on()
        await frame.answers("x")
        assert shown(await call) == "7 x"


@pytest.mark.usefixtures("never_shown")
async def test_an_expired_form_reports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with host(server_with(book, store=Memory(), state_ttl=60)) as client:
        first = await client.call_tool("book", {})
        frame = Frame(client)
        await frame.result(first)
        asked = frame.reply
        later = time.time() + 61
        monkeypatch.setattr(time, "time", lambda: later)
        assert (await frame.answers("O", 3))["state"] == "late"
        frame.reply = asked
        assert (await frame.answers("Oslo", 3))["state"] == "late"


async def test_a_call_that_was_given_up_is_found_no_more() -> None:
    async with host(server_with(book, store=Memory())) as client:
        call = asyncio.create_task(client.call_tool("book", {}))
        await Frame(client).finds({}, request="none")
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        assert (await Frame(client, "other").tool(action="find", arguments={}, frame="x"))["state"] == "waiting"


# --- who is told ----------------------------------------------------------------------------------


async def told(client: Client) -> tuple[dict[str, Any], list[str]]:
    tools = {tool.name: (tool.meta or {}).get("ui") for tool in (await client.list_tools()).tools}
    try:
        resources = [str(resource.uri) for resource in (await client.list_resources()).resources]
    except MCPError:
        resources = []
    return tools, resources


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_with_apps_learns_where_the_form_is(kind: Kind, era: Era) -> None:
    async with host(server_with(book, kind=kind, store=Memory()), era=era) as client:
        tools, resources = await told(client)
        assert tools["book"] == {"resourceUri": FORM}
        assert tools["midcall_continue"] == {"resourceUri": FORM}
        assert tools["midcall_app"] == {"resourceUri": FORM, "visibility": ["app"]}
        assert resources == [FORM]
        [content] = (await client.read_resource(FORM)).contents
        assert content.mime_type == APP_MIME_TYPE


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_client_with_apps_learns_that_there_are_resources(kind: Kind, mode: Any) -> None:
    server = server_with(book, kind=kind, store=Memory())
    for extensions, told_so in (([APPS], True), ([], False)):
        async with Client(getattr(server, "_mcp_server", server), mode=mode, extensions=extensions) as client:
            known = client.server_capabilities
            assert known is not None
            assert EXTENSION_ID in (known.extensions or {}) or not told_so
            assert known.resources is not None or not told_so


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("apps", "modes"), [(False, NOTHING), (True, ["form"]), (True, ["url"]), (False, ["form"])])
async def test_other_clients_learn_nothing_of_apps(kind: Kind, era: Era, apps: bool, modes: Any) -> None:
    server = server_with(book, kind=kind, store=Memory())
    async with connect(server, era=era, modes=modes, extensions=[APPS] if apps else []) as client:
        tools, resources = await told(client)
        assert "midcall_app" not in tools
        assert not any(tools.values())
        assert FORM not in resources


async def test_a_host_that_declares_nothing_gets_apps_if_the_author_forces_them() -> None:
    async with connect(server_with(book, store=Memory(), apps=True), modes=NOTHING) as client:
        assert (await told(client))[0]["book"] == {"resourceUri": FORM}
        call = asyncio.create_task(client.call_tool("book", {}))
        frame = Frame(client)
        await frame.finds({})
        await frame.answers("Oslo", 3)
        assert shown(await call) == "Oslo 3 app"
    async with connect(server_with(channels_of, store=Memory(), apps=True), modes=["form"]) as client:
        assert shown(await client.call_tool("channels_of", {})) == "round"


async def test_apps_can_be_switched_off() -> None:
    async with host(server_with(channels_of, store=Memory(), apps=False)) as client:
        assert "midcall_app" not in (await told(client))[0]
        assert shown(await client.call_tool("channels_of", {})) == ""


async def test_without_a_store_no_client_learns_of_apps() -> None:
    async with host(server_with(book)) as client:
        assert await told(client) == ({"book": None}, [])


async def test_a_tool_with_its_own_app_keeps_it_and_has_no_form() -> None:
    server: MCPServer[Any] = MCPServer("test")
    server.add_tool(book, meta={"ui": {"resourceUri": "ui://own/app"}, "own": 1})
    server.add_tool(two, meta={"own": 2})
    midcall.install(server, store=Memory())
    async with host(server) as client:
        with pytest.raises(MCPError, match="cannot show questions"):
            await client.call_tool("book", {})
        tools = {tool.name: tool.meta for tool in (await client.list_tools()).tools}
        assert tools["book"] == {"ui": {"resourceUri": "ui://own/app"}, "own": 1}
        assert tools["two"] == {"ui": {"resourceUri": FORM}, "own": 2}
        with pytest.raises(MCPError, match="cannot show questions"):
            await client.call_tool("book", {})


async def channels_of() -> str:
    return " ".join(can_ask("form"))


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_can_be_asked_never_gets_an_app(era: Era) -> None:
    async with host(server_with(channels_of, book, store=Memory()), era=era, modes=["form"]) as client:
        assert "app" not in shown(await client.call_tool("channels_of", {}))


@pytest.mark.parametrize("era", ERAS)
async def test_the_app_comes_before_the_link(era: Era) -> None:
    async with installed(channels_of) as (server, _), host(server, era=era) as client:
        assert shown(await client.call_tool("channels_of", {})) == "app link"


async def test_a_strong_confirmation_takes_the_app() -> None:
    async def tool() -> str:
        return str(await confirm("Delete it?", via=STRONG))

    async with host(server_with(tool, store=Memory())) as client:
        call = asyncio.create_task(client.call_tool("tool", {}))
        frame = Frame(client)
        await frame.finds({})
        await frame.answers("yes")
        assert shown(await call) == "True"


async def test_a_visit_is_nothing_for_an_app() -> None:
    async def tool() -> str:
        return await visit("Look", "https://example.com/x")

    async with host(server_with(tool, store=Memory())) as client:
        with pytest.raises(MCPError, match="cannot show questions"):
            await client.call_tool("tool", {})


# --- the document -----------------------------------------------------------------------------------


async def test_the_document_loads_nothing() -> None:
    async with host(server_with(book, store=Memory())) as client:
        [content] = (await client.read_resource(FORM)).contents
        html: str = content.text  # type: ignore[union-attr]
    assert not re.search(r"""(src|href|url)\s*[=(]\s*["']?(https?:)?//""", html)
    assert "<link" not in html
    assert "@import" not in html
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy
    assert "unsafe" not in policy[1]
    assert policy[1].startswith("default-src &#39;none&#39;")


EVIL = """<img src=x onerror="alert(1)">'"><script>alert(2)</script></template>"""


async def test_all_that_the_server_says_is_escaped() -> None:
    async def tool() -> str:
        form = midcall.Form(
            midcall.Text("a", title=EVIL, description=EVIL, default=EVIL),
            midcall.Choice("b", {EVIL: EVIL, "y": "Y"}, title=EVIL),
        )
        return str(await ask(EVIL, form))

    async with host(server_with(tool, store=Memory(), name=EVIL)) as client:
        call = asyncio.create_task(client.call_tool("tool", {}))
        frame = Frame(client)
        html = (await frame.finds({}))["html"] + (await frame.answers("", 99))["html"]
        assert "<img" not in html
        assert "<script" not in html
        assert "<template" not in html
        await frame.answers(action="cancel")
        await call


# --- numbers that not every program can hold --------------------------------------------------------

ODD = (
    10**400,
    -(10**400),
    10**308 * 9,
    2**53 + 1,
    float("inf"),
    float("-inf"),
    float("nan"),
    5e-324,
    True,
    None,
    [[10**400]],
)


async def wander(steps: Any = None) -> str:
    return f"{await ask('Where to?', str)}"


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: str(odd)[:12])
async def test_no_number_in_the_arguments_of_our_tools_is_an_internal_error(
    odd: Any, caplog: pytest.LogCaptureFixture
) -> None:
    names = ("nonce", "step", "question", "fields", "frame", "tool", "request", "code", "arguments", "content")
    said: dict[str, Any] = {**dict.fromkeys(names, odd), "arguments": {"steps": odd}}
    async with host(server_with(wander, store=Memory(), relay=True)) as client:
        for action in ("find", "look", "accept", "decline", "cancel", odd):
            for nonce in (odd, "n0nce"):
                arguments = {**said, "action": action, "nonce": nonce}
                refused = await raw_call(client, "midcall_app", arguments)
                assert "midcall/app" in refused["_meta"]
        for tool in ("midcall_continue", "midcall_answer"):
            refused = await raw_call(client, tool, {"code": odd, "action": "accept", "content": {"answer": odd}})
            assert refused["isError"]
    assert "Traceback" not in caplog.text
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize(
    ("sent", "shown_as"),
    [(10**400, None), (float("inf"), None), (2**53 + 1, 2.0**53), (3.0, 3)],
    ids=["too large", "infinite", "rounded", "whole"],
)
async def test_an_app_finds_its_call_by_numbers_as_javascript_reads_them(sent: Any, shown_as: Any) -> None:
    """JSON.parse makes Infinity of what is too large, and JSON.stringify makes null of that."""
    async with host(server_with(wander, store=Memory())) as client:
        calling = asyncio.ensure_future(client.call_tool("wander", {"steps": sent}))
        frame = Frame(client)
        await frame.finds({"steps": shown_as})
        await frame.answers("Oslo")
        assert shown(await calling) == "Oslo"
