from __future__ import annotations

from typing import Any

import pytest

from midcall.core.forms import line_input
from midcall.core.forms.check import check
from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.core.forms.form import Form

SEATS = {"w": "Window", "a": "Aisle"}


@pytest.mark.parametrize("word", ["yes", "y", "true", "YES", "Y", "True", "tRuE"])
def test_yes_is_read_in_any_case(word: str) -> None:
    assert line_input.read(Flag("news"), word) is True


@pytest.mark.parametrize("word", ["no", "n", "false", "NO", "N", "False", "fAlSe"])
def test_no_is_read_in_any_case(word: str) -> None:
    assert line_input.read(Flag("news"), word) is False


@pytest.mark.parametrize(
    ("line", "number"),
    [("3", 3), ("-3", -3), ("+3", 3), ("2.5", 2.5), (".5", 0.5), ("4.0", 4), ("4.", 4), ("1e3", 1000), ("1E-2", 0.01)],
)
def test_numbers_are_written_with_a_point(line: str, number: float) -> None:
    value = line_input.read(Number("n"), line)
    assert (value, type(value)) == (number, type(number))


@pytest.mark.parametrize("line", ["2,5", "1_000", "1 000", "nan", "inf", "0x10", "٣", "three", "1" * 5000])
def test_an_ambiguous_number_is_refused(line: str) -> None:
    assert check(Form(Number("n")), {"n": line_input.read(Number("n"), line)})


def test_a_number_beyond_all_bounds_is_a_problem_and_no_crash() -> None:
    assert check(Form(Number("n")), {"n": line_input.read(Number("n"), "1e999")})


@pytest.mark.parametrize("line", ["a", "A", "Aisle", "aisle", "AISLE", "2"])
def test_an_option_is_chosen_by_value_title_or_number(line: str) -> None:
    assert line_input.read(Choice("seat", SEATS), line) == "a"


def test_the_exact_name_goes_before_another_in_another_case() -> None:
    field = Choice("letter", {"a": "B", "b": "A"})
    assert [line_input.read(field, line) for line in ("a", "b", "A", "B")] == ["a", "b", "b", "a"]


@pytest.mark.parametrize("line", ["0", "3", "-1", "99999999999", "²", "middle"])
def test_a_line_that_is_not_an_option_is_a_problem(line: str) -> None:
    field = Choice("seat", SEATS)
    assert check(Form(field), {"seat": line_input.read(field, line)})


def test_options_that_are_numbers_are_chosen_by_what_they_say() -> None:
    field = Choice("nights", ["7", "14", "1"])
    assert not line_input.has_numbers(field)
    assert [line_input.read(field, line) for line in ("7", "1")] == ["7", "1"]
    assert line_input.read(field, "2") == "2"
    assert check(Form(field), {"nights": "2"})


@pytest.mark.parametrize(
    ("line", "chosen"),
    [("w, a", ["w", "a"]), ("2,1", ["a", "w"]), ("aisle , 1", ["a", "w"]), ("w,w, Window", ["w"]), ("", []), (",", [])],
)
def test_several_options_are_separated_by_commas(line: str, chosen: list[str]) -> None:
    assert line_input.read(Choices("seats", SEATS), line) == chosen


def test_an_option_may_hold_a_comma_itself() -> None:
    field = Choices("cities", {"dc": "Washington, D.C.", "ny": "New York"})
    assert line_input.read(field, "New York, Washington, D.C.") == ["ny", "dc"]


MANY = {f"c{number}": f"City {number}" for number in range(30)} | {"osl": "Oslo"}


@pytest.mark.parametrize(
    ("field", "value", "found"),
    [
        (Choice("city", MANY), "OSL", ["osl"]),
        (Choice("city", MANY), "slo", ["osl"]),
        (Choice("city", MANY), "city 2", ["c2", *(f"c{number}" for number in range(20, 30))]),
        (Choice("city", MANY), "Rome", None),
        (Choice("city", MANY), None, None),
        (Choices("cities", MANY), ["c1", "slo"], ["osl"]),
        (Choices("cities", MANY), ["c1"], None),
        (Choice("seat", SEATS), "win", None),
        (Text("city"), "Oslo", None),
    ],
)
def test_many_options_are_searched_by_a_part_of_their_name(field: Field, value: Any, found: list[str] | None) -> None:
    assert line_input.search(field, value) == found
