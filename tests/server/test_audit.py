"""The audit trail of a server: each event once, on every version and channel, live and replayed."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from mcp import MCPError
from mcp_types import INVALID_PARAMS, ElicitResult

from midcall import Declined, Question, approve, ask, ask_all, authorize, choose, confirm, secret
from midcall.audit import Audit, Event
from midcall.core import journal
from midcall.core.caller import Caller
from midcall.errors import InvalidAnswer, TimedOut
from midcall.portal.app import Portal
from midcall.portal.oauth import Provider
from midcall.server.resuming import sealing
from midcall.server.running import beat, handover, replies
from midcall.stores import open_store
from midcall.stores.interactions import short
from midcall.stores.memory import Memory
from midcall.testing import ERAS, Era, connect
from tests.auditing import Trail
from tests.calling import Elicit, asking, begin, finish, proceed, retry
from tests.contract.conftest import place
from tests.kinds import KINDS, Kind, server_with
from tests.portal.oauth.authorization_server import CLIENT, authorization_server
from tests.rounds import raw_call
from tests.server.codes import go_on, shown
from tests.server.frames import Frame, host
from tests.server.people import TOKEN, WITH_URLS, Person, connects, fills, installed, presses
from tests.server.reaching import NOTHING, do, relayed, sends
from tests.server.running.replicas import replicas

ANSWERS = {"How many days?": 3, "Sure?": Declined(), "Which seat?": "w"}
MODERN = "2026-07-28"


async def book() -> str:
    days = await ask("How many days?", int)
    sure = await confirm("Sure?")
    seat = await choose("Which seat?", {"w": "Window", "a": "Aisle"}, key="seat-of-ada")
    return f"{days} {sure} {seat}"


def channel_of(era: Era) -> str:
    return "round" if era == MODERN else "push"


# --- questions -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_each_question_is_asked_and_answered_once(era: Era, kind: Kind, either: str) -> None:
    trail = Trail()
    async with connect(server_with(book, kind=kind, name="travel", audit=trail.audit), ANSWERS, era=era) as client:
        assert shown(await client.call_tool("book", {})) == "3 False w"
    via = channel_of(era)
    assert await trail.told("question") == [
        f"question.asked {via}",
        f"question.answered {via} accept",
        f"question.asked {via}",
        f"question.declined {via} decline",
        f"question.asked {via}",
        f"question.answered {via} accept",
    ]
    replays = 3 if either == "replay" and era == MODERN else 0
    assert await trail.told("call") == ["call.replayed"] * replays
    await trail.call()
    events = await trail.events("question")
    assert [event.question for event in events[::2]] == [event.question for event in events[1::2]]
    assert {(event.server, event.tool, bool(event.client)) for event in events} == {("travel", "book", True)}


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("era", ERAS)
async def test_an_answer_that_does_not_fit_is_rejected_once(era: Era) -> None:
    async def tool() -> str:
        try:
            await ask("How many days?", int, attempts=2)
        except InvalidAnswer:
            return await ask("Why not?", str)
        return "no"

    answers = {"How many days?": ElicitResult(action="accept", content={"answer": "many"}), "Why not?": "because"}

    def answer(asked: Any) -> Any:
        return next(answers[message] for message in answers if asked.message.startswith(message))

    trail = Trail()
    async with connect(server_with(tool, audit=trail.audit), answer, era=era) as client:
        assert shown(await client.call_tool("tool", {})) == "because"
    via = channel_of(era)
    assert await trail.told("question") == [
        f"question.asked {via}",
        f"question.answered {via} accept",
        "question.rejected",
        f"question.answered {via} accept",
        "question.rejected",
        f"question.asked {via}",
        f"question.answered {via} accept",
    ]


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("era", ERAS)
async def test_a_question_that_nobody_answers_in_time_is_declined_once(era: Era) -> None:
    async def tool() -> str:
        try:
            return await ask("Anybody?", str, timeout=0.2)
        except TimedOut:
            return await ask("And now?", str)

    async def answer(asked: Any) -> str:
        late = time.time() + 0.2
        while asked.message == "Anybody?" and time.time() <= late:  # a push is cancelled meanwhile
            await asyncio.sleep(0.01)
        return "yes"

    trail = Trail()
    async with connect(server_with(tool, audit=trail.audit), answer, era=era) as client:
        assert shown(await client.call_tool("tool", {})) == "yes"
    via = channel_of(era)
    assert await trail.told("question") == [
        f"question.asked {via}",
        f"question.declined {via} timeout",
        f"question.asked {via}",
        f"question.answered {via} accept",
    ]


@pytest.mark.parametrize("era", ERAS)
async def test_the_first_decline_counts_for_all_that_were_asked_together(era: Era) -> None:
    async def tool() -> str:
        return str(await ask_all(Question("One?", int), Question("Two?", int)))

    trail = Trail()
    answers = {"One?": Declined(), "Two?": Declined()}
    async with connect(server_with(tool, audit=trail.audit), answers, era=era) as client:
        assert (await client.call_tool("tool", {})).is_error
    told = await trail.told()
    assert [line.split()[0] for line in told] == ["question.asked"] * 2 + ["question.declined"] * 2


async def test_adopted_questions_are_in_the_trail_too() -> None:
    async def tool(elicit: Elicit) -> str:
        return await elicit("a?")

    for means in KINDS:
        trail = Trail()
        async with connect(asking(means, tool, audit=trail.audit), {"a?": "1"}) as client:
            assert shown(await client.call_tool("tool", {})) == "1"
        assert await trail.told() == ["question.asked round", "question.answered round accept"]


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("era", WITH_URLS)
async def test_a_form_on_a_page_has_the_events_of_the_page_and_of_the_visit(era: Era) -> None:
    trail = Trail()
    person = Person(sends(answer=3))

    async def tool() -> str:
        return f"{await ask('How many days?', int)} {await ask('And nights?', int)}"

    async with installed(tool, audit=trail.audit) as (server, portal):
        async with connect(server, person, era=era, modes=["url"]) as client:
            assert shown(await client.call_tool("tool", {})) == "3 3"
        me = portal.owner_of(Caller())
    via = channel_of(era)
    once = [f"question.asked {via}", f"question.answered {via} accept", "page.answered page"]
    told = [line for line in await trail.told() if line not in ("call.replayed",)]
    assert sorted(told) == sorted([*once, "question.asked page", "question.answered page accept"] * 2)
    await trail.call()
    pages = await trail.events("page")
    assert [event.page for event in pages] == [short(urlsplit(asked.url).path[3:]) for asked in person.asked]
    assert {event.user for event in await trail.events()} == {me}


@pytest.mark.usefixtures("either")
@pytest.mark.usefixtures("brief_holds")
@pytest.mark.parametrize("era", ERAS)
async def test_a_link_has_codes_and_the_call_keeps_its_digest(era: Era) -> None:
    async def tool() -> str:
        return f"{await ask('How many days?', int)} {await ask('And nights?', int)}"

    trail = Trail()
    async with installed(tool, audit=trail.audit) as (server, _), connect(server, era=era, modes=NOTHING) as client:
        result = await client.call_tool("tool", {})
        for number in (3, 4):
            await do(result, sends(answer=number))
            result = await go_on(client, result)
        assert shown(result) == "3 4"
    told = [line for line in await trail.told() if line != "call.replayed"]
    asked, answered = ["question.asked link", "code.issued"], ["page.answered page", "question.answered link accept"]
    assert [line for line in told if line != "code.used"] == [*asked, *answered] * 2
    assert told.count("code.used") == 2, "who brings the code may come before or after the run continues"
    await trail.call()


@pytest.mark.parametrize("era", ERAS)
async def test_an_app_is_a_channel_like_the_others(era: Era) -> None:
    async def tool() -> str:
        return str(await ask("How many days?", int))

    trail = Trail()
    async with host(server_with(tool, store=Memory(), audit=trail.audit), era=era) as client:
        call = asyncio.create_task(client.call_tool("tool", {}))
        frame = Frame(client)
        await frame.finds({}, tool="tool")
        await frame.answers(3)
        assert shown(await call) == "3"
        assert await trail.told() == ["question.asked app", "question.answered app accept"]
        await trail.call()
        await frame.tool(action="look", nonce="n" * 24)
    assert (await trail.told())[2:] == ["app.refused unknown"]


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("era", ERAS)
async def test_what_the_model_relays_is_marked_as_that(era: Era) -> None:
    async def tool() -> str:
        return str(await ask("How many days?", int, via=["relay"]))

    trail = Trail()
    server = server_with(tool, store=Memory(), relay=True, audit=trail.audit)
    async with connect(server, era=era, modes=NOTHING) as client:
        first = await client.call_tool("tool", {})
        assert shown(await relayed(client, first, action="accept", content={"answer": 3})) == "3"
    told = [line for line in await trail.told() if line != "call.replayed"]
    assert told == ["question.asked relay", "code.issued", "code.used", "question.answered relay accept"]
    await trail.call()


async def test_a_default_is_marked_as_that() -> None:
    async def tool() -> str:
        return str(await ask("How many days?", int, default=1))

    trail = Trail()
    async with connect(server_with(tool, audit=trail.audit), modes=NOTHING) as client:
        assert shown(await client.call_tool("tool", {})) == "1"
    assert await trail.told() == ["question.asked default", "question.answered default accept"]


async def test_answers_are_included_only_if_that_is_asked_for() -> None:
    seen: list[Event] = []
    trail = Audit(seen.append, answers=True)
    async with connect(server_with(book, audit=trail), ANSWERS) as client:
        await client.call_tool("book", {})
    await trail.flush()
    answered = [event.details["answer"] for event in seen if event.name == "question.answered"]
    assert [list(answer.values()) for answer in answered] == [[3], ["w"]]


async def test_a_call_that_cannot_ask_is_in_the_trail() -> None:
    trail = Trail()
    async with connect(server_with(book, audit=trail.audit), era="2025-11-25", modes=NOTHING) as client:
        assert (await client.call_tool("book", {})).is_error
    assert await trail.told() == ["call.failed NoChannel"]


# --- secrets, accounts and approvals ---------------------------------------------------------------


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("era", WITH_URLS)
async def test_a_secret_is_stored_and_read_by_its_user(era: Era) -> None:
    async def tool() -> str:
        return str(len(await secret("github", "A token")))

    trail = Trail()
    async with installed(tool, audit=trail.audit) as (server, portal):
        async with connect(server, Person(fills(TOKEN)), era=era) as client:
            await client.call_tool("tool", {})
            first = await trail.call()
            await client.call_tool("tool", {})
        me = portal.owner_of(Caller())
    events = await trail.events("secret")
    assert [event.name for event in events] == ["secret.stored", "secret.read", "secret.read"]
    assert [event.call == first for event in events] == [True, True, False]
    assert {(event.user, event.details["name"]) for event in events} == {(me, "github")}


async def test_a_secret_that_its_check_rejects_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page may be served by a replica that has not met the check."""
    given = ["wrong-secret", TOKEN]

    async def tool() -> str:
        return str(len(await secret("github", "A token", check=lambda value: None if value == TOKEN else "is wrong")))

    async def act(visitor: Any, id: str) -> None:
        await fills(given.pop(0))(visitor, id)

    trail = Trail()
    async with installed(tool, audit=trail.audit) as (server, portal):
        monkeypatch.setattr(portal, "add_check", lambda *_: None)
        async with connect(server, Person(act)) as client:
            await client.call_tool("tool", {})
    assert await trail.told("secret") == [
        "secret.stored page",
        "secret.deleted rejected",
        "secret.stored page",
        "secret.read",
    ]
    await trail.call()


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("era", WITH_URLS)
@pytest.mark.parametrize("button", ["accept", "decline", "cancel"])
async def test_an_approval_names_who_approved_what(era: Era, button: str) -> None:
    async def pay() -> str:
        approved = await approve("Pay ACME", {"To": "ACME", "Amount": "40 EUR"})
        return f"{approved} {await ask('Why?', str)}"

    trail = Trail()
    async with installed(pay, audit=trail.audit) as (server, portal):
        async with connect(server, Person(presses(button)), era=era) as client:
            assert shown(await client.call_tool("pay", {})) == f"{button == 'accept'} x"
        me = portal.owner_of(Caller())
    events = await trail.events("approval")
    if button == "accept":
        assert [event.name for event in events] == ["approval.granted", "approval.used"]
        assert len({event.details["digest"] for event in events}) == 1
    else:
        assert [(event.name, event.outcome) for event in events] == [("approval.declined", button)]
    assert {event.user for event in events} == {me}
    await trail.call()


