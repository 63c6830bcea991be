"""Someone who can write to the store but has no keys: raw drivers change rows, and no decision comes of it."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import asdict, dataclass, replace
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import asyncpg
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.server.request_state import AESGCMRequestStateCodec
from mcp_types import CallToolResult
from redis import Redis

import midcall
from midcall import RecordRefused, approve, ask, once, secret, visit
from midcall.portal.app import Portal
from midcall.server.installation import Installation, installation_on
from midcall.stores import Record, Store
from midcall.stores.interactions import Ending, Interaction
from midcall.stores.memory import Memory
from midcall.stores.seal import SealedStore
from midcall.testing import connect
from tests.calling import begin, finish
from tests.kinds import bare_server, server_with
from tests.portal.sites import Visitor
from tests.rounds import accept, raw_call, text
from tests.server.codes import go_on, shown

KEY, OTHER_KEY = "the first key of the tests, long enough", "another key of the tests, long enough"
SERVER = '["server", "bank", ""]'
COLUMNS = "id, kind, owner, data, created, expires, outcome, consumed, version"


# --- the vandal --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Vandal:
    """Reads and writes the rows of a store, past midcall."""

    url: str

    async def rows(self, kind: str) -> list[Record]:
        """The rows of this kind, oldest first."""
        found = await self._sqlite_rows() if self.url.startswith("sqlite") else await self._server_rows()
        return sorted((row for row in found if row.kind == kind), key=lambda row: row.created)

    async def write(self, row: Record) -> None:
        """Write this row over any other."""
        values = (row.id, row.kind, row.owner, row.data, row.created, row.expires, row.outcome, row.consumed)
        if self.url.startswith("sqlite"):
            with closing(sqlite3.connect(self.url.removeprefix("sqlite://"), isolation_level=None)) as raw:
                raw.execute("DELETE FROM midcall_records WHERE id = ?", (row.id,))
                raw.execute(
                    f"INSERT INTO midcall_records ({COLUMNS}) VALUES ({', '.join('?' * 9)})", (*values, row.version)
                )
        elif self.url.startswith("postgresql"):
            async with self._postgres() as (raw, table):
                marks = ", ".join(f"${place}" for place in range(1, 10))
                await raw.execute(f"DELETE FROM {table} WHERE id = $1", row.id)
                await raw.execute(f"INSERT INTO {table} ({COLUMNS}) VALUES ({marks})", *values, row.version)
        else:
            fields = {
                "h": f"{row.expires!r} {row.created!r} {row.owner}",
                "d": f"{len(row.kind)} {row.kind}{row.data}",
                "v": str(row.version),
                **({} if row.outcome is None else {"o": row.outcome}),
                **({"c": "1"} if row.consumed else {}),
            }
            with Redis.from_url(self.url.partition("?")[0]) as raw:
                key = f"{{{self._option('prefix')}}}:r:{row.id}"
                raw.delete(key)
                raw.hset(key, mapping=fields)

    def _option(self, name: str) -> str:
        return parse_qs(urlsplit(self.url).query)[name][0]

    async def _sqlite_rows(self) -> list[Record]:
        with closing(sqlite3.connect(self.url.removeprefix("sqlite://"))) as raw:
            return [Record(*row) for row in raw.execute(f"SELECT {COLUMNS} FROM midcall_records")]

    async def _server_rows(self) -> list[Record]:
        if self.url.startswith("postgresql"):
            async with self._postgres() as (raw, table):
                return [Record(*row) for row in await raw.fetch(f"SELECT {COLUMNS} FROM {table}")]
        with Redis.from_url(self.url.partition("?")[0], decode_responses=True) as raw:
            prefix = f"{{{self._option('prefix')}}}:r:"
            return [_from_redis(key.removeprefix(prefix), raw.hgetall(key)) for key in raw.scan_iter(f"{prefix}*")]

    @asynccontextmanager
    async def _postgres(self) -> AsyncIterator[tuple[Any, str]]:
        raw = await asyncpg.connect(self.url.partition("?")[0], timeout=5)
        try:
            yield raw, f'"{self._option("schema")}".midcall_records'
        finally:
            await raw.close()


def _from_redis(id: str, fields: dict[str, str]) -> Record:
    expires, created, owner = fields["h"].split(" ", 2)
    length, _, text = fields["d"].partition(" ")
    kind, data = text[: int(length)], text[int(length) :]
    times = (float(created), float(expires))
    return Record(id, kind, owner, data, *times, fields.get("o"), "c" in fields, int(fields.get("v", 1)))


@pytest.fixture
def url(shared_url: str) -> str:
    """Records of other processes, so no store in memory."""
    return shared_url


# --- any record --------------------------------------------------------------------------------


def sealed(store: Store, *keys: str, server: str = SERVER) -> SealedStore:
    return SealedStore(store, AESGCMRequestStateCodec(keys or (KEY,)), server)


async def decided(records: SealedStore, id: str, outcome: str, owner: str = "ada") -> None:
    """A record that was begun, decided and not used yet."""
    await records.create(Record(id, "approve", owner, json.dumps({"for": id}), 1000.0, 2000.0))
    assert await records.complete(id, outcome, owner=owner, now=1500.0) == "done"


Change = Callable[[Record, Record], Record]
CHANGES: dict[str, Change] = {
    "another kind": lambda row, other: replace(row, kind="form"),
    "another user": lambda row, other: replace(row, owner="eve"),
    "more time": lambda row, other: replace(row, expires=9000.0),
    "other data": lambda row, other: replace(row, data=row.data.replace("first", "other")),
    "data without a seal": lambda row, other: replace(row, data=row.data.partition(" ")[2]),
    "the data of another record": lambda row, other: replace(row, data=other.data),
    "another decision": lambda row, other: replace(row, outcome=(row.outcome or "").replace("no", "yes")),
    "a decision without a seal": lambda row, other: replace(row, outcome='"yes"'),
    "the decision of another record": lambda row, other: replace(row, outcome=other.outcome),
    "the seal of its data for its decision": lambda row, other: replace(row, outcome=f'{row.data.split()[0]} "yes"'),
    "another whole record": lambda row, other: replace(other, id=row.id),
    "an earlier version number": lambda row, other: replace(row, version=1),
}
JUNK: dict[str, Change] = {
    "a version that isn't a number": lambda row, other: replace(row, version=cast("int", "abc")),
    "a version that no number type holds": lambda row, other: replace(row, version=cast("int", "9" * 30)),
    "an end that isn't a time": lambda row, other: replace(row, expires=cast("float", "soon")),
}
"""What a database with types refuses itself."""


@pytest.mark.parametrize("change", [*CHANGES, *JUNK])
async def test_nothing_that_a_record_says_can_be_changed_without_the_keys(url: str, store: Store, change: str) -> None:
    records, vandal = sealed(store), Vandal(url)
    await decided(records, "first", '"no"')
    await decided(records, "second", '"yes"')
    row, other = sorted(await vandal.rows("approve"), key=lambda row: "second" in row.data)
    await vandal.write(row)
    read = await records.read("first")
    assert read is not None
    assert read.outcome == '"no"', "the vandal writes what it reads"
    if change in JUNK and url.startswith("postgresql"):
        with pytest.raises(asyncpg.DataError):
            await vandal.write(JUNK[change](row, other))
        return
    await vandal.write((CHANGES | JUNK)[change](row, other))
    for attempt in (
        lambda: records.read("first"),
        lambda: records.wait("first", 0.0),
        lambda: records.create(Record("first", "approve", "ada", "{}", 1600.0, 2000.0)),
        lambda: records.complete("first", '"yes"', owner=None, now=1600.0),
    ):
        with pytest.raises(RecordRefused):
            await attempt()
    assert set(await records.look(["first", "second"])) == {"second"}
    with pytest.raises(RecordRefused):
        await records.consume("first", owner=None, now=1600.0)


async def test_a_record_cannot_be_moved_to_another_server(url: str, store: Store) -> None:
    bank, shop = sealed(store), sealed(store, server='["server", "shop", ""]')
    await decided(bank, "order", '"yes"')
    assert await shop.read("order") is None
    await shop.create(Record("order", "approve", "ada", "{}", 1000.0, 2000.0))
    vandal = Vandal(url)
    [of_bank] = [row for row in await vandal.rows("approve") if row.outcome]
    [of_shop] = [row for row in await vandal.rows("approve") if not row.outcome]
    await vandal.write(replace(of_bank, id=of_shop.id))
    with pytest.raises(RecordRefused):
        await shop.read("order")


async def test_the_first_key_seals_and_all_keys_verify(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    await decided(sealed(store, KEY), "order", '"yes"')
    rotating = sealed(store, OTHER_KEY, KEY)
    found = await rotating.consume("order", owner="ada", now=1600.0)
    assert found is not None
    assert found.outcome == '"yes"'
    await decided(rotating, "later", '"yes"')
    assert await sealed(store, OTHER_KEY).read("later") is not None
    for records, id in ((sealed(store, KEY), "later"), (sealed(store, OTHER_KEY), "order")):
        for _ in range(3):
            with pytest.raises(RecordRefused, match="keys of this server"):
                await records.read(id)
    assert caplog.text.count("Replicas of a server need the same keys") == 2  # each once


async def test_a_record_can_be_rolled_back_only_to_what_it_was(url: str, store: Store) -> None:
    """What can't be detected: nothing outside the store remembers how often a record was used."""
    records, vandal = sealed(store), Vandal(url)
    await decided(records, "order", '"yes"')
    [earlier] = await vandal.rows("approve")
    assert await records.consume("order", owner="ada", now=1600.0) is not None
    assert await records.consume("order", owner="ada", now=1600.0) is None
    await vandal.write(earlier)
    again = await records.consume("order", owner="ada", now=1600.0)
    assert again is not None
    assert (again.data, again.outcome) == ('{"for": "order"}', '"yes"')


