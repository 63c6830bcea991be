"""Asking: which mode, which way, what comes back."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, TypedDict, cast

import anyio
import anyio.lowlevel
import pytest
from mcp import MCPError
from mcp.client.session import ClientRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import (
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
)
from pydantic import BaseModel, BeforeValidator, Field

import midcall
from midcall import (
    STRONG,
    Cancelled,
    CannotAsk,
    Choice,
    Choices,
    ClientFailed,
    Declined,
    Flag,
    Form,
    InvalidAnswer,
    Misuse,
    NoCall,
    NoChannel,
    Question,
    SecretInForm,
    Text,
    TimedOut,
    UrlElicitationRequired,
    UserCancelled,
    UserDeclined,
    Visit,
    ask,
    ask_all,
    can_ask,
    choose,
    confirm,
    elicit,
    from_thread,
    once,
    visit,
)
from midcall.errors import InvalidQuestion
from midcall.portal.app import Portal
from midcall.stores.memory import Memory
from midcall.testing import ERAS, Era, connect, run
from tests.kinds import KINDS, Kind, server_with
from tests.rounds import accept, raw_call, text

PUSHED: tuple[Era, ...] = ("2025-06-18", "2025-11-25")


class Size(Enum):
    SMALL = "s"
    LARGE = "l"


class Rank(IntEnum):
    FIRST = 1
    SECOND = 2


@dataclass
class Stay:
    since: date


class Dated(BaseModel):
    since: date


class Pair(TypedDict):
    first: int
    second: int


class Trip(BaseModel):
    destination: str
    days: Annotated[int, Field(ge=1, le=30)]


async def book() -> str:
    trip = await ask("Where to?", Trip)
    return f"{trip.days} days in {trip.destination}"


OSLO = {"Where to?": {"destination": "Oslo", "days": 3}}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_one_await_gives_a_typed_value_on_every_server_and_version(kind: Kind, era: Era) -> None:
    done = await run(server_with(book, kind=kind), "book", {}, OSLO, era=era)
    assert (done.text, done.failed) == ("3 days in Oslo", False)


# --- modes and capabilities ------------------------------------------------------------------


async def reach() -> str:
    return f"form={can_ask('form')} url={can_ask('url')}"


@pytest.mark.parametrize(
    ("era", "modes", "expected"),
    [
        ("2025-06-18", ("form",), "form=('push',) url=()"),
        ("2025-06-18", ("form", "url"), "form=('push',) url=()"),
        ("2025-11-25", ("form", "url"), "form=('push',) url=('push',)"),
        ("2025-11-25", ("form",), "form=('push',) url=()"),
        ("2025-11-25", ("url",), "form=() url=('push',)"),
        ("2025-11-25", (), "form=() url=()"),
        ("2026-07-28", ("form", "url"), "form=('round',) url=('round',)"),
        ("2026-07-28", ("url",), "form=() url=('round',)"),
        ("2026-07-28", (), "form=() url=()"),
    ],
)
async def test_can_ask_tells_how_a_client_can_be_reached(era: Era, modes: Any, expected: str) -> None:
    assert (await run(server_with(reach), "reach", era=era, modes=modes)).text == expected


@pytest.mark.parametrize("era", PUSHED)
@pytest.mark.parametrize("modes", [(), ("url",)])
async def test_a_client_that_declared_no_forms_is_never_sent_one(era: Era, modes: Any) -> None:
    done = await run(server_with(book), "book", {}, OSLO, era=era, modes=modes)
    assert done.asked == []
    assert done.failed
    assert "no way to show the question" in done.text


@pytest.mark.parametrize("kind", KINDS)
async def test_on_the_newest_version_a_missing_capability_is_the_protocols_own_error(kind: Kind) -> None:
    with pytest.raises(MCPError) as caught:
        await run(server_with(book, kind=kind), "book", {}, OSLO, modes=())
    assert caught.value.code == MISSING_REQUIRED_CLIENT_CAPABILITY
    assert caught.value.data["requiredCapabilities"] == {"elicitation": {"form": {}}}


@pytest.mark.parametrize("modes", [("form", "url"), ()])
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
async def test_where_no_capability_would_help_it_is_a_result_that_the_model_reads(
    kind: Kind, era: Era, modes: Any
) -> None:
    async def tool() -> str:
        return str(await ask("N?", int, via={"page", "link"}))

    done = await run(server_with(tool, kind=kind), "tool", {}, {"N?": 1}, era=era, modes=modes)
    assert done.failed
    assert "no way to show the question" in done.text


async def test_where_a_page_would_serve_the_capability_that_helps_is_that_for_urls() -> None:
    async def tool() -> str:
        return str(await ask("N?", int, via="page"))  # pyright: ignore[reportArgumentType]

    server = server_with(tool, portal=Portal(), store=Memory())
    with pytest.raises(MCPError) as caught:
        await run(server, "tool", {}, {"N?": 1}, modes=("form",))
    assert caught.value.code == MISSING_REQUIRED_CLIENT_CAPABILITY
    assert caught.value.data["requiredCapabilities"] == {"elicitation": {"url": {}}}


async def test_without_a_portal_a_secret_misses_no_capability() -> None:
    async def tool() -> str:
        return await midcall.secret("github", "A token")

    assert (await run(server_with(tool), "tool", modes=("form",))).failed


async def test_an_empty_elicitation_capability_means_forms_only() -> None:
    from midcall.client.offer import Offer
    from midcall.client.target import Ways
    from midcall.client.target import reach as reached

    for era in ERAS:
        transport = Offer(reached(server_with(reach), Ways()).transport, modes=("form",), bare=True)
        assert (await run(transport, "reach", era=era)).text.endswith("url=()")


async def test_a_default_is_taken_where_nobody_can_be_asked() -> None:
    async def days() -> str:
        outcome = await elicit("Days?", int, default=7)
        return f"{outcome.value if outcome else None} via {outcome.via}"

    assert (await run(server_with(days), "days", era="2025-11-25", modes=())).text == "7 via default"
    assert (await run(server_with(days), "days", {}, [2])).text == "2 via round"


async def test_a_default_that_was_taken_is_recorded_and_takes_no_answer_later() -> None:
    async def tool() -> str:
        days = await elicit("Days?", int, default=7, key="days", timeout=30)
        await midcall.visit("Go", "https://example.com/x")
        return f"{days}"

    async with connect(server_with(tool), modes=("url",)) as client:
        first = await raw_call(client, "tool", {})
        [key] = first["inputRequests"]
        answers = {key: {"action": "accept"}, "days": accept(answer=99)}
        done = await raw_call(client, "tool", {}, state=first["requestState"], answers=answers)
    assert text(done) == "Accepted(value=7, via='default')"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Question("?", int, default="seven"),  # pyright: ignore[reportArgumentType]
        lambda: Question("?", Annotated[int, Field(ge=18)], default=3),
        lambda: Question("?", Form(Text("a")), default={"b": 1}),
        lambda: Question("?", Literal[1, 2], default="3"),  # pyright: ignore[reportArgumentType]
        lambda: Question("?", list[Literal["Oslo"]], default=["Paris"]),  # pyright: ignore[reportArgumentType]
        lambda: Question("?", int, default=[]),  # pyright: ignore[reportArgumentType]
        lambda: Question("?", int, default=None),  # pyright: ignore[reportArgumentType]
        lambda: Question("?", date, default=3.5),  # pyright: ignore[reportArgumentType]
        lambda: Question("?", Trip, default=date(2026, 1, 1)),  # pyright: ignore[reportArgumentType]
        lambda: Question("?", Trip, default=object()),  # pyright: ignore[reportArgumentType]
        lambda: Question("?", Dated, default={"since": date(2026, 1, 1)}),  # pyright: ignore[reportArgumentType]
        lambda: Question("?", Pair, default={}),  # pyright: ignore[reportArgumentType]
        lambda: Question("?", Annotated[str, BeforeValidator(str.strip)], default=5),  # pyright: ignore[reportArgumentType]
    ],
)
def test_a_default_that_the_form_would_not_take_is_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(InvalidQuestion, match="default="):
        make()


@pytest.mark.parametrize(
    ("type", "default", "taken"),
    [
        (Literal[1, 2], 1, 1),
        (Literal[1, 2], "1", 1),
        (date, date(2026, 1, 1), date(2026, 1, 1)),
        (date, "2026-01-01", date(2026, 1, 1)),
        (datetime, datetime(2026, 1, 1), datetime(2026, 1, 1)),
        (Size, Size.SMALL, Size.SMALL),
        (Size, "s", Size.SMALL),
        (Rank, Rank.FIRST, Rank.FIRST),
        (int | None, None, None),
        (float, 3, 3.0),
        (list[Literal["Oslo", "Rome"]], ["Rome"], ["Rome"]),
        (Stay, Stay(date(2026, 1, 1)), Stay(date(2026, 1, 1))),
        (Stay, {"since": "2026-01-01"}, Stay(date(2026, 1, 1))),
        (Form(Text("a"), Text("b", default="y")), {"a": "x"}, {"a": "x", "b": "y"}),
    ],
)
async def test_a_default_is_a_value_of_the_type_or_what_a_user_could_answer(
    type: Any, default: Any, taken: object
) -> None:
    seen: list[object] = []

    async def tool() -> None:
        question = Question("?", type, default=default)
        seen.extend([await ask(question), await ask(question)])

    assert not (await run(server_with(tool), "tool", modes=())).failed
    assert seen == [taken, taken]
    assert [each.__class__ for each in seen] == [taken.__class__] * 2


class Towns(TypedDict):
    towns: list[Literal["Oslo", "Rome"]]


@pytest.mark.parametrize(
    "question",
    [
        Question("?", list[Literal["Oslo", "Rome"]], default=["Oslo"]),
        Question("?", Towns, default={"towns": ["Oslo"]}),
        Question("?", Form(Choices("towns", ["Oslo", "Rome"])), default={"towns": ["Oslo"]}),
    ],
)
async def test_what_a_tool_does_to_a_default_it_does_not_do_to_the_next_one(question: Question[Any]) -> None:
    async def tool() -> str:
        taken = await ask(question)
        towns = taken if isinstance(taken, list) else taken["towns"]
        towns.append("Rome")
        return ", ".join(towns)

    for _ in range(2):
        assert (await run(server_with(tool), "tool", modes=())).text == "Oslo, Rome"


async def test_a_default_choice_must_be_one_of_the_options() -> None:
    async def tool(default: str) -> str:
        return await choose("Seat?", ["a", "b"], default=default)

    server = server_with(tool)
    assert (await run(server, "tool", {"default": "b"}, era="2025-11-25", modes=())).text == "b"
    assert (await run(server, "tool", {"default": "z"}, era="2025-11-25", modes=())).failed


async def test_a_question_can_refuse_weak_channels() -> None:
    async def pay() -> str:
        return str(await confirm("Pay?", default=True, via=STRONG))

    assert (await run(server_with(pay), "pay", era="2025-11-25", modes=())).failed
    assert (await run(server_with(pay), "pay", {}, [True])).text == "True"


async def test_no_channel_says_why_each_channel_did_not_serve() -> None:
    found: list[NoChannel] = []

    async def tool() -> str:
        try:
            return await ask("?", str)
        except NoChannel as exc:
            found.append(exc)
            return "no"

    await run(server_with(tool), "tool", era="2025-11-25", modes=())
    assert "push: the client did not declare elicitation" in str(found[0])
    assert "default: the question has no default" in str(found[0])
    assert "can_ask()" in found[0].advice
    assert isinstance(found[0], CannotAsk)


# --- the wire --------------------------------------------------------------------------------


async def test_on_the_newest_version_nothing_is_pushed_and_the_result_has_requests_and_state() -> None:
    async with connect(server_with(book)) as client:
        raw = await raw_call(client, "book", {})
        assert raw["resultType"] == "input_required"
        [request] = raw["inputRequests"].values()
        assert request["method"] == "elicitation/create"
        assert request["params"]["mode"] == "form"
        assert raw["requestState"]
        assert raw["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "test"


async def test_prompts_and_resource_templates_ask_too() -> None:
    server: MCPServer[Any] = MCPServer("test")
    midcall.install(server)

    @server.prompt()
    async def plan() -> str:
        return f"Plan {await ask('Days?', int)} days"

    @server.resource("city://{name}")
    async def city(name: str) -> str:
        return f"{name} in {await ask('Season?', str)}"

    for era in ERAS:
        async with connect(server, {"Days?": 3, "Season?": "May"}, era=era) as client:
            prompt = await client.get_prompt("plan")
            assert "Plan 3 days" in str(prompt.messages[0].content)
            read = await client.read_resource("city://oslo")
            assert getattr(read.contents[0], "text", "") == "oslo in May"


async def test_a_prompt_that_is_declined_ends_with_an_error_that_says_so() -> None:
    server: MCPServer[Any] = MCPServer("test")
    midcall.install(server)

    @server.prompt()
    async def plan() -> str:
        return await ask("Days?", str)

    for era in ERAS:
        async with connect(server, [Declined()], era=era) as client:
            with pytest.raises(MCPError, match="declined"):
                await client.get_prompt("plan")


async def test_listing_never_asks() -> None:
    async with connect(server_with(book)) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["book"]


async def test_keys_are_unique_within_a_call_and_stable_over_replays() -> None:
    async def four() -> str:
        answers = await asyncio.gather(*(ask("Same?", str) for _ in range(3)), ask("Other?", str, key="other"))
        return ",".join(answers)

    async with connect(server_with(four)) as client:
        first = await raw_call(client, "four", {})
        keys = list(first["inputRequests"])
        assert len(set(keys)) == 4
        assert "other" in keys
        again = await raw_call(client, "four", {}, state=first["requestState"], answers={keys[0]: accept(answer="x")})
        assert list(again["inputRequests"]) == keys[1:]


# --- outcomes --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_accept_decline_and_cancel_reach_the_tool_as_three_things(kind: Kind, era: Era) -> None:
    async def tool() -> str:
        seen: list[str] = []
        for number in range(3):
            outcome = await elicit(f"{number}?", str)
            seen.append(f"{type(outcome).__name__}:{bool(outcome)}:{outcome.via}")
        return " ".join(seen)

    done = await run(server_with(tool, kind=kind), "tool", {}, ["x", Declined(), Cancelled()], era=era)
    via = "round" if era == "2026-07-28" else "push"
    assert done.text == f"Accepted:True:{via} Declined:False:{via} Cancelled:False:{via}"


@pytest.mark.parametrize(
    ("answer", "error", "told"),
    [(Declined(), UserDeclined, "declined"), (Cancelled(), UserCancelled, "closed the question")],
)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_an_uncaught_no_ends_the_tool_with_a_polite_result(
    kind: Kind, era: Era, answer: Any, error: type[Exception], told: str, caplog: pytest.LogCaptureFixture
) -> None:
    done = await run(server_with(book, kind=kind), "book", {}, {"Where to?": answer}, era=era)
    assert done.failed
    assert told in done.text
    assert "Traceback" not in done.text
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.parametrize("kind", KINDS)
async def test_a_tool_can_catch_what_asking_raises(kind: Kind) -> None:
    async def tool() -> str:
        try:
            return await ask("?", str)
        except UserDeclined:
            return "then not"

    for era in ERAS:
        assert (await run(server_with(tool, kind=kind), "tool", {}, [Declined()], era=era)).text == "then not"


@pytest.mark.parametrize("era", ERAS)
async def test_confirm_sends_one_required_boolean_and_takes_no_for_no(era: Era) -> None:
    async def tool() -> str:
        return str([await confirm(f"{number}?") for number in range(4)])

    done = await run(server_with(tool), "tool", {}, [True, False, Declined(), Cancelled()], era=era)
    assert done.text == "[True, False, False, False]"
    schema = done.asked[0].schema
    assert schema
    [(name, field)] = schema["properties"].items()
    assert field["type"] == "boolean"
    assert schema["required"] == [name]


@pytest.mark.parametrize("era", ERAS)
async def test_choose_gives_back_the_option_itself(era: Era) -> None:
    class Size(Enum):
        SMALL = 1
        LARGE = 2

    async def tool() -> str:
        seat = await choose("Seat?", {"w": "Window", "a": "Aisle"})
        size = await choose("Size?", Size)
        row = await choose("Row?", [1, 2, 3])
        days = await choose("Days?", {"mo": "Monday", "tu": "Tuesday"}, many=True)
        return f"{seat} {size.name} {row + 1} {days}"

    picked: Any = "mo, Tuesday" if era == "2025-06-18" else ["mo", "tu"]
    answers: list[Any] = ["a", "2", "3", {"choice": picked}]
    assert (await run(server_with(tool), "tool", {}, answers, era=era)).text == "a LARGE 4 ['mo', 'tu']"


async def test_choose_shows_the_names_of_an_enum_where_they_tell_more_than_its_values() -> None:
    class Size(Enum):
        SMALL = 1
        VERY_LARGE = 2

    async def tool() -> str:
        return str([await choose("Size?", Size), await choose("Sizes?", Size, many=True)])

    done = await run(server_with(tool), "tool", {}, ["2", {"choice": ["1"]}])
    one, many = ((asked.schema or {})["properties"]["choice"] for asked in done.asked)
    titled = [{"const": "1", "title": "Small"}, {"const": "2", "title": "Very large"}]
    assert (one["oneOf"], many["items"]["anyOf"]) == (titled, titled)
    assert done.text == "[<Size.VERY_LARGE: 2>, [<Size.SMALL: 1>]]"


class Plain:
    """Has no text of its own."""


@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        (lambda: choose("?", [Plain(), Plain()]), "class Plain has no text of its own"),
        (lambda: choose("?", {Plain(): "One"}), "class Plain has no text of its own"),
        (lambda: choose("?", [_never, len]), "class function has no text of its own"),
        (lambda: choose("?", {"acc-1": "Savings", "acc-2": "Savings"}), "Two of these options read the same"),
        (lambda: choose("?", ["1", 1]), "Two of these options read the same"),
        (lambda: choose("?", "abc"), "an Enum, and not str"),
        (lambda: choose("?", b"abc"), "an Enum, and not bytes"),
        (lambda: choose("?", 5), "an Enum, and not int"),
        (lambda: choose("?", None), "an Enum, and not NoneType"),
        (lambda: choose("?", {"a", "b"}), "a set, which has no order"),
        (lambda: choose("?", frozenset("ab")), "a set, which has no order"),
        (lambda: choose("?", ["a", "b"], many=True, default="ab"), "list of options, and not str"),
        (lambda: choose("?", ["a", "b"], many=True, default="a"), "list of options, and not str"),
        (lambda: choose("?", [97, 98], many=True, default=b"ab"), "list of options, and not bytes"),
        (lambda: choose("?", [1, 2], many=True, default=1), "list of options, and not int"),
        (lambda: choose("?", ["a", "b"], many=True, default=["c"]), "must be one of the options"),
        (lambda: choose("?", ["a", "b"], default=["a"]), "must be one of the options"),
    ],
)
@pytest.mark.parametrize("era", ERAS)
async def test_options_that_cannot_be_chosen_among_are_refused_before_anything_is_sent(
    era: Era, mistake: Callable[[], Any], told: str
) -> None:
    async def tool() -> str:
        try:
            return str(await mistake())
        except InvalidQuestion as exc:
            return str(exc)

    done = await run(server_with(tool), "tool", {}, lambda asked: "a", era=era)
    assert told in done.text
    assert done.asked == []


@pytest.mark.parametrize("era", ERAS)
async def test_options_may_be_anything_that_has_an_order(era: Era) -> None:
    class Seat(Enum):
        WINDOW = Plain()
        AISLE = object()

    async def tool() -> str:
        rooms = {"north": 1, "south": 2}
        kept = await choose("Kept?", rooms.keys())  # pyright: ignore[reportArgumentType, reportCallIssue]
        numbers = await choose("Number?", rooms.values())  # pyright: ignore[reportArgumentType, reportCallIssue]
        made = await choose("Made?", (name.upper() for name in rooms))  # pyright: ignore[reportArgumentType, reportCallIssue]
        return f"{kept} {numbers} {made} {(await choose('Seat?', Seat)).name}"

    answers = {"Kept?": "south", "Number?": "2", "Made?": "NORTH", "Seat?": "AISLE"}
    assert (await run(server_with(tool), "tool", {}, answers, era=era)).text == "south 2 NORTH AISLE"


@pytest.mark.parametrize("default", [["b", "a"], ("b", "a"), {"b", "a"}, dict.fromkeys("ba").keys()])
async def test_several_defaults_may_be_any_collection_and_a_set_of_them_has_the_order_of_the_options(
    default: Any,
) -> None:
    async def tool() -> str:
        return str(await choose("?", ["a", "b", "c"], many=True, default=default))

    taken = (await run(server_with(tool), "tool", era="2025-11-25", modes=())).text
    assert taken == ("['a', 'b']" if isinstance(default, set) else "['b', 'a']")


async def _never() -> int:
    return 1


@pytest.mark.parametrize(
    ("fn", "verb"),
    [
        (ask, "ask"),
        (confirm, "confirm"),
        (choose, "choose"),
        (midcall.visit, "visit"),
        (midcall.secret, "secret"),
        (from_thread.ask, "ask"),
        (functools.partial(ask, "Days?"), "ask"),
        (once, "once"),
        (once.retry, "once"),
    ],
)
@pytest.mark.parametrize("era", ERAS)
async def test_a_verb_is_no_function_for_once(era: Era, fn: Any, verb: str) -> None:
    async def tool() -> str:
        try:
            return str(await once("x", fn, "Days?", int))
        except Misuse as exc:
            return str(exc)

    done = await run(server_with(tool), "tool", {}, {"Days?": 2}, era=era)
    assert done.text.startswith(f"{verb}() was used inside the function of a once(...).")
    assert done.asked == []


@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        (lambda: ask(int, "How many?"), "begins with its message"),
        (lambda: ask(5, int), "begins with its message"),
        (lambda: once("f", _never()), "takes a function and its arguments"),
        (lambda: once("f", 7), "takes a function and its arguments"),
        (lambda: asyncio.sleep(0, can_ask("forms")), "no mode 'forms'"),
    ],
)
async def test_arguments_in_the_wrong_place_are_told_in_a_sentence(
    mistake: Any, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def tool() -> str:
        return str(await mistake())

    async with connect(server_with(tool)) as client:
        await client.call_tool("tool", {})
    [message] = [record.getMessage() for record in caplog.records if record.name == "midcall"]
    assert told in message


@pytest.mark.parametrize("era", ERAS)
async def test_ask_all_leaves_in_one_round_and_gives_a_tuple_or_a_dict(era: Era) -> None:
    async def tool() -> str:
        name, days = await ask_all(Question("Name?", str), Question("Days?", int))
        more = await ask_all({"x": Question("X?", bool), "y": Question("Y?", str)})
        return f"{name} {days + 1} {more}"

    answers = {"Name?": "Ada", "Days?": 2, "X?": True, "Y?": "y"}
    done = await run(server_with(tool), "tool", {}, answers, era=era)
    assert done.text == "Ada 3 {'x': True, 'y': 'y'}"
    assert done.rounds == (2 if era == "2026-07-28" else 0)


async def test_branches_that_await_nothing_else_share_one_round() -> None:
    async def tool() -> str:
        async def branch(name: str) -> str:
            return await ask(f"{name}?", str)

        async def nested() -> list[str]:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(branch(name)) for name in "cd"]
            return [task.result() for task in tasks]

        a, b, more = await asyncio.gather(branch("a"), asyncio.wait_for(branch("b"), 9), nested())
        return "".join([a, b, *more])

    done = await run(server_with(tool), "tool", {}, lambda asked: asked.message[0])
    assert (done.text, done.rounds) == ("abcd", 1)


@pytest.mark.parametrize("era", ERAS)
async def test_ask_all_raises_for_the_first_that_was_not_answered(era: Era) -> None:
    async def tool() -> str:
        try:
            await ask_all(Question("a?", str), Question("b?", str), Question("c?", str))
        except UserDeclined:
            return "declined"
        return "answered"

    done = await run(server_with(tool), "tool", {}, {"a?": "1", "b?": Declined(), "c?": "3"}, era=era)
    assert done.text == "declined"
    assert len(done.asked) == (3 if era == "2026-07-28" else 2)


# --- answers that do not fit -----------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_an_answer_that_does_not_fit_is_asked_again_with_the_problem_named(kind: Kind, era: Era) -> None:
    answers = [{"destination": "Oslo", "days": 99}, {"destination": "Oslo"}, {"destination": "Oslo", "days": 3}]
    done = await run(server_with(book, kind=kind), "book", {}, answers, era=era)
    assert done.text == "3 days in Oslo"
    messages = [question.message for question in done.asked]
    assert messages[0] == "Where to?"
    assert "Days: must be at most 30" in messages[1]
    assert "Days: is required" in messages[2]
    if era != "2025-06-18":
        again = done.asked[1].schema
        assert again
        assert again["properties"]["destination"]["default"] == "Oslo"
        assert "default" not in again["properties"]["days"]


@pytest.mark.parametrize("era", ERAS)
async def test_after_the_last_attempt_it_fails_with_a_clear_error(era: Era) -> None:
    found: list[InvalidAnswer] = []

    async def tool() -> str:
        try:
            return str(await ask("Age?", Annotated[int, Field(ge=18)], attempts=2))
        except InvalidAnswer as exc:
            found.append(exc)
            raise

    done = await run(server_with(tool), "tool", {}, [3, 4, 5], era=era)
    assert done.failed
    assert len(done.asked) == 2
    assert [problem.code for problem in found[-1].problems]
    assert "asked 2 times" in str(found[-1])


async def test_missing_answers_are_asked_again_and_extra_ones_ignored() -> None:
    async def tool() -> str:
        return " ".join(await ask_all(Question("a?", str, key="a"), Question("b?", str, key="b")))

    async with connect(server_with(tool)) as client:
        first = await raw_call(client, "tool", {})
        answers = {"b": accept(answer="2"), "zzz": accept(answer="9"), "?nobody": 17}
        second = await raw_call(client, "tool", {}, state=first["requestState"], answers=answers)
        assert list(second["inputRequests"]) == ["a"]
        third = await raw_call(
            client, "tool", {}, state=second["requestState"], answers={"a": accept(answer="1"), "b": accept(answer="X")}
        )
        assert text(third) == "1 2"


@pytest.mark.parametrize(
    "answer",
    [17, None, [], "yes", {}, {"action": "maybe"}, {"action": 3}, {"action": "accept", "content": [1]}],
)
async def test_a_malformed_answer_is_a_protocol_error(answer: Any) -> None:
    async with connect(server_with(book)) as client:
        first = await raw_call(client, "book", {})
        [key] = first["inputRequests"]
        with pytest.raises(MCPError) as caught:
            await raw_call(client, "book", {}, state=first["requestState"], answers={key: answer})
        assert caught.value.code == INVALID_PARAMS
        done = await raw_call(
            client, "book", {}, state=first["requestState"], answers={key: accept(destination="Oslo", days=1)}
        )
        assert text(done) == "1 days in Oslo"


async def test_reject_is_read_as_decline_and_content_counts_only_on_accept() -> None:
    async def tool() -> str:
        return type(await elicit("?", str)).__name__

    async with connect(server_with(tool)) as client:
        for answer, expected in (
            ({"action": "reject"}, "Declined"),
            ({"action": "decline", "content": {"answer": "x"}}, "Declined"),
            ({"action": "cancel", "content": 17}, "Cancelled"),
        ):
            first = await raw_call(client, "tool", {})
            [key] = first["inputRequests"]
            done = await raw_call(client, "tool", {}, state=first["requestState"], answers={key: answer})
            assert text(done) == expected


async def test_a_client_that_answers_with_an_error_is_reported_as_not_asked() -> None:
    async def broken(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        return ErrorData(code=-32603, message="no window")

    async def tool() -> str:
        try:
            return await ask("?", str)
        except ClientFailed as exc:
            return str(exc)

    from mcp import Client

    async with Client(server_with(tool), mode="legacy", elicitation_callback=broken) as client:
        assert "no window" in text(await client.call_tool("tool"))


# --- where it cannot work --------------------------------------------------------------------


@pytest.mark.parametrize(
    "verb",
    [
        lambda: ask("?", str),
        lambda: elicit("?", str),
        lambda: confirm("?"),
        lambda: choose("?", ["a"]),
        lambda: ask_all(Question("?", str)),
        lambda: midcall.visit("?", "https://example.com"),
        lambda: midcall.once("x", str),
    ],
)
async def test_outside_a_call_every_verb_says_so_at_once(verb: Callable[[], Any]) -> None:
    with pytest.raises(NoCall, match="outside an MCP call"):
        await verb()
    with pytest.raises(NoCall):
        can_ask()


async def test_where_no_server_runs_whoever_asks_sees_the_error_and_the_log_says_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(NoCall):
        await ask("?", str)
    with pytest.raises(NoCall):
        can_ask()
    assert caplog.records == []


async def test_complete_alone_works_outside_a_call() -> None:
    assert await midcall.complete("unknown") in (True, False)


@pytest.mark.parametrize("id", [3, None, "", b"id"])
async def test_what_can_be_no_id_of_a_visit_is_told(id: Any) -> None:
    with pytest.raises(InvalidQuestion):
        await midcall.complete(id)


async def test_a_channel_that_there_is_not_is_told() -> None:
    async def tool() -> str:
        with pytest.raises(InvalidQuestion, match="pushed"):
            can_ask(via="pushed")  # type: ignore[arg-type]
        return "told"

    assert (await run(server_with(tool), "tool")).text == "told"


FORGOTTEN: list[tuple[str, Callable[[], Any]]] = [
    ("confirm", lambda: "deleted" if confirm("Delete?") else "kept"),
    ("confirm", lambda: not confirm("Delete?")),
    ("choose", lambda: choose("Seat?", ["w", "a"]) == "w"),
    ("choose", lambda: choose("Seat?", ["w", "a"]) in ("w", "x")),
    ("ask", lambda: cast("Any", ask("Trip?", Trip)).days),
    ("ask", lambda: "Hello " + cast("Any", ask("Name?", str))),
    ("ask", lambda: cast("Any", ask("Days?", int)) + 1),
    ("ask", lambda: cast("Any", ask("Days?", int)) > 3),
    ("ask", lambda: list(cast("Any", ask("Towns?", list[Literal["Oslo"]])))),
    ("elicit", lambda: cast("Any", elicit("Days?", int)).value),
    ("ask_all", lambda: cast("Any", ask_all(Question("a?", int)))[0]),
    ("visit", lambda: str(visit("Go", "https://example.com/"))),
    ("once", lambda: f"{once('mail', len, 'x')}"),
]


@pytest.mark.parametrize(("verb", "forgot"), FORGOTTEN)
@pytest.mark.parametrize("era", ERAS)
async def test_a_verb_that_is_taken_for_its_answer_must_be_awaited(
    era: Era, verb: str, forgot: Callable[[], Any]
) -> None:
    async def tool() -> str:
        with pytest.raises(Misuse, match=rf"write `await {verb}\(\.\.\.\)`"):
            forgot()
        return "told"

    done = await run(server_with(tool), "tool", era=era)
    assert done.text == "told"
    assert done.asked == []


async def test_a_verb_that_is_dropped_is_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def tool() -> str:
        confirm("Delete?")
        return "deleted"

    await run(server_with(tool), "tool")
    assert "write `await confirm(...)`" in caplog.text


async def test_verbs_can_be_kept_compared_and_started_later(caplog: pytest.LogCaptureFixture) -> None:
    async def tool() -> str:
        first, later = ask("a?", str), ask("b?", str)
        assert first != later
        assert len({first, later, first}) == 2
        assert asyncio.iscoroutine(later)
        return await first + await asyncio.create_task(later)

    for way in ({"era": "2025-11-25"}, {}, {"one_by_one": True}):
        done = await run(server_with(tool), "tool", {}, lambda asked: asked.message[0], **way)  # type: ignore[arg-type]
        assert done.text == "ab"
    assert caplog.records == []


@pytest.mark.parametrize("kind", ["mcpserver", "fastmcp"])
async def test_the_async_verbs_in_a_sync_tool_name_from_thread(kind: Kind) -> None:
    found: list[str] = []

    def tool() -> str:
        try:
            ask("?", str)
        except Misuse as exc:
            found.append(str(exc))
        return "done"

    await run(server_with(tool, kind=kind), "tool")
    assert "midcall.from_thread" in found[0]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", ["mcpserver", "fastmcp"])
async def test_a_loop_of_its_own_in_a_sync_tool_names_from_thread_and_does_not_hang(kind: Kind, era: Era) -> None:
    async def asks() -> str:
        return await ask("?", str)

    def tool() -> str:
        try:
            return asyncio.run(asks())
        except Misuse as exc:
            return str(exc)

    assert "midcall.from_thread" in (await run(server_with(tool, kind=kind), "tool", era=era)).text


@pytest.mark.parametrize("kind", ["mcpserver", "fastmcp"])
@pytest.mark.parametrize("era", ERAS)
async def test_a_sync_tool_asks_from_its_thread(kind: Kind, era: Era) -> None:
    def tool() -> str:
        name = from_thread.ask("Name?", str)
        return f"{name} {from_thread.confirm('Sure?')} {from_thread.choose('Seat?', ['a', 'w'])}"

    answers = {"Name?": "Ada", "Sure?": True, "Seat?": "w"}
    assert (await run(server_with(tool, kind=kind), "tool", {}, answers, era=era)).text == "Ada True w"


async def test_a_blocking_effect_of_a_sync_tool_does_not_stop_the_server() -> None:
    import threading

    released = threading.Event()

    def block() -> str:
        assert released.wait(10)
        return "done"

    def slow() -> str:
        return from_thread.once("block", block) + from_thread.once.retry("again", str)

    def release() -> str:
        released.set()
        return "released"

    async with connect(server_with(slow, release)) as client:
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(client.call_tool("slow"))
            await asyncio.sleep(0)
            assert text(await client.call_tool("release")) == "released"
        assert text(waiting.result()) == "done"


async def test_the_blocking_verbs_refuse_to_block_the_event_loop() -> None:
    async def tool() -> str:
        try:
            return from_thread.ask("?", str)
        except Misuse as exc:
            return str(exc)

    assert "await midcall.ask" in (await run(server_with(tool), "tool")).text


# --- timeouts and cancellation ---------------------------------------------------------------


@pytest.mark.parametrize("era", PUSHED)
async def test_a_timeout_ends_the_question_and_tells_the_client(era: Era) -> None:
    closed = anyio.Event()

    async def slow(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        try:
            await anyio.sleep_forever()
        finally:
            closed.set()
        raise AssertionError

    async def tool() -> str:
        try:
            return await ask("?", str, timeout=0.05)
        except TimedOut as exc:
            return f"timed out: {exc}"

    from mcp import Client

    from midcall.client.offer import Offer
    from midcall.client.target import Ways
    from midcall.client.target import reach as reached

    transport = Offer(reached(server_with(tool), Ways()).transport, version=era)
    async with Client(transport, mode="legacy", elicitation_callback=slow) as client:
        assert text(await client.call_tool("tool")).startswith("timed out")
        with anyio.fail_after(5):
            await closed.wait()


async def test_in_rounds_an_answer_that_comes_too_late_is_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    async def tool() -> str:
        try:
            return await ask("?", str, timeout=30)
        except TimedOut:
            return "too late"

    async with connect(server_with(tool)) as client:
        first = await raw_call(client, "tool", {})
        [key] = first["inputRequests"]
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + 20)
        in_time = await raw_call(client, "tool", {}, state=first["requestState"], answers={key: accept(answer="x")})
        assert text(in_time) == "x"
        monkeypatch.setattr(time, "time", lambda: now + 40)
        late = await raw_call(client, "tool", {}, state=first["requestState"], answers={key: accept(answer="x")})
        assert text(late) == "too late"
        never = await raw_call(client, "tool", {}, state=first["requestState"])
        assert text(never) == "too late"


async def test_cancelling_the_call_cancels_its_pending_question() -> None:
    shown, closed = anyio.Event(), anyio.Event()
    cleaned = anyio.Event()

    async def slow(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        shown.set()
        try:
            await anyio.sleep_forever()
        finally:
            closed.set()
        raise AssertionError

    async def tool() -> str:
        try:
            return await ask("?", str)
        finally:
            cleaned.set()

    from mcp import Client

    async with Client(server_with(tool), mode="legacy", elicitation_callback=slow) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "tool")
            with anyio.fail_after(5):
                await shown.wait()
            group.cancel_scope.cancel()
        with anyio.fail_after(5):
            await closed.wait()
            await cleaned.wait()


async def test_a_client_that_goes_away_while_asked_ends_the_tool() -> None:
    shown, ended = anyio.Event(), anyio.Event()

    async def slow(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        shown.set()
        await anyio.sleep_forever()
        raise AssertionError

    async def tool() -> str:
        try:
            return await ask("?", str)
        finally:
            ended.set()

    from mcp import Client

    server = server_with(tool)
    async with anyio.create_task_group() as group:
        async with Client(server, mode="legacy", elicitation_callback=slow) as client:
            group.start_soon(_quietly, client, "tool")
            with anyio.fail_after(5):
                await shown.wait()
        with anyio.fail_after(5):
            await ended.wait()


async def _quietly(client: Any, tool: str) -> None:
    try:
        await client.call_tool(tool)
    except (MCPError, anyio.ClosedResourceError):
        pass


# --- progress --------------------------------------------------------------------------------


async def test_while_a_push_waits_progress_goes_out_if_the_caller_wants_it() -> None:
    seen: list[float] = []
    enough = anyio.Event()

    async def progress(value: float, total: float | None, message: str | None) -> None:
        seen.append(value)
        if len(seen) >= 4:
            enough.set()

    async def slow(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        with anyio.fail_after(5):
            await enough.wait()
        return ElicitResult(action="accept", content={"answer": "x"})

    async def tool(ctx: Context) -> str:
        await ctx.report_progress(1, 2)
        answer = await ask("?", str)
        await ctx.report_progress(2, 2)
        return answer

    from mcp import Client

    server = server_with(tool, heartbeat=0.005)
    async with Client(server, mode="legacy", elicitation_callback=slow) as client:
        assert text(await client.call_tool("tool", progress_callback=progress)) == "x"
    assert seen == sorted(set(seen))
    assert seen[0] == 1
    assert seen[-1] == 2
    assert len(seen) >= 5


async def test_without_a_progress_token_no_progress_is_sent() -> None:
    from mcp_types import ProgressNotification

    received: list[Any] = []

    async def watch(message: Any) -> None:
        received.append(message)

    async def slow(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        for _ in range(50):
            await anyio.lowlevel.checkpoint()
        return ElicitResult(action="accept", content={"answer": "x"})

    async def tool() -> str:
        return await ask("?", str)

    from mcp import Client

    server = server_with(tool, heartbeat=0.0001)
    async with Client(server, mode="legacy", elicitation_callback=slow, message_handler=watch) as client:
        await client.call_tool("tool")
    assert not [message for message in received if isinstance(message, ProgressNotification)]


async def test_replayed_code_reports_no_progress_again() -> None:
    seen: list[float] = []

    async def progress(value: float, total: float | None, message: str | None) -> None:
        seen.append(value)

    async def tool(ctx: Context) -> str:
        for step in range(3):
            await ctx.report_progress(step, 3)
            await ask(f"{step}?", str)
        await ctx.report_progress(3, 3)
        return "done"

    async with connect(server_with(tool), lambda asked: "x") as client:
        await client.call_tool("tool", progress_callback=progress)
    assert seen == [0, 1, 2, 3]


# --- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_a_form_that_asks_for_a_secret_is_refused_before_anything_is_sent(kind: Kind, era: Era) -> None:
    found: list[str] = []

    async def tool() -> str:
        try:
            await ask("Sign in", Form(Text("user"), Text("password")))
        except SecretInForm as exc:
            found.append(str(exc))
        return "refused"

    done = await run(server_with(tool, kind=kind), "tool", era=era)
    assert (done.text, done.asked) == ("refused", [])
    assert "secret()" in found[0]
    assert "not_secret=" in found[0]


async def test_a_reason_lets_a_field_that_is_only_named_like_a_secret_pass() -> None:
    async def tool() -> str:
        return str(await ask("Which?", Form(Text("password")), not_secret="the name of a vault entry"))

    assert (await run(server_with(tool), "tool", {}, ["x"])).text == "{'password': 'x'}"


async def test_a_link_in_a_form_is_warned_about_and_refused_in_strict_mode(caplog: pytest.LogCaptureFixture) -> None:
    async def tool() -> str:
        return await ask("See https://evil.example/login", str)

    assert (await run(server_with(tool), "tool", {}, ["x"])).text == "x"
    assert "visit()" in caplog.text
    strict = await run(server_with(tool, strict=True), "tool", {}, ["x"])
    assert strict.failed
    assert strict.asked == []


async def test_every_question_that_holds_a_link_is_warned_about_once(caplog: pytest.LogCaptureFixture) -> None:
    async def tool() -> str:
        return await ask("See https://one.example", str) + await ask("See https://two.example", str)

    server = server_with(tool)
    for _ in range(2):
        assert (await run(server, "tool", {}, ["x", "y"])).text == "xy"
    warned = [record.getMessage() for record in caplog.records if "visit()" in record.getMessage()]
    assert [sum(f"{name}.example" in each for each in warned) for name in ("one", "two")] == [1, 1]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Question("", str),
        lambda: Question("   ", str),
        lambda: Question("?", str, attempts=0),
        lambda: Question("?", str, timeout=0),
        lambda: Question("?", str, timeout=-1),
        lambda: Question("?", str, key="no spaces"),
        lambda: Question("?", str, key=""),
        lambda: Question("?", dict[str, int]),
        lambda: Question("?", list[Trip]),
        lambda: Form(),
        lambda: Form(Flag("a"), Flag("a")),
        lambda: Form(Choice("a", {"b", "c"})),  # type: ignore[arg-type]
        lambda: Form(Choices("a", None)),  # type: ignore[arg-type]
        lambda: UrlElicitationRequired(Visit("?", "https://example.com/", id="x")),  # type: ignore[arg-type]
    ],
)
def test_a_question_that_cannot_be_asked_is_refused_when_it_is_made(make: Callable[[], Any]) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        make()
    assert len(str(caught.value)) > 15


@pytest.mark.parametrize(
    "verb",
    [
        lambda **more: ask("?", str, **more),
        lambda **more: elicit("?", str, **more),
        lambda **more: confirm("?", **more),
        lambda **more: choose("?", ["a", "b"], **more),
        lambda **more: visit("?", "https://example.com/", **more),
    ],
)
@pytest.mark.parametrize("era", ERAS)
async def test_an_option_that_no_question_has_is_named(era: Era, verb: Callable[..., Any]) -> None:
    async def tool() -> str:
        try:
            return str(await verb(patience=5))
        except InvalidQuestion as exc:
            return str(exc)

    done = await run(server_with(tool), "tool", {}, lambda asked: "a", era=era)
    assert "not the options of a question" in done.text
    assert "'patience'" in done.text
    assert done.asked == []


@pytest.mark.parametrize(
    ("way", "asked"), [({"era": "2025-11-25"}, 1), ({}, 2), ({"one_by_one": True}, 2)], ids=["pushed", "rounds", "one"]
)
@pytest.mark.parametrize("attempts", [1, 3])
async def test_after_a_no_nobody_is_asked_for_what_is_wrong_with_the_other_answers(
    attempts: int, way: dict[str, Any], asked: int
) -> None:
    async def tool() -> str:
        try:
            return str(await ask_all(Question("Name?", str), Question("Age?", int, attempts=attempts)))
        except UserDeclined:
            return "declined"

    done = await run(server_with(tool), "tool", {}, {"Name?": Declined(), "Age?": ["old", 7]}, **way)
    assert done.text == "declined"
    assert len(done.asked) == asked


@pytest.mark.parametrize("way", [{"era": "2025-11-25"}, {}, {"one_by_one": True}], ids=str)
async def test_nor_where_the_wrong_answer_comes_before_the_no(way: dict[str, Any]) -> None:
    async def tool() -> str:
        try:
            return str(await ask_all(Question("Age?", int), Question("Name?", str)))
        except UserDeclined:
            return "declined"

    done = await run(server_with(tool), "tool", {}, {"Name?": Declined(), "Age?": ["old", 7]}, **way)
    assert done.text == "declined"
    assert len(done.asked) == 2


@pytest.mark.parametrize(
    "beside",
    [
        lambda question: ask(question, default=3),
        lambda question: ask(question, via=STRONG),
        lambda question: ask(question, str),
        lambda question: elicit(question, timeout=5),
        lambda question: confirm(question),
    ],
)
@pytest.mark.parametrize("era", ERAS)
async def test_options_beside_a_question_that_is_made_already_are_refused(era: Era, beside: Callable[..., Any]) -> None:
    async def tool() -> str:
        try:
            return str(await beside(Question("Days?", int)))
        except InvalidQuestion as exc:
            return str(exc)

    done = await run(server_with(tool), "tool", {}, lambda asked: 3, era=era)
    assert "give them to Question(...)" in done.text
    assert done.asked == []


@pytest.mark.parametrize("era", ERAS)
async def test_one_key_for_two_questions_is_refused(era: Era) -> None:
    async def tool() -> str:
        await ask("a?", str, key="same")
        try:
            return await ask("b?", str, key="same")
        except midcall.DuplicateKey as exc:
            return str(exc)

    done = await run(server_with(tool), "tool", {}, ["x", "y"], era=era)
    assert "'same'" in done.text
    assert len(done.asked) == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_an_authors_mistake_is_told_to_the_log_and_not_to_the_model(
    kind: Kind, era: Era, caplog: pytest.LogCaptureFixture
) -> None:
    async def tool() -> str:
        return await ask("", str)

    done = await run(server_with(tool, kind=kind), "tool", era=era)
    assert done.failed
    assert "mistake in its own code" in done.text
    assert "needs a message" in caplog.text


async def test_stateless_http_before_2026_has_no_channel_and_says_what_to_do() -> None:
    found: list[str] = []

    async def tool() -> str:
        try:
            return await ask("?", str)
        except NoChannel as exc:
            found.append(str(exc))
            raise

    server = server_with(tool)
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    app = server.streamable_http_app(stateless_http=True, json_response=True)
    async with app.router.lifespan_context(app):
        http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1:8000")
        transport = streamable_http_client("http://127.0.0.1:8000/mcp", http_client=http)
        done = await run(transport, "tool", {}, ["x"], era="2025-11-25")
    assert done.failed
    assert "stateless HTTP" in found[0]
    assert "stateful HTTP or protocol 2026-07-28" in found[0]
