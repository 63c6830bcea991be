"""Clients that cannot show a form: a page, a link, the chat."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.server.mcpserver import Context
from pydantic import BaseModel, Field, field_validator

from midcall import (
    STRONG,
    Accepted,
    Cancelled,
    Declined,
    InstallError,
    Question,
    Visit,
    approve,
    ask,
    ask_all,
    can_ask,
    choose,
    complete,
    confirm,
    elicit,
    once,
    secret,
    visit,
)
from midcall.errors import ReplayMismatch
from midcall.server.resuming import visits
from midcall.stores.memory import Memory
from midcall.testing import ERAS, Era, connect
from tests.kinds import KINDS, Kind, server_with
from tests.portal.sites import Visitor
from tests.server.codes import go_on, shown
from tests.server.people import TOKEN, WITH_URLS, Act, Person, fills, installed, presses
from tests.server.reaching import NOTHING, addresses, do, posted, relayed, sends


class Trip(BaseModel):
    city: str = Field(min_length=2)
    days: int = Field(ge=1, le=30)

    @field_validator("city")
    @classmethod
    def not_nowhere(cls, value: str) -> str:
        if value == "Nowhere":
            raise ValueError("is not a place")
        return value


async def book() -> str:
    match await elicit("Tell me about the trip", Trip):
        case Accepted(value=trip, via=via):
            return f"{trip.city} {trip.days} {via}"
        case other:
            return f"{type(other).__name__} {other.via}"


async def five() -> str:
    """Five kinds of question, one after the other."""
    name = await ask("Your name?", str)
    trip = await ask("The trip?", Trip)
    seat = await choose("Which seat?", {"w": "Window", "a": "Aisle"})
    extras = await choose("Which extras?", ["car", "guide"], many=True)
    sure = await confirm("Sure?")
    return f"{name} {trip.city} {trip.days} {seat} {extras} {sure}"


# --- page ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", WITH_URLS)
async def test_a_client_with_urls_only_gets_a_form_as_a_page(kind: Kind, era: Era) -> None:
    person = Person(sends(city="Oslo", days=3))
    async with installed(book, kind=kind) as (server, _):
        async with connect(server, person, era=era, modes=["url"]) as client:
            assert shown(await client.call_tool("book", {})) == "Oslo 3 page"
    assert [asked.mode for asked in person.asked] == ["url"]


@pytest.mark.parametrize("era", WITH_URLS)
@pytest.mark.parametrize(("button", "expected"), [("decline", "Declined page"), ("cancel", "Cancelled page")])
async def test_declining_on_the_page_declines_the_question(era: Era, button: str, expected: str) -> None:
    async with installed(book) as (server, _):
        async with connect(server, Person(presses(button)), era=era, modes=["url"]) as client:
            assert shown(await client.call_tool("book", {})) == expected


@pytest.mark.parametrize("era", WITH_URLS)
async def test_an_answer_that_only_the_tool_can_refuse_is_asked_for_again_on_a_new_page(era: Era) -> None:
    cities = ["Nowhere", "Oslo"]
    pages: list[str] = []

    async def act(visitor: Visitor, id: str) -> None:
        pages.append((await visitor.open(id)).text)
        await sends(city=cities.pop(0), days=3)(visitor, id)

    async with installed(book) as (server, _):
        async with connect(server, Person(act), era=era, modes=["url"]) as client:
            assert shown(await client.call_tool("book", {})) == "Oslo 3 page"
    assert "is not a place" in pages[1]


async def test_questions_that_are_asked_together_are_pages_of_one_round() -> None:
    async def tool() -> str:
        one, two = await ask_all(Question("One?", int), Question("Two?", int))
        return f"{one} {two}"

    numbers = iter([1, 2])

    async def act(visitor: Visitor, id: str) -> None:
        page = (await visitor.open(id)).text
        number = 1 if "One?" in page else 2
        await visitor.press(id, "accept", posted(page, {"answer": number}))
        next(numbers)

    person = Person(act)
    async with installed(tool) as (server, _), connect(server, person, modes=["url"]) as client:
        assert shown(await client.call_tool("tool", {})) == "1 2"
    assert len(person.asked) == 2


# --- link ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_without_elicitation_gets_a_link_and_resumes_with_the_code(kind: Kind, era: Era) -> None:
    async with installed(book, kind=kind) as (server, _), connect(server, era=era, modes=NOTHING) as client:
        first = await client.call_tool("book", {})
        assert "Tell me about the trip" in shown(first)
        await do(first, sends(city="Oslo", days=3))
        assert shown(await go_on(client, first)) == "Oslo 3 link"


@pytest.mark.usefixtures("brief_holds")
@pytest.mark.parametrize("era", ERAS)
async def test_a_whole_interview_works_from_a_client_that_has_never_heard_of_elicitation(era: Era) -> None:
    acts: list[Act] = [
        sends(answer="Ada"),
        sends(city="Oslo", days=3),
        picks("1"),
        picks("0"),
        picks("yes"),
    ]
    async with installed(five) as (server, _), connect(server, era=era, modes=NOTHING) as client:
        result = await client.call_tool("five", {})
        for act in acts:
            await do(result, act)
            result = await go_on(client, result)
        assert shown(result) == "Ada Oslo 3 a ['car'] True"


def picks(value: str) -> Act:
    async def act(visitor: Visitor, id: str) -> None:
        page = (await visitor.open(id)).text
        name = re.findall(r'name="(f[^"]*?)"', page)[0]
        options = re.findall(r'name="f[^"]*?"[^>]*?value="([^"]*)"', page)
        chosen = (
            value if value in options else next(option for option in options if option in ("yes", "true", "1", "y"))
        )
        answer = await visitor.press(id, "accept", {name: chosen})
        assert answer.status_code < 400, answer.text

    return act


async def test_resuming_too_early_shows_the_address_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "HOLD_SECONDS", 0.02)
    async with installed(book) as (server, _), connect(server, modes=NOTHING) as client:
        first = await client.call_tool("book", {})
        second = await go_on(client, first)
        assert addresses(second) == addresses(first)
        await do(second, sends(city="Oslo", days=3))
        assert shown(await go_on(client, second)) == "Oslo 3 link"


async def test_equal_calls_never_share_answers() -> None:
    async with installed(book) as (server, _), connect(server, modes=NOTHING) as client:
        one, two = await client.call_tool("book", {}), await client.call_tool("book", {})
        assert addresses(one) != addresses(two)
        await do(one, sends(city="Oslo", days=3))
        await do(two, sends(city="Rome", days=5))
        assert shown(await go_on(client, two)) == "Rome 5 link"
        assert shown(await go_on(client, one)) == "Oslo 3 link"


@pytest.mark.parametrize("era", ERAS)
async def test_a_visit_reaches_a_client_with_nothing_too(era: Era) -> None:
    async def tool() -> str:
        return await visit("Please look", "https://example.com/x", id="looked")

    async with installed(tool) as (server, _), connect(server, era=era, modes=NOTHING) as client:
        first = await client.call_tool("tool", {})
        assert addresses(first) == ["https://example.com/x"]
        assert shown(await go_on(client, first)) == "looked"


@pytest.mark.usefixtures("brief_holds")
@pytest.mark.parametrize("era", ERAS)
async def test_secrets_and_approvals_reach_a_client_with_nothing_too(era: Era) -> None:
    async def tool() -> str:
        token = await secret("github", "A token")
        return f"{len(token)} {await approve('Pay ACME', {'amount': 40})}"

    async with installed(tool) as (server, _), connect(server, era=era, modes=NOTHING) as client:
        result = await client.call_tool("tool", {})
        for act in (fills(TOKEN), presses("accept")):
            await do(result, act)
            result = await go_on(client, result)
        assert shown(result) == f"{len(TOKEN)} True"


async def test_what_was_done_before_the_question_is_not_done_again() -> None:
    runs: list[str] = []

    async def charge() -> int:
        runs.append("charge")
        return 7

    async def tool() -> str:
        paid = await once("charge", charge)
        return f"{paid} {await ask('Name?', str)}"

    async with installed(tool) as (server, _), connect(server, era="2025-11-25", modes=NOTHING) as client:
        first = await client.call_tool("tool", {})
        await do(first, sends(answer="Ada"))
        assert shown(await go_on(client, first)) == "7 Ada"
    assert runs == ["charge"]


@pytest.mark.usefixtures("replaying")
@pytest.mark.parametrize("era", ERAS)
async def test_code_that_took_another_way_past_an_effect_does_not_continue(era: Era) -> None:
    messages = iter(["Name?", "Full name?"])

    async def tool() -> str:
        if (message := next(messages)) == "Name?":
            await once("charge", int)
        return await ask(message, str)

    async with installed(tool) as (server, _), connect(server, era=era, modes=NOTHING) as client:
        first = await client.call_tool("tool", {})
        await do(first, sends(answer="Ada"))
        told = shown(await go_on(client, first))
        assert told.startswith(ReplayMismatch.for_model)
        assert "Steps already done: 'charge'." in told


async def test_the_id_of_a_visit_leads_to_no_page() -> None:
    async def tool() -> str:
        return await visit("Please look", "https://example.com/x", wait=True)

    seen: list[str] = []

    def answer(asked: Any) -> str:
        seen.append(asked.id)
        return "go"

    async with installed(tool) as (server, portal):
        async with connect(server, answer, era="2025-11-25") as client:
            task = asyncio.create_task(client.call_tool("tool", {}))
            while not seen:
                await asyncio.sleep(0.001)
            await portal.start()
            async with httpx2.AsyncClient(base_url=portal.url) as http:
                assert (await http.get(f"/i/{seen[0]}")).status_code == 404
            await complete(seen[0])
            assert shown(await task) == seen[0]


@pytest.mark.parametrize("modes", [["url"], NOTHING])
async def test_a_page_that_nobody_answered_in_time_ends_the_tool(modes: list[Any]) -> None:
    async def nothing(visitor: Visitor, id: str) -> None: ...

    async with installed(book, ttl=0.05) as (server, _), connect(server, Person(nothing), modes=modes) as client:
        result = await client.call_tool("book", {})
        if not modes:
            result = await go_on(client, result)
        assert result.is_error
        assert "not finished on the web page" in shown(result)


@pytest.mark.parametrize("modes", [["url"], NOTHING])
async def test_the_deadline_of_a_question_is_that_of_its_page(modes: list[Any]) -> None:
    async def hurried() -> str:
        return await ask("Your name?", str, timeout=0.3)

    async def nothing(visitor: Visitor, id: str) -> None: ...

    async with installed(hurried) as (server, _), connect(server, Person(nothing), modes=modes) as client:
        async with asyncio.timeout(10):
            result = await client.call_tool("hurried", {})
            if not modes:
                [address] = addresses(result)
                result = await go_on(client, result)
                async with httpx2.AsyncClient() as http:
                    assert (await http.get(address)).status_code == 410
    assert result.is_error
    assert "in time" in shown(result) or "not finished on the web page" in shown(result)


# --- what a question accepts -------------------------------------------------------------------


async def channels_of() -> str:
    return " ".join(can_ask("form"))


@pytest.mark.parametrize(
    ("modes", "expected"),
    [(["form", "url"], "round page link"), (["form"], "round link"), (["url"], "page link"), (NOTHING, "link")],
)
async def test_can_ask_returns_the_channels_in_order(modes: list[Any], expected: str) -> None:
    async with installed(channels_of) as (server, _), connect(server, modes=modes) as client:
        assert shown(await client.call_tool("channels_of", {})) == expected


async def test_a_strong_confirmation_takes_a_link_but_no_default_and_no_relay() -> None:
    async def tool() -> str:
        return str(await confirm("Delete it?", via=STRONG))

    server = server_with(tool, store=Memory(), relay=True)
    async with connect(server, era="2025-11-25", modes=NOTHING) as client:
        result = await client.call_tool("tool", {})
        assert result.is_error
        assert "midcall_answer" not in shown(result)


# --- doubt -----------------------------------------------------------------------------------


def no_at_once(asked: Any) -> Any:
    return Declined(unseen=True) if asked.mode == "form" else "go"


class Unseen(Person):
    """A client that answers forms automatically and at once; a person opens the URLs it is sent."""

    def __init__(self, act: Act, answer: Any) -> None:
        super().__init__(act)
        self._answer = answer

    def __call__(self, asked: Any) -> Any:
        if asked.mode == "form":
            self.asked.append(asked)
            return self._answer
        return super().__call__(asked)


@pytest.mark.parametrize("era", WITH_URLS)
@pytest.mark.parametrize("answer", [Declined(unseen=True), Cancelled(unseen=True)])
async def test_a_decline_faster_than_a_person_reads_leads_to_a_page(era: Era, answer: Any) -> None:
    person = Unseen(sends(city="Oslo", days=3), answer)
    async with installed(book, doubt=60.0) as (server, _), connect(server, person, era=era) as client:
        assert shown(await client.call_tool("book", {})) == "Oslo 3 page"
    assert [asked.mode for asked in person.asked] == ["form", "url"]


@pytest.mark.parametrize("era", WITH_URLS)
async def test_a_quick_no_to_one_of_several_questions_ends_none_of_them(era: Era) -> None:
    async def both() -> str:
        first, second = await ask_all(Question("First?", Trip), Question("Second?", Trip))
        return f"{first.city} {second.city}"

    person = Unseen(sends(city="Oslo", days=3), Declined(unseen=True))
    async with installed(both, doubt=60.0) as (server, _), connect(server, person, era=era) as client:
        assert shown(await client.call_tool("both", {})) == "Oslo Oslo"
    assert [asked.mode for asked in person.asked].count("url") == 2


@pytest.mark.parametrize("era", ERAS)
async def test_a_decline_faster_than_a_person_reads_leads_to_a_link_without_url_mode(era: Era) -> None:
    async with installed(book, doubt=60.0) as (server, _):
        async with connect(server, no_at_once, era=era, modes=["form"]) as client:
            first = await client.call_tool("book", {})
            await do(first, sends(city="Oslo", days=3))
            assert shown(await go_on(client, first)) == "Oslo 3 link"


@pytest.mark.parametrize("era", WITH_URLS)
async def test_a_second_decline_counts(era: Era) -> None:
    async with installed(book, doubt=60.0) as (server, _):
        async with connect(server, Unseen(presses("decline"), Declined(unseen=True)), era=era) as client:
            assert shown(await client.call_tool("book", {})) == "Declined page"


@pytest.mark.parametrize("era", ERAS)
async def test_without_another_channel_a_quick_decline_counts(era: Era) -> None:
    expected = "Declined round" if era == "2026-07-28" else "Declined push"
    async with connect(server_with(book, store=Memory(), relay=True, doubt=60.0), no_at_once, era=era) as client:
        assert shown(await client.call_tool("book", {})) == expected


TERMS = "https://example.com/terms"


async def accept_terms() -> str:
    await visit("Accept the terms", TERMS)
    return "agreed"


async def accept_terms_in_one_outcome() -> str:
    match await elicit(Visit("Accept the terms", TERMS)):
        case Accepted():
            return "agreed"
        case Declined(unseen=unseen) | Cancelled(unseen=unseen):
            return f"unseen: {unseen}"


async def accept_terms_together() -> str:
    await ask_all(Visit("Accept the terms", TERMS), Visit("Accept the other terms", f"{TERMS}/2"))
    return "agreed"


async def accept_terms_in_the_sdks_way(ctx: Context[Any, Any]) -> str:
    answer = await ctx.elicit_url("Accept the terms", TERMS, "an-id-of-the-author")
    return "agreed" if answer.action == "accept" else answer.action


@pytest.mark.parametrize("era", WITH_URLS)
@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize("answer", [Declined(unseen=True), Cancelled(unseen=True)])
@pytest.mark.parametrize(
    "tool", [accept_terms, accept_terms_in_one_outcome, accept_terms_together, accept_terms_in_the_sdks_way]
)
async def test_a_no_at_once_to_a_visit_counts_since_a_link_to_it_would_be_accepted_without_a_person(
    tool: Any, answer: Any, live: bool, era: Era
) -> None:
    async with installed(tool, doubt=60.0, live=live) as (server, _):
        async with connect(server, lambda _: answer, era=era) as client:
            result = shown(await client.call_tool(tool.__name__, {}))
    assert "midcall_continue" not in result
    assert "agreed" not in result
    if tool is accept_terms_in_one_outcome:
        assert result == "unseen: True"
    if tool in (accept_terms, accept_terms_together):
        assert "answered it automatically, at once" in result


@pytest.mark.parametrize("era", WITH_URLS)
async def test_a_no_at_once_to_a_visit_that_the_tool_waits_for_leads_to_a_link_and_still_waits(
    era: Era, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visits, "HOLD_SECONDS", 0.05)
    ids: list[str] = []

    def place(id: str) -> str:
        ids.append(id)
        return f"https://example.com/pay/{id}"

    async def pay() -> str:
        return f"paid {await visit('Pay', place, wait=True, timeout=20) == ids[0]}"

    async with installed(pay, doubt=60.0) as (server, _):
        async with connect(server, lambda _: Declined(unseen=True), era=era) as client:
            first = await client.call_tool("pay", {})
            assert ids[0] in shown(first)
            second = await go_on(client, first)
            assert "paid" not in shown(second)
            assert await complete(ids[0])
            assert shown(await go_on(client, second)) == "paid True"


@pytest.mark.parametrize("era", ERAS)
async def test_without_doubt_every_no_is_believed(era: Era) -> None:
    async with installed(book, doubt=0.0) as (server, _), connect(server, no_at_once, era=era) as client:
        assert shown(await client.call_tool("book", {})).startswith("Declined")


@pytest.mark.parametrize("era", ERAS)
async def test_a_decline_that_a_program_gives_on_purpose_is_believed_however_fast_it_is(era: Era) -> None:
    async with installed(book, doubt=60.0) as (server, _), connect(server, [Declined()], era=era) as client:
        assert shown(await client.call_tool("book", {})).startswith("Declined")


@pytest.mark.parametrize("era", WITH_URLS)
async def test_a_decline_is_never_replaced_by_a_default(era: Era) -> None:
    async def tool() -> str:
        return type(await elicit("Sure?", bool, default=True)).__name__

    async with connect(server_with(tool, doubt=60.0), no_at_once, era=era) as client:
        assert shown(await client.call_tool("tool", {})) == "Declined"


@pytest.mark.parametrize("era", WITH_URLS)
async def test_an_accept_without_content_is_asked_again_and_then_taken_for_not_shown(era: Era) -> None:
    person = Unseen(sends(city="Oslo", days=3), {})
    async with installed(book) as (server, _), connect(server, person, era=era) as client:
        assert shown(await client.call_tool("book", {})) == "Oslo 3 page"
    assert [asked.mode for asked in person.asked] == ["form", "form", "url"]


@pytest.mark.parametrize("content", [{"city": "Oslo", "days": 0}, {"days": 0}])
async def test_content_that_somebody_filled_in_was_shown_though_it_does_not_fit(content: dict[str, Any]) -> None:
    person = Unseen(sends(city="Oslo", days=3), content)
    async with installed(book) as (server, _), connect(server, person) as client:
        result = await client.call_tool("book", {})
    assert result.is_error
    assert [asked.mode for asked in person.asked] == ["form", "form", "form"]


@pytest.mark.parametrize("doubt", [-1, float("nan")])
def test_a_doubt_that_is_not_a_number_of_seconds_is_refused(doubt: float) -> None:
    with pytest.raises(InstallError, match="doubt"):
        server_with(book, doubt=doubt)


# --- relay -----------------------------------------------------------------------------------


async def chat() -> str:
    match await elicit("Where to?", Trip, via={"relay", *STRONG}):
        case Accepted(value=trip, via=via):
            return f"{trip.city} {trip.days} {via}"
        case other:
            return f"{type(other).__name__} {other.via}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_the_model_asks_in_the_chat_if_the_author_and_the_question_allow_it(kind: Kind, era: Era) -> None:
    server = server_with(chat, kind=kind, store=Memory(), relay=True)
    async with connect(server, era=era, modes=NOTHING) as client:
        first = await client.call_tool("chat", {})
        assert "Where to?" in shown(first)
        wrong = await relayed(client, first, action="accept", content={"city": "O", "days": 99})
        assert "City" in shown(wrong) or "city" in shown(wrong)
        last = await relayed(client, wrong, action="accept", content={"city": "Oslo", "days": 3})
        assert shown(last) == "Oslo 3 relay"


@pytest.mark.parametrize("wrong", [{"action": "accept", "content": "Oslo"}, {"action": "yes"}, {}], ids=str)
@pytest.mark.parametrize("era", ERAS)
async def test_a_model_that_passes_no_answer_gets_advice_and_may_try_again(era: Era, wrong: dict[str, Any]) -> None:
    async with connect(server_with(chat, store=Memory(), relay=True), era=era, modes=NOTHING) as client:
        first = await client.call_tool("chat", {})
        told = await relayed(client, first, **wrong)
        assert told.is_error
        assert "again with the same code" in shown(told)
        last = await relayed(client, first, action="accept", content={"city": "Oslo", "days": 3})
        assert shown(last) == "Oslo 3 relay"


async def test_a_call_that_is_resumed_without_an_answer_is_relayed_again(either: str) -> None:
    async with connect(server_with(chat, store=Memory(), relay=True), modes=NOTHING) as client:
        first = await client.call_tool("chat", {})
        second = await go_on(client, first)
        assert "midcall_answer" in shown(second)
        last = await relayed(client, second, action="accept", content={"city": "Oslo", "days": 3})
        assert shown(last) == "Oslo 3 relay"


async def test_a_relayed_question_that_is_not_answered_in_time_is_a_timeout(
    either: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def tool() -> str:
        return await ask("Name?", str, via={"relay"}, timeout=30)

    async with connect(server_with(tool, store=Memory(), relay=True), modes=NOTHING) as client:
        first = await client.call_tool("tool", {})
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + 40)
        assert "in time" in shown(await go_on(client, first))


@pytest.mark.parametrize(("action", "expected"), [("decline", "Declined relay"), ("cancel", "Cancelled relay")])
async def test_declining_in_the_chat_declines_the_question(action: str, expected: str) -> None:
    async with connect(server_with(chat, store=Memory(), relay=True), modes=NOTHING) as client:
        assert shown(await relayed(client, await client.call_tool("chat", {}), action=action)) == expected


@pytest.mark.parametrize("era", ERAS)
async def test_relay_is_off_unless_it_is_asked_for(era: Era) -> None:
    async with connect(server_with(book, store=Memory(), relay=True), era=era, modes=NOTHING) as client:
        await _cannot(client, "book")
    async with connect(server_with(chat, store=Memory()), era=era, modes=NOTHING) as client:
        assert "midcall_answer" not in [tool.name for tool in (await client.list_tools()).tools]
        await _cannot(client, "chat")


async def _cannot(client: Client, tool: str) -> None:
    try:
        result = await client.call_tool(tool, {})
    except MCPError as error:
        said = error.message
    else:
        said = shown(result)
    assert "cannot show questions" in said


async def test_the_model_cannot_answer_in_the_place_of_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "HOLD_SECONDS", 0.02)
    async with installed(book, relay=True) as (server, _), connect(server, modes=NOTHING) as client:
        first = await client.call_tool("book", {})
        forged = await relayed(client, first, action="accept", content={"city": "Oslo", "days": 3})
        assert addresses(forged) == addresses(first), "it still waits for the page"
