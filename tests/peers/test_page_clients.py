"""What clients get that are sent to pages: those with URL mode, and those without."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from midcall.protocol import CODE, CONTINUE
from tests.peers import pages_server
from tests.peers.plain import MODERN, SECONDS, Transport, listening, plain

SERVER = Path(pages_server.__file__)
TRANSPORTS: tuple[Transport, ...] = ("stdio", "HTTP")
both = pytest.mark.parametrize("transport", TRANSPORTS)
WITH_URLS = ("2025-11-25", MODERN)
VERSIONS = ("2025-06-18", *WITH_URLS)
MESSAGE, PAGE = pages_server.MESSAGE, pages_server.PAGE
DONE = "notifications/elicitation/complete"
SHORT = {"MIDCALL_TEST_HOLD": "0.01"}
USER = {"user": "ada"}


def said(done: dict[str, Any]) -> str:
    return "".join(block["text"] for block in done["result"]["content"])


def code_of(done: dict[str, Any]) -> dict[str, str]:
    return {"code": done["result"]["_meta"][CODE]}


def page_in(text: str) -> str:
    """The id of the visit whose address is alone on its line."""
    [id] = re.findall(rf"^  {re.escape(PAGE)}(\w+)$", text, re.M)
    return id


# --- a tool that requires a page, and a client that can't be sent there ----------------------------


@both
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("elicitation", [None, {"form": {}}], ids=["nothing", "forms"])
async def test_a_client_without_url_mode_gets_the_page_as_a_link_and_resumes_when_it_is_done(
    transport: Transport, version: str, elicitation: Any, tmp_path: Path
) -> None:
    async with plain(transport, SERVER, tmp_path / "log", version, elicitation) as client:
        first = await client.call("list_files", USER)
        assert MESSAGE in said(first)
        assert "Connect your files." in said(first)
        assert client.asked == []
        await client.call("callback", {"id": page_in(said(first)), **USER})
        assert said(await client.call(CONTINUE, code_of(first))) == "The files of ada: a.txt"


@both
@pytest.mark.parametrize("version", VERSIONS)
async def test_who_resumes_too_early_is_held_and_gets_the_same_link_again_and_the_first_code_still_works(
    transport: Transport, version: str, tmp_path: Path
) -> None:
    async with plain(transport, SERVER, tmp_path / "log", version, None, **SHORT) as client:
        first = await client.call("list_files", USER)
        second = await client.call(CONTINUE, code_of(first))
        assert page_in(said(second)) == page_in(said(first))
        await client.call("callback", {"id": page_in(said(first)), **USER})
        for code in (code_of(first), code_of(second), code_of(first)):
            assert said(await client.call(CONTINUE, code)) == "The files of ada: a.txt"


@both
@pytest.mark.parametrize("version", VERSIONS)
async def test_who_resumes_is_held_until_the_page_is_done(transport: Transport, version: str, tmp_path: Path) -> None:
    async with plain(transport, SERVER, tmp_path / "log", version, None) as client:
        first = await client.call("list_files", USER)
        resumed = asyncio.create_task(client.call(CONTINUE, code_of(first)))
        await asyncio.sleep(0)
        await client.call("callback", {"id": page_in(said(first)), **USER})
        async with asyncio.timeout(SECONDS):
            assert said(await resumed) == "The files of ada: a.txt"


@both
@pytest.mark.parametrize("version", VERSIONS)
async def test_without_a_portal_it_says_what_the_client_lacks(
    transport: Transport, version: str, tmp_path: Path
) -> None:
    async with plain(transport, SERVER, tmp_path / "log", version, None, MIDCALL_TEST_PORTAL="0") as client:
        done = await client.call("list_files", USER)
    told = said(done) if "result" in done else done["error"]["message"]
    assert "cannot show questions" in told or "elicitation" in told


# --- and one that can --------------------------------------------------------------------------


@both
async def test_the_message_of_the_error_reaches_the_user_with_the_error(transport: Transport, tmp_path: Path) -> None:
    async with plain(transport, SERVER, tmp_path / "log", "2025-11-25", {"url": {}}) as client:
        error = (await client.call("list_files", USER))["error"]
    assert error["message"] == MESSAGE
    assert error["data"]["elicitations"][0]["message"] == "Connect your files."


@both
async def test_the_message_of_the_error_reaches_the_user_with_the_round(transport: Transport, tmp_path: Path) -> None:
    async with plain(transport, SERVER, tmp_path / "log", MODERN, {"url": {}}, **SHORT) as client:
        await client.call("list_files", USER)
    [asked] = client.asked
    assert asked["message"] == f"{MESSAGE} Connect your files."


@both
async def test_a_client_that_says_yes_at_once_is_asked_once_and_held_and_gets_a_code(
    transport: Transport, tmp_path: Path
) -> None:
    async with plain(
        transport, SERVER, tmp_path / "log", MODERN, {"form": {}, "url": {}}, MIDCALL_TEST_HOLD="0.3"
    ) as client:
        begun = asyncio.get_running_loop().time()
        first = await client.call("list_files", USER)
        assert asyncio.get_running_loop().time() - begun >= 0.3
        assert "has not finished on the web page yet" in said(first)
        [asked] = client.asked
        await client.call("callback", {"id": asked["elicitationId"], **USER})
        assert said(await client.call(CONTINUE, code_of(first))) == "The files of ada: a.txt"
    assert len(client.asked) == 1


@both
@pytest.mark.parametrize("tool", ["list_files", "wait"])
async def test_a_tool_waits_until_the_page_is_done_and_not_only_open(
    transport: Transport, tool: str, tmp_path: Path
) -> None:
    async with plain(transport, SERVER, tmp_path / "log", MODERN, {"url": {}}) as client:
        first = await client.once(tool, USER if tool == "list_files" else {})
        more = client.retry(first["result"])
        held = asyncio.create_task(client.once(tool, USER if tool == "list_files" else {}, **more))
        await client.call("callback", {"id": "of-another-call"})  # by now, it could have continued
        [asked] = client.asked
        assert not held.done()
        await client.call("callback", {"id": asked["elicitationId"], **USER})
        async with asyncio.timeout(SECONDS):
            done = await held
    assert said(done) in ("The files of ada: a.txt", asked["elicitationId"])


@both
@pytest.mark.parametrize("tool", ["list_files", "wait"])
@pytest.mark.parametrize("portal", ["0", "1"], ids=["alone", "portal"])
async def test_the_code_of_a_client_that_asks_too_early_works_until_the_user_is_done(
    transport: Transport, tool: str, portal: str, tmp_path: Path
) -> None:
    options = {**SHORT, "MIDCALL_TEST_PORTAL": portal}
    async with plain(transport, SERVER, tmp_path / "log", MODERN, {"url": {}}, **options) as client:
        first = await client.call(tool, USER if tool == "list_files" else {})
        for _ in range(2):
            assert "has not finished on the web page yet" in said(await client.call(CONTINUE, code_of(first)))
        [asked] = client.asked
        assert asked["url"] in said(first), "the user may need it again"
        await client.call("callback", {"id": asked["elicitationId"], **USER})
        done = [await client.call(CONTINUE, code_of(first)) for _ in range(2)]
    assert {said(each) for each in done} == {
        "The files of ada: a.txt" if tool == "list_files" else asked["elicitationId"]
    }


# --- how it hears that the page is done ------------------------------------------------------------


@both
async def test_while_its_request_is_open_it_hears_of_the_completion_there(transport: Transport, tmp_path: Path) -> None:
    async with plain(transport, SERVER, tmp_path / "log", "2025-11-25", {"url": {}}) as client, listening(client):
        waiting = asyncio.create_task(client.call("wait"))
        stream = "stdio" if transport == "stdio" else "tools/call wait"
        await client.came(stream, "elicitation/create")
        [asked] = client.asked
        await client.call("callback", {"id": asked["elicitationId"]})
        async with asyncio.timeout(SECONDS):
            assert said(await waiting) == asked["elicitationId"]
        told = await client.came(stream, DONE)
    assert told["params"] == {"elicitationId": asked["elicitationId"]}
    assert [m["method"] for each in client.streams.values() for m in each].count(DONE) == 1


@both
async def test_once_its_request_has_ended_it_hears_of_the_completion_on_the_standalone_stream(
    transport: Transport, tmp_path: Path
) -> None:
    async with plain(transport, SERVER, tmp_path / "log", "2025-11-25", {"url": {}}) as client, listening(client):
        await client.call("go")
        [asked] = client.asked
        await client.call("callback", {"id": asked["elicitationId"]})
        told = await client.came("stdio" if transport == "stdio" else "GET", DONE)
    assert told["params"] == {"elicitationId": asked["elicitationId"]}
    assert [m["method"] for each in client.streams.values() for m in each].count(DONE) == 1


@both
async def test_after_the_error_it_hears_of_the_completion_on_the_standalone_stream(
    transport: Transport, tmp_path: Path
) -> None:
    async with plain(transport, SERVER, tmp_path / "log", "2025-11-25", {"url": {}}) as client, listening(client):
        error = (await client.call("list_files", USER))["error"]
        [needed] = error["data"]["elicitations"]
        await client.call("callback", {"id": needed["elicitationId"], **USER})
        told = await client.came("stdio" if transport == "stdio" else "GET", DONE)
        assert told["params"] == {"elicitationId": needed["elicitationId"]}
        assert said(await client.call("list_files", USER)) == "The files of ada: a.txt"


# --- ids -----------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("version", WITH_URLS)
@pytest.mark.parametrize("tool", ["go", "wait", "elicit", "pay", "key", "name", "list_files"])
async def test_every_page_has_its_id_on_every_version(
    transport: Transport, version: str, tool: str, tmp_path: Path
) -> None:
    def decline(params: dict[str, Any]) -> dict[str, str]:
        return {"action": "decline"}

    async with plain(transport, SERVER, tmp_path / "log", version, {"url": {}}, decline) as client:
        done = await client.call(tool, USER if tool == "list_files" else {})
    asked = client.asked or done["error"]["data"]["elicitations"]
    assert [each["mode"] for each in asked] == ["url"]
    assert all(each["elicitationId"] for each in asked)