@pytest.mark.parametrize("era", WITH_URLS)
async def test_an_account_is_connected_used_and_refreshed(era: Era, monkeypatch: pytest.MonkeyPatch) -> None:
    async def tool() -> str:
        return str(len(await authorize("acme")) > 0)

    trail, clock = Trail(), [time.time()]
    async with authorization_server() as acme:
        provider = Provider.discover("acme", issuer=acme.url, client_id=CLIENT[0], client_secret=CLIENT[1])
        how: dict[str, Any] = {"providers": [provider], "audit": trail.audit, "clock": lambda: clock[0]}
        async with installed(tool, **how) as (server, portal):
            async with connect(server, Person(connects(acme)), era=era) as client:
                await client.call_tool("tool", {})
                call = await trail.call()
                clock[0] += 10 * 365 * 24 * 3600
                assert shown(await client.call_tool("tool", {})) == "True"
                me = portal.owner_of(Caller())
    events = await trail.events("account")
    names = ["account.connected", "account.used", "account.refreshed", "account.used"]
    assert [event.name for event in events] == names
    assert [event.call == call for event in events] == [True, True, False, False]
    assert {(event.user, event.details["provider"]) for event in events} == {(me, "acme")}


async def test_a_page_that_nobody_finishes_is_declined() -> None:
    async def nothing(visitor: Any, id: str) -> None: ...

    async def pay() -> str:
        return str(await approve("Pay ACME", {"Amount": "40 EUR"}))

    trail = Trail()
    async with installed(pay, ttl=0.05, audit=trail.audit) as (server, _), connect(server, Person(nothing)) as client:
        assert (await client.call_tool("pay", {})).is_error
    assert await trail.told("page") == ["page.declined timeout"]


