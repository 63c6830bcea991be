"""What the guides of the other SDKs show, on the wire: what a server sends, and what becomes of the answers."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from midcall import Accepted, Outcome
from midcall.client import Asked, VisitQuestion, connect
from midcall.protocol import DECIDED
from tests.peers import guides_server, pages_server
from tests.peers.plain import MODERN, SECONDS, Transport, plain
from tests.rounds import text
from tests.serving import serving, stdio

SERVER = Path(guides_server.__file__)
TRANSPORTS: tuple[Transport, ...] = ("stdio", "HTTP")
OLDEST = "2025-06-18"
VERSIONS = (OLDEST, "2025-11-25", MODERN)
BOTH: dict[str, Any] = {"form": {}, "url": {}}
everywhere = pytest.mark.parametrize("transport", TRANSPORTS)
on_all_versions = pytest.mark.parametrize("version", VERSIONS)
ONE_OF = [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]


def accept(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


def said(done: Mapping[str, Any]) -> str:
    return done["result"]["content"][0]["text"]


async def told(
    transport: Transport, version: str, log: Path, tool: str, *answers: dict[str, Any], **arguments: Any
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The questions that the client got, and the end of the call; it answers them with these, in turn."""
    left = iter(answers)
    capability: dict[str, Any] = {} if version == OLDEST else BOTH
    async with plain(transport, SERVER, log, version, capability, lambda params: next(left)) as client:
        done = await client.call(tool, arguments)
    return client.asked, done


@everywhere
@on_all_versions
async def test_a_choice_of_each_of_the_five_shapes_is_asked_and_read(
    transport: Transport, version: str, tmp_path: Path
) -> None:
    old = version == OLDEST
    several = (
        {"many": "red, green", "many_titled": "Green"} if old else {"many": ["red", "green"], "many_titled": ["g"]}
    )
    answer = accept(plain="red", titled="g", legacy="r", **several)
    [asked], done = await told(transport, version, tmp_path / "log", "shapes", answer)
    fields = asked["requestedSchema"]["properties"]
    assert fields["plain"]["enum"] == ["red", "green"]
    assert (fields["legacy"]["enum"], fields["legacy"]["enumNames"]) == (["r", "g"], ["Red", "Green"])
    if old:
        assert (fields["titled"]["enum"], fields["titled"]["enumNames"]) == (["r", "g"], ["Red", "Green"])
        assert [fields[name]["type"] for name in several] == ["string", "string"]
        assert "red, green" in fields["many"]["description"]
    else:
        assert fields["titled"]["oneOf"] == ONE_OF
        assert [fields[name]["type"] for name in several] == ["array", "array"]
        assert fields["many"]["items"]["enum"] == ["red", "green"]
        assert fields["many_titled"]["items"]["anyOf"] == ONE_OF
    assert json.loads(said(done)) == {
        "plain": "red",
        "titled": "g",
        "legacy": "r",
        "many": ["red", "green"],
        "many_titled": ["g"],
    }


@everywhere
@on_all_versions
async def test_a_value_of_every_kind_is_asked_and_read(transport: Transport, version: str, tmp_path: Path) -> None:
    values = {
        "name": "Ada",
        "mail": "ada@example.com",
        "site": "https://example.com/",
        "day": "2026-07-28",
        "moment": "2026-07-28T12:00:00Z",
        "weight": 30,
        "age": 18,
    }
    wrong = {"name": "Al", "mail": "ada", "site": "example", "day": "28.7.", "moment": "noon", "weight": 0, "age": 17}
    asked, done = await told(transport, version, tmp_path / "log", "kinds", accept(**wrong), accept(**values))
    schema = asked[0]["requestedSchema"]
    fields = schema["properties"]
    assert fields["name"] == {
        "type": "string",
        "title": "Display name",
        "description": "As in the passport",
        "minLength": 3,
        "maxLength": 50,
    }
    formats = {name: fields[name]["format"] for name in ("mail", "site", "day", "moment")}
    assert formats == {"mail": "email", "site": "uri", "day": "date", "moment": "date-time"}
    assert (fields["weight"]["type"], fields["weight"]["minimum"], fields["weight"]["maximum"]) == ("number", 0.5, 100)
    assert (fields["age"]["type"], fields["age"]["minimum"]) == ("integer", 18)
    assert (fields["news"]["type"], fields["news"]["default"]) == ("boolean", False)
    assert schema["required"] == list(values)
    assert len(asked) == 2
    complaints = asked[1]["message"].partition("Please correct:")[2].strip().splitlines()
    assert len(complaints) == len(wrong)
    assert json.loads(said(done)) == {**values, "news": False}


