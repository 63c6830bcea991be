from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError

from midcall.audit import Event
from midcall.client import Guard, connect
from midcall.client.answerer import Waiting
from midcall.client.connection.visits import Visits
from midcall.core.outcome import Accepted, Cancelled, Declined
from midcall.errors import UserCancelled, UserDeclined
from midcall.settings.client import MAX_REQUIRED_VISITS
from tests.budget import cpu_budget
from tests.client.answerers import Answers, Watcher
from tests.client.raw import MODERN, Raw, Refusal, final, told

URL = "https://example.com/connect"
Call = Callable[[Client], Awaitable[Any]]

CALLS: dict[str, Call] = {
    "tools/call": lambda client: client.call_tool("it", {"a": 1}),
    "prompts/get": lambda client: client.get_prompt("it"),
    "resources/read": lambda client: client.read_resource("it://1"),
}
RESULTS: dict[str, Any] = {
    "tools/call": told(),
    "prompts/get": {"messages": []},
    "resources/read": {"contents": []},
}


def needs(*ids: str, url: str = URL, says: str = "Please connect first") -> Refusal:
    listed = [{"mode": "url", "message": f"Visit {id}", "url": url, "elicitationId": id} for id in ids]
    return Refusal(-32042, says, {"elicitations": listed})


def needing(id: str, url: str) -> Refusal:
    """The same message for each page, so that only its address can tell it from others."""
    page = {"mode": "url", "message": "Sign in", "url": url, "elicitationId": id}
    return Refusal(-32042, "Sign in", {"elicitations": [page]})


def refusing(*refusals: Exception, then: dict[str, Any] | None = None, version: str = "2025-11-25") -> Raw:
    """A server that refuses call after call, and then gives a result."""
    left = list(refusals)

    async def handle(raw: Raw, call: dict[str, Any]) -> dict[str, Any]:
        if left:
            raise left.pop(0)
        return then or (final() if version == MODERN else told())

    return Raw(handle, version)


async def never(waiting: Waiting) -> bool:
    await anyio.sleep_forever()
    raise AssertionError("unreachable")


async def at_once(waiting: Waiting) -> bool:
    return True


def completing(raw: Raw, *ids: str) -> Answers:
    """A user who opens the pages, which are done before the question is answered."""

    async def answer(asked: Any) -> Any:
        await raw.complete(asked.question.id)
        return Accepted(None)

    return Answers(answer)


@pytest.mark.parametrize("method", CALLS)
async def test_tools_prompts_and_resources_resume_when_the_visits_are_done(method: str) -> None:
    raw = refusing(needs("a", "b"), then=RESULTS[method])
    answerer = completing(raw)
    with anyio.fail_after(10):
        async with connect(raw.transport(), answerer) as client:
            await CALLS[method](client)
    first, again = raw.calls(method)
    for params in (first, again):
        params.get("_meta", {}).pop("traceparent", None)  # with tracing on, each has its own span
    assert first == again
    assert [(asked.url, asked.message, asked.via, asked.server) for asked in answerer.asked] == [
        (URL, "Visit a", "required", "Raw server"),
        (URL, "Visit b", "required", "Raw server"),
    ]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("Please connect first", "Please connect first"),
        ("", ""),
        ("Visit a", ""),
        ("URL elicitation required", ""),
        ("URL elicitations required.", ""),
        ("URL elicitation required: 1 elicitation(s) needed", ""),
    ],
    ids=["a reason", "none", "the visit's own message", "what SDKs say", "that of several", "what mcp-go says"],
)
@pytest.mark.parametrize("version", ["2025-11-25", MODERN])
async def test_the_user_sees_the_message_of_the_error_unless_it_adds_nothing(
    version: str, message: str, reason: str
) -> None:
    raw = refusing(needs("a", says=message), version=version)
    answerer = Watcher(at_once)
    async with connect(raw.transport(), answerer) as client:
        await client.call_tool("it")
    assert [(asked.reason, asked.message) for asked in answerer.asked] == [(reason, "Visit a")]