# --- a portal and a client ---------------------------------------------------------------------


class Bank:
    """A server with a portal, whose client has no elicitation: a link leads to the page, and a code back."""

    def __init__(self, store: str | Store) -> None:
        self.paid: list[int] = []
        self.portal = Portal()
        self.server = bare_server("mcpserver", self.pay, name="bank")
        self.installation = midcall.install(self.server, keys=KEY, store=store, portal=self.portal)

    async def pay(self, amount: int) -> str:
        if not await approve("Pay?", {"Amount": f"{amount} EUR"}):
            return "not paid"
        return await once("transfer", self.transfer, amount)

    async def transfer(self, amount: int) -> str:
        self.paid.append(amount)
        return f"paid {amount}"


@asynccontextmanager
async def bank_at(url: str) -> AsyncIterator[tuple[Bank, Client, Vandal]]:
    bank = Bank(url)
    try:
        async with asyncio.timeout(60), connect(bank.server, era="2025-11-25", modes=()) as client:
            yield bank, client, Vandal(url)
    finally:
        await bank.installation.close()


async def visit_page(result: CallToolResult, act: Callable[[Visitor, str], Awaitable[httpx2.Response]]) -> Any:
    """Open the page that this result leads to, and do something there."""
    found = re.search(r"(http://[^/\s]+)/i/([\w-]+)", shown(result))
    assert found, shown(result)
    async with httpx2.AsyncClient(base_url=found[1], timeout=30) as http:
        return await act(Visitor(http, "", found[1]), found[2])


