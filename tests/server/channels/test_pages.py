"""The page channel over several questions: each has its own page, and later runs know only the answers."""

from __future__ import annotations

import pytest

from midcall import ask, confirm, once
from midcall.testing import Era, connect
from tests.portal.sites import Visitor
from tests.server.codes import shown
from tests.server.people import WITH_URLS, Person, installed
from tests.server.reaching import posted


@pytest.mark.parametrize("era", WITH_URLS)
async def test_several_questions_come_on_a_page_each(era: Era) -> None:
    async def tool() -> str:
        said = [await ask(f"Number {index}?", int) for index in range(4)]
        paid = await once("pay", lambda: sum(said))
        return f"{said} {paid} {await ask('And?', int)}"

    pages: list[str] = []

    async def act(visitor: Visitor, id: str) -> None:
        page = (await visitor.open(id)).text
        await visitor.press(id, "accept", posted(page, {"answer": len(pages)}))
        pages.append(id)

    async with installed(tool) as (server, _), connect(server, Person(act), era=era, modes=["url"]) as client:
        assert shown(await client.call_tool("tool", {})) == "[0, 1, 2, 3] 6 4"
    assert len(set(pages)) == 5


@pytest.mark.parametrize("era", WITH_URLS)
async def test_the_same_question_twice_is_two_pages_and_two_answers(era: Era) -> None:
    async def tool() -> str:
        return f"{await ask('A number?', int)} {await ask('A number?', int)}"

    numbers = [1, 2]

    async def act(visitor: Visitor, id: str) -> None:
        page = (await visitor.open(id)).text
        await visitor.press(id, "accept", posted(page, {"answer": numbers.pop(0)}))

    person = Person(act)
    async with installed(tool) as (server, _), connect(server, person, era=era, modes=["url"]) as client:
        assert shown(await client.call_tool("tool", {})) == "1 2"
    assert len(person.asked) == 2


@pytest.mark.parametrize("era", WITH_URLS)
async def test_after_a_decline_on_one_page_the_next_question_still_comes(era: Era) -> None:
    async def tool() -> str:
        return f"{await confirm('This?')} {await confirm('That?')} {await ask('A number?', int)}"

    async def act(visitor: Visitor, id: str) -> None:
        page = (await visitor.open(id)).text
        if "A number?" in page:
            await visitor.press(id, "accept", posted(page, {"answer": 3}))
        else:
            await visitor.press(id, "decline")

    async with installed(tool) as (server, _), connect(server, Person(act), era=era, modes=["url"]) as client:
        assert shown(await client.call_tool("tool", {})) == "False False 3"