async def test_the_call_waits_until_the_server_says_that_all_are_done() -> None:
    raw = refusing(needs("a", "b"))

    async def word(waiting: Waiting) -> bool:
        assert (waiting.attempt, waiting.attempts, waiting.finished) == (1, 3, False)
        await raw.complete("unknown", "a", "a")
        await waiting.changed()
        assert [waiting.is_done(asked) for asked in waiting.asked] == [True, False]
        assert len(raw.calls()) == 1
        await raw.complete("b")
        return await never(waiting)

    answerer = Watcher(word)
    with anyio.fail_after(10):
        async with connect(raw.transport(), answerer) as client:
            await client.call_tool("it")
    assert len(answerer.waited) == 1


async def test_the_user_can_try_again_at_once_and_is_not_asked_for_the_same_visit_twice() -> None:
    raw = refusing(needs("a"), needs("a"))
    answerer = Watcher(at_once)
    async with connect(raw.transport(), answerer) as client:
        await client.call_tool("it")
    assert [waiting.attempt for waiting in answerer.waited] == [1, 2]
    assert len(answerer.asked) == 1
    assert len(raw.calls()) == 3


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("https://good.example/v/1f", "https://good.example/v/2e"),
        ("https://good.example/v?task=1f&lang=en", "https://good.example/v?task=2e&lang=en"),
        ("https://good.example/1f/v#top", "https://good.example/2e/v#top"),
    ],
    ids=["a part of the path", "a value of the query", "before a fragment"],
)
async def test_a_page_whose_id_alone_is_new_is_not_asked_for_again(first: str, second: str) -> None:
    raw = refusing(needing("1f", first), needing("2e", second))
    answerer = Watcher(at_once)
    async with connect(raw.transport(), answerer) as client:
        await client.call_tool("it")
    assert [asked.url for asked in answerer.asked] == [first]


@pytest.mark.parametrize(
    ("id", "url"),
    [
        ("evil.example/", "https://evil.example/good.example/v"),
        ("login.", "https://login.good.example/v"),
        ("user@", "https://user@good.example/v"),
        (":8443", "https://good.example:8443/v"),
        ("x", "https://good.example/xv"),
        ("/x", "https://good.example/v/x"),
        ("?next=x", "https://good.example/v?next=x"),
        ("#x", "https://good.example/v#x"),
        ("/..", "https://good.example/v/.."),
    ],
)
async def test_a_page_that_differs_in_more_than_its_id_is_asked_for_again(id: str, url: str) -> None:
    """Each of these addresses is the first one with the server's new id put in somewhere."""
    good = "https://good.example/v"
    raw = refusing(needing("1f", good), needing(id, url))
    answerer = Watcher(at_once)
    async with connect(raw.transport(), answerer) as client:
        await client.call_tool("it")
    assert [asked.url for asked in answerer.asked] == [good, url]


@pytest.mark.parametrize("id", ["..", ".", "%2e%2e", "a/b", "\u0430", "x" * 300], ids=lambda id: id[:6])
async def test_an_id_that_could_lead_elsewhere_or_hide_something_is_part_of_the_page(id: str) -> None:
    good, other = "https://good.example/v/1f", f"https://good.example/v/{id}"
    raw = refusing(needing("1f", good), needing(id, other))
    answerer = Watcher(at_once)
    async with connect(raw.transport(), answerer) as client:
        await client.call_tool("it")
    assert [asked.url for asked in answerer.asked] == [good, other]


async def test_a_page_that_takes_the_place_of_another_one_does_not_get_past_a_guard() -> None:
    evil = "https://evil.example/good.example/v"
    raw = refusing(needing("1f", "https://good.example/v"), needing("evil.example/", evil))
    answerer, told, events = Watcher(at_once), list[str](), list[Event]()
    guard = Guard(answerer, deny_hosts=["evil.example"], tell=told.append, audit=events.append)
    async with connect(raw.transport(), guard) as client:
        with pytest.raises(UserCancelled):
            await client.call_tool("it")
    assert [waiting.attempt for waiting in answerer.waited] == [1]
    assert told == ["Raw server wanted to send you to evil.example, which is not allowed here: it was cancelled."]
    await guard.close()
    assert [(event.name, event.outcome) for event in events] == [
        ("question.answered", "accept"),
        ("question.refused", "host"),
    ]


