"""A decision on a page counts once, for exactly what the page showed, in one continuation of its call."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

import pytest
from mcp import Client, MCPError

from midcall import approve, ask, authorize, complete, once, secret
from midcall.portal.oauth import Provider
from midcall.stores import Store, open_store
from midcall.stores.base import Record
from midcall.stores.interactions import Ending, Interaction, Interactions
from midcall.stores.memory import Memory
from midcall.testing import Era, connect
from tests.contract.conftest import ALL, place
from tests.kinds import server_with
from tests.portal.oauth.authorization_server import CLIENT, authorization_server
from tests.portal.sites import Visitor
from tests.rounds import accept, raw_call, text
from tests.server.codes import KEYS, shown
from tests.server.people import TOKEN, WITH_URLS, Act, Person, connects, fills, installed, presses

pytestmark = pytest.mark.usefixtures("both_modes")

WITHIN = 60.0


@pytest.fixture(autouse=True)
async def in_time() -> AsyncIterator[None]:
    """A call that hangs fails its test."""
    async with asyncio.timeout(WITHIN):
        yield


def in_turn(*acts: Act) -> Act:
    """One person who does something else on each page."""
    left = list(acts)

    async def act(visitor: Visitor, id: str) -> None:
        await left.pop(0)(visitor, id)

    return act


# --- several in one call -----------------------------------------------------------------------


@pytest.mark.parametrize("era", WITH_URLS)
@pytest.mark.parametrize("decisions", ["accept decline", "decline accept", "accept accept"])
async def test_equal_approvals_one_after_the_other_are_two_decisions(era: Era, decisions: str) -> None:
    async def tool() -> str:
        first = await approve("Pay ACME", {"amount": 40})
        second = await approve("Pay ACME", {"amount": 40})
        return f"{first} {second} {await ask('Why?', str)}"

    buttons = decisions.split()
    person = Person(in_turn(*map(presses, buttons)))
    async with installed(tool) as (server, _), connect(server, person, era=era) as client:
        result = shown(await client.call_tool("tool", {}))
    assert result == f"{buttons[0] == 'accept'} {buttons[1] == 'accept'} x"
    assert len({asked.url for asked in person.asked if asked.mode == "url"}) == 2


@pytest.mark.parametrize("era", WITH_URLS)
async def test_equal_approvals_at_the_same_time_are_two_decisions(era: Era) -> None:
    async def tool() -> str:
        both = await asyncio.gather(*(approve("Pay ACME", {"amount": 40}) for _ in range(2)))
        return f"{sorted(both)} {await ask('Why?', str)}"

    person = Person(in_turn(presses("accept"), presses("decline")))
    async with installed(tool) as (server, _), connect(server, person, era=era) as client:
        assert shown(await client.call_tool("tool", {})) == "[False, True] x"
    assert len({asked.url for asked in person.asked if asked.mode == "url"}) == 2


@pytest.mark.parametrize("era", WITH_URLS)
async def test_many_approvals_with_one_message_are_all_asked_for(era: Era) -> None:
    async def tool() -> str:
        return str([await approve("Pay ACME", {"amount": amount}) for amount in (1, 2, 3)])

    person = Person(in_turn(presses("accept"), presses("decline"), presses("accept")))
    async with installed(tool) as (server, _), connect(server, person, era=era) as client:
        assert shown(await client.call_tool("tool", {})) == "[True, False, True]"
    assert len({asked.url for asked in person.asked}) == 3


# --- complete ----------------------------------------------------------------------------------


@pytest.mark.parametrize("era", WITH_URLS)
@pytest.mark.parametrize("button", ["accept", "decline"])
async def test_completing_the_visit_to_an_approval_decides_nothing(era: Era, button: str) -> None:
    async def tool() -> str:
        return str(await approve("Pay ACME", {"amount": 40}))

    async def act(visitor: Visitor, id: str) -> None:
        assert await complete(id) is False
        await presses(button)(visitor, id)
        assert await complete(id) is False

    async with installed(tool) as (server, _), connect(server, Person(act), era=era) as client:
        assert shown(await client.call_tool("tool", {})) == str(button == "accept")


async def test_completing_the_visit_to_a_secret_enters_nothing() -> None:
    async def tool() -> str:
        return str(len(await secret("github", "A token")))

    async def act(visitor: Visitor, id: str) -> None:
        assert await complete(id) is False
        await fills(TOKEN)(visitor, id)

    async with installed(tool) as (server, _), connect(server, Person(act)) as client:
        assert shown(await client.call_tool("tool", {})) == str(len(TOKEN))


# --- one continuation ------------------------------------------------------------------------


class Shop:
    """Tools that need a decision, then an answer, and then do something once."""

    def __init__(self) -> None:
        self.done: list[str] = []

    async def act(self, note: str) -> str:
        self.done.append(note)
        return f"done {note}"

    async def pay(self) -> str:
        if not await approve("Pay ACME", {"amount": 40}):
            return "not paid"
        return await once("act", self.act, await ask("A note?", str))

    async def read(self) -> str:
        token = await secret("github", "A token")
        return await once("act", self.act, f"{await ask('A note?', str)} {len(token)}")

    async def list(self) -> str:
        token = await authorize("acme")
        return await once("act", self.act, f"{await ask('A note?', str)} {len(token) > 0}")


Tool = Literal["pay", "read", "list"]
REFUSED = "^This request was already continued with other answers"


@asynccontextmanager
async def decided(
    shop: Shop, tool: Tool, *stores: Store, **how: Any
) -> AsyncGenerator[tuple[list[Client], Any, str, Any]]:
    """A call of this tool at the first of some replicas, after the user has decided on its page.

    Yields the replicas, the round before the decision with the key of its visit, and the round after it.
    """
    async with AsyncExitStack() as stack:
        acme = await stack.enter_async_context(authorization_server())
        provider = Provider.discover("acme", issuer=acme.url, client_id=CLIENT[0], client_secret=CLIENT[1])
        clients: list[Client] = []
        for store in stores:
            made = installed(getattr(shop, tool), store=cast("Any", store), providers=[provider], **how)
            server, _ = await stack.enter_async_context(made)
            clients.append(await stack.enter_async_context(connect(server)))
        before = await raw_call(clients[0], tool, {})
        [(key, request)] = before["inputRequests"].items()
        acts: dict[Tool, Act] = {"pay": presses("accept"), "read": fills(TOKEN), "list": connects(acme)}
        await visit(acts[tool], request["params"]["url"])
        yield clients, before, key, await go(clients[0], tool, before, key, AGREED)


AGREED = {"action": "accept"}
DECLINED = {"action": "decline"}


async def visit(act: Act, url: str) -> None:
    await Person(act)._visit(url)  # pyright: ignore[reportPrivateUsage]


async def go(client: Client, tool: str, round: Any, key: str, answer: Any) -> dict[str, Any]:
    return await raw_call(client, tool, {}, state=round["requestState"], answers={key: answer})


def note_key(round: Any) -> str:
    [key] = round["inputRequests"]
    return key


@pytest.fixture(params=ALL)
async def two_stores(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
    """A store of each kind, as two replicas open it."""
    async with place(request.param, tmp_path) as url:
        one = open_store(url)
        stores = (one, one if request.param == "memory" else open_store(url))
        yield stores
        for store in stores:
            await store.close()


@pytest.mark.parametrize("tool", ["pay", "read", "list"])
async def test_a_decision_is_used_by_one_continuation(two_stores: tuple[Store, Store], tool: Tool) -> None:
    shop = Shop()
    async with decided(shop, tool, *two_stores) as (clients, before, key, after):
        note = note_key(after)
        first = await go(clients[0], tool, after, note, accept(answer="a"))
        assert text(first).startswith("done a")
        for client in clients:
            assert text(await go(client, tool, after, note, accept(answer="a"))) == text(first), "the same again"
            for other in (accept(answer="b"), DECLINED):
                with pytest.raises(MCPError, match=REFUSED):
                    await go(client, tool, after, note, other)
            again = await go(client, tool, before, key, AGREED)
            assert note_key(again) == note
            with pytest.raises(MCPError, match=REFUSED):
                await go(client, tool, before, key, DECLINED)
            with pytest.raises(MCPError, match=REFUSED):
                await go(client, tool, again, note, accept(answer="c"))
    assert len(shop.done) == 1


@pytest.mark.parametrize("tool", ["pay", "read", "list"])
async def test_of_many_forks_at_the_same_time_one_uses_the_decision(
    two_stores: tuple[Store, Store], tool: Tool
) -> None:
    shop = Shop()
    async with decided(shop, tool, *two_stores) as (clients, _, _, after):
        forks = [go(clients[n % 2], tool, after, note_key(after), accept(answer=f"n{n}")) for n in range(6)]
        results = await asyncio.gather(*forks, return_exceptions=True)
    assert len([each for each in results if isinstance(each, dict) and text(each).startswith("done")]) == 1
    refused = [each for each in results if isinstance(each, MCPError)]
    assert len(refused) == 5
    assert len(shop.done) == 1


@pytest.mark.parametrize("tool", ["pay", "read", "list"])
async def test_with_shared_keys_a_decision_does_not_count_in_another_store(
    tool: Tool, caplog: pytest.LogCaptureFixture
) -> None:
    shop = Shop()
    async with decided(shop, tool, Memory(), Memory()) as ((here, elsewhere), before, key, after):
        for state, name, answer in ((after, note_key(after), accept(answer="b")), (before, key, AGREED)):
            refused = await go(elsewhere, tool, state, name, answer)
            assert refused["isError"]
            assert "cannot verify what the user decided" in text(refused)
        assert "must share a store" in caplog.text
        assert text(await go(here, tool, after, note_key(after), accept(answer="a"))).startswith("done a")
    assert len(shop.done) == 1


class Failover:
    """A replica's view of a store that has lost the turns of the other replica, as a failover may."""

    def __init__(self, store: Store) -> None:
        self._store: Any = store
        self._turns: Any = Memory()
        self._own: set[str] = set()

    async def create(self, record: Record) -> tuple[Record, bool]:
        if record.kind != "turn":
            return await self._store.create(record)
        self._own.add(record.id)
        return await self._turns.create(record)

    def __getattr__(self, name: str) -> Any:
        def act(first: Any = None, *more: Any, **named: Any) -> Any:
            id = first.id if isinstance(first, Record) else first
            store = self._turns if isinstance(id, str) and id in self._own else self._store
            return getattr(store, name)(*(() if first is None else (first,)), *more, **named)

        return act


