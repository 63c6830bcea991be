"""The error -32042 from other people's servers: many send no report that a page is done, or make a new id each time."""

from __future__ import annotations

import logging
from typing import Any

import anyio
import pytest
from mcp import MCPError

from midcall.client import Asked, Headless, Lines, Script, Waiting, connect
from midcall.client.lines.keyboard import Keyboard
from midcall.client.lines.screen import Ink
from midcall.core.outcome import Accepted
from midcall.errors import UserCancelled, UserDeclined
from tests.client.answerers import Answers, Watcher
from tests.peer import COMMAND, OLD, URL, completed, needs, play
from tests.peer_server import NEW

VERSIONS = [OLD, NEW]
NO_IDS: list[Any] = [{}, {"elicitationId": None}, {"elicitationId": 1}, {"elicitationId": ["1"]}]


async def says_done(waiting: Waiting) -> bool:
    return True


async def says_nothing(waiting: Waiting) -> bool:
    await anyio.sleep_forever()
    raise AssertionError("unreachable")


def agrees(asked: Asked) -> Any:
    return Accepted(None)


@pytest.mark.parametrize("era", VERSIONS)
@pytest.mark.parametrize("id", ["1", None])
async def test_the_users_confirmation_is_enough_on_versions_without_ids(era: Any, id: str | None) -> None:
    answerer = Watcher(says_done)
    with anyio.fail_after(30):
        async with connect(COMMAND, answerer, era=era) as client:
            if era == OLD and id is None:
                with pytest.raises(MCPError) as caught:
                    await play(client, needs(id))
                assert caught.value.__notes__ == [
                    "The error can't be used: data.elicitations.0.elicitationId: Field required."
                ]
                return
            seen = await play(client, needs(id))
    assert len(seen["calls"]) == 2
    assert [(asked.url, asked.via) for asked in answerer.asked] == [(URL, "required")]


@pytest.mark.parametrize("era", VERSIONS)
async def test_the_servers_report_is_enough(era: Any) -> None:
    with anyio.fail_after(30):
        async with connect(COMMAND, Watcher(says_nothing), era=era, patience=None) as client:
            seen = await play(client, needs("1", "2", then=completed("2", "1")))
    assert len(seen["calls"]) == 2


@pytest.mark.parametrize("era", VERSIONS)
@pytest.mark.parametrize("answerer", [Watcher(says_nothing), Answers(agrees)], ids=["user", "nobody"])
async def test_a_wait_without_either_ends_in_time_and_the_call_is_repeated(era: Any, answerer: Answers) -> None:
    with anyio.fail_after(30):
        async with connect(COMMAND, answerer, era=era, patience=0.2) as client:
            seen = await play(client, needs("1"), needs("1"))
    assert len(seen["calls"]) == 3
    assert all(after - before >= 0.2 for before, after in zip(seen["times"], seen["times"][1:], strict=False))


@pytest.mark.parametrize("era", VERSIONS)
async def test_the_call_is_repeated_three_times_at_most(era: Any) -> None:
    with anyio.fail_after(30):
        async with connect(COMMAND, Watcher(says_done), era=era) as client:
            with pytest.raises(MCPError) as caught:
                await play(client, *[needs("1")] * 9)
    assert caught.value.code == -32042
    assert caught.value.__notes__ == ["The call was retried 3 times, and the server still requires the visit."]


NEW_IDS = [needs(id, url=f"{URL}?id={id}") for id in ("aaa", "bbb", "ccc")]
REPORTED = [needs("1", then=completed("1")), needs("1", then=completed("1"))]


@pytest.mark.parametrize("steps", [NEW_IDS, REPORTED, [needs("1"), needs("1")]], ids=["new ids", "done", "same"])
async def test_a_page_is_asked_for_once_in_a_call(steps: list[dict[str, Any]]) -> None:
    answerer = Watcher(says_done)
    with anyio.fail_after(30):
        async with connect(COMMAND, answerer, era=OLD) as client:
            await play(client, *steps)
            assert len(answerer.asked) == 1
            assert len(answerer.waited) >= len(steps) - 1
            await play(client, *steps, {"notify": ["notifications/other", {}]})
    assert len(answerer.asked) == 2  # once more in the next call


async def test_another_page_is_asked_for() -> None:
    answerer = Watcher(says_done)
    with anyio.fail_after(30):
        async with connect(COMMAND, answerer, era=OLD) as client:
            await play(client, needs("1"), needs("2", url="https://example.com/pay"))
    assert [asked.url for asked in answerer.asked] == [URL, "https://example.com/pay"]


@pytest.mark.parametrize("era", VERSIONS)
async def test_a_script_agrees_and_the_call_is_repeated_in_time(era: Any, caplog: pytest.LogCaptureFixture) -> None:
    with anyio.fail_after(30):
        async with connect(COMMAND, Script({"Please connect": True}), era=era, patience=0.2) as client:
            assert len((await play(client, needs("1")))["calls"]) == 2
    assert "the call waits until Peer reports that its page is done, 0.2 s at most; then it is repeated" in caplog.text