async def test_a_visit_that_was_done_and_is_needed_again_is_not_shown_again_at_once() -> None:
    raw = refusing(needs("a"), needs("a"))
    answerer = completing(raw)
    with anyio.fail_after(10):
        async with connect(raw.transport(), answerer, patience=0.05) as client:
            await client.call_tool("it")
    assert len(answerer.asked) == 1
    assert len(raw.calls()) == 3


async def test_after_three_retries_the_servers_error_comes_out() -> None:
    raw = refusing(*[needs(str(number)) for number in range(9)])
    async with connect(raw.transport(), Watcher(at_once)) as client:
        with pytest.raises(MCPError, match="Please connect first") as caught:
            await client.call_tool("it")
    assert caught.value.code == -32042
    assert caught.value.__notes__ == ["The call was retried 3 times, and the server still requires the visit."]
    assert len(raw.calls()) == 4


async def test_another_error_after_a_visit_comes_out_as_it_is() -> None:
    raw = refusing(needs("a"), Refusal(-32603, "broken"))
    async with connect(raw.transport(), Watcher(at_once)) as client:
        with pytest.raises(MCPError, match="broken"):
            await client.call_tool("it")


@pytest.mark.parametrize(("outcome", "error"), [(Declined(), UserDeclined), (Cancelled(), UserCancelled)])
async def test_one_visit_that_is_not_made_ends_the_call(outcome: Any, error: type[Exception]) -> None:
    raw = refusing(needs("a", "b", "c"))
    answerer = Answers(lambda asked: outcome if asked.question.id == "b" else Accepted(None))
    with anyio.fail_after(10):
        async with connect(raw.transport(), answerer) as client:
            with pytest.raises(error, match="Raw server needs"):
                await client.call_tool("it")
    assert [asked.question.id for asked in answerer.asked] == ["a", "b"]
    assert len(raw.calls()) == 1


async def test_an_answerer_that_fails_is_a_cancel() -> None:
    def answer(asked: Any) -> Any:
        raise RuntimeError

    async with connect(refusing(needs("a")).transport(), Answers(answer)) as client:
        with pytest.raises(UserCancelled):
            await client.call_tool("it")


async def test_the_user_can_give_up() -> None:
    async def word(waiting: Waiting) -> bool:
        return False

    raw = refusing(needs("a"))
    async with connect(raw.transport(), Watcher(word)) as client:
        with pytest.raises(UserCancelled, match="You gave up waiting for what Raw server needs"):
            await client.call_tool("it")
    assert len(raw.calls()) == 1


async def test_without_a_watcher_the_call_is_repeated_when_the_patience_ends_and_then_fails_with_advice() -> None:
    raw = refusing(*[needs("a")] * 9)
    async with connect(raw.transport(), Answers(), patience=0.05) as client:
        with pytest.raises(MCPError, match="Please connect first") as caught:
            await client.call_tool("it")
    assert caught.value.__notes__ == ["The call was retried 3 times, and the server still requires the visit."]
    assert len(raw.calls()) == 4


async def test_an_answerer_whose_waiting_fails_leaves_it_to_the_servers_word() -> None:
    raw = refusing(needs("a"))

    async def word(waiting: Waiting) -> bool:
        await raw.complete("a")
        raise RuntimeError("boom")

    with anyio.fail_after(10):
        async with connect(raw.transport(), Watcher(word)) as client:
            await client.call_tool("it")


