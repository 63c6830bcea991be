"""The short form of `make fuzz`: some inputs for each target, always the same, and every input that failed before."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import Any, Final

import pytest

from midcall.core.journal import VERSION
from tests.fuzz.fuzzer import Target, fuzz, survive
from tests.fuzz.mutation import mutate_data, mutate_text
from tests.fuzz.targets import TARGETS

PATIENCE: Final = 5
"""Machines that run the tests may be slow, and what hangs, hangs for longer."""


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", TARGETS)
def test_nothing_that_strangers_send_does_harm(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    target = replace(TARGETS[name], seconds=TARGETS[name].seconds * PATIENCE)
    report = fuzz(target, target.short)
    with capsys.disabled():
        print(f"\n{report}", end="")
    for failure in report.failures:
        pytest.fail(str(failure), pytrace=False)
    assert report.deep * 5 >= report.inputs, f"hardly any input gets past the door: {report}"
    assert set(target.must) <= set(report.reached), f"what must be reached wasn't: {report}"


def test_a_seed_makes_the_same_inputs_again() -> None:
    for name, target in TARGETS.items():
        assert [repr(target.make(Random(f"{name} {n}"))) for n in range(50)] == [
            repr(target.make(Random(f"{name} {n}"))) for n in range(50)
        ]
    assert mutate_text(Random(1), "text") == mutate_text(Random(1), "text")
    assert mutate_data(Random(1), {"a": [1]}) == mutate_data(Random(1), {"a": [1]})


# --- the fuzzer itself -------------------------------------------------------------------------


@pytest.mark.parametrize("harm", ["crash", "log", "leak", "slow", "stuck"])
def test_the_fuzzer_notices_harm_and_prints_the_input(harm: str) -> None:
    report = fuzz(Target("broken", lambda random: {"number": random.random()}, _broken(harm), 1, 1), 3, "7")
    [failure] = report.failures
    assert failure.number == 0
    assert repr(failure.input) in str(failure)
    assert "--seed 7 --first 0" in str(failure)


def _broken(harm: str) -> Any:
    import logging
    import time
    from contextlib import asynccontextmanager

    from tests.fuzz.fuzzer import CANARY, check_output

    def burn(seconds: float) -> None:
        until = time.process_time() + seconds
        while time.process_time() < until:
            pass

    async def take(_: Any) -> str:
        match harm:
            case "crash":
                raise KeyError("x")
            case "log":
                logging.getLogger("midcall").error("broken")
            case "leak":
                check_output(f"here it is: {CANARY}")
            case "slow":
                burn(1.2)
            case _:
                burn(60)
        return "taken"

    @asynccontextmanager
    async def open_target() -> Any:
        yield take

    return open_target


# --- what it found -----------------------------------------------------------------------------

_TEXT_TOOL: Final = {"type": "object", "properties": {"text": {"type": "string"}}}


def _multiplying(levels: int, wide: int) -> dict[str, Any]:
    """A schema in which each part is made of `wide` times the next one."""
    parts: dict[str, Any] = {
        f"A{n}": {"anyOf": [{"$ref": f"#/$defs/A{n + 1}"}] * wide + [{"const": n}]} for n in range(levels)
    }
    return {"type": "object", "properties": {"text": {"$ref": "#/$defs/A0"}}, "$defs": parts}


def _message(**params: Any) -> str:
    prefix = "io.modelcontextprotocol/"
    apps = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
    info = {"name": "fuzz", "version": "1"}
    params["_meta"] = {
        f"{prefix}protocolVersion": "2026-07-28",
        f"{prefix}clientInfo": info,
        f"{prefix}clientCapabilities": apps,
    }
    return json.dumps({"jsonrpc": "2.0", "method": "tools/call", "params": params, "id": 2})


FOUND: Final[dict[str, tuple[str, Any]]] = {
    "half a character among the labels of a journal": (
        "journals",
        (f"midcall/{VERSION} empty 0 \n\n\ud800\n[0,[],{{}}]", {}),
    ),
    "a tool's schema that refers to itself": (
        "arguments",
        (
            ["text=x"],
            {
                "type": "object",
                "properties": {"text": {"$ref": "#/$defs/A"}},
                "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}] * 5}},
            },
        ),
    ),
    "a tool's schema whose references multiply": ("arguments", (["text=x"], _multiplying(9, 9))),
    "a tool's schema with many long references": (
        "arguments",
        (
            ["text=x"],
            {"type": "object", "properties": {"text": {"anyOf": [{"$ref": f"#{'/a' * 20_000}"}] * 1_500}}},
        ),
    ),
    "a tool's schema with a pattern that takes for ever": (
        "arguments",
        (
            ["text=" + "x" * 60 + "!"],
            {"type": "object", "properties": {"text": {"type": "string", "pattern": "^(x+)+$"}}},
        ),
    ),
    "a tool that requires something that isn't a name": ("arguments", (["text=x"], {**_TEXT_TOOL, "required": [{}]})),
    "a tool whose required isn't a list": ("arguments", (["text=x"], {**_TEXT_TOOL, "required": 7})),
    "a file that can't be a path": ("arguments", (["text=@/a\ud800b"], _TEXT_TOOL)),
    "properties that aren't an object": ("schemas", ({"type": "object", "properties": 2}, {}, "")),
    "a format that isn't text": (
        "schemas",
        ({"type": "object", "properties": {"day": {"properties": "array", "format": {"content": 0}}}}, {}, ""),
    ),
    "a default of a list that isn't one": (
        "schemas",
        (
            {
                "type": "object",
                "properties": {"more": {"type": "array", "items": {"type": "string", "enum": ["x"]}, "default": 0}},
            },
            {},
            "",
        ),
    ),
    "a whole number that isn't a number, in a script": (
        "schemas",
        ({"type": "object", "properties": {"days": {"type": "integer"}}}, {"days": float("nan")}, ""),
    ),
    "a pattern of nothing but brackets": (
        "schemas",
        ({"type": "object", "properties": {"a": {"type": "string", "pattern": "[" * 60_000}}}, {}, ""),
    ),
    "a required name that isn't text": (
        "schemas",
        ({"type": "object", "properties": {"a": {"type": "string"}}, "required": [{}]}, {}, ""),
    ),
    "a default wider than its input, at a terminal that changes its size": (
        "forms",
        (
            ("", {"type": "object", "properties": {"a": {"type": "string", "default": "x" * 100}}}, ""),
            [("resize", (80, 2)), ("press", "tab"), ("resize", (1, 1)), ("resize", (1, 2)), ("resize", (1, 5))],
        ),
    ),
    "a client that sends the rest of its request in a wrong way": (
        "socket",
        b"GET /midcall/health HTTP/1.1\r\nhost: 127.0.0.1:8000\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    ),
    "a body that is wrong, of a request whose response has none": (
        "socket",
        b"HEAD /midcall/health HTTP/1.1\r\nhost: 127.0.0.1:8000\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    ),
    "a tool name that isn't text, from a client with Apps": (
        "stdio",
        ("store", "2026-07-28", [_message(name=[]), _message(name={"a": 1}), _message(name=None)]),
    ),
    "a number that no float can hold, from a client with Apps": (
        "stdio",
        (
            "store",
            "2026-07-28",
            [
                _message(name="midcall_app", arguments={"action": "find", "arguments": {"a": 10**400}}),
                _message(name="book", arguments={"destination": 10**400}),
            ],
        ),
    ),
}


@pytest.mark.parametrize("what", FOUND)
def test_what_was_found_before_does_no_harm_now(what: str) -> None:
    name, made = FOUND[what]
    survive(replace(TARGETS[name], seconds=TARGETS[name].seconds * PATIENCE), made)
