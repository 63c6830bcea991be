from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import InitVar, dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Annotated, Any, ClassVar, Generic, Literal, NewType, NotRequired, Required, TypedDict, TypeVar
from uuid import UUID

import annotated_types as at
import pydantic
import pytest
import typing_extensions
from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    AnyUrl,
    BaseModel,
    ConfigDict,
    EmailStr,
    Field,
    HttpUrl,
    PositiveInt,
    SecretStr,
    StringConstraints,
)
from pydantic.alias_generators import to_camel
from pydantic.dataclasses import dataclass as pydantic_dataclass
from typing_extensions import Doc, ReadOnly, TypeAliasType

from midcall.core.forms.check import check, tidy
from midcall.core.forms.fields import Choice, Choices, Flag, Number, Text
from midcall.core.forms.form import Form
from midcall.core.types import Unfit, typed_form
from midcall.errors import InvalidForm, SecretInForm

NO_OPTIONS = {"title": "Answer"}


class Seat(Enum):
    WINDOW = "w"
    AISLE = "a"


class Colour(StrEnum):
    RED = "red"
    DARK_BLUE = "dark blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Place(Enum):
    HERE = (0, 0)
    THERE = (1, 2)


class Empty(Enum):
    pass


def answer(tp: Any, value: Any) -> Any:
    """What a client's answer to a bare type is read as, the whole way."""
    typed = typed_form(tp)
    content = tidy(typed.form, {"answer": value})
    assert check(typed.form, content) == ()
    return typed.read(content)


def read(tp: Any, **content: Any) -> Any:
    typed = typed_form(tp)
    tidied = tidy(typed.form, content)
    assert check(typed.form, tidied) == ()
    return typed.read(tidied)


def only_field(tp: Any) -> Any:
    (field,) = typed_form(tp).form
    return field


# --- bare types --------------------------------------------------------------------------------

UserId = NewType("UserId", int)
Size = TypeAliasType("Size", Literal["s", "m"])
V = TypeVar("V")
Some = TypeAliasType("Some", list[V], type_params=(V,))

BARE: list[tuple[Any, Any, Any, Any]] = [
    (bool, Flag("answer", **NO_OPTIONS), True, True),
    (int, Number("answer", integer=True, **NO_OPTIONS), 3.0, 3),
    (float, Number("answer", **NO_OPTIONS), 3, 3.0),
    (int | float, Number("answer", **NO_OPTIONS), 3, 3),
    (str, Text("answer", **NO_OPTIONS), "x", "x"),
    (date, Text("answer", format="date", **NO_OPTIONS), "2026-07-28", date(2026, 7, 28)),
    (
        datetime,
        Text("answer", format="date-time", **NO_OPTIONS),
        "2026-07-28t09:30:00.5+02:00",
        datetime(2026, 7, 28, 9, 30, 0, 500_000, tzinfo=timezone(timedelta(hours=2))),
    ),
    (Literal["a", "b"], Choice("answer", ["a", "b"], **NO_OPTIONS), "b", "b"),
    (Literal[1, 2], Choice("answer", ["1", "2"], **NO_OPTIONS), "2", 2),
    (Literal[True, "maybe"], Choice("answer", ["true", "maybe"], **NO_OPTIONS), "true", True),
    (Literal["a"] | Literal["b"], Choice("answer", ["a", "b"], **NO_OPTIONS), "b", "b"),
    (Literal[Seat.AISLE], Choice("answer", ["a"], **NO_OPTIONS), "a", Seat.AISLE),
    (Seat, Choice("answer", {"w": "Window", "a": "Aisle"}, **NO_OPTIONS), "w", Seat.WINDOW),
    (Colour, Choice("answer", ["red", "dark blue"], **NO_OPTIONS), "red", Colour.RED),
    (Level, Choice("answer", {"1": "Low", "2": "High"}, **NO_OPTIONS), "2", Level.HIGH),
    (Place, Choice("answer", ["HERE", "THERE"], **NO_OPTIONS), "THERE", Place.THERE),
    (list[Literal["a", "b"]], Choices("answer", ["a", "b"], **NO_OPTIONS), ["b", "a"], ["b", "a"]),
    (Sequence[Literal["a", "b"]], Choices("answer", ["a", "b"], **NO_OPTIONS), ["b"], ["b"]),
    (set[Literal[1, 2]], Choices("answer", ["1", "2"], **NO_OPTIONS), ["1", "1"], {1}),
    (frozenset[Level], Choices("answer", {"1": "Low", "2": "High"}, **NO_OPTIONS), ["1"], frozenset({Level.LOW})),
    (tuple[Seat, ...], Choices("answer", {"w": "Window", "a": "Aisle"}, **NO_OPTIONS), ["a"], (Seat.AISLE,)),
    (UserId, Number("answer", integer=True, **NO_OPTIONS), 3, 3),
    (Size, Choice("answer", ["s", "m"], **NO_OPTIONS), "s", "s"),
    (Some[Size], Choices("answer", ["s", "m"], **NO_OPTIONS), ["s"], ["s"]),
    (AnyUrl, Text("answer", format="uri", **NO_OPTIONS), "https://x.org/a", AnyUrl("https://x.org/a")),
    (EmailStr, Text("answer", format="email", **NO_OPTIONS), "me@EXAMPLE.com", "me@example.com"),
    (pydantic.PastDate, Text("answer", format="date", **NO_OPTIONS), "2000-01-01", date(2000, 1, 1)),
]