async def test_cancelling_the_call_ends_the_waiting() -> None:
    ended = anyio.Event()

    async def word(waiting: Waiting) -> bool:
        try:
            return await never(waiting)
        finally:
            ended.set()

    async with connect(refusing(needs("a")).transport(), Watcher(word)) as client:
        with anyio.move_on_after(0.1):
            await client.call_tool("it")
        assert ended.is_set()


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "rubbish",
        {},
        {"elicitations": None},
        {"elicitations": []},
        {"elicitations": [7]},
        {"elicitations": [{"mode": "form", "message": "x", "requestedSchema": {}}]},
        {"elicitations": [{"mode": "url", "message": "x", "url": URL}]},
        {"elicitations": [{"mode": "url", "message": "x", "url": "file:///etc/passwd", "elicitationId": "a"}]},
        {"elicitations": [{"mode": "url", "url": URL, "elicitationId": "a"}]},
    ],
)
async def test_of_a_malformed_error_nothing_is_asked_and_it_comes_out(data: Any) -> None:
    answerer = Answers()
    async with connect(refusing(Refusal(-32042, "odd", data)).transport(), answerer) as client:
        with pytest.raises(MCPError, match="odd"):
            await client.call_tool("it")
    assert answerer.asked == []


async def test_an_error_that_needs_very_many_visits_asks_for_none_and_takes_no_time() -> None:
    """A server could keep the client busy, and its user clicking, without end."""
    most = needs(*map(str, range(MAX_REQUIRED_VISITS)))
    more = needs(*map(str, range(MAX_REQUIRED_VISITS + 1)))
    many = needs(*map(str, range(100_000)))
    answerer = Answers(lambda asked: Cancelled())
    async with connect(refusing(more, many, most).transport(), answerer) as client:
        for _ in range(2):
            with cpu_budget(3), pytest.raises(MCPError, match="Please connect first") as caught:
                await client.call_tool("it")
            assert any("has more than 50 visits" in note for note in caught.value.__notes__)
            assert answerer.asked == []
        with pytest.raises(UserCancelled):
            await client.call_tool("it")
        assert len(answerer.asked) == 1


async def test_an_answerer_without_visits_is_not_asked_to_make_one() -> None:
    answerer = Answers(modes=("form",))
    async with connect(refusing(needs("a")).transport(), answerer) as client:
        with pytest.raises(MCPError, match="Please connect first"):
            await client.call_tool("it")
    assert answerer.asked == []


async def test_the_end_of_a_visit_counts_even_if_it_is_heard_before_the_visit() -> None:
    async def handle(raw: Raw, call: dict[str, Any]) -> dict[str, Any]:
        if len(raw.calls()) == 1:
            await raw.complete("a")
            raise needs("a")
        return told()

    with anyio.fail_after(10):
        async with connect(Raw(handle).transport(), Answers(lambda asked: Accepted(None))) as client:
            await client.call_tool("it")


# --- who hears of the end ----------------------------------------------------------------------


async def test_hosts_and_answerers_hear_of_each_visit_that_is_done_once() -> None:
    heard: list[str] = []
    seen: list[str] = []
    all_sent = anyio.Event()

    async def handle(raw: Raw, call: dict[str, Any]) -> dict[str, Any]:
        for id in ("yes", "no"):
            await raw.ask(mode="url", message="Go", url=URL, elicitationId=id)
        await raw.complete("yes", "no", "yes", "unknown")
        return told()

    async def on_complete(id: str, known: bool) -> None:
        if known:
            heard.append(id)
            all_sent.set()

    answerer = Answers(
        lambda asked: Accepted(None) if asked.question.id == "yes" else Declined(), completed=seen.append
    )
    with anyio.fail_after(10):
        async with connect(Raw(handle).transport(), answerer, on_complete=on_complete) as client:
            await client.call_tool("it")
            await all_sent.wait()
            await client.call_tool("it")
    assert set(heard) == {"yes"}
    assert heard == seen


async def test_a_listener_that_fails_keeps_nothing_from_the_others(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[str] = []

    def fails(id: str) -> None:
        raise RuntimeError("hunter2")

    visits = Visits([fails, heard.append])
    await visits.begin("a")
    await visits.complete("a")
    await visits.complete("a")
    assert heard == ["a"]
    assert "RuntimeError" in caplog.text
    assert "hunter2" not in caplog.text


async def test_ids_that_nobody_knows_are_not_kept_without_end() -> None:
    visits = Visits()
    for number in range(10_000):
        await visits.complete(f"rubbish {number}")
    assert len(visits._early) <= 256