@everywhere
@on_all_versions
@pytest.mark.parametrize(
    ("answer", "end"),
    [
        (accept(Answer=True), "Let's play."),
        (accept(Answer=False), "Maybe next time!"),
        ({"action": "decline", "_meta": {DECIDED: True}}, "Maybe next time!"),
        ({"action": "cancel", "_meta": {DECIDED: True}}, "Maybe next time!"),
    ],
    ids=["yes", "no", "decline", "cancel"],
)
async def test_a_schema_of_the_authors_own_is_sent_as_it_is(
    transport: Transport, version: str, answer: dict[str, Any], end: str, tmp_path: Path
) -> None:
    [asked], done = await told(transport, version, tmp_path / "log", "play", answer)
    assert asked["requestedSchema"] == guides_server.PLAY
    assert said(done) == end


@everywhere
@on_all_versions
async def test_what_the_user_leaves_out_gets_its_default(transport: Transport, version: str, tmp_path: Path) -> None:
    [asked], done = await told(transport, version, tmp_path / "log", "project", accept(projectName="midcall"))
    assert asked["requestedSchema"]["required"] == ["projectName"]
    assert json.loads(said(done)) == {"projectName": "midcall", "framework": "none", "includeTests": True}


@everywhere
@on_all_versions
async def test_after_a_decline_a_tool_can_return_and_after_a_cancel_fail(
    transport: Transport, version: str, tmp_path: Path
) -> None:
    no, later = ({"action": action, "_meta": {DECIDED: True}} for action in ("decline", "cancel"))
    _, declined = await told(transport, version, tmp_path / "log", "project", no)
    assert said(declined) == "The user declined."
    assert not declined["result"].get("isError")
    _, cancelled = await told(transport, version, tmp_path / "log", "project", later)
    assert "cancelled by the user" in said(cancelled)
    assert cancelled["result"]["isError"]


@everywhere
@on_all_versions
@pytest.mark.parametrize("marked", [True, False], ids=["decided", "unmarked"])
async def test_a_client_that_rejects_declines(transport: Transport, version: str, marked: bool, tmp_path: Path) -> None:
    answer = {"action": "reject", **({"_meta": {DECIDED: True}} if marked else {})}
    asked, done = await told(transport, version, tmp_path / "log", "project", answer)
    assert len(asked) == 1
    assert said(done) == "The user declined."


@everywhere
@on_all_versions
@pytest.mark.parametrize("answer", [{"action": "maybe"}, {}], ids=["unknown", "none"])
async def test_an_action_that_there_is_not_is_an_error_and_no_answer(
    transport: Transport, version: str, answer: dict[str, Any], tmp_path: Path
) -> None:
    asked, done = await told(transport, version, tmp_path / "log", "project", answer)
    assert len(asked) == 1
    assert done["error"]["code"] == -32602
    assert "its action is not accept, decline or cancel" in done["error"]["message"]


@everywhere
@on_all_versions
async def test_a_tool_asks_only_if_it_matters(transport: Transport, version: str, tmp_path: Path) -> None:
    asked, done = await told(transport, version, tmp_path / "log", "process", data="x" * 100)
    assert (asked, said(done)) == ([], "Processed 100 characters")

    def answer(proceed: bool) -> dict[str, Any]:
        return accept(confirmed=proceed)

    [asked], done = await told(transport, version, tmp_path / "log", "process", answer(False), data="x" * 101)
    assert asked["message"] == "The data is 101 characters. Proceed?"
    assert said(done) == "The user chose not to proceed."
    _, done = await told(transport, version, tmp_path / "log", "process", answer(True), data="x" * 101)
    assert said(done) == "Processed 101 characters"


