from asking_anywhere import mcp
from forms_again import mcp as hotel

from midcall.testing import Asked, Script, connect, run


async def test_a_prompt_asks_for_its_tone() -> None:
    script = Script({"Which tone?": "strict"})
    async with connect(mcp, script, era="2025-11-25") as client:
        prompt = await client.get_prompt("review", {"title": "Emma"})
    assert prompt.messages[0].content.text == "Write a strict review of Emma."
    assert script.asked[0].fields == ("choice",)


async def test_a_list_answers_the_first_and_the_second_asking() -> None:
    wrong, right = {"arrive": "2026-05-02", "leave": "2026-05-01"}, {"arrive": "2026-05-01", "leave": "2026-05-03"}
    done = await run(hotel, "reserve", {}, {"When will you stay with us?": [wrong, right]})
    assert done.text == "2 nights"


async def test_a_function_answers_whatever_is_asked() -> None:
    def answer(asked: Asked) -> dict[str, str]:
        return dict.fromkeys(asked.fields, "friendly")

    async with connect(mcp, answer) as client:
        assert (await client.get_prompt("review", {"title": "Emma"})).messages
