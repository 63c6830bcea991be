"""Hosts as they were measured: what they declare, how they answer automatically, and what their user still gets."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.extension import advertise
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID
from mcp.server.mcpserver import Context
from mcp_types import ElicitResult, Implementation
from pydantic import BaseModel, Field

from midcall import Form, Text, ask, choose, confirm
from midcall.doctor.checks.options import check_forms
from midcall.doctor.inspection import Setup
from midcall.portal.app import Portal
from midcall.server.installation import Installation, installation_on
from midcall.stores.memory import Memory
from midcall.testing import ERAS, Era, connect
from tests.kinds import KINDS, Kind, server_with
from tests.server.channels.host_server import KEYS, host_server, name, pay, plain
from tests.server.codes import go_on, shown
from tests.server.people import presses
from tests.server.reaching import do, sends
from tests.serving import served, stdio

Way: TypeAlias = Literal["memory", "http", "stdio"]
WAYS: tuple[Way, ...] = ("memory", "http", "stdio")
BOTH = ("form", "url")


@asynccontextmanager
async def called_by(
    answers: Callable[[Any], Any], *, era: Era, way: Way, log: Path, modes: Sequence[Any] = BOTH, **options: Any
) -> AsyncIterator[Client]:
    """A host that answers like this, connected to a server with a portal."""
    async with AsyncExitStack() as stack:
        target: Any
        if way == "stdio":
            target = stdio(Path(__file__).with_name("host_server.py"), stack.enter_context(log.open("w")))
        else:
            target = host_server(**options)
            if way == "http":
                target = await stack.enter_async_context(served(target))
        yield await stack.enter_async_context(connect(target, answers, era=era, modes=modes))


def refuses(action: Literal["decline", "cancel"]) -> Callable[[Any], Any]:
    """A host without a person, or with all permissions: it answers everything automatically, at once."""
    return lambda asked: ElicitResult(action=action)


def installed_on(server: Any) -> Installation:
    found = installation_on(server)
    assert found is not None
    return found


CLAUDE_P = ("cancel", "2026-07-28")
CODEX_EXEC = ("decline", "2025-06-18")
COPILOT_P = ("decline", "2026-07-28")
BY_THEMSELVES = [CLAUDE_P, CODEX_EXEC, ("decline", "2025-11-25"), COPILOT_P]


# --- a decline that nobody chose ------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("action", "era"), BY_THEMSELVES)
async def test_a_question_that_a_host_refuses_automatically_reaches_the_user_by_a_link(
    action: Any, era: Era, way: Way, tmp_path: Path
) -> None:
    async with called_by(refuses(action), era=era, way=way, log=tmp_path / "log") as client:
        first = await client.call_tool("name", {})
        assert "What is your name?" in shown(first)
        assert "declined" not in shown(first)
        await do(first, sends(answer="Ada"))
        assert shown(await go_on(client, first)) == "Ada"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("action", "era"), BY_THEMSELVES)
async def test_an_approval_that_a_host_refuses_automatically_is_still_the_users(
    action: Any, era: Era, way: Way, tmp_path: Path
) -> None:
    async with called_by(refuses(action), era=era, way=way, log=tmp_path / "log") as client:
        first = await client.call_tool("pay", {})
        assert "Pay 5 EUR to Ada" in shown(first)
        await do(first, presses("accept"))
        assert shown(await go_on(client, first)) == "Paid: True"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("action", "era"), BY_THEMSELVES)
async def test_what_a_tool_asks_in_the_sdks_way_reaches_the_user_by_a_link_too(
    action: Any, era: Era, way: Way, tmp_path: Path
) -> None:
    async with called_by(refuses(action), era=era, way=way, log=tmp_path / "log") as client:
        first = await client.call_tool("plain", {})
        await do(first, sends(hour=9))
        assert shown(await go_on(client, first)) == "accept 9"


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize(("action", "era"), BY_THEMSELVES)
async def test_without_a_page_the_model_reads_that_nobody_has_seen_the_question(
    action: Any, era: Era, live: bool
) -> None:
    async with connect(server_with(name, live=live, doubt=60.0), refuses(action), era=era) as client:
        result = await client.call_tool("name", {})
    assert result.is_error
    assert "answered it automatically, at once" in shown(result)
    assert "declined" not in shown(result)
    assert "Do not ask" not in shown(result)


@pytest.mark.parametrize(("action", "era"), BY_THEMSELVES)
async def test_without_a_page_a_tool_that_asks_in_the_sdks_way_gets_its_decline(action: Any, era: Era) -> None:
    async with connect(server_with(plain, doubt=60.0), refuses(action), era=era) as client:
        assert shown(await client.call_tool("plain", {})) == action


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_an_unseen_approval_in_a_prompt_raises_because_no_link_can_ask_again(era: Era) -> None:
    server = host_server()

    @server.prompt()
    async def paying() -> str:
        return await pay()

    async with connect(server, refuses("decline"), era=era) as client:
        with pytest.raises(Exception, match="answered it automatically, at once"):
            await client.get_prompt("paying", {})


def test_a_decline_is_doubted_by_default_and_believed_if_that_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    assert installed_on(server_with(name)).doubt == 0.25
    monkeypatch.setenv("MIDCALL_DOUBT", "0")
    assert installed_on(server_with(name)).doubt == 0


@pytest.mark.parametrize("era", ERAS)
async def test_a_decline_that_takes_as_long_as_a_person_is_the_users(era: Era) -> None:
    async with called_by(refuses("decline"), era=era, way="memory", log=Path(), doubt=1e-9) as client:
        result = await client.call_tool("name", {})
    assert "The user declined" in shown(result)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("era", ERAS)
async def test_an_accept_is_never_doubted_however_fast_it_comes(era: Era, way: Way, tmp_path: Path) -> None:
    answers = {"answer": "Ada"}
    async with called_by(
        lambda asked: ElicitResult(action="accept", content=dict(answers)), era=era, way=way, log=tmp_path / "log"
    ) as client:
        assert shown(await client.call_tool("name", {})) == "Ada"


# --- forms that nobody saw -------------------------------------------------------------------


class HidesNumbers:
    """Codex: a form with a number, an integer or a list is hidden, and "yes" accepts it with nothing in it."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self.seen: list[Mapping[str, Any]] = []
        self.hidden: list[str] = []

    def __call__(self, asked: Any) -> Any:
        properties: Mapping[str, Any] = asked.schema["properties"]
        if any(prop["type"] in ("number", "integer", "array") for prop in properties.values()):
            self.hidden.append(asked.message)
            return ElicitResult(action="accept", content={})
        self.seen.append(asked.schema)
        return ElicitResult(action="accept", content=dict(zip(properties, self._answers.pop(0), strict=True)))


