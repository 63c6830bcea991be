"""A result of `once` that cannot be recorded as it is: told clearly, and never changed in silence."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from functools import partial
from math import isnan
from typing import Any
from uuid import UUID, uuid4

import pytest
from anyio import to_thread
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, SecretStr, computed_field

from midcall import NotRecordable, ask, once
from midcall.server.once.codec import record_of
from midcall.stores.memory import Memory
from midcall.testing import ERAS, Era, run
from tests.kinds import KINDS, Kind, server_with

NAN, INF = float("nan"), float("inf")


@dataclass
class Reading:
    value: Any


class Named(BaseModel):
    name: str | None
    value: Any


def of(result: Any) -> Callable[[], Any]:
    """A function that returns this, with a return annotation only if it isn't plain data."""

    def effect():  # type: ignore[no-untyped-def]
        return result

    if isinstance(result, (Reading, Named, set)):
        effect.__annotations__["return"] = type(result)  # pyright: ignore[reportUnknownArgumentType]
    return effect


LOST = [{"a": NAN}, [1, INF], {"a": [{"b": -INF}], "c": None}, NAN, Reading(NAN), Named(name=None, value=[NAN]), {NAN}]


@pytest.mark.parametrize("result", LOST, ids=range(len(LOST)))
@pytest.mark.parametrize("era", ERAS)
async def test_a_number_that_json_does_not_have_is_not_turned_into_nothing(era: Era, result: Any) -> None:
    async def tool() -> str:
        try:
            return f"recorded {await once('read', of(result))}"
        except NotRecordable as error:
            return str(error)

    told = (await run(server_with(tool), "tool", era=era)).text
    assert "once('read')" in told
    assert "finite" in told
    assert "has run" in told


class Size(StrEnum):
    SMALL = "s"


@pytest.mark.parametrize(
    "result",
    [
        uuid4(),
        date(2026, 1, 1),
        Decimal("1.10"),
        b"abc",
        Size.SMALL,
        Reading(1),
        Named(name=None, value=1),
        object(),
        iter([1]),
        {"a"},
        {1: "a"},
        {"at": uuid4()},
        {Size.SMALL: 1},
        [date(2026, 1, 1)],
    ],
    ids=lambda result: type(result).__name__,
)
@pytest.mark.parametrize("era", ERAS)
async def test_a_function_that_does_not_say_what_it_returns_returns_plain_data(era: Era, result: Any) -> None:
    def read():  # type: ignore[no-untyped-def]
        return result

    async def tool() -> str:
        try:
            return f"recorded {await once('read', read)}"
        except NotRecordable as error:
            return str(error)

    told = (await run(server_with(tool), "tool", era=era)).text
    assert f"once('read') returned {type(result).__qualname__}, which isn't plain data" in told
    assert "annotate it" in told
    assert "has run" in told


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: once("a", uuid4), UUID),
        (lambda: once("a", datetime.now), datetime),
        (lambda: once("a", partial(datetime.now, UTC)), datetime),
        (lambda: once("a", date.today), date),
        (lambda: once("a", Decimal, "1.10"), Decimal),
        (lambda: once("a", bytes, b"abc"), bytes),
        (lambda: once("a", Reading, 3), Reading),
        (lambda: once("a", partial(Reading, 3)), Reading),
        (lambda: once("a", asyncio.to_thread, _read), Reading),
        (lambda: once("a", to_thread.run_sync, _read), Reading),
    ],
)
@pytest.mark.parametrize("era", ERAS)
async def test_what_it_makes_is_known_of_a_class_and_of_what_everybody_uses(
    era: Era, make: Callable[[], Any], kind: type
) -> None:
    seen: list[object] = []

    async def tool() -> str:
        seen.append(await make())
        return await ask("a?", str)

    assert not (await run(server_with(tool), "tool", {}, ["x"], era=era)).failed
    assert {type(each) for each in seen} == {kind}
    assert all(each == seen[0] for each in seen)


class Aliased(BaseModel):
    first_name: str = Field(alias="firstName")


class Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    when: datetime
    pair: tuple[int, ...] = (1, 2)

    @computed_field
    @property
    def year(self) -> int:
        return self.when.year


class Chained(BaseModel):
    name: str = Field(alias="id")
    id: str = Field(alias="uid")


class Token(BaseModel):
    token: SecretStr


class Excluded(BaseModel):
    id: int
    etag: str = Field("none", exclude=True)


