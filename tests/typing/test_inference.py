"""What a type checker sees. `make check` runs pyright over this file; so does pytest."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Literal, TypedDict, assert_type

import pytest
from pydantic import BaseModel

from midcall import (
    Accepted,
    Cancelled,
    Declined,
    Form,
    Outcome,
    Question,
    Text,
    ask,
    ask_all,
    choose,
    confirm,
    elicit,
    from_thread,
    once,
    visit,
)


class Trip(BaseModel):
    days: int


@dataclass
class Seat:
    row: int


class Diet(TypedDict):
    vegan: bool


class Size(Enum):
    SMALL = "s"


async def charge(amount: int) -> str:
    return "ref"


def draw() -> int:
    return 4


def total(amounts: list[int], start: int = 0) -> int:
    return sum(amounts, start)


async def pay(euros: int, *, idempotency_key: str) -> str:
    return idempotency_key


async def verbs() -> None:
    assert_type(await ask("?", Trip), Trip)
    assert_type(await ask("?", Seat), Seat)
    assert_type(await ask("?", Diet), Diet)
    assert_type(await ask("?", int), int)
    assert_type(await ask("?", int | None), int | None)
    assert_type(await ask("?", Literal["a", "b"]), Literal["a", "b"])
    assert_type(await ask("?", list[Literal["a", "b"]]), list[Literal["a", "b"]])
    assert_type(await ask("?", Form(Text("name"))), dict[str, Any])
    assert_type(await ask(Question("?", Trip)), Trip)
    assert_type(await elicit("?", Trip), Outcome[Trip])
    assert_type(await confirm("?"), bool)
    assert_type(await choose("?", ["a", "b"]), str)
    assert_type(await choose("?", {1: "One", 2: "Two"}), int)
    assert_type(await choose("?", Size), Size)
    assert_type(await choose("?", ["a", "b"], many=True), list[str])
    assert_type(await choose("?", Size, many=True), list[Size])
    assert_type(await ask_all(Question("?", Trip), Question("?", int)), tuple[Trip, int])
    assert_type(await ask_all({"a": Question("?", int)}), dict[str, Any])
    assert_type(await visit("?", "https://example.com"), str)
    assert_type(await once("charge", charge, 4), str)
    assert_type(await once("draw", draw), int)
    assert_type(await once("pay", pay, 4), str)
    assert_type(await once.retry("pay", pay, 4), str)
    assert_type(await once("sum", asyncio.to_thread, total, [1], start=2), int)
    assert_type(await once.retry("sum", asyncio.to_thread, total, [1]), int)


async def outcomes() -> str:
    match await elicit("?", Trip):
        case Accepted(value=trip):
            assert_type(trip, Trip)
            return str(trip.days)
        case Declined():
            return "no"
        case Cancelled():
            return "later"


async def truth() -> int:
    outcome = await elicit("?", int)
    return outcome.value if outcome else 0


def blocking() -> None:
    assert_type(from_thread.ask("?", Trip), Trip)
    assert_type(from_thread.confirm("?"), bool)
    assert_type(from_thread.choose("?", ["a"]), str)
    assert_type(from_thread.once("charge", charge, 4), str)
    assert_type(from_thread.once("draw", draw), int)


@pytest.mark.skipif(sys.platform == "win32", reason="pyright is run on the other platforms")
def test_the_types_of_the_verbs_are_inferred() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "pyright", __file__], capture_output=True, text=True, cwd=Path(__file__).parents[2]
    )
    assert found.returncode == 0, found.stdout


FORGOTTEN = """\
# pyright: strict
from pydantic import BaseModel

from midcall import ask, choose, confirm, once


class Trip(BaseModel):
    days: int


async def tool() -> str:
    print(ask("?", Trip).days)
    print(ask("?", int) + 1)
    print(ask("?", int) < 3)
    print(ask("?", {"type": "object"})["a"])
    print(choose("?", ["a", "b"]) == "a")
    for each in choose("?", ["a"], many=True):
        print(each)
    if confirm("?"):
        confirm("?")
    once("paid", len, "abc")
    return ask("?", str)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="pyright is run on the other platforms")
def test_a_checker_sees_every_await_that_was_forgotten(tmp_path: Path) -> None:
    script = tmp_path / "forgotten.py"
    script.write_text(FORGOTTEN)
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, str(script)]
    found = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    seen = {problem["range"]["start"]["line"] + 1 for problem in json.loads(found.stdout)["generalDiagnostics"]}
    lines = FORGOTTEN.splitlines()
    assert {number for number, line in enumerate(lines, 1) if '("?"' in line or "once(" in line} <= seen