# --- refused ---------------------------------------------------------------------------------------


async def name() -> str:
    return await ask("Name?", str)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_forged_or_changed_state_is_refused(kind: Kind) -> None:
    trail = Trail()
    async with connect(server_with(name, kind=kind, audit=trail.audit)) as client:
        state: str = (await raw_call(client, "name", {}))["requestState"]
        for forged in ("midcall.", "midcall.AAAA", state[:-4] + "AAAA", state + "A"):
            with pytest.raises(MCPError):
                await raw_call(client, "name", {}, state=forged, answers={})
    assert (await trail.told())[1:] == ["state.refused changed"] * 4


async def test_a_state_that_the_sdk_refuses_is_in_the_trail_too() -> None:
    trail = Trail()
    async with connect(server_with(name, audit=trail.audit)) as client:
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await raw_call(client, "name", {}, state="written by hand", answers={})
    assert await trail.told() == ["state.refused unknown"]


async def test_an_expired_state_and_one_of_another_call_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    trail = Trail()
    async with connect(server_with(name, audit=trail.audit)) as client:
        state: str = (await raw_call(client, "name", {}))["requestState"]
        with pytest.raises(MCPError):
            await raw_call(client, "name", {"other": "arguments"}, state=state, answers={})
        now = time.time
        monkeypatch.setattr(sealing.time, "time", lambda: now() + 10_000)
        with pytest.raises(MCPError):
            await raw_call(client, "name", {}, state=state, answers={})
        monkeypatch.undo()
    assert await trail.told() == ["question.asked round", "state.refused foreign", "state.refused expired"]
    await trail.call()


