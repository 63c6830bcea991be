"""choose: what may be chosen among, and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

import pytest

from midcall import choose
from midcall.testing import ERAS, Era, run
from tests.kinds import server_with
from tests.mistakes import mistake_in


class Size(Enum):
    SMALL = "s"
    LARGE = "l"


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
    """Has no `__str__`."""


@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        (lambda: choose("?", [Plain(), Plain()]), "class Plain has no text"),
        (lambda: choose("?", {Plain(): "One"}), "class Plain has no text"),
        (lambda: choose("?", [server_with, len]), "class function has no text"),
        (lambda: choose("?", {"acc-1": "Savings", "acc-2": "Savings"}), "Two of these options read the same"),
        (lambda: choose("?", ["1", 1]), "Two of these options read the same"),
        (lambda: choose("?", "abc"), "an Enum, not str"),
        (lambda: choose("?", b"abc"), "an Enum, not bytes"),
        (lambda: choose("?", 5), "an Enum, not int"),
        (lambda: choose("?", None), "an Enum, not NoneType"),
        (lambda: choose("?", {"a", "b"}), "a set, which has no order"),
        (lambda: choose("?", frozenset("ab")), "a set, which has no order"),
        (lambda: choose("?", ["a", "b"], many=True, default="ab"), "list of options, not str"),
        (lambda: choose("?", ["a", "b"], many=True, default="a"), "list of options, not str"),
        (lambda: choose("?", [97, 98], many=True, default=b"ab"), "list of options, not bytes"),
        (lambda: choose("?", [1, 2], many=True, default=1), "list of options, not int"),
        (lambda: choose("?", ["a", "b"], many=True, default=["c"]), "must be one of the options"),
        (lambda: choose("?", ["a", "b"], default=["a"]), "must be one of the options"),
    ],
)
@pytest.mark.parametrize("era", ERAS)
async def test_options_that_cannot_be_chosen_among_are_refused_before_anything_is_sent(
    era: Era, mistake: Callable[[], Any], told: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def tool() -> str:
        return str(await mistake())

    assert told in await mistake_in(tool, caplog, era=era)


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
