"""Who hears that a visit is done: the client that was asked, and nobody else, after the store has it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client
from mcp.server.connection import Connection
from mcp_types import ElicitCompleteNotification

from midcall import StoreError, complete, visit
from midcall.server.installation import installations
from midcall.stores.interactions import digest_of
from midcall.stores.memory import Memory
from midcall.testing import ERAS, Era, Script, run
from tests.kinds import server_with
from tests.server.people import TOKEN, Person, fills, installed, read_repo

KEYS = ["k key of the tests: 0123456789abcdef"]
SECONDS = 5


async def go() -> str:
    """A tool that sends its user somewhere, and does not wait."""
    return await visit("Go", lambda id: f"https://example.com/{id}")


class Ears:
    """What a client hears of visits that are done."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._told = asyncio.Event()

    async def __call__(self, message: Any) -> None:
        if isinstance(message, ElicitCompleteNotification):
            await self.hear(message.params.elicitation_id)

    async def hear(self, id: str) -> None:
        self.heard.append(id)
        self._told.set()

    async def listen(self) -> None:
        async with asyncio.timeout(SECONDS):
            await self._told.wait()


@asynccontextmanager
async def asked(server: Any, ears: Ears, answers: Any = ("go", "go"), mode: Any = "legacy") -> AsyncIterator[Client]:
    async with Client(server, mode=mode, elicitation_callback=Script(answers), message_handler=ears) as client:
        yield client


async def id_of(client: Client) -> str:
    return (await client.call_tool("go")).content[0].text  # pyright: ignore[reportAttributeAccessIssue]


def installation_of(server: Any) -> Any:
    [found] = [each for each in installations if each.server is server._lowlevel_server]
    return found


async def test_only_the_client_that_was_asked_is_notified() -> None:
    server, mine, theirs = server_with(go), Ears(), Ears()
    async with asked(server, mine) as client, asked(server, theirs) as other:
        id, another = await id_of(client), await id_of(other)
        assert await complete(id)
        await mine.listen()
        assert await complete(another)
        await theirs.listen()
    assert (mine.heard, theirs.heard) == ([id], [another])


@pytest.mark.parametrize("where", ["here", "there"])
async def test_all_clients_that_were_sent_to_one_visit_are_notified_and_it_is_watched_once(where: str) -> None:
    async def shared() -> str:
        return await visit("Go", "https://example.com/x", id="for-all")

    store, mine, theirs, nobody = Memory(), Ears(), Ears(), Ears()
    here, there = (server_with(shared, keys=KEYS, store=store) for _ in range(2))
    goes = ["go"] * 20
    async with asked(here, mine, goes) as client, asked(here, theirs, goes) as other, asked(here, nobody):
        for each in (client, other) * 10:
            await each.call_tool("shared")
        assert len([task for task in asyncio.all_tasks() if "Visits._watch" in repr(task.get_coro())]) == 1
        assert await installation_of(here if where == "here" else there).complete("for-all")
        await mine.listen()
        await theirs.listen()
        await other.call_tool("shared")  # by now, all earlier notifications have arrived
    assert (mine.heard, theirs.heard[:1], nobody.heard) == (["for-all"], ["for-all"], [])


async def test_the_client_is_notified_when_another_replica_reports_completion() -> None:
    store, ears = Memory(), Ears()
    here, there = (server_with(go, keys=KEYS, store=store) for _ in range(2))
    async with asked(here, ears) as client:
        id = await id_of(client)
        assert await installation_of(there).complete(id)
        await ears.listen()
        assert not await installation_of(here).complete(id)
    assert ears.heard == [id]


async def test_an_answered_page_notifies_the_client_that_was_sent_there() -> None:
    ears, person = Ears(), Person(fills(TOKEN))
    async with installed(read_repo) as (server, _), asked(server, ears, person) as client:
        await client.call_tool("read_repo", {})
        await ears.listen()
    [visited] = person.asked
    assert ears.heard == [visited.url.rpartition("/")[2]]