@pytest.mark.usefixtures("either")
async def test_other_answers_to_a_continued_state_are_refused() -> None:
    async def tool(elicit: Elicit) -> str:
        return f"{await elicit('a?')} {await elicit('b?')}"

    trail = Trail()
    async with connect(asking("mcpserver", tool, audit=trail.audit)) as client:
        first = await begin(client, "tool")
        second = await proceed(client, first, {"a?": "1"})
        with pytest.raises(MCPError, match="already continued with other answers"):
            await retry(client, first, {"a?": "2"})
        await proceed(client, first, {"a?": "1"})  # the same again changes nothing
        assert await finish(client, second, {"b?": "2"}) == "1 2"
    told = [line for line in await trail.told() if line != "call.replayed"]
    assert told == [
        "question.asked round",
        "question.answered round accept",
        "question.asked round",
        "state.refused continued",
        "question.answered round accept",
    ]
    await trail.call()


async def test_a_state_of_another_version_is_refused_as_it_is_without_an_audit_trail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trail = Trail()
    async with connect(server_with(name, audit=trail.audit)) as client:
        monkeypatch.setattr(journal, "_MARK", f"midcall/{journal.VERSION + 1} ")
        state: str = (await raw_call(client, "name", {}))["requestState"]
        monkeypatch.undo()
        for arguments in ({}, {"other": "arguments"}):
            with pytest.raises(MCPError) as caught:
                await raw_call(client, "name", arguments, state=state, answers={})
            assert caught.value.code == INVALID_PARAMS
    assert (await trail.told())[1:] == ["state.refused InvalidJournal", "state.refused foreign"]