@pytest.mark.parametrize(("tp", "field", "sent", "value"), BARE, ids=lambda case: str(case)[:40])
def test_a_bare_type_is_one_field_and_is_read_as_its_bare_value(tp: Any, field: Any, sent: Any, value: Any) -> None:
    assert typed_form(tp).form == Form(field)
    assert answer(tp, sent) == value
    assert type(answer(tp, sent)) is type(value)


@pytest.mark.parametrize(
    "tp", [int | None, Literal["a", None], Annotated[str | None, Field(title="T")], list[Seat] | None]
)
def test_a_type_that_may_be_none_is_an_optional_field_and_none_when_left_out(tp: Any) -> None:
    assert only_field(tp).required is False
    assert only_field(tp).default is None
    assert answer(tp, None) is None


@pytest.mark.parametrize(
    ("tp", "field"),
    [
        (Annotated[int, Field(ge=1, le=9)], Number("answer", integer=True, minimum=1, maximum=9, **NO_OPTIONS)),
        (Annotated[int, Field(gt=1, lt=9)], Number("answer", integer=True, minimum=2, maximum=8, **NO_OPTIONS)),
        (Annotated[int, at.Gt(1.5), at.Lt(8.5)], Number("answer", integer=True, minimum=2, maximum=8, **NO_OPTIONS)),
        (Annotated[int, at.Ge(1.5), at.Ge(4)], Number("answer", integer=True, minimum=4, **NO_OPTIONS)),
        (Annotated[int, at.Interval(ge=1, lt=4)], Number("answer", integer=True, minimum=1, maximum=3, **NO_OPTIONS)),
        (Annotated[float, at.Ge(Decimal("0.5"))], Number("answer", minimum=0.5, **NO_OPTIONS)),
        (Annotated[float, at.Gt(0), at.Le(float("inf"))], Number("answer", minimum=0, **NO_OPTIONS)),
        (PositiveInt, Number("answer", integer=True, minimum=1, **NO_OPTIONS)),
        (Annotated[str, Field(min_length=1, max_length=3)], Text("answer", min_length=1, max_length=3, **NO_OPTIONS)),
        (Annotated[str, at.Len(1, 3)], Text("answer", min_length=1, max_length=3, **NO_OPTIONS)),
        (Annotated[str, StringConstraints(pattern="^a")], Text("answer", pattern="^a", **NO_OPTIONS)),
        (Annotated[str, Field(json_schema_extra={"format": "email"})], Text("answer", format="email", **NO_OPTIONS)),
        (
            Annotated[list[Seat], at.MinLen(1)],
            Choices("answer", {"w": "Window", "a": "Aisle"}, min_items=1, **NO_OPTIONS),
        ),
        (Annotated[int, Field(title="T", description="D")], Number("answer", integer=True, title="T", description="D")),
        (Annotated[int, "How many"], Number("answer", integer=True, description="How many", **NO_OPTIONS)),
        (Annotated[int, Doc("How many")], Number("answer", integer=True, description="How many", **NO_OPTIONS)),
        (Annotated[Annotated[int, Field(title="in")], Field(title="out")], Number("answer", integer=True, title="out")),
        (Annotated[int, Field(ge=1)] | None, Number("answer", integer=True, minimum=1, required=False, **NO_OPTIONS)),
        (Annotated[int, Field(default=3)], Number("answer", integer=True, default=3, **NO_OPTIONS)),
        (
            Annotated[Seat, Field(default=Seat.AISLE)],
            Choice("answer", Seat.__members__ and {"w": "Window", "a": "Aisle"}, default="a", **NO_OPTIONS),
        ),
        (
            Annotated[set[Literal[1, 2]], Field(default={2, 1})],
            Choices("answer", ["1", "2"], default=["1", "2"], **NO_OPTIONS),
        ),
        (
            Annotated[date, Field(default=date(2026, 7, 28))],
            Text("answer", format="date", default="2026-07-28", **NO_OPTIONS),
        ),
        (Annotated[str, Field(alias="city")], Text("city", **NO_OPTIONS)),
    ],
    ids=lambda case: str(case)[:60],
)
def test_annotated_constraints_reach_the_field(tp: Any, field: Any) -> None:
    assert typed_form(tp).form == Form(field)