async def test_no_client_is_notified_before_the_store_has_the_outcome() -> None:
    pending: list[bool] = []

    class Careful(Ears):
        async def hear(self, id: str) -> None:
            record = await installation_of(server).records.read(digest_of(id))
            pending.append(record is None or record.pending)
            await super().hear(id)

    ears, server = Careful(), server_with(go, store=Memory())
    async with asked(server, ears) as client:
        await complete(await id_of(client))
        await ears.listen()
    assert pending == [False]


async def test_an_outcome_that_could_not_be_stored_notifies_nobody() -> None:
    class Failing(Memory):
        async def complete(self, *_: Any, **__: Any) -> Any:
            raise StoreError("the database is away")

    ears, server = Ears(), server_with(go, store=Failing())
    async with asked(server, ears) as client:
        id = await id_of(client)
        with pytest.raises(StoreError, match="away"):
            await installation_of(server).complete(id)
        await id_of(client)  # by now, all earlier notifications have arrived
    assert ears.heard == []


async def test_a_version_without_the_notification_is_sent_none() -> None:
    ears, server = Ears(), server_with(go, store=Memory())
    async with asked(server, ears, mode="auto") as client:
        assert client.protocol_version == "2026-07-28"
        assert await installation_of(server).complete(await id_of(client))
        await id_of(client)
    assert ears.heard == []


async def test_a_notification_that_cannot_be_sent_is_logged_and_fails_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(*_: Any, **__: Any) -> None:
        raise OSError("the line is dead")

    async with asked(server_with(go, store=Memory()), Ears()) as client:
        id = await id_of(client)
        with caplog.at_level(logging.WARNING, "midcall.visits"):
            monkeypatch.setattr(Connection, "notify", fails)
            assert await complete(id)
            monkeypatch.undo()
        assert (await client.call_tool("go")).is_error is False
    assert "its client could not be notified" in caplog.text
    assert id not in caplog.text


async def test_a_client_that_has_left_does_no_harm() -> None:
    server = server_with(go, store=Memory())
    async with asked(server, Ears()) as client:
        id = await id_of(client)
    assert await complete(id)


# --- several servers in one process --------------------------------------------------------------


class Stumbling(Memory):
    """A store that is away once, and comes back."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    async def complete(self, *args: Any, **how: Any) -> Any:
        self.asked += 1
        if self.asked == 1:
            raise StoreError("the lights went out")
        return await super().complete(*args, **how)


async def twice() -> str:
    id = await visit("Go", "https://example.com/x")
    return f"{await complete(id)} {await complete(id)}"


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_a_server_that_knows_nothing_of_the_visit_is_not_asked(era: Era) -> None:
    elsewhere = Stumbling()
    other = server_with(go, keys=KEYS, store=elsewhere)
    assert (await run(server_with(twice), "twice", {}, ["go"], era=era)).text == "True False"
    assert elsewhere.asked == 0
    del other


async def test_a_visit_begun_by_another_replica_completes_at_the_server_whose_store_has_it() -> None:
    shared, elsewhere = Memory(), Stumbling()
    other = server_with(go, keys=KEYS, store=elsewhere)
    asking, hearing = (server_with(go, keys=KEYS, store=shared) for _ in range(2))
    async with asked(asking, ears := Ears()) as client:
        id = await id_of(client)
        for each in installations:  # as if it had been asked in another process
            each.visits._known.clear()  # pyright: ignore[reportPrivateUsage]
        assert await complete(id)
        assert not await complete(id)
        await ears.listen()
    assert ears.heard == [id]
    assert elsewhere.asked == 0
    del other, hearing


async def test_a_visit_that_nobody_knows_is_done_for_all() -> None:
    servers = [server_with(go, keys=KEYS, store=Memory()) for _ in range(2)]
    assert await complete("order-1")
    assert all([await installation_of(server).visits.knows("order-1") for server in servers])


@pytest.mark.parametrize("era", ERAS)
async def test_a_tool_completes_a_visit_on_its_own_server_even_if_another_has_that_id(era: Era) -> None:
    async def before_it_has_begun() -> str:
        return str(await complete("order-1"))

    other = server_with(go, keys=KEYS, store=Memory())
    assert await installation_of(other).complete("order-1")
    server = server_with(before_it_has_begun, keys=KEYS, store=Memory())
    assert (await run(server, "before_it_has_begun", era=era)).text == "True"
    assert await installation_of(server).visits.knows("order-1")