async def test_other_answers_to_a_state_in_the_store_are_refused_for_its_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replies, "STATE_BYTES", 100)
    trail = Trail()
    async with connect(server_with(name, store=Memory(), audit=trail.audit)) as client:
        first = await begin(client, "name")
        assert await finish(client, first, {"Name?": "Ada"}) == "Ada"
        with pytest.raises(MCPError, match="already continued"):
            await retry(client, first, {"Name?": "Bob"})
    assert (await trail.told())[-1] == "state.refused continued"
    await trail.call()


async def test_a_record_that_was_sealed_with_other_keys_is_refused() -> None:
    store, trail = Memory(), Trail()
    async with installed(name, store=store) as (server, _), connect(server, modes=NOTHING) as client:
        first = await client.call_tool("name", {})
    portal = Portal(audit=trail.audit)
    theirs = server_with(name, store=store, keys="another key, which is long enough to be one", portal=portal)
    async with connect(theirs, modes=NOTHING) as client:
        with pytest.raises(MCPError, match="failed a security check"):
            await go_on(client, first)
    assert await trail.told() == ["record.refused changed", "code.refused RecordRefused"]


async def test_a_secret_that_was_moved_to_another_name_ends_the_call() -> None:
    async def tool() -> str:
        return await secret("github", "A token")

    trail, store = Trail(), Memory()
    async with installed(tool, store=store, audit=trail.audit) as (server, portal):
        async with connect(server, Person(fills(TOKEN))) as client:
            await client.call_tool("tool", {})
            me = portal.owner_of(Caller())
            [value] = await store.values(me)
            await store.put(replace(value, sealed=portal.vault.seal(me, "another", {"value": TOKEN}).encode()))
            assert (await client.call_tool("tool", {})).is_error
    assert (await trail.told())[-1] == "call.failed VaultLocked"


async def test_an_answer_that_cannot_be_read_is_refused() -> None:
    trail = Trail()
    async with connect(server_with(name, audit=trail.audit)) as client:
        first = await raw_call(client, "name", {})
        [key] = first["inputRequests"]
        with pytest.raises(MCPError):
            await raw_call(client, "name", {}, state=first["requestState"], answers={key: {"action": "perhaps"}})
    assert await trail.told() == ["question.asked round", "state.refused MalformedAnswer"]
    await trail.call()


@pytest.mark.parametrize("era", ERAS)
async def test_a_wrong_code_is_refused_and_every_use_of_a_right_one_is_recorded(era: Era) -> None:
    trail = Trail()
    async with installed(name, audit=trail.audit) as (server, _), connect(server, era=era, modes=NOTHING) as client:
        first = await client.call_tool("name", {})
        await client.call_tool("midcall_continue", {"code": "not-a-code-of-any-call"})
        await do(first, sends(answer="Ada"))
        for _ in range(2):
            await go_on(client, first)
    codes = await trail.told("code")
    assert codes == ["code.issued", "code.refused", "code.used", "code.used"]


# --- replicas --------------------------------------------------------------------------------------


async def two_questions(replica: str, elicit: Elicit) -> str:
    return f"{await elicit('a?')} {await elicit('b?')}"


async def test_replicas_on_postgresql_write_one_trail_of_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handover, "BEAT_SECONDS", 0.05)
    monkeypatch.setattr(beat, "BEAT_SECONDS", 0.05)
    trail = Trail()
    async with place("postgres", tmp_path) as url:
        async with replicas(lambda: open_store(url), two_questions, audit=trail.audit) as (a, b, c):
            first = await begin(a.client, "tool")
            second = await proceed(b.client, first, {"a?": "1"})  # the answer travels to the run at a
            assert "call.replayed" not in await trail.told()
            with pytest.raises(MCPError, match="already continued with other answers"):
                await retry(c.client, first, {"a?": "2"})
            await a.stop()
            assert await finish(c.client, second, {"b?": "2"}) == "1 2"
            assert await finish(b.client, second, {"b?": "2"}) == "1 2"
    assert await trail.told() == [
        "question.asked round",
        "question.answered round accept",
        "question.asked round",
        "state.refused continued",
        "question.answered round accept",
        "call.replayed",
    ]
    await trail.call()