@pytest.mark.parametrize(
    ("tp", "value"),
    [
        (Annotated[int, Field(default=3)], 3),
        (Annotated[list[Seat], Field(default_factory=lambda: [Seat.AISLE])], [Seat.AISLE]),
        (Annotated[Seat | None, Field(default=Seat.AISLE)], Seat.AISLE),
        (Annotated[datetime, Field(default=datetime(2026, 7, 28))], datetime(2026, 7, 28)),
    ],
)
def test_a_default_is_applied_when_the_field_is_left_out(tp: Any, value: Any) -> None:
    assert only_field(tp).required is False
    assert answer(tp, None) == value


def test_a_default_that_the_wire_cannot_carry_is_not_sent() -> None:
    assert only_field(Annotated[datetime, Field(default=datetime(2026, 7, 28))]).default is None
    assert only_field(Annotated[list[Seat], Field(default_factory=list)]).default is None


def test_a_supplied_default_can_be_changed_without_harm() -> None:
    tp = Annotated[list[Literal["a"]], Field(default=["a"])]
    typed_form(tp).read({}).append("b")
    assert typed_form(tp).read({}) == ["a"]


def even(value: int) -> int:
    if value % 2:
        raise ValueError("must be even")
    return value


@pytest.mark.parametrize(
    ("tp", "sent", "message"),
    [
        (Annotated[float, at.Gt(0)], 0, "must be greater than 0"),
        (Annotated[float, at.Lt(9)], 9, "must be less than 9"),
        (Annotated[int, Field(multiple_of=5)], 3, "must be a multiple of 5"),
        (Annotated[int, AfterValidator(even)], 3, "must be even"),
        (
            Annotated[str, StringConstraints(strip_whitespace=True, min_length=2)],
            " a ",
            "must have at least 2 characters",
        ),
        (Annotated[str, Field(pattern=r"^\p{Lu}")], "a", r"must match pattern '^\p{Lu}'"),
        (Annotated[date, at.Ge(date(2026, 1, 1))], "2025-01-01", "must be greater than or equal to 2026-01-01"),
        (Annotated[list[Annotated[Literal[1, 2, 3], AfterValidator(even)]], at.MinLen(1)], ["3"], "must be even"),
        (HttpUrl, "ftp://x.org", "URL scheme should be 'http' or 'https'"),
        (float, 10**400, "must be a number"),
        (datetime, "1998-12-31T23:59:60Z", "must be a date and time with its offset such as 2026-07-28T09:30:00Z"),
    ],
    ids=lambda case: str(case)[:40],
)
def test_what_the_wire_cannot_carry_is_enforced_when_the_answer_is_read(tp: Any, sent: Any, message: str) -> None:
    with pytest.raises(Unfit) as unfit:
        answer(tp, sent)
    (problem,) = unfit.value.problems
    assert (problem.field, problem.message) == ("answer", message)
    assert str(unfit.value) == f"answer: {message}"