class Trip(BaseModel):
    days: int = Field(ge=1, le=30, title="Days")
    price: float = 9.5
    extras: list[Literal["car", "guide"]] = Field(title="Extras")
    city: str


async def trip() -> str:
    first = await ask("The trip?", Trip)
    return f"{first.days} {first.price} {first.extras} {first.city}"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("era", ERAS)
async def test_a_host_that_hides_numbers_is_asked_for_them_as_text(era: Era, way: Way, tmp_path: Path) -> None:
    codex = HidesNumbers([" 3 "], ["w"], [True])
    async with called_by(codex, era=era, way=way, log=tmp_path / "log") as client:
        assert shown(await client.call_tool("book", {})) == "3 w True"
    assert codex.hidden == ["How many days will you stay?"]
    [answer] = codex.seen[0]["properties"].values()
    assert (answer["type"], answer["title"]) == ("string", "Answer (a whole number)")


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize("era", ERAS)
async def test_what_is_typed_for_a_number_or_a_list_is_read_and_checked(era: Era, live: bool) -> None:
    codex = HidesNumbers(["31", "", "car", "Oslo"], ["30", "", "guide, car", "Oslo"])
    async with connect(server_with(trip, live=live), codex, era=era) as client:
        assert shown(await client.call_tool("trip", {})) == "30 9.5 ['guide', 'car'] Oslo"
    assert codex.hidden == ["The trip?"]
    first, second = (schema["properties"] for schema in codex.seen)
    assert first["days"]["title"] == "Days (a whole number from 1 to 30)"
    assert "car, guide" in first["extras"]["description"]
    if era != "2025-06-18":
        assert {name: prop.get("default") for name, prop in second.items()} == {
            "days": None, "price": None, "extras": "car", "city": "Oslo",
        }  # fmt: skip