async def test_a_script_without_an_answer_ends_the_call() -> None:
    async with connect(COMMAND, Script({})) as client:
        with pytest.raises(UserCancelled):
            await play(client, needs("1"))


@pytest.mark.parametrize("era", VERSIONS)
@pytest.mark.parametrize(("policy", "error"), [("cancel", UserCancelled), ("decline", UserDeclined)])
async def test_headless_makes_no_visit(era: Any, policy: Any, error: type[Exception]) -> None:
    async with connect(COMMAND, Headless(policy), era=era) as client:
        with pytest.raises(error):
            await play(client, needs("1"))


@pytest.mark.parametrize("era", VERSIONS)
@pytest.mark.parametrize("policy", ["cancel", "decline", "defaults", "fail"])
async def test_headless_can_pass_visits_on_and_repeat_the_call(
    era: Any, policy: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    told: list[str] = []
    with anyio.fail_after(30):
        async with connect(COMMAND, Headless(policy, visits=True, tell=told.append), era=era, patience=0.2) as client:
            assert len((await play(client, needs("1")))["calls"]) == 2
    assert told == [f'Peer asked "Please connect". Open this page for it: {URL}']
    assert URL not in caplog.text


def test_visits_that_nobody_would_hear_of_are_refused() -> None:
    with pytest.raises(ValueError, match="visits=True needs tell="):
        Headless(visits=True)


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        ({}, "data.elicitations is not a list of visits"),
        ({"elicitations": []}, "data.elicitations is not a list of visits"),
        ({"elicitations": [7]}, "data.elicitations.0: Input should be a valid dictionary"),
        ({"elicitations": [{"mode": "url", "url": URL}]}, "data.elicitations.0.message: Field required"),
        ({"elicitations": [{"mode": "url", "message": "x", "url": "file:///x", "elicitationId": "1"}]}, "not a plain"),
    ],
)
async def test_a_malformed_error_says_what_is_malformed_and_where(data: Any, fault: str) -> None:
    async with connect(COMMAND, Watcher(says_done)) as client:
        with pytest.raises(MCPError) as caught:
            await play(client, {"error": {"code": -32042, "message": "odd", "data": data}})
    [note] = caught.value.__notes__
    assert "The error can't be used: data.elicitations" in note
    assert fault in note


async def test_a_client_that_opens_no_pages_adds_a_note_to_the_error() -> None:
    async with connect(COMMAND, Answers(modes=("form",))) as client:
        with pytest.raises(MCPError) as caught:
            await play(client, needs("1"))
    assert caught.value.__notes__ == ["The server requires a visit, and this client can't open web pages."]


# --- reports ---------------------------------------------------------------------------------


@pytest.mark.parametrize("era", VERSIONS)
async def test_on_complete_gets_known_ids_and_unknown_ones_marked_as_such(era: Any) -> None:
    heard: list[tuple[str, bool]] = []
    last = anyio.Event()

    def on_complete(id: str, known: bool) -> None:
        heard.append((id, known))
        if id == "other":
            last.set()

    with anyio.fail_after(30):
        async with connect(COMMAND, Watcher(says_nothing), era=era, on_complete=on_complete) as client:
            await play(client, needs("1", then=completed("1", "1", "other")))
            await last.wait()
    assert heard == [("1", True), ("other", False)]


@pytest.mark.parametrize("era", VERSIONS)
async def test_a_report_without_an_id_ends_no_wait_and_the_next_one_does(era: Any) -> None:
    heard: list[tuple[str, bool]] = []
    malformed = [("notifications/elicitation/complete", params) for params in NO_IDS]
    with anyio.fail_after(30):
        async with connect(
            COMMAND, Watcher(says_nothing), era=era, on_complete=lambda id, known: heard.append((id, known))
        ) as client:
            seen = await play(client, needs("1", then=[*malformed, *completed("1")]))
    assert len(seen["calls"]) == 2
    assert heard == [("1", True)]


async def test_a_report_that_comes_too_early_is_unknown_first_and_known_with_its_visit() -> None:
    heard: list[tuple[str, bool]] = []
    with anyio.fail_after(30):
        async with connect(
            COMMAND, Answers(agrees), era=OLD, on_complete=lambda id, known: heard.append((id, known))
        ) as client:
            await play(client, {"notify": completed("1")[0]}, needs("1"))
    assert heard == [("1", False), ("1", True)]


# --- what the user sees ----------------------------------------------------------------------


async def test_the_address_is_shown_while_a_call_waits_again_since_it_may_be_another_one() -> None:
    shown: list[str] = []
    lines = Lines(
        keyboard=Keyboard(lambda *_: "yes\n"),
        write=shown.append,
        ink=Ink(False),
        open_url=lambda url: True,
        width=200,
    )
    with anyio.fail_after(30):
        async with connect(COMMAND, lines, era=OLD) as client:
            await play(client, *NEW_IDS[:2])
    text = "".join(shown)
    assert text.count("Open this address") == 1
    assert text.index(f"{URL}?id=aaa") < text.index(f"{URL}?id=bbb")
