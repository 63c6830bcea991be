"""The official TypeScript client visits pages, with slow people, in both eras."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from scripts.peers import PEERS, node
from tests.chaos.proxy import Proxy, proxy
from tests.portal.people import APPROVES, ENTERS, Act, Person, connects, presses
from tests.portal.running import running, start
from tests.skips import needs_peer

pytestmark = needs_peer("@modelcontextprotocol/client")

ERAS = ("legacy", "2026-07-28")


class TypeScript:
    """The client in a separate process."""

    def __init__(self, process: asyncio.subprocess.Process, person: Person) -> None:
        self._process = process
        self._person = person
        self.questions: list[dict[str, Any]] = []
        self.completed: list[str] = []

    async def call(self, tool: str, **arguments: Any) -> str:
        """The result's text. People who are sent to a page start their visit meanwhile."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps({'tool': tool, 'arguments': arguments})}\n".encode())
        while "result" not in (said := await self._line()):
            assert "error" not in said, said
            self._take(said)
        return said["result"]["content"][0]["text"]

    async def heard_of(self, id: str) -> None:
        """Wait until the server reports that this visit is done."""
        while id not in self.completed:
            self._take(await self._line())

    def _take(self, said: dict[str, Any]) -> None:
        if "question" in said:
            self.questions.append(said["question"])
            self._person.go(said["question"]["url"])
        elif "completed" in said:
            self.completed.append(said["completed"])

    async def _line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        async with asyncio.timeout(30):
            line = await self._process.stdout.readline()
        assert line, "the client has ended"
        return json.loads(line)


@asynccontextmanager
async def typescript(url: str, era: str, person: Person) -> AsyncIterator[TypeScript]:
    pipe = asyncio.subprocess.PIPE
    command = [str(node()), str(PEERS / "ts_visits.mjs"), url, era]
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    try:
        yield TypeScript(process, person)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


@asynccontextmanager
async def server(tmp_path: Path, hold: float = 45.0) -> AsyncIterator[Proxy]:
    """The portal example behind a proxy that counts calls."""
    async with proxy() as front:
        found = start(tmp_path / "log", f"sqlite://{tmp_path}/store.db", "--base-url", front.url, hold=hold)
        front.replicas = [found.url]
        with running([found]):
            yield front


def code_in(text: str) -> str:
    assert "NOT FINISHED YET" in text, text
    return text.partition('"code": "')[2].partition('"')[0]


@pytest.mark.parametrize("era", ERAS)
async def test_each_tool_sends_the_user_to_a_page_and_continues(era: str, tmp_path: Path) -> None:
    acts: dict[str, tuple[Act, str]] = {
        "read_repo": (ENTERS, "Read midcall"),
        "list_issues": (connects, "Open issues of midcall: #7"),
        "pay": (APPROVES, "Paid 40 EUR to ACME."),
        "order": (presses("bank"), "Ordered: oak table."),
    }
    person = Person(APPROVES)
    async with server(tmp_path) as front, typescript(f"{front.url}/mcp", era, person) as client:
        for tool, (person.act, expected) in acts.items():
            assert (await client.call(tool)).startswith(expected)
            await person.done()
        assert len(client.questions) == len(acts)
        assert all(("elicitationId" in question) is (era == "legacy") for question in client.questions)
        if era == "legacy":
            for question in client.questions:
                await client.heard_of(question["elicitationId"])


async def test_a_person_who_takes_several_holds_needs_one_call(tmp_path: Path) -> None:
    ready = asyncio.Event()
    person = Person(APPROVES, ready=ready)
    async with server(tmp_path, 4.0) as front, typescript(f"{front.url}/mcp", "2026-07-28", person) as client:
        call = asyncio.create_task(client.call("pay"))
        await front.met("POST", "/mcp", 4)  # discover, the call, the consent, and a round that only holds
        ready.set()
        assert await call == "Paid 40 EUR to ACME."
    assert len(client.questions) == 1


@pytest.mark.parametrize("era", ERAS)
async def test_a_person_who_takes_longer_than_a_call_resumes_it(era: str, tmp_path: Path) -> None:
    ready = asyncio.Event()
    person = Person(presses("delivery"), ready=ready)
    async with server(tmp_path, 0.02) as front, typescript(f"{front.url}/mcp", era, person) as client:
        code = code_in(await client.call("order"))
        code = code_in(await client.call("midcall_continue", code=code))
        ready.set()
        await person.done()
        assert (await client.call("midcall_continue", code=code)).startswith("Ordered: oak table.")
    assert len(client.questions) == 1