@everywhere
@pytest.mark.parametrize("version", VERSIONS[1:])
async def test_a_form_and_a_visit_bring_what_the_author_sends_along(
    transport: Transport, version: str, tmp_path: Path
) -> None:
    answers = (accept(answer="Ada"), {"action": "accept"})
    asked, done = await told(transport, version, tmp_path / "log", "noted", *answers)
    assert [each["_meta"] for each in asked] == [guides_server.META] * 2
    visit = asked[1]
    assert (visit["mode"], visit["url"]) == ("url", "https://example.com/go")
    assert visit["elicitationId"] == said(done) == "an-id-of-the-author"


@everywhere
@on_all_versions
async def test_a_form_that_asks_for_a_secret_never_leaves(transport: Transport, version: str, tmp_path: Path) -> None:
    asked, done = await told(transport, version, tmp_path / "log", "login")
    assert asked == []
    assert done["result"]["isError"]
    assert "SecretInForm" in (tmp_path / "log").read_text()


@everywhere
@on_all_versions
async def test_a_tool_can_have_something_else_to_do_where_it_cannot_ask(
    transport: Transport, version: str, tmp_path: Path
) -> None:
    async with plain(transport, SERVER, tmp_path / "log", version, None) as client:
        assert said(await client.call("careful")) == "Oslo, since nobody can be asked."
    assert client.asked == []


@everywhere
@pytest.mark.parametrize("era", ["2025-11-25", MODERN])
async def test_our_user_sees_why_a_call_needs_a_page(transport: Transport, era: Any, tmp_path: Path) -> None:
    """With the error and with the round, which our own client shows alike."""
    seen: list[Asked] = []

    class Visitor:
        async def answer(self, asked: Asked) -> Outcome[Any]:
            seen.append(asked)
            assert isinstance(asked.question, VisitQuestion)
            await client.call_tool("callback", {"id": asked.question.id, "user": "ada"})
            return Accepted(None)

    async with server_at(transport, Path(pages_server.__file__), tmp_path / "log") as target:
        async with connect(target, Visitor(), era=era) as client:
            result = await client.call_tool("list_files", {"user": "ada"})
    assert text(result) == "The files of ada: a.txt"
    [visit] = seen
    assert visit.via == ("round" if era == MODERN else "required")
    assert visit.full_message.split() == f"{pages_server.MESSAGE} Connect your files.".split()


@everywhere
@pytest.mark.parametrize("era", VERSIONS)
async def test_prompts_and_resources_ask_as_tools_do(transport: Transport, era: Any, tmp_path: Path) -> None:
    class Traveller:
        async def answer(self, asked: Asked) -> Outcome[Any]:
            assert asked.form is not None
            return Accepted(dict.fromkeys(asked.form.names, 3 if "days" in asked.message else "May"))

    async with server_at(transport, SERVER, tmp_path / "log") as target:
        async with connect(target, Traveller(), era=era) as client:
            [prompt] = (await client.get_prompt("plan")).messages
            [read] = (await client.read_resource("city://oslo")).contents
    assert getattr(prompt.content, "text", None) == "Plan 3 days."
    assert getattr(read, "text", None) == "oslo in May"


@everywhere
@pytest.mark.parametrize("era", VERSIONS[:2])
async def test_a_question_that_nobody_answers_in_time_is_taken_back(
    transport: Transport, era: Any, tmp_path: Path
) -> None:
    withdrawn = anyio.Event()

    class Asleep:
        async def answer(self, asked: Asked) -> Outcome[Any]:
            try:
                await anyio.sleep_forever()
            finally:
                withdrawn.set()
            raise AssertionError("unreachable")

    async with server_at(transport, SERVER, tmp_path / "log") as target:
        with anyio.fail_after(SECONDS):
            async with connect(target, Asleep(), era=era) as client:
                result = await client.call_tool("hurried")
                await withdrawn.wait()
    assert text(result) == "The user didn't answer in time."


@asynccontextmanager
async def server_at(transport: Transport, script: Path, log: Path) -> AsyncGenerator[Any]:
    """What to connect to."""
    if transport == "HTTP":
        with serving(script, log) as url:
            yield url
    else:
        with log.open("w") as errors:
            yield stdio(script, errors)
