"""Errors can be copied and pickled, as process pools, task queues and loggers do."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import pytest
from fastmcp.exceptions import ToolError
from mcp import MCPError
from mcp_types import ErrorData

import midcall
from midcall import Form, Text, UrlElicitationRequired, Visit
from midcall.client.asked import Asked, FormQuestion
from midcall.client.automatic.script import NoAnswer
from midcall.client.pending import DoesNotFit, NotPending
from midcall.errors import (
    ClientFailed,
    InvalidAnswer,
    InvalidForm,
    JournalTooLarge,
    MidcallError,
    NoCall,
    NoChannel,
    TooManyRounds,
    UserDeclined,
)
from midcall.language.problems import Problem
from midcall.server.frameworks.errors import let_through, surface
from midcall.testing import ERAS, Era
from tests.comparing import accepting, seen
from tests.kinds import KINDS, Kind, server_with

PROBLEMS = (Problem("age", "too_small", {"minimum": 18}),)


def all_of(cls: type[MidcallError]) -> Iterator[type[MidcallError]]:
    for each in cls.__subclasses__():
        if not issubclass(each, MCPError):
            yield from (each, *all_of(each))


def every_error() -> list[MidcallError]:
    """One of each class, with all its attributes."""
    for module in walk_packages(midcall.__path__, "midcall."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    own: dict[type[MidcallError], MidcallError] = {
        DoesNotFit: DoesNotFit(PROBLEMS),
        NotPending: NotPending("id"),
        NoAnswer: NoAnswer(Asked(FormQuestion("Where to?", Form(Text("city"))), "1"), "why", ["near"]),
        InvalidAnswer: InvalidAnswer(PROBLEMS, 2, advice="a", for_model="m"),
        InvalidForm: InvalidForm("wrong", path="properties.a", advice="a"),
        NoChannel: NoChannel("none", mode="url", undeclared="url", reasons={"push": "no"}, advice="a"),
        ClientFailed: ClientFailed(-32001, "Quota", {"n": 1}, advice="a"),
        TooManyRounds: TooManyRounds(9, advice="a"),
        JournalTooLarge: JournalTooLarge(2, 1, advice="a"),
    }
    return [
        own.get(cls) or cls("text", advice="a", for_model="m") for cls in sorted(set(all_of(MidcallError)), key=repr)
    ]


COPIES: dict[str, Callable[[Any], Any]] = {
    "copied": copy.copy,
    "deep": copy.deepcopy,
    "pickled": lambda error: pickle.loads(pickle.dumps(error)),
}


def same(error: BaseException, other: BaseException) -> bool:
    return (
        type(error) is type(other)
        and error.args == other.args
        and error.__dict__ == other.__dict__
        and str(error) == str(other)
    )


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_every_error_survives_copying(copied: Callable[[Any], Any]) -> None:
    errors = every_error()
    assert len(errors) > 30
    for error in errors:
        assert same(error, copied(error)), error


@pytest.mark.parametrize("base", [MCPError, ToolError])
@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_an_error_in_a_framework_class_survives_copying(base: type[Exception], copied: Callable[[Any], Any]) -> None:
    for error in every_error():
        cls = let_through(type(error), base)
        through = cls.__new__(cls)
        through.__dict__.update(error.__dict__, error=ErrorData(code=-32600, message="m", data={"docs": "d"}))
        through.args = error.args
        again = copied(through)
        assert same(through, again), error
        assert isinstance(again, base)
        assert vars(again)["error"] == vars(through)["error"]


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_an_error_raised_outside_a_call_survives_copying(copied: Callable[[Any], Any]) -> None:
    error = surface(NoCall("none", advice="a", for_model="m"), None)
    assert same(error, copied(error))


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_a_tool_may_copy_what_a_verb_raises(era: Era, kind: Kind, copied: Callable[[Any], Any]) -> None:
    async def tool() -> str:
        try:
            return await midcall.ask("Where to?", str)
        except NoChannel as exc:
            raise copied(exc) from None

    async def as_it_is() -> str:
        return await midcall.ask("Where to?", str)

    server = server_with(tool, as_it_is, kind=kind)
    assert await seen(server, "tool", None, era=era) == await seen(server, "as_it_is", None, era=era)


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("kind", KINDS)
async def test_the_error_that_requires_a_visit_survives_copying(kind: Kind, copied: Callable[[Any], Any]) -> None:
    async def tool() -> str:
        error = UrlElicitationRequired([Visit("Connect", "https://example.com/c", id="1")], "First this")
        assert same(error, copied(error))
        raise copied(error)

    got = await seen(server_with(tool, kind=kind), "tool", accepting())
    assert (got.code, got.text) == (-32042, "First this")
    assert [each["elicitationId"] for each in got.data["elicitations"]] == ["1"]


def test_a_copy_is_caught_like_the_error_itself() -> None:
    with pytest.raises(UserDeclined):
        raise copy.copy(UserDeclined("no"))
