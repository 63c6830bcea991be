"""What an author relies on in `midcall.testing`: a test that should fail does."""

from __future__ import annotations

from typing import Any

import pytest

from midcall import CannotAsk, ask, testing
from midcall.testing import ERAS, Asked, Era
from tests.kinds import server_with


async def falls_back() -> int:
    try:
        return await ask("How many?", int)
    except CannotAsk:
        return 4


@pytest.mark.parametrize("era", ERAS)
async def test_a_question_without_an_answer_fails_the_test_also_where_the_tool_goes_on(era: Era) -> None:
    with pytest.raises(AssertionError, match="no answer for 'How many\\?' \\(fields: answer\\)"):
        await testing.run(server_with(falls_back), "falls_back", {}, {"Something else": 1}, era=era)


@pytest.mark.parametrize("era", ERAS)
async def test_an_assertion_in_a_function_that_answers_fails_the_test(era: Era) -> None:
    def answer(asked: Asked) -> int:
        assert asked.message == "How few?"
        return 1

    with pytest.raises(AssertionError, match="How few"):
        await testing.run(server_with(falls_back), "falls_back", {}, answer, era=era)


@pytest.mark.parametrize("era", ERAS)
async def test_so_it_is_for_a_client_of_ones_own_once_it_is_left(era: Era) -> None:
    with pytest.raises(AssertionError, match="no answer for"):
        async with testing.connect(server_with(falls_back), era=era) as client:
            await client.call_tool("falls_back", {})


async def test_a_script_that_begins_anew_has_forgotten_its_failure() -> None:
    script = testing.Script()
    async with testing.connect(server_with(falls_back), script, era="2025-11-25") as client:
        await client.call_tool("falls_back", {})
        assert script.failure is not None
        script.restart([3])
        await client.call_tool("falls_back", {})


@pytest.mark.parametrize("era", ["2025", "auto", "legacy", "", None])
async def test_a_version_that_does_not_exist_is_refused(era: Any) -> None:
    with pytest.raises(ValueError, match="era must be one of 2025-06-18, 2025-11-25, 2026-07-28, and not"):
        await testing.run(server_with(falls_back), "falls_back", {}, [1], era=era)


async def test_what_is_no_server_is_named() -> None:
    with pytest.raises(TypeError, match="and not int"):
        await testing.run(3, "falls_back")