async def days() -> str:
    return str(await ask("How many days?", int))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_the_next_call_of_such_a_host_asks_for_text_at_once(era: Era, kind: Kind) -> None:
    server = server_with(days, kind=kind)
    codex = HidesNumbers(["3"], ["4"])
    async with connect(server, codex, era=era) as client:
        assert [shown(await client.call_tool("days", {})) for _ in range(2)] == ["3", "4"]
    assert len(codex.hidden) == 1
    other = HidesNumbers(["5"])
    async with connect(server, other, era=era) as client:
        assert shown(await client.call_tool("days", {})) == "5"
    assert len(other.hidden) == 1


@pytest.mark.parametrize("era", ERAS)
async def test_so_it_does_over_stdio(era: Era, tmp_path: Path) -> None:
    codex = HidesNumbers(["3"], ["w"], [True], ["4"], ["w"], [True])
    async with called_by(codex, era=era, way="stdio", log=tmp_path / "log") as client:
        assert [shown(await client.call_tool("book", {})) for _ in range(2)] == ["3 w True", "4 w True"]
    assert len(codex.hidden) == 1


@pytest.mark.parametrize(("signed_in", "hidden"), [(True, [1, 0, 1, 1]), (False, [1, 1, 1, 1])])
async def test_over_http_on_the_newest_version_it_is_remembered_of_a_users_client_and_of_no_stranger(
    signed_in: bool, hidden: list[int]
) -> None:
    who = ["ada"]

    def user(ctx: Any) -> str:
        return who[0] if signed_in else ""

    calls = [("ada", "codex"), ("ada", "codex"), ("ada", "other"), ("bob", "codex")]
    async with served(server_with(days, principal=user)) as url:
        for (who[0], name), times in zip(calls, hidden, strict=True):
            host = HidesNumbers(["3"])
            info = Implementation(name=name, version="1")
            async with connect(url, host, era="2026-07-28", client_info=info) as client:
                assert shown(await client.call_tool("days", {})) == "3"
            assert len(host.hidden) == times, (who, name)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("era", ERAS)
async def test_a_host_that_accepts_every_form_empty_gets_a_link_after_the_second(
    era: Era, way: Way, tmp_path: Path
) -> None:
    asked: list[str] = []

    def accepts(question: Any) -> Any:
        asked.append(question.message)
        return ElicitResult(action="accept", content={})

    async with called_by(accepts, era=era, way=way, log=tmp_path / "log", modes=["form"]) as client:
        first = await client.call_tool("name", {})
        await do(first, sends(answer="Ada"))
        assert shown(await go_on(client, first)) == "Ada"
    assert len(asked) == 2


@pytest.mark.parametrize("era", ERAS)
async def test_without_a_page_a_form_that_is_never_filled_in_ends_with_the_usual_error(era: Era) -> None:
    accepts_nothing = ElicitResult(action="accept", content={})
    async with connect(server_with(name), lambda asked: accepts_nothing, era=era) as client:
        assert "did not fit the form" in shown(await client.call_tool("name", {}))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("era", ERAS)
async def test_an_empty_yes_to_a_form_of_the_sdk_leads_to_a_link(era: Era, way: Way, tmp_path: Path) -> None:
    codex = HidesNumbers()
    async with called_by(codex, era=era, way=way, log=tmp_path / "log", modes=["form"]) as client:
        first = await client.call_tool("plain", {})
        await do(first, sends(hour=9))
        assert shown(await go_on(client, first)) == "accept 9"
    assert len(codex.hidden) == 1


@pytest.mark.parametrize("era", ERAS)
async def test_without_a_page_an_empty_yes_to_a_form_of_the_sdk_is_the_sdks_own(era: Era) -> None:
    codex = HidesNumbers()
    async with connect(server_with(plain), codex, era=era) as client:
        result = await client.call_tool("plain", {})
    assert shown(result) == "Error executing tool plain", "as without midcall"
    assert len(codex.hidden) == 1


# --- Apps that are declared and never shown --------------------------------------------------


QWEN = [advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]})]


@asynccontextmanager
async def qwen(server: Any, *, era: Era, way: Way) -> AsyncIterator[Client]:
    async with AsyncExitStack() as stack:
        target = server if way == "memory" else await stack.enter_async_context(served(server))
        yield await stack.enter_async_context(connect(target, era=era, modes=(), extensions=QWEN))