async def press(result: CallToolResult, button: str) -> None:
    response = await visit_page(result, lambda visitor, id: visitor.press(id, button))
    assert response.status_code < 400, response.text


def accepting(row: Record) -> str:
    """What the page would have written, as far as one can tell from the row."""
    shown = Interaction(**json.loads(row.data[row.data.index("{") :]))
    return json.dumps(asdict(Ending("accept", row.created + 1, digest=shown.digest)))


async def test_without_a_vandal_the_bank_pays_what_was_approved(url: str) -> None:
    async with bank_at(url) as (bank, client, _):
        for amount, button in ((9, "accept"), (9000, "decline")):
            result = await client.call_tool("pay", {"amount": amount})
            await press(result, button)
            assert shown(await go_on(client, result)) == ("paid 9" if amount == 9 else "not paid")
        assert bank.paid == [9]


@pytest.mark.parametrize(
    "attack", ["writes an approval", "turns a decline into an approval", "copies an approval", "copies the whole row"]
)
async def test_a_decision_cannot_be_forged(
    url: str, attack: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIDCALL_LIVE", "0")  # else the run reads an honest decision before anyone can change it
    async with bank_at(url) as (bank, client, vandal):
        honest = await client.call_tool("pay", {"amount": 9})
        await press(honest, "accept")
        [approved] = await vandal.rows("approve")
        result = await client.call_tool("pay", {"amount": 9000})
        if attack == "turns a decline into an approval":
            await press(result, "decline")
        [row] = [row for row in await vandal.rows("approve") if row.id != approved.id]
        seal, _, _ = (row.outcome or "").rpartition(" {")
        forged = {
            "writes an approval": replace(row, outcome=accepting(row), version=2),
            "turns a decline into an approval": replace(row, outcome=f"{seal} {accepting(row)}"),
            "copies an approval": replace(row, outcome=approved.outcome, version=2),
            "copies the whole row": replace(approved, id=row.id),
        }
        await vandal.write(forged[attack])
        ended = await go_on(client, result)
        assert ended.is_error
        assert "failed a security check" in shown(ended)
        assert shown(await go_on(client, honest)) == "paid 9"
        assert bank.paid == [9]
    assert "was not written with the keys of this server" in caplog.text
    assert "9000" not in caplog.text


async def test_a_page_that_was_changed_in_the_store_shows_and_accepts_nothing(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Show 9 EUR on the page, and have 9,000 approved."""
    async with bank_at(url) as (bank, client, vandal):
        result = await client.call_tool("pay", {"amount": 9000})
        [row] = await vandal.rows("approve")
        honest = await visit_page(result, lambda visitor, id: visitor.controls(id))
        await vandal.write(replace(row, data=row.data.replace("9000 EUR", "9 EUR")))
        response = await visit_page(result, lambda visitor, id: visitor.open(id))
        assert response.status_code == 409
        assert "cannot be trusted" in response.text
        assert "EUR" not in response.text
        response = await visit_page(result, lambda visitor, id: visitor.post(f"/i/{id}", {**honest, "do": "accept"}))
        assert response.status_code == 409
        await vandal.write(row)
        await press(result, "decline")
        assert shown(await go_on(client, result)) == "not paid"
        assert bank.paid == []
    assert "was not written with the keys of this server" in caplog.text


async def test_codes_and_kept_journals_cannot_be_exchanged(url: str) -> None:
    async with bank_at(url) as (bank, client, vandal):
        small, large = [await client.call_tool("pay", {"amount": amount}) for amount in (9, 9000)]
        await press(small, "decline")
        await press(large, "accept")
        first, second = await vandal.rows("code")
        await vandal.write(replace(first, data=second.data))
        with pytest.raises(MCPError, match="failed a security check"):
            await go_on(client, small)
        await vandal.write(replace(second, id=first.id))
        with pytest.raises(MCPError, match="failed a security check"):
            await go_on(client, small)
        await vandal.write(first)
        assert shown(await go_on(client, small)) == "not paid"
        assert shown(await go_on(client, large)) == "paid 9000"
        assert bank.paid == [9000], "what the user has approved, once"


@pytest.mark.parametrize("forged", ["once", "turn"])
async def test_the_results_of_an_effect_and_of_a_turn_cannot_be_forged(url: str, forged: str) -> None:
    """A process died after the effect: another replica finds the results in the store."""
    ran: list[str] = []

    async def order() -> str:
        article = await ask("What shall I order?", str)
        return await once("order", place_order, article)

    async def place_order(article: str) -> str:
        ran.append(article)
        return f"ordered {article} for 9000 EUR"

    vandal = Vandal(url)
    servers = [bare_server("mcpserver", order, name="bank") for _ in range(2)]
    async with asyncio.timeout(60):
        installations = [midcall.install(server, keys=KEY, store=url, live=False) for server in servers]
        async with connect(servers[0], era="2026-07-28") as client:
            first = await raw_call(client, "order", {})
            again = {
                "state": first["requestState"],
                "answers": dict.fromkeys(first["inputRequests"], accept(answer="oak")),
            }
            assert text(await raw_call(client, "order", {}, **again)) == "ordered oak for 9000 EUR"
        [turn], [effect] = await vandal.rows("turn"), await vandal.rows("once")
        async with connect(servers[1], era="2026-07-28") as client:
            if forged == "once":
                await vandal.write(replace(turn, expires=0.0))  # it counts as gone, so the call is replayed
                await vandal.write(replace(effect, outcome=(effect.outcome or "").replace("9000", "9")))
            else:
                await vandal.write(replace(turn, outcome=(effect.outcome or "")))
            try:
                refused = text(await raw_call(client, "order", {}, **again))
            except MCPError as exc:
                refused = str(exc)
            assert "failed a security check" in refused
        for installation in installations:
            await installation.close()
    assert ran == ["oak"]


# --- servers that share a store ----------------------------------------------------------------


def code_server(ran: list[str], store: Store, *, name: str, **options: Any) -> tuple[Any, Installation]:
    async def pay() -> str:
        await visit("Sign in.", "https://example.com/sign-in", id="signing-in", wait=True)
        ran.append(name)
        return f"paid by {name}"

    server = bare_server("mcpserver", pay, name=name)
    return server, midcall.install(server, keys=KEY, store=store, portal=Portal(), **options)


@pytest.mark.parametrize("other", [{"name": "shop"}, {"name": "bank", "namespace": "staging"}])
async def test_a_code_of_one_server_does_not_run_the_tool_of_another(store: Store, other: dict[str, str]) -> None:
    ran: list[str] = []
    bank, of_bank = code_server(ran, store, name="bank")
    replica, of_replica = code_server(ran, store, name="bank")
    shop, of_shop = code_server(ran, store, **other)
    async with asyncio.timeout(60):
        async with connect(bank, era="2025-11-25", modes=()) as client:
            result = await client.call_tool("pay", {})
        async with connect(shop, era="2025-11-25", modes=()) as client:
            astray = await go_on(client, result)
            assert astray.is_error
            assert "paid" not in shown(astray)
        assert ran == []
        assert await of_shop.complete("signing-in")  # its own visit of that id, and not the bank's
        assert await of_replica.complete("signing-in")
        async with connect(replica, era="2025-11-25", modes=()) as client:
            assert shown(await go_on(client, result)) == "paid by bank"
    for each in (of_bank, of_replica, of_shop):
        assert each.portal is not None
        await each.portal.close()


async def test_a_state_of_one_namespace_is_refused_in_another() -> None:
    async def greet() -> str:
        return f"Hello {await ask('Who are you?', str)}"

    live, staging = (bare_server("mcpserver", greet, name="bank") for _ in range(2))
    midcall.install(live, keys=KEY, store=Memory(), namespace="live")
    midcall.install(staging, keys=KEY, store=Memory(), namespace="staging")
    async with connect(live, era="2026-07-28") as client:
        first = await raw_call(client, "greet", {})
    again: dict[str, Any] = {
        "state": first["requestState"],
        "answers": dict.fromkeys(first["inputRequests"], accept(answer="Ada")),
    }
    async with connect(staging, era="2026-07-28") as client:
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await raw_call(client, "greet", {}, **again)
    async with connect(live, era="2026-07-28") as client:
        assert text(await raw_call(client, "greet", {}, **again)) == "Hello Ada"


# --- every kind of record ----------------------------------------------------------------------


async def test_every_record_of_every_kind_is_sealed(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "midcall")
    store = Memory()

    async def everything() -> str:
        await secret("github", "A token")
        assert await approve("Pay?", {"Amount": "9 EUR"})
        answer = await ask("Anything else?", str)
        return await once("order", str, answer)

    server = bare_server("mcpserver", everything, name="bank")
    midcall.install(server, keys=KEY, store=store, portal=Portal())
    installation = installation_on(server)
    assert installation is not None
    assert installation.records is not None
    async with asyncio.timeout(60):
        async with connect(server, era="2025-11-25", modes=()) as client:
            result = await client.call_tool("everything", {})
            for values in ({"s0": "ghp_1"}, {}, {"f0": "no"}):
                response = await visit_page(result, lambda visitor, id, v=values: visitor.press(id, "accept", v))
                assert response.status_code < 400, response.text
                result = await go_on(client, result)
        assert shown(result) == "no"
    assert installation.portal is not None
    await installation.portal.close()
    rows: dict[str, Record] = vars(store)["_records"]
    assert {row.kind for row in rows.values()} >= {"secret", "approve", "form", "code", "once"}
    codec = installation.codec
    for row in rows.values():
        for written in filter(None, (row.data, row.outcome)):
            assert codec.unseal(written.partition(" ")[0]).startswith(b"midcall/record\0"), row.kind


async def test_one_record_that_nothing_can_read_keeps_no_server_from_beating_or_purging(
    url: str, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """A tenant of the same database may write anything into a row."""
    vandal = Vandal(url)

    async def tool() -> str:
        return await ask("a?", str)

    async with asyncio.timeout(20), connect(server_with(tool, keys=KEY, store=store)) as client:
        first = await begin(client, "tool")
        [row] = await vandal.rows("replica")
        junk = replace(row, version=cast("int", "abc"))
        if url.startswith("postgresql"):
            with pytest.raises(asyncpg.DataError):
                await vandal.write(junk)
            return
        await vandal.write(junk)
        while "Could not reach the store to beat" not in caplog.text:
            await asyncio.sleep(0.01)
        assert await finish(client, await begin(client, "tool"), {"a?": "1"}) == "1"
        await store.sweep(time.time())
        assert await finish(client, first, {"a?": "1"}) == "1"