def test_a_constraint_may_change_the_value() -> None:
    assert answer(Annotated[str, StringConstraints(strip_whitespace=True, to_upper=True)], " a ") == "A"


def test_a_type_is_compiled_once() -> None:
    assert typed_form(int) is typed_form(int)
    assert typed_form(Literal["a", "b"]) is typed_form(Literal["a", "b"])
    assert typed_form(Literal[1]) is not typed_form(Literal[True])


def test_a_type_that_cannot_be_hashed_is_compiled_every_time() -> None:
    tp = Annotated[int, ["unhashable"]]
    assert typed_form(tp).form == typed_form(tp).form
    assert answer(tp, 3) == 3


# --- containers --------------------------------------------------------------------------------


class Trip(BaseModel):
    travel_date: date
    days: Annotated[int, Field(ge=1, description="How long")] = 7
    seat: Seat = Seat.WINDOW
    extras: set[Literal["bag", "wifi"]] = set()
    email: EmailStr | None = None
    note: str | None
    ClassVariable: ClassVar[int] = 3

    @pydantic.field_validator("days")
    @classmethod
    def not_a_fortnight(cls, days: int) -> int:
        if days == 14:
            raise ValueError("a fortnight is sold out")
        return days

    @pydantic.model_validator(mode="after")
    def no_wifi_at_the_window(self) -> Trip:
        if self.seat is Seat.WINDOW and "wifi" in self.extras:
            raise ValueError("no Wi-Fi at the window")
        return self


@pydantic_dataclass
class PydanticTrip:
    travel_date: date
    days: Annotated[int, Field(ge=1, description="How long")] = 7
    seat: Seat = Seat.WINDOW
    extras: set[Literal["bag", "wifi"]] = dataclasses.field(default_factory=set)
    email: EmailStr | None = None
    note: str | None = dataclasses.field(default=None)


@dataclass(frozen=True)
class PlainTrip:
    travel_date: date
    days: Annotated[int, Field(ge=1, description="How long")] = 7
    seat: Seat = Seat.WINDOW
    extras: set[Literal["bag", "wifi"]] = dataclasses.field(default_factory=set)
    email: EmailStr | None = None
    note: str | None = None
    total: int = dataclasses.field(default=0, init=False)


class DictTrip(TypedDict):
    travel_date: Required[date]
    days: NotRequired[Annotated[int, Field(ge=1, description="How long", default=7)]]
    seat: Annotated[Seat, Field(default=Seat.WINDOW)]
    extras: NotRequired[set[Literal["bag", "wifi"]]]
    email: NotRequired[EmailStr | None]
    note: str | None


TRIPS = [Trip, PydanticTrip, PlainTrip, DictTrip]