@pytest.mark.usefixtures("never_shown", "brief_holds")
@pytest.mark.parametrize("way", ["memory", "http"])
@pytest.mark.parametrize("era", ERAS)
async def test_a_host_that_declares_apps_and_shows_none_gets_an_address_at_once_and_then_links(
    era: Era, way: Way
) -> None:
    async with qwen(host_server(), era=era, way=way) as client:
        result = await client.call_tool("book", {})
        assert "If no form appears" in shown(result)
        for answer in (3, "w", "yes"):
            await do(result, sends(answer=answer))
            result = await go_on(client, result)
            assert "with this result" not in shown(result), "no App is promised any more"
        assert shown(result) == "3 w True"
        again = await client.call_tool("name", {})
        lasts = way == "memory" or era != "2026-07-28"
        assert ("with this result" in shown(again)) is not lasts, "where a connection lasts, it is known"


# --- a call that isn't finished ----------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lists_first", [True, False])
@pytest.mark.parametrize("way", ["memory", "http"])
@pytest.mark.parametrize("era", ERAS)
async def test_for_a_host_without_elicitation_an_unfinished_call_is_an_ordinary_result_that_its_sdk_accepts(
    era: Era, way: Way, lists_first: bool, kind: Kind
) -> None:
    server = server_with(name, kind=kind, portal=Portal(), store=Memory(), keys=KEYS)
    async with AsyncExitStack() as stack:
        target = await stack.enter_async_context(served(server)) if way == "http" else server
        client = await stack.enter_async_context(connect(target, era=era, modes=()))
        if lists_first:
            tools = (await client.list_tools()).tools
            assert [tool.output_schema for tool in tools] == [None] * len(tools)
        result = await client.call_tool("name", {})
        assert "NOT FINISHED YET" in shown(result)
        assert not result.is_error
        await do(result, sends(answer="Ada"))
        assert shown(await go_on(client, result)) == "Ada"


@pytest.mark.parametrize("era", ERAS)
async def test_a_host_with_elicitation_keeps_the_output_schemas_and_gets_an_error_result_that_its_sdk_accepts(
    era: Era,
) -> None:
    async with called_by(refuses("decline"), era=era, way="memory", log=Path()) as client:
        listed = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        assert listed["name"] is not None
        result = await client.call_tool("name", {})
        assert "NOT FINISHED YET" in shown(result)
        assert result.is_error


@pytest.mark.parametrize("era", ERAS)
async def test_without_a_page_a_host_without_elicitation_keeps_the_output_schemas(era: Era) -> None:
    async with connect(server_with(name, store=Memory()), era=era, modes=()) as client:
        listed = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        assert listed["name"] is not None


async def test_over_stateless_http_where_nobody_knows_what_a_client_shows_its_sdk_accepts_the_result() -> None:
    async with served(host_server(), stateless_http=True) as url:
        async with connect(url, lambda asked: "Ada", era="2025-11-25") as client:
            assert {tool.output_schema for tool in (await client.list_tools()).tools} == {None}
            result = await client.call_tool("name", {})
            assert "NOT FINISHED YET" in shown(result)
            assert not result.is_error


# --- what people and models read ---------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
async def test_a_correction_reads_well_in_a_host_that_joins_the_lines(era: Era) -> None:
    shown_to_user: list[str] = []

    def codex(asked: Any) -> Any:
        shown_to_user.append(asked.message.replace("\n", ""))
        return ElicitResult(action="accept", content={"answer": "" if len(shown_to_user) == 1 else "Ada"})

    async def named() -> str:
        return await ask("Tell me your name", Annotated[str, Field(min_length=1)])

    async with connect(server_with(named), codex, era=era) as client:
        assert shown(await client.call_tool("named", {})) == "Ada"
    assert shown_to_user[1] == "Tell me your name. Please correct: - Answer: must not be empty."


@pytest.mark.parametrize("era", ERAS)
async def test_a_user_who_types_an_option_types_its_title(era: Era) -> None:
    typed = ["by the door", "ON THE AISLE "]
    asked: list[str] = []

    def copilot(question: Any) -> Any:
        asked.append(question.message)
        return ElicitResult(action="accept", content={"choice": typed[len(asked) - 1]})

    async def seat() -> str:
        return await choose("Where do you like to sit?", {"w": "At the window", "a": "On the aisle"})

    async with connect(server_with(seat), copilot, era=era) as client:
        assert shown(await client.call_tool("seat", {})) == "a"
    assert asked[1].endswith("must be one of: At the window, On the aisle.")


