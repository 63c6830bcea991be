"""No sink of the audit trail gets what must stay hidden."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import string
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx2
import pytest
from hypothesis import Phase, given, settings, strategies
from mcp import MCPError

from midcall import Cancelled, Declined, NotAnswered, approve, ask, confirm, secret, visit
from midcall.audit import Event, OpenTelemetry
from midcall.client import Asked
from midcall.portal.app import Portal
from midcall.server.resuming import visits
from midcall.stores.memory import Memory
from midcall.testing import ERAS, Era, connect
from tests.auditing import exported
from tests.kinds import server_with
from tests.portal.sites import Visitor
from tests.rounds import raw_call
from tests.scanning import Hidden, learn
from tests.server.reaching import NOTHING, addresses

WITHIN = 60.0
Step = Callable[[str], Awaitable[object]]
STEPS: Mapping[str, Step] = {
    "ask": lambda text: ask(f"Tell me {text}", str),
    "keyed": lambda text: ask("Tell me", str, key=f"k{sha256(text.encode()).hexdigest()[:8]}"),
    "confirm": lambda text: confirm(f"Really {text}?"),
    "secret": lambda text: secret(f"name-{sha256(text.encode()).hexdigest()[:8]}", f"A secret for {text}"),
    "approve": lambda text: approve(f"Pay {text}", {"To": text, "Amount": "40 EUR"}),
    "visit": lambda text: visit("Please look", f"https://example.com/look?{urlencode({'t': text})}"),
}
TEXTS = strategies.text(string.ascii_letters + string.digits + " .-", min_size=10, max_size=30).map(
    lambda text: f"hush {text.strip() or 'x'} hush"
)
"""Long enough never to be in an event by chance."""
PROGRAMS = strategies.lists(
    strategies.tuples(
        strategies.sampled_from(sorted(STEPS)), TEXTS, strategies.sampled_from(["accept", "decline", "cancel"])
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda step: step[1],
)


class Someone:
    """Answers every question with a text that must stay hidden, or says no. Remembers everything seen on the way."""

    def __init__(self, program: Sequence[tuple[str, str, str]], hidden: Hidden) -> None:
        self._actions = {text: action for _, text, action in program}
        self._hidden = hidden

    def action(self, shown: str) -> tuple[str, str]:
        return next(((text, action) for text, action in self._actions.items() if text in shown), ("", "accept"))

    async def go(self, url: str) -> None:
        """Open a page, and answer it."""
        where = urlsplit(url)
        if where.hostname != "127.0.0.1":
            return
        origin, id = f"{where.scheme}://{where.netloc}", where.path.rpartition("/")[2]
        self._hidden.id(id)
        async with httpx2.AsyncClient(base_url=origin, timeout=20) as http:
            visitor = Visitor(http, "", origin)
            page = await visitor.open(id)
            if page.status_code != 200:  # it was answered before
                return
            _, action = self.action(unescape(page.text))
            typed = f"typed secret {secrets.token_hex(8)}"
            self._hidden.value(typed)
            typed = "yes" if 'type="radio"' in page.text else typed
            controls = dict.fromkeys(re.findall(r'name="([fs]\d+)"', page.text), typed)
            posted = await visitor.press(id, action, controls)
            assert posted.status_code < 400, posted.text

    async def answer(self, asked: Asked) -> Any:
        """What a client answers."""
        _, action = self.action(asked.message)
        self._hidden.id(asked.id)
        if action != "accept":
            return Declined() if action == "decline" else Cancelled()
        if asked.url is not None:
            await self.go(asked.url)
            return True
        typed = f"typed answer {secrets.token_hex(8)}"
        self._hidden.value(typed)
        return True if "Really" in asked.message else typed


async def run_program(
    program: Sequence[tuple[str, str, str]], era: Era, modes: Any, live: bool, hidden: Hidden, sinks: list[Any]
) -> None:
    async def tool() -> str:
        for step, text, _ in program:
            with suppress(NotAnswered):
                await STEPS[step](text)
        return "done"

    someone = Someone(program, hidden)
    installing: dict[str, Any] = {"keys": [secrets.token_hex(16)], "store": Memory(), "live": live}
    portal = Portal(audit=sinks)
    server = server_with(tool, portal=portal, **installing)
    try:
        async with asyncio.timeout(WITHIN), connect(server, someone.answer, era=era, modes=modes) as client:
            result = await client.call_tool("tool", {})
            while (code := (result.meta or {}).get("midcall/code")) is not None:
                hidden.id(code)
                for url in addresses(result):
                    await someone.go(url)
                result = await client.call_tool("midcall_continue", {"code": code})
                await client.call_tool("midcall_continue", {"code": code})  # used
            if era == "2026-07-28" and modes is None:
                state: str = (await raw_call(client, "tool", {})).get("requestState", "")
                hidden.id(state.partition(".")[2])
                with suppress(MCPError):
                    await raw_call(client, "tool", {"other": 1}, state=state, answers={})
        assert portal.audit is not None
        assert await portal.audit.flush()
    finally:
        await portal.close()


@pytest.mark.parametrize("live", [True, False], ids=["live", "replayed"])
@pytest.mark.parametrize("modes", [None, ["url"], NOTHING], ids=["all", "urls", "nothing"])
@pytest.mark.parametrize("era", ERAS)
def test_no_sink_gets_an_answer_a_secret_or_anything_that_opens_something(
    era: Era, modes: Any, live: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visits, "HOLD_SECONDS", 0.5)
    path, exporter = tmp_path / "audit.jsonl", exported()

    @given(PROGRAMS)
    @settings(max_examples=5, phases=[Phase.generate])  # to make it smaller would take minutes
    def check(program: list[tuple[str, str, str]]) -> None:
        hidden, seen = Hidden(), list[Event]()
        for _, text, _ in program:
            hidden.value(text)
        with pytest.MonkeyPatch.context() as patch:
            learn(hidden, patch)
            asyncio.run(run_program(program, era, modes, live, hidden, [path, seen.append, OpenTelemetry()]))
        spans = [span for span in exporter.get_finished_spans() if "midcall" in str(span.to_json())]
        traced = [event for span in spans for event in span.events if event.name.startswith("midcall.")]
        told = [
            path.read_text(),
            repr(seen),
            *(json.dumps(event.as_data()) for event in seen),
            *(f"{event.name} {dict(event.attributes or {})}" for event in traced),
            *(span.to_json() for span in spans if span.name.startswith("midcall.")),
        ]
        assert [what for text in told for what in hidden.seen_in(text)] == []
        assert seen, "it has seen something"

    check()