@pytest.mark.parametrize("tool", ["pay", "read", "list"])
async def test_a_fork_changes_nothing_even_if_the_store_has_forgotten_which_states_were_continued(
    two_stores: tuple[Store, Store], tool: Tool
) -> None:
    shop = Shop()
    three = [cast("Store", Failover(store)) for store in (*two_stores, two_stores[1])]
    async with decided(shop, tool, *three, live=False) as (clients, before, key, after):
        note = note_key(after)
        assert text(await go(clients[0], tool, after, note, accept(answer="a"))).startswith("done a")
        fork = await go(clients[1], tool, after, note, accept(answer="b"))
        assert fork["isError"], "it arrives at the same effect with other arguments"
        earlier = await go(clients[2], tool, before, key, AGREED)
        if tool == "pay":
            assert "already used" in text(earlier)
        else:  # what is in the vault may be read again in the same turn
            earlier = await go(clients[2], tool, earlier, note_key(earlier), accept(answer="c"))
        assert earlier["isError"]
    assert len(shop.done) == 1


async def test_with_shared_keys_and_no_store_there_is_no_decision_to_use_twice() -> None:
    shop = Shop()
    server = server_with(shop.pay, shop.read, shop.list, keys=KEYS)
    async with connect(server, Person(presses("accept"))) as client:
        for tool in ("pay", "read", "list"):
            assert (await client.call_tool(tool, {})).is_error
    assert shop.done == []


