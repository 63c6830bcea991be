from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import pytest
from mcp.server import MCPServer

import midcall
from midcall import Accepted, Cancelled, Declined, Question, ask_all, visit
from midcall.client.answerer import Answerer, CannotAnswer
from midcall.client.asked import Asked, FormQuestion, VisitQuestion
from midcall.client.automatic.headless import Headless, Policy
from midcall.core.forms.fields import Choices, Flag, Number, Text
from midcall.core.forms.form import Form
from midcall.testing import ERAS
from tests.client.answerers import result_of


def form(*fields: Any) -> Asked:
    return Asked(FormQuestion("How many days?", Form(*fields) if fields else None), id="1", server="travel")


FILLED = form(Number("days", default=3), Choices("c", ["a", "b"], default=["b"]), Text("wish", required=False))
OPEN = form(Number("days", default=3), Flag("sure"))
BARE = form()
VISIT = Asked(VisitQuestion("Please sign in", "https://example.com/", "v1"), id="2", server="travel")


@pytest.mark.parametrize("asked", [FILLED, OPEN, BARE, VISIT])
@pytest.mark.parametrize(("policy", "outcome"), [("cancel", Cancelled()), ("decline", Declined())])
async def test_every_question_ends_by_the_policy(asked: Asked, policy: Policy, outcome: Any) -> None:
    assert await Headless(policy).answer(asked) == outcome


@pytest.mark.parametrize("asked", [FILLED, OPEN, BARE, VISIT])
async def test_a_policy_can_be_to_fail(asked: Asked) -> None:
    with pytest.raises(CannotAnswer, match="Nobody is there"):
        await Headless("fail").answer(asked)


@pytest.mark.parametrize("asked", [FILLED, VISIT])
async def test_in_a_round_which_has_no_errors_it_is_cancelled_and_the_log_says_only_that(
    asked: Asked, caplog: pytest.LogCaptureFixture
) -> None:
    assert await Headless("fail").answer(replace(asked, via="round")) == Cancelled()
    assert "was cancelled, because" in caplog.text
    assert "ended with an error" not in caplog.text


async def test_defaults_are_used_if_they_suffice() -> None:
    headless = Headless("defaults")
    assert await headless.answer(FILLED) == Accepted({"days": 3, "c": ["b"]})
    assert await headless.answer(OPEN) == Cancelled()
    assert await headless.answer(BARE) == Cancelled()
    assert await headless.answer(VISIT) == Cancelled()


async def test_it_cancels_unless_told_otherwise() -> None:
    assert Headless().policy == "cancel"
    with pytest.raises(ValueError, match="policy='accept': use one of cancel, decline, defaults, fail"):
        Headless("accept")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("policy", "asked", "how"),
    [
        ("cancel", FILLED, "was cancelled"),
        ("decline", VISIT, "was declined, as this client is configured to do"),
        ("defaults", FILLED, "was answered with its defaults"),
        ("defaults", OPEN, "was cancelled, because it has no default for sure"),
    ],
)
async def test_an_automatic_answer_is_reported(
    policy: Policy, asked: Asked, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[str] = []
    with caplog.at_level(logging.WARNING, "midcall.client"):
        await Headless(policy, tell=told.append).answer(asked)
    assert [record.getMessage() for record in caplog.records] == [
        f"question {asked.digest} of travel {how}: nobody is here to answer"
    ]
    assert told == [f'travel asked "{asked.message}". Nobody is here to answer: it {how}.']


async def test_a_hostile_question_cannot_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    evil, told = "\x1b[2J\n" + "x" * 1_000_000, list[str]()
    fields = [Text(f"{number}{evil}") for number in range(100)]
    asked = Asked(FormQuestion(evil, Form(*fields)), id="1", server=evil)
    await Headless("defaults", tell=told.append).answer(asked)
    assert "and 95 more" in told[0]
    for text in (caplog.text, told[0]):
        assert len(text) < 5_000
        assert "\x1b" not in text


def test_it_declares_what_it_can_serve() -> None:
    assert Headless("defaults").modes == ("form",)
    assert Headless().modes == ("form", "url")
    assert isinstance(Headless(), Answerer)


# --- with a real server ----------------------------------------------------------------------


def travel() -> MCPServer:
    mcp = MCPServer("travel")
    midcall.install(mcp)

    @mcp.tool()
    async def book() -> str:
        days, news = await ask_all(Question("How many days?", int, default=3), Question("News?", bool, default=False))
        return f"{days}, {news}"

    @mcp.tool()
    async def pay() -> str:
        await visit("Pay here", "https://pay.example.com/1")
        return "paid"

    return mcp


@pytest.mark.parametrize("era", ERAS)
async def test_without_a_user_a_call_ends_with_an_explanation(era: str) -> None:
    assert "answered it automatically" in await result_of(travel(), Headless(), "book", era)
    assert "declined to answer" in await result_of(travel(), Headless("decline"), "book", era)


@pytest.mark.parametrize("era", ERAS[1:])
async def test_a_visit_is_never_made(era: str) -> None:
    assert "answered it automatically" in await result_of(travel(), Headless(), "pay", era)