def as_dict(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    return dict(value) if isinstance(value, BaseModel) else dataclasses.asdict(value)


@pytest.mark.parametrize("trip", TRIPS)
def test_a_container_becomes_a_form_with_its_fields_in_order(trip: Any) -> None:
    form = typed_form(trip).form
    extras = form.field("extras")
    assert extras == Choices("extras", ["bag", "wifi"], title="Extras", required=False, default=extras.default)  # type: ignore[call-arg]
    assert [field for field in form if field.name != "extras"] == [
        Text("travel_date", title="Travel date", format="date"),
        Number("days", title="Days", description="How long", integer=True, minimum=1, default=7),
        Choice("seat", {"w": "Window", "a": "Aisle"}, title="Seat", default="w"),
        Text("email", title="Email", format="email", required=False),
        Text("note", title="Note", required=False),
    ]


@pytest.mark.parametrize("trip", TRIPS)
def test_a_full_answer_is_read_as_the_type(trip: Any) -> None:
    content = {
        "travel_date": "2026-07-28",
        "days": 3.0,
        "seat": "a",
        "extras": ["wifi", "wifi"],
        "email": "a@example.com",
        "note": "x",
    }
    value = read(trip, **content)
    assert isinstance(value, dict if trip is DictTrip else trip)
    expected = {
        "travel_date": date(2026, 7, 28),
        "days": 3,
        "seat": Seat.AISLE,
        "extras": {"wifi"},
        "email": "a@example.com",
        "note": "x",
    }
    assert {name: given for name, given in as_dict(value).items() if name != "total"} == expected


@pytest.mark.parametrize("trip", TRIPS)
def test_what_was_left_out_gets_its_default(trip: Any) -> None:
    value = as_dict(read(trip, travel_date="2026-07-28", note=None))
    assert value["days"] == 7
    assert value["seat"] is Seat.WINDOW
    assert value["note"] is None
    if trip is DictTrip:
        assert value.keys() == {"travel_date", "days", "seat", "note"}
    else:
        assert value["extras"] == set()
        assert value["email"] is None


@pytest.mark.parametrize("kind", [set, frozenset])
def test_a_set_has_as_many_members_as_it_needs_and_not_the_same_one_twice(kind: Any) -> None:
    typed = typed_form(Annotated[kind[Literal["a", "b"]], Field(min_length=2)])
    assert typed.read({"answer": ["b", "a"]}) == {"a", "b"}
    with pytest.raises(Unfit) as unfit:
        typed.read({"answer": ["a", "a"]})
    assert [problem.code for problem in unfit.value.problems] == ["too_short"]


def test_validators_of_a_model_speak_as_problems_of_their_field() -> None:
    with pytest.raises(Unfit) as unfit:
        read(Trip, travel_date="2026-07-28", days=14, email="a@localhost")
    assert [(problem.field, problem.message) for problem in unfit.value.problems] == [
        ("days", "a fortnight is sold out"),
        ("email", unfit.value.problems[1].message),
    ]


def test_a_validator_of_the_whole_model_speaks_as_a_problem_of_the_whole() -> None:
    with pytest.raises(Unfit) as unfit:
        read(Trip, travel_date="2026-07-28", extras=["wifi"])
    assert [(problem.field, problem.message) for problem in unfit.value.problems] == [("", "no Wi-Fi at the window")]


def test_a_dataclass_that_refuses_itself_speaks_as_a_problem_of_the_whole() -> None:
    @dataclass
    class Range:
        low: int
        high: int

        def __post_init__(self) -> None:
            if self.low > self.high:
                raise ValueError("low must not be above high")

    assert read(Range, low=1, high=2) == Range(1, 2)
    with pytest.raises(Unfit, match=r"^low must not be above high$"):
        read(Range, low=3, high=2)


def test_all_invalid_fields_of_a_dataclass_are_reported() -> None:
    @dataclass
    class Two:
        a: Annotated[int, Field(multiple_of=2)]
        b: Annotated[int, Field(multiple_of=3)]

    with pytest.raises(Unfit) as unfit:
        read(Two, a=1, b=1)
    assert [problem.field for problem in unfit.value.problems] == ["a", "b"]


def test_pydantics_field_as_the_default_of_a_plain_dataclass_is_understood() -> None:
    @dataclass
    class Order:
        count: int = Field(ge=1, title="How many")
        size: str = Field(default="m", max_length=2)

    form = typed_form(Order).form
    assert form.field("count") == Number("count", integer=True, minimum=1, title="How many")
    assert form.field("size") == Text("size", max_length=2, default="m", title="Size")
    assert read(Order, count=2) == Order(2, "m")


def test_keyword_only_and_inherited_fields_of_a_dataclass_are_asked() -> None:
    @dataclass
    class Base:
        name: str

    @dataclass(kw_only=True)
    class Child(Base):
        age: int

    assert typed_form(Child).form.names == ("name", "age")
    assert read(Child, name="a", age=3) == Child(name="a", age=3)


def test_titles_come_from_the_field_else_from_its_name() -> None:
    class Titled(BaseModel):
        model_config = ConfigDict(field_title_generator=lambda name, info: name.upper())
        a: int
        b: int = Field(title="Bee")

    assert [field.title for field in typed_form(Titled).form] == ["A", "Bee"]

    class Named(TypedDict):
        travel_date: str
        travelDate: str
        HTTPPort: int
        ID: str

    assert [field.title for field in typed_form(Named).form] == ["Travel date", "Travel date", "HTTP port", "Id"]


def test_an_alias_is_the_name_on_the_wire() -> None:
    class Aliased(BaseModel):
        a: int = Field(alias="first")
        b: int = Field(validation_alias="second")
        c: int = Field(validation_alias=AliasChoices("third", "3rd"))
        d: int = Field(default=4, alias="fourth", multiple_of=2)

    assert typed_form(Aliased).form.names == ("first", "second", "third", "fourth")
    assert dict(read(Aliased, first=1, second=2, third=3)) == {"a": 1, "b": 2, "c": 3, "d": 4}
    with pytest.raises(Unfit, match="fourth: must be a multiple of 2"):
        read(Aliased, first=1, second=2, third=3, fourth=3)


def test_an_alias_is_used_even_where_the_model_prefers_names() -> None:
    class ByName(BaseModel):
        model_config = ConfigDict(validate_by_name=True, validate_by_alias=False, loc_by_alias=False)
        a: int = Field(alias="first", multiple_of=2)

    assert read(ByName, first=2).a == 2
    with pytest.raises(Unfit, match="first: must be a multiple of 2"):
        read(ByName, first=3)


def test_an_alias_generator_and_a_dataclass_alias_work_too() -> None:
    class Camel(BaseModel):
        model_config = ConfigDict(alias_generator=to_camel)
        travel_date: date

    assert typed_form(Camel).form.names == ("travelDate",)
    assert read(Camel, travelDate="2026-07-28").travel_date == date(2026, 7, 28)

    @dataclass
    class Plain:
        a: Annotated[int, Field(alias="first")]

    assert read(Plain, first=1) == Plain(1)

    @pydantic_dataclass
    class Validated:
        a: Annotated[int, Field(alias="first")]

    assert read(Validated, first=1).a == 1


def test_a_strict_model_gets_values_of_its_types() -> None:
    class Strict(BaseModel):
        model_config = ConfigDict(strict=True, extra="forbid")
        day: date
        seat: Seat
        levels: tuple[Level, ...]
        share: float
        url: AnyUrl

    value = read(Strict, day="2026-07-28", seat="w", levels=["1"], share=1, url="https://x.org", other=1)
    assert (value.day, value.seat, value.levels, value.share) == (date(2026, 7, 28), Seat.WINDOW, (Level.LOW,), 1.0)


def test_options_in_json_schema_extra_are_read_as_the_sdk_examples_write_them() -> None:
    class Enums(BaseModel):
        single: str = Field(json_schema_extra={"enum": ["a", "b"]})
        titled: str = Field(json_schema_extra={"oneOf": [{"const": "a", "title": "A"}]}, default="a")
        many: list[str] = Field(json_schema_extra={"items": {"type": "string", "enum": ["a", "b"]}}, max_length=1)
        many_titled: list[str] = Field(json_schema_extra={"items": {"anyOf": [{"const": "a", "title": "A"}]}})
        legacy: str = Field(json_schema_extra={"enum": ["a"], "enumNames": ["A"], "examples": ["a"]})

    assert list(typed_form(Enums).form) == [
        Choice("single", ["a", "b"], title="Single"),
        Choice("titled", {"a": "A"}, title="Titled", default="a"),
        Choices("many", ["a", "b"], title="Many", max_items=1),
        Choices("many_titled", {"a": "A"}, title="Many titled"),
        Choice("legacy", {"a": "A"}, title="Legacy", legacy=True),
    ]
    assert read(Enums, single="b", many=["a"], many_titled=[], legacy="a").titled == "a"


def test_a_typed_dict_may_be_partial_inherited_and_of_either_module() -> None:
    class Base(TypedDict, total=False):
        a: int
        b: Required[int]

    class Child(Base):
        c: int
        d: ReadOnly[NotRequired[Annotated[int, Field(multiple_of=2)]]]

    class Other(typing_extensions.TypedDict, total=False):
        a: int

    assert [bool(field.required) for field in typed_form(Child).form] == [False, True, True, False]
    assert read(Child, b=1, c=2) == {"b": 1, "c": 2}
    with pytest.raises(Unfit):
        read(Child, b=1, c=2, d=3)
    assert read(Other) == {}


def test_a_generic_model_is_a_model() -> None:
    class Box(BaseModel, Generic[V]):
        item: V

    assert read(Box[Level], item="1").item is Level.LOW


def test_a_container_may_be_wrapped() -> None:
    assert typed_form(Annotated[Trip, "a trip"]).form == typed_form(Trip).form
    assert typed_form(NewType("MyTrip", Trip)).form == typed_form(Trip).form


def test_a_form_and_a_raw_schema_are_read_as_a_dict_with_their_defaults() -> None:
    form = Form(Text("a", title="A"), Number("b", title="B", default=3))
    for asked in (form, form.schema()):
        typed = typed_form(asked)
        assert typed.form == form
        assert typed.read({"a": "x"}) == {"a": "x", "b": 3}


def test_the_fields_of_a_form_get_titles_as_those_of_a_type_do() -> None:
    form = Form(Text("first_name"), Number("age", title="Your age"), Choice("seatRow", ["a", "b"]), Flag("sure"))
    properties = typed_form(form).form.schema()["properties"]
    assert [each["title"] for each in properties.values()] == ["First name", "Your age", "Seat row", "Sure"]
    assert list(properties) == ["first_name", "age", "seatRow", "sure"]


def test_a_raw_schema_gets_no_titles() -> None:
    schema = {"type": "object", "properties": {"first_name": {"type": "string"}}}
    assert typed_form(schema).form.schema() == schema


def test_a_raw_schema_is_checked() -> None:
    with pytest.raises(InvalidForm) as refused:
        typed_form({"type": "object", "properties": {"a": {"type": "object"}}})
    assert refused.value.path == "properties.a.type"


# --- refusals ----------------------------------------------------------------------------------


class Address(BaseModel):
    city: str


class WithAddress(BaseModel):
    address: Address


class WithMap(BaseModel):
    tags: dict[str, str]


class WithEither(TypedDict):
    either: int | str


class WithRoot(pydantic.RootModel[int]):
    pass


class NoFields(BaseModel):
    pass


class Deep(BaseModel):
    a: int = Field(validation_alias=AliasPath("x", "y"))


class Clash(BaseModel):
    a: int = Field(alias="x")
    b: int = Field(alias="x")


class WithPattern(TypedDict):
    a: Annotated[str, Field(min_length=3, max_length=2)]


@dataclass
class WithInitVar:
    a: InitVar[int]


@dataclass
class WithList:
    names: list[str]


UNION = Field(union_mode="smart")
REFUSED: list[tuple[Any, str, str]] = [
    (None, "None", "confirm()"),
    (type(None), "None", "confirm()"),
    (Any, "Any", "Use bool, int, float"),
    (bytes, "bytes", "Use bool, int, float"),
    (Decimal, "Decimal", "Use bool, int, float"),
    (UUID, "UUID", "Use bool, int, float"),
    (dict[str, int], "dict[str, int]", "Use bool, int, float"),
    (list[str], "list[str]", "A list can only hold choices"),
    (list, "list", "Use bool, int, float"),
    (list[Seat | None], "list[Seat | None]", "A list can only hold choices"),
    (tuple[Seat, Seat], "tuple[Seat, Seat]", "tuple[X, ...]"),
    (int | str, "int | str", "one type"),
    (Trip | None, "Trip | None", "declines"),
    (Address(city="x"), "Address", "Give the type of the answer"),
    (["a", "b"], "list", "choose()"),
    (3, "int", "Give the type of the answer"),
    ("int", "str", "Give the type of the answer"),
    (Empty, "Empty", "no members"),
    (Literal[b"x"], "Literal[b'x']", "use text or numbers"),
    (Literal[1, "1"], "Literal[1, '1']", "look the same"),
    (NoFields, "NoFields", "confirm()"),
    (WithRoot, "WithRoot", "within the RootModel"),
    (WithAddress, "WithAddress.address", "A form is flat"),
    (WithMap, "WithMap.tags", "dict[str, str] cannot be asked for"),
    (WithEither, "WithEither.either", "one type"),
    (WithInitVar, "WithInitVar.a", "InitVar"),
    (WithList, "WithList.names", "A list can only hold choices"),
    (WithPattern, "WithPattern.a", "min_length 3 is above max_length 2"),
    (Deep, "Deep.a", "AliasPath"),
    (Clash, "Clash.x", "two fields have this name"),
    (Annotated[int, at.MinLen(3)], "int", "only text and lists have one"),
    (Annotated[bool, at.MaxLen(3)], "bool", "only text and lists have one"),
    (Annotated[date, Field(pattern="a")], "date", "only text and lists have one"),
    (Annotated[int, UNION], "int", "pydantic cannot validate this"),
]


@pytest.mark.parametrize(("tp", "path", "said"), REFUSED, ids=lambda case: str(case)[:30])
def test_what_cannot_be_asked_is_refused_with_its_path_and_what_to_do(tp: Any, path: str, said: str) -> None:
    with pytest.raises(InvalidForm) as refused:
        typed_form(tp)
    assert refused.value.path == path
    assert said in str(refused.value)


def test_annotations_that_cannot_be_resolved_are_refused() -> None:
    class Local(Enum):
        A = "a"

    @dataclass
    class Lost:
        local: Local

    with pytest.raises(InvalidForm, match=r"Lost: .*top level"):
        typed_form(Lost)

    class Unfinished(BaseModel):
        later: Later  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(InvalidForm, match=r"Unfinished: .*top level"):
        typed_form(Unfinished)


class Login(BaseModel):
    user: str
    code: SecretStr


@pytest.mark.parametrize(
    ("tp", "path"),
    [
        (SecretStr, "SecretStr"),
        (SecretStr | None, "SecretStr | None"),
        (pydantic.SecretBytes, "SecretBytes"),
        (pydantic.Secret[int], "Secret[int]"),
        (Login, "Login.code"),
    ],
    ids=str,
)
def test_a_secret_type_is_refused_with_the_verb_that_takes_it(tp: Any, path: str) -> None:
    with pytest.raises(SecretInForm, match=r"secret\(\)") as refused:
        typed_form(tp)
    assert refused.value.path == path


def test_an_email_type_without_its_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise ImportError("email-validator is not installed")

    monkeypatch.setattr("pydantic.networks.import_email_validator", missing)
    with pytest.raises(InvalidForm, match="email-validator is not installed"):
        typed_form(Annotated[EmailStr, "again"])