@pytest.mark.parametrize(
    "result",
    [
        Aliased(firstName="Ada"),
        Strict(when=datetime(2026, 1, 1, tzinfo=UTC)),
        Chained(id="Ann", uid="u1"),
    ],
)
@pytest.mark.parametrize("era", ERAS)
async def test_a_model_comes_back_unchanged_despite_aliases(era: Era, result: Any) -> None:
    def load():  # type: ignore[no-untyped-def]
        return [result]

    load.__annotations__["return"] = list[type(result)]
    seen: list[object] = []

    async def tool() -> str:
        seen.append(await once("load", load))
        return await ask("a?", str)

    assert not (await run(server_with(tool), "tool", {}, ["x"], era=era)).failed
    assert all(each == [result] for each in seen)


@pytest.mark.parametrize("kind", [datetime | str, Decimal | int | str, UUID | str, bytes | str, str, Any])
@pytest.mark.parametrize("result", ["12345", "1.5", "half a \ud800 character"])
def test_a_text_stays_a_text(result: str, kind: Any) -> None:
    def load():  # type: ignore[no-untyped-def]
        return result

    load.__annotations__["return"] = kind
    record = record_of(load)
    assert record.read(record.write("load", result)) == result


def test_what_was_written_by_its_aliases_is_read() -> None:
    def load():  # type: ignore[no-untyped-def]
        raise AssertionError

    load.__annotations__["return"] = Aliased
    assert record_of(load).read({"firstName": "Ada"}) == Aliased(firstName="Ada")


async def test_a_result_without_an_end_has_run_and_is_lost() -> None:
    ran: list[int] = []

    def load():  # type: ignore[no-untyped-def]
        ran.append(1)
        endless: list[Any] = []
        endless.append(endless)
        return endless

    async def tool() -> str:
        with pytest.raises(NotRecordable):
            await once("load", load)
        return await ask("a?", str)

    assert (await run(server_with(tool), "tool", {}, ["x"])).text == "x"
    assert len(ran) == 1


@pytest.mark.parametrize(
    ("kind", "told"),
    [(Token, "it holds a secret"), (dict[str, list[Token]], "it holds a secret"), (Excluded, "is excluded")],
)
@pytest.mark.parametrize("era", ERAS)
async def test_a_return_type_that_cannot_be_recorded_is_reported_before_the_function_runs(
    era: Era, kind: Any, told: str
) -> None:
    def load():  # type: ignore[no-untyped-def]
        raise AssertionError("it has run")

    load.__annotations__["return"] = kind

    async def tool() -> str:
        try:
            return str(await once("load", load))
        except NotRecordable as error:
            return str(error)

    assert told in (await run(server_with(tool), "tool", era=era)).text


def _read() -> Reading:
    return Reading(3)


async def test_a_step_that_could_not_be_recorded_is_named_once() -> None:
    async def tool() -> str:
        await once("ship", of("done"))
        return str(await once("charge", of({"a": NAN})))

    done = await run(server_with(tool), "tool")
    assert done.text.count("'charge'") == 1
    assert "Steps already done: 'ship'." in done.text


@pytest.mark.parametrize("era", ERAS)
async def test_a_result_whose_annotation_has_such_numbers_comes_back_as_it_was(era: Era) -> None:
    def read() -> dict[str, float | None]:
        return {"a": NAN, "b": INF, "c": None}

    read.__annotations__["return"] = dict[str, float | None]

    async def tool() -> str:
        values = await once("read", read)
        await ask("a?", str)
        return f"{isnan(values['a'] or 0)} {values['b']} {values['c']}"

    assert (await run(server_with(tool), "tool", {}, ["x"], era=era)).text == "True inf None"


@pytest.mark.parametrize("kind", KINDS)
async def test_the_model_learns_that_the_step_was_done(kind: Kind) -> None:
    async def tool() -> str:
        return str(await once("charge", of({"a": NAN})))

    done = await run(server_with(tool, kind=kind), "tool")
    assert done.failed
    assert "'charge'" in done.text
    assert "Do not call the tool again" in done.text


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("retry", [False, True])
async def test_with_a_store_what_ran_and_was_not_recorded_is_replayed_only_if_that_is_safe(
    retry: bool, live: bool
) -> None:
    ran: list[int] = []

    def charge():  # type: ignore[no-untyped-def]
        ran.append(1)
        return NAN

    async def tool() -> str:
        try:
            await (once.retry if retry else once)("charge", charge)
        except NotRecordable as error:
            told = type(error).__name__
        return f"{told} {await ask('a?', str)}"

    done = await run(server_with(tool, store=Memory(), live=live), "tool", {}, ["x"])
    assert done.text == "NotRecordable x"
    assert len(ran) == (2 if retry and not live else 1)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(PLAIN)
def test_what_is_recorded_is_what_was_returned(result: Any) -> None:
    record = record_of(of(result))
    try:
        recorded = record.write("effect", result)
    except NotRecordable:
        with pytest.raises(ValueError, match="not JSON compliant"):
            json.dumps(result, allow_nan=False)
    else:
        assert recorded == result
        assert record.read(recorded) == result
