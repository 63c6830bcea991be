"""Questions that are refused before anything is sent."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import Any

import pytest

import midcall
from midcall import (
    STRONG,
    Choice,
    Choices,
    Flag,
    Form,
    Question,
    Text,
    UrlElicitationRequired,
    Visit,
    ask,
    can_ask,
    choose,
    confirm,
    elicit,
    from_thread,
    once,
    visit,
)
from midcall.errors import InvalidQuestion
from midcall.testing import ERAS, Era, connect, run
from tests.kinds import KINDS, Kind, server_with
from tests.mistakes import mistake_in
from tests.server.verbs.test_asking import Trip


async def never() -> int:
    raise AssertionError("it has run")


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
async def test_a_verb_is_not_a_function_for_once(
    era: Era, fn: Any, verb: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def tool() -> str:
        return str(await once("x", fn, "Days?", int))

    told = await mistake_in(tool, caplog, era=era)
    assert f"{verb}() was used inside the function of a once(...)." in told


@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        (lambda: ask(int, "How many?"), "starts with its message"),
        (lambda: ask(5, int), "starts with its message"),
        (lambda: once("f", never()), "takes a function and its arguments"),
        (lambda: once("f", 7), "takes a function and its arguments"),
        (lambda: asyncio.sleep(0, can_ask("forms")), "no mode 'forms'"),
    ],
)
async def test_arguments_in_the_wrong_place_are_reported_in_a_sentence(
    mistake: Any, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def tool() -> str:
        return str(await mistake())

    assert told in await mistake_in(tool, caplog)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_a_form_that_asks_for_a_secret_is_refused_before_anything_is_sent(
    kind: Kind, era: Era, caplog: pytest.LogCaptureFixture
) -> None:
    async def tool() -> str:
        return str(await ask("Sign in", Form(Text("user"), Text("password"))))

    told = await mistake_in(tool, caplog, kind=kind, era=era)
    assert told.startswith("SecretInForm in 'tool'")
    assert "secret()" in told
    assert "not_secret=" in told


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
async def test_an_option_that_no_question_has_is_named(
    era: Era, verb: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    async def tool() -> str:
        return str(await verb(patience=5))

    told = await mistake_in(tool, caplog, era=era)
    assert "not the options of a question" in told
    assert "'patience'" in told


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
async def test_options_beside_a_question_that_is_made_already_are_refused(
    era: Era, beside: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    async def tool() -> str:
        return str(await beside(Question("Days?", int)))

    assert "pass them to Question(...)" in await mistake_in(tool, caplog, era=era)


@pytest.mark.parametrize("era", ERAS)
async def test_one_key_for_two_questions_is_refused(era: Era, caplog: pytest.LogCaptureFixture) -> None:
    async def tool() -> str:
        return await ask("a?", str, key="same") + await ask("b?", str, key="same")

    told = await mistake_in(tool, caplog, ["x"], era=era, asked=1)
    assert told.startswith("DuplicateKey in 'tool'")
    assert "'same'" in told


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_an_authors_mistake_is_in_the_log_and_not_shown_to_the_model(
    kind: Kind, era: Era, caplog: pytest.LogCaptureFixture
) -> None:
    async def tool() -> str:
        return await ask("", str)

    assert "needs a message" in await mistake_in(tool, caplog, kind=kind, era=era)


async def test_a_caller_who_causes_many_mistakes_hides_no_other(caplog: pytest.LogCaptureFixture) -> None:
    async def by_name(name: str) -> str:
        return await ask("a?", str, key=name)

    async def broken() -> str:
        return await ask("a?", object)  # type: ignore[return-value]

    async with connect(server_with(by_name, broken)) as client:
        for number in range(150):
            await client.call_tool("by_name", {"name": f"!{number}"})
        logged = len(caplog.records)
        assert 10 < logged <= 100
        await client.call_tool("broken", {})
    assert "InvalidForm in 'broken'" in caplog.messages[logged]
