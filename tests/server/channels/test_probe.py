"""The probe: one harmless question of each kind, and what really came of it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from mcp_types import CallToolResult

from midcall import Cancelled, Declined
from midcall.portal.app import Portal
from midcall.protocol import PROBE
from midcall.server.channels.probe import FILLED, FORMS
from midcall.stores.memory import Memory
from midcall.testing import ERAS, Era, connect
from tests.kinds import KINDS, Kind, server_with
from tests.server.channels.test_reach import picks
from tests.server.codes import go_on, shown
from tests.server.people import WITH_URLS
from tests.server.reaching import do, sends

ANSWERS: dict[str, Any] = {
    "word": "fjord",
    "number": 7,
    "yes": False,
    "fruit": "p",
    "animals": ["c", "h"],
    "city": FILLED,
}
KEYS = ["k key of the tests: 0123456789abcdef"]


async def hello() -> str:
    return "hello"


def answers(asked: Any) -> Any:
    """As a client of any version would: an old one types several choices into one line."""
    if asked.mode == "url":
        return "go"
    answer: Any = ANSWERS[asked.fields[0]]
    lowered = asked.fields == ("animals",) and asked.schema["properties"]["animals"]["type"] == "string"
    return ", ".join(answer) if lowered else answer


def found(result: CallToolResult) -> dict[str, dict[str, Any]]:
    assert not result.is_error, shown(result)
    assert result.structured_content is not None
    return {finding["question"]: finding for finding in result.structured_content["found"]}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_every_kind_of_question_is_asked_and_reported(kind: Kind, era: Era) -> None:
    expected = "round" if era == "2026-07-28" else "push"
    async with connect(server_with(hello, kind=kind, probe=True), answers, era=era) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["hello", PROBE]
        result = await client.call_tool(PROBE, {})
        assert shown(await client.call_tool("hello", {})) == "hello"
    findings = found(result)
    assert list(findings) == list(FORMS)
    for name, finding in findings.items():
        assert (finding["via"], finding["answer"]) == (expected, "accepted"), name
        assert finding["seconds"] < 5
    assert f"| text | {expected} | accepted |" in shown(result)


async def test_without_the_switch_there_is_no_such_tool() -> None:
    async with connect(server_with(hello)) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["hello"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("answer", "told"), [(Declined(), "declined"), (Cancelled(), "cancelled")])
async def test_a_decline_faster_than_a_person_reads_is_called_out(era: Era, answer: Any, told: str) -> None:
    async with connect(server_with(hello, probe=True), lambda asked: answer, era=era) as client:
        findings = found(await client.call_tool(PROBE, {}))
    assert {finding["answer"] for finding in findings.values()} == {told}
    assert all("nobody saw it" in finding["remarks"] for finding in findings.values())


@pytest.mark.parametrize("era", ERAS)
async def test_an_answer_that_does_not_fit_is_reported_and_the_next_question_is_asked(era: Era) -> None:
    def wrong(asked: Any) -> Any:
        return 99 if asked.fields == ("number",) else answers(asked)

    async with connect(server_with(hello, probe=True), wrong, era=era) as client:
        findings = found(await client.call_tool(PROBE, {}))
    assert findings["integer"]["answer"] == "does not fit"
    assert "10" in findings["integer"]["remarks"]
    assert findings["yes/no"]["answer"] == "accepted"


async def test_a_client_that_declares_forms_and_shows_none_gives_no_answer() -> None:
    async def never(context: Any, params: Any) -> Any:
        await asyncio.Event().wait()

    from mcp import Client

    async with Client(server_with(hello, probe=True), mode="legacy", elicitation_callback=never) as client:
        findings = found(await client.call_tool(PROBE, {"timeout": 0.02}))
    assert {finding["answer"] for finding in findings.values()} == {"no answer"}
    assert "perhaps nobody saw it" in findings["text"]["remarks"]


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_cannot_be_asked_learns_why(era: Era) -> None:
    async with connect(server_with(hello, probe=True), era=era, modes=()) as client:
        result = await client.call_tool(PROBE, {})
    assert {finding["answer"] for finding in found(result).values()} == {"not asked"}
    assert "Declared: no elicitation\nForms get there by: nothing" in shown(result)


@pytest.mark.parametrize("era", WITH_URLS)
async def test_with_a_portal_a_page_is_visited_too(era: Era) -> None:
    portal = Portal()
    server = server_with(hello, keys=KEYS, store=Memory(), portal=portal, probe=True)
    urls: list[str] = []

    def answer(asked: Any) -> Any:
        urls.extend([asked.url] if asked.url else [])
        return answers(asked)

    try:
        async with connect(server, answer, era=era) as client:
            findings = found(await client.call_tool(PROBE, {}))
        assert findings["visit"]["answer"] == "accepted"
        assert urls == [f"{portal.url}/health"]
    finally:
        await portal.close()


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.usefixtures("brief_holds")
async def test_by_link_it_resumes_with_the_code(era: Era) -> None:
    portal = Portal()
    server = server_with(hello, keys=KEYS, store=Memory(), portal=portal, probe=True)
    acts = [sends(word="fjord"), sends(number=7), picks("yes"), picks("0"), picks("0")]
    try:
        async with connect(server, era=era, modes=()) as client:
            result = await client.call_tool(PROBE, {})
            for act in acts:
                await do(result, act)
                result = await go_on(client, result)
            assert "filled in already" in shown(result)
    finally:
        await portal.close()


async def test_the_report_can_be_sent_as_it_is() -> None:
    async with connect(server_with(hello, probe=True), answers) as client:
        result = await client.call_tool(PROBE, {})
    assert json.loads(json.dumps(result.structured_content))["protocol"] == "2026-07-28"
    assert len({line.count("|") for line in shown(result).splitlines() if line.startswith("|")}) == 1


@pytest.mark.parametrize("arguments", [{"timeout": -1}, {"timeout": "soon"}, {"timeout": 1e9}, {}])
async def test_an_invalid_timeout_becomes_the_default(arguments: dict[str, Any]) -> None:
    async with connect(server_with(hello, probe=True), answers) as client:
        assert found(await client.call_tool(PROBE, arguments))["text"]["answer"] == "accepted"