@pytest.mark.parametrize("era", ERAS)
async def test_without_any_channel_the_model_reads_what_was_to_be_asked(era: Era) -> None:
    async with connect(server_with(name), era=era, modes=()) as client:
        try:
            said = shown(await client.call_tool("name", {}))
        except MCPError as error:
            said = error.message
    assert "cannot show questions" in said
    assert "What is your name?" in said


@pytest.mark.parametrize(("title", "called"), [(None, "your assistant"), ("Gemini", "Gemini")])
async def test_a_page_names_the_client_by_its_title_and_never_by_what_programs_call_it(
    title: str | None, called: str
) -> None:
    info = Implementation(name="gemini-cli-mcp-client", title=title, version="1")
    async with connect(host_server(), modes=(), client_info=info) as client:
        result = await client.call_tool("name", {})
        [address] = re.findall(r"http\S+", shown(result))
        async with httpx2.AsyncClient() as browser:
            page = (await browser.get(address, follow_redirects=True)).text
    assert called in page
    assert "gemini-cli-mcp-client" not in page


@pytest.mark.parametrize("era", ERAS)
async def test_a_confirmation_says_what_its_box_means(era: Era) -> None:
    schemas: list[Any] = []

    async def sure() -> str:
        return str(await confirm("Book 3 days?"))

    def claude(asked: Any) -> Any:
        schemas.append(asked.schema)
        return ElicitResult(action="accept", content={"confirmed": True})

    async with connect(server_with(sure), claude, era=era) as client:
        assert shown(await client.call_tool("sure", {})) == "True"
    assert schemas[0]["properties"]["confirmed"] == {"type": "boolean", "title": "Yes, do it"}
    assert schemas[0]["required"] == ["confirmed"]


# --- forms that some hosts refuse --------------------------------------------------------------

AHEAD = r"^(?=.*[0-9])(?!abc).{4,}$"


class Name(BaseModel):
    word: str = Field(json_schema_extra={"pattern": AHEAD})


async def adopted(ctx: Context[Any, Any]) -> str:
    return (await ctx.elicit("Which word?", Name)).action


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_a_host_gets_no_pattern_that_re2_cannot_compile_and_the_server_checks_all_of_it(
    era: Era, caplog: pytest.LogCaptureFixture
) -> None:
    patterns: list[str] = []

    def host(asked: Any) -> Any:
        patterns.append(asked.schema["properties"]["word"]["pattern"])
        words = ["abcd1", "abcde", "oslo1"]
        return ElicitResult(action="accept", content={"word": words[len(patterns) - 1]})

    async def word() -> str:
        return str(await ask("Which word?", Form(Text("word", pattern=AHEAD))))

    server = server_with(word)
    async with connect(server, host, era=era) as client:
        assert "oslo1" in shown(await client.call_tool("word", {}))
    assert patterns == ["^.{4,}$"] * 3
    [told] = [record.getMessage() for record in caplog.records if "RE2" in record.getMessage()]
    assert told.startswith("A form of 'word' has a pattern in 'word'")
    [finding] = await check_forms(Setup(installed_on(server)))
    assert "RE2" in finding.text


@pytest.mark.parametrize("era", ERAS)
async def test_a_form_of_the_sdk_is_sent_as_it_is_and_its_author_is_warned_once(
    era: Era, caplog: pytest.LogCaptureFixture
) -> None:
    patterns: list[str] = []

    def host(asked: Any) -> Any:
        patterns.append(asked.schema["properties"]["word"]["pattern"])
        return ElicitResult(action="accept", content={"word": "oslo1"})

    async with connect(server_with(adopted), host, era=era) as client:
        for _ in range(2):
            assert shown(await client.call_tool("adopted", {})) == "accept"
    assert patterns == [AHEAD] * 2
    assert len([record for record in caplog.records if "RE2" in record.getMessage()]) == 1


@pytest.mark.parametrize("era", ERAS)
async def test_an_author_is_warned_of_an_option_without_a_value(era: Era, caplog: pytest.LogCaptureFixture) -> None:
    async def seat() -> str:
        return repr(await choose("Which seat?", {"": "Any", "w": "Window"}))

    async with connect(server_with(seat), [""], era=era) as client:
        assert shown(await client.call_tool("seat", {})) == "''"
    assert len([record for record in caplog.records if "an empty option in 'choice'" in record.getMessage()]) == 1
