"""The protocol's own examples of questions and answers, on the wire: what servers send, and what clients send back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from midcall.protocol import DECIDED
from tests.peers import pages_server
from tests.peers.plain import MODERN, Transport, plain

SERVER = Path(pages_server.__file__)
TRANSPORTS: tuple[Transport, ...] = ("stdio", "HTTP")
VERSIONS = ("2025-06-18", "2025-11-25", MODERN)
everywhere = pytest.mark.parametrize("transport", TRANSPORTS)
on_all_versions = pytest.mark.parametrize("version", VERSIONS)
FULL = {"name": "Monalisa Octocat", "email": "octocat@github.com", "age": 30}


def said(done: Mapping[str, Any]) -> str:
    return done["result"]["content"][0]["text"]


async def asked_and_told(
    transport: Transport, version: str, tool: str, log: Path, *answers: dict[str, Any]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The questions that the client got, and the end of the call; it answers them with these, in turn."""
    left = iter(answers)
    async with plain(transport, SERVER, log, version, {}, lambda params: next(left)) as client:
        done = await client.call(tool)
    return client.asked, done


@everywhere
@on_all_versions
async def test_a_simple_text_is_asked_and_answered(transport: Transport, version: str, tmp_path: Path) -> None:
    def octocat(params: dict[str, Any]) -> dict[str, Any]:
        return {"action": "accept", "content": dict.fromkeys(params["requestedSchema"]["properties"], "octocat")}

    async with plain(transport, SERVER, tmp_path / "log", version, {}, octocat) as client:
        done = await client.call("name")
    [asked] = client.asked
    assert asked["message"] == "Your name?"
    schema = asked["requestedSchema"]
    assert schema["type"] == "object"
    [(field, kind)] = schema["properties"].items()
    assert kind["type"] == "string"
    assert schema["required"] == [field]
    assert asked.get("mode", "form") == "form"
    assert ("mode" in asked) == (version != "2025-06-18")
    assert said(done) == "octocat"


@everywhere
@on_all_versions
async def test_several_values_are_asked_in_one_form_with_a_name_each(
    transport: Transport, version: str, tmp_path: Path
) -> None:
    asked, done = await asked_and_told(
        transport, version, "contact", tmp_path / "log", {"action": "accept", "content": FULL}
    )
    [each] = asked
    fields = each["requestedSchema"]["properties"]
    assert list(fields) == ["name", "email", "age"]
    assert fields["email"]["format"] == "email"
    assert (fields["age"]["type"], fields["age"]["minimum"]) == ("number", 18)
    assert [fields[name]["description"] for name in fields] == ["Your full name", "Your email address", "Your age"]
    assert each["requestedSchema"]["required"] == ["name", "email"]
    assert said(done) == "Monalisa Octocat octocat@github.com 30"


@everywhere
@on_all_versions
async def test_content_that_breaks_the_schema_is_asked_for_again(
    transport: Transport, version: str, tmp_path: Path
) -> None:
    wrong = {"action": "accept", "content": {**FULL, "age": 17}}
    asked, done = await asked_and_told(
        transport, version, "contact", tmp_path / "log", wrong, {"action": "accept", "content": FULL}
    )
    assert len(asked) == 2
    assert "18" in asked[1]["message"]
    assert said(done) == "Monalisa Octocat octocat@github.com 30"


@everywhere
@on_all_versions
@pytest.mark.parametrize(("action", "told"), [("decline", "declined"), ("cancel", "dismissed")])
async def test_decline_and_cancel_need_no_content_and_are_distinguished(
    transport: Transport, version: str, action: str, told: str, tmp_path: Path
) -> None:
    answer = {"action": action, "_meta": {DECIDED: True}}  # a person did, though within no time
    _, done = await asked_and_told(transport, version, "contact", tmp_path / "log", answer)
    assert done["result"]["isError"]
    assert told in said(done)


@everywhere
@on_all_versions
async def test_a_client_that_declares_nothing_is_never_asked(
    transport: Transport, version: str, tmp_path: Path
) -> None:
    async with plain(transport, SERVER, tmp_path / "log", version, None, MIDCALL_TEST_PORTAL="0") as client:
        await client.call("contact")
    assert client.asked == []


@everywhere
@pytest.mark.parametrize("version", ["2025-11-25", MODERN])
async def test_several_pages_can_be_required_at_once(transport: Transport, version: str, tmp_path: Path) -> None:
    def decline(params: dict[str, Any]) -> dict[str, str]:
        return {"action": "decline"}

    async with plain(transport, SERVER, tmp_path / "log", version, {"url": {}}, decline) as client:
        done = await client.call("mirror", {"user": "ada"})
    asked = client.asked or done["error"]["data"]["elicitations"]
    assert [each["message"] for each in asked] == ["Connect your A.", "Connect your B."]
    assert len({each["elicitationId"] for each in asked}) == len({each["url"] for each in asked}) == 2


@everywhere
@on_all_versions
async def test_several_required_pages_are_one_list_of_links(transport: Transport, version: str, tmp_path: Path) -> None:
    async with plain(transport, SERVER, tmp_path / "log", version, None) as client:
        first = await client.call("mirror", {"user": "ada"})
        ids = [line.rpartition("/")[2] for line in said(first).splitlines() if line.startswith("  http")]
        assert len(ids) == 2
        for id in ids:
            await client.call("callback", {"id": id, "user": "ada"})
        done = await client.call("midcall_continue", {"code": first["result"]["_meta"]["midcall/code"]})
    assert said(done) == "Mirrored."