# --- in the store ------------------------------------------------------------------------------


def page(**changes: Any) -> Interaction:
    now = time.time()
    given: dict[str, Any] = {"message": "Pay", "about": {"details": {"To": "ACME"}}, **changes}
    return Interaction("approve", "ada", "Bank", "Chat", created=now, expires=now + 60, **given)


async def test_one_of_many_uses_a_decision_and_only_the_same_turn_may_do_so_again(
    two_stores: tuple[Store, Store],
) -> None:
    one, other = map(Interactions, two_stores)
    shown, now = page(), time.time()
    await one.begin("id", shown)
    await one.finish("id", Ending("accept", now, None, shown.digest), owner="ada")
    uses = [each.use("id", shown.digest, owner="ada", turn=3, again=False, now=now) for each in (one, other) * 4]
    assert sorted(await asyncio.gather(*uses)) == [False] * 7 + [True]
    for store in (one, other):
        assert await store.use("id", shown.digest, owner="ada", turn=3, again=True, now=now)
        assert not await store.use("id", shown.digest, owner="ada", turn=4, again=True, now=now)
        assert await store.was_used("id", shown.digest)
        assert not await store.was_used("id", page(message="Pay more").digest)


@pytest.mark.parametrize("field", ["kind", "owner", "server", "client", "message", "about"])
def test_the_digest_covers_everything_that_a_page_shows(field: str) -> None:
    other: dict[str, Any] = {"kind": "secret", "about": {"details": {"To": "Eve"}}}
    assert replace(page(), **{field: other.get(field, "x")}).digest != page().digest
    assert page(about={"a": 1, "b": 2}).digest != page(about={"b": 2, "a": 1}).digest


@pytest.mark.parametrize("action", ["decline", "cancel", None])
async def test_what_was_not_accepted_cannot_be_used(action: Any) -> None:
    interactions, shown = Interactions(Memory()), page()
    await interactions.begin("id", shown)
    if action is not None:
        await interactions.finish("id", Ending(action, time.time(), None, shown.digest), owner="ada")
    assert not await interactions.use("id", shown.digest, owner="ada", turn=1, again=True, now=time.time())


async def test_what_was_accepted_for_something_else_cannot_be_used() -> None:
    interactions, shown, other = Interactions(Memory()), page(), page(message="Pay more")
    await interactions.begin("id", shown)
    await interactions.finish("id", Ending("accept", time.time(), None, shown.digest), owner="ada")
    now = time.time()
    assert not await interactions.use("id", other.digest, owner="ada", turn=1, again=True, now=now)
    assert not await interactions.use("id", shown.digest, owner="bob", turn=1, again=True, now=now)
    assert not await interactions.use("another", shown.digest, owner="ada", turn=1, again=True, now=now)
