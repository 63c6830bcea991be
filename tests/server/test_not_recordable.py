"""A result of `once` that cannot be recorded as it is: told clearly, and never changed in silence."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from math import isnan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from midcall import NotRecordable, ask, once
from midcall.server.effects import _adapter_of, _to_json
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
    def effect():  # type: ignore[no-untyped-def]
        return result

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
async def test_the_model_hears_that_the_step_was_done(kind: Kind) -> None:
    async def tool() -> str:
        return str(await once("charge", of({"a": NAN})))

    done = await run(server_with(tool, kind=kind), "tool")
    assert done.failed
    assert "'charge'" in done.text
    assert "Do not call the tool again" in done.text


@pytest.mark.parametrize("retry", [False, True])
async def test_with_a_store_what_ran_and_was_not_recorded_runs_again_only_where_that_is_safe(retry: bool) -> None:
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

    done = await run(server_with(tool, store=Memory()), "tool", {}, ["x"])
    assert done.text == "NotRecordable x"
    assert len(ran) == (2 if retry else 1)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(PLAIN)
def test_what_is_recorded_is_what_was_returned(result: Any) -> None:
    adapter = _adapter_of(of(result))
    try:
        recorded = _to_json(adapter, "effect", result)
    except NotRecordable:
        with pytest.raises(ValueError, match="not JSON compliant"):
            json.dumps(result, allow_nan=False)
    else:
        assert recorded == result
