"""What midcall remembers under names that strangers choose is bounded, by count and by bytes."""

from __future__ import annotations

import ast
import json
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mcp import MCPError
from mcp.client.extension import advertise
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID
from mcp.server.mcpserver import MCPServer

import midcall
from midcall.client.connection.visits import Visits as ClientVisits
from midcall.client.guard import Rate, Rates
from midcall.client.queue import Queue
from midcall.core import question
from midcall.core.forms import secrets
from midcall.core.journal import Head
from midcall.core.remembered import Remembered, shorten
from midcall.portal.pages import interaction_kinds
from midcall.portal.routes import _WrongHost
from midcall.server.installation import installation_on
from midcall.server.running.turn import Given
from midcall.stores.base import Record
from midcall.stores.memory import Memory
from midcall.stores.seal import SealedStore
from midcall.testing import connect
from midcall.web.security import FailureLimit
from tests.kinds import server_with
from tests.portal.sites import site

SOURCE = Path(midcall.__file__).parent
LONG = "x" * 5_000
MANY = 3_000
MOST_BYTES = 5_000_000
"""Of what each may keep; without a bound, it would be three times as much here, and soon any amount."""


def size_of(thing: Any, seen: set[int] | None = None) -> int:
    """How many characters and bytes are in this, as far as it can be seen."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return 0
    seen.add(id(thing))
    match thing:
        case str() | bytes():
            return len(thing)
        case Remembered():
            return size_of(thing._values, seen)
        case dict():
            return sum(size_of(part, seen) for pair in thing.items() for part in pair)
        case list() | tuple() | set() | frozenset() | deque():
            return sum(size_of(each, seen) for each in thing)
    if is_dataclass(thing) and not isinstance(thing, type):
        return sum(size_of(getattr(thing, each.name), seen) for each in fields(thing))
    slots = [getattr(thing, name, None) for name in getattr(type(thing), "__slots__", ())]
    return size_of(vars(thing), seen) if hasattr(thing, "__dict__") else size_of(slots, seen)


def names() -> Iterable[str]:
    return (f"{number} {LONG}" for number in range(MANY))


def installation() -> Any:
    return installation_on(server_with())


Feed = Callable[[], Any]
MEMORIES: dict[str, Feed] = {}


def memory(feed: Feed) -> Feed:
    """It has been fed by strangers, and is what they fill."""
    MEMORIES[feed.__name__] = feed
    return feed


@memory
def tools_that_do_not_exist() -> Any:
    unlisted = installation().unlisted
    for name in names():
        unlisted[f"a caller\0{name}"] = None
    return unlisted


@memory
def forms_that_ask_for_secrets() -> Any:
    forms = installation().secret_forms
    for name in names():
        forms[name] = ("password",)
    return forms


@memory
def warnings() -> Any:
    known = installation()
    for name in names():
        known.is_new(name)
    return known._warned


@memory
def replayed_resources() -> Any:
    runs = installation().runs
    for name in names():
        runs.tell_replay(name, "call")
    return runs._told


@memory
def continued_turns() -> Any:
    runs = installation().runs
    for number, name in enumerate(names()):
        runs.past.join(Head("call", number, ""), Given({"q": {"action": "accept", "content": {"x": name}}}), "")
    return runs.past


@memory
def visits() -> Any:
    known = installation().visits
    for name in names():
        known._known[name] = None
        known._askers[name] = ()
    return [known._known, known._askers]


@memory
def refused_records() -> Any:
    class Codec:
        seal = unseal = staticmethod(lambda payload: payload)

    sealed = SealedStore(Memory(), Codec(), "server")  # pyright: ignore[reportArgumentType]
    for name in names():
        sealed._refuse(Record(sealed._id(name), name, "", "", 0.0, 0.0))
    return sealed._logged


@memory
def addresses_that_open_pages_that_do_not_exist() -> Any:
    failures = FailureLimit()
    for name in names():
        failures.note(name, 0.0)
    return failures


@memory
def hosts_that_are_not_ours() -> Any:
    at = site()
    renderer = SimpleNamespace(notice=lambda *_: None)
    access = SimpleNamespace(place=at.portal._place, refuse=lambda *_: None, renderer=renderer)
    wrong = _WrongHost(access)  # pyright: ignore
    for name in names():
        wrong(name)
    return wrong._logged


@memory
def visits_that_a_server_reports_to_a_client() -> Any:
    known = ClientVisits()
    for name in names():
        known.forget(name)
        known._early[f"{name}!"] = None
    return [known._early, known._done]


@memory
def servers_that_ask() -> Any:
    rates, queue = Rates(Rate(1)), Queue()
    for name in names():
        rates.allow(name, 0.0)
        queue.refuse(name)
        queue._dismissed[name] = 0.0
    return [rates._buckets, queue._overrun, queue._dismissed]


def count_cached() -> int:
    """How many results are in the caches of functions of texts."""
    functions: list[Any] = [question._digest, interaction_kinds._read]
    cells = [cell.cell_contents for function in functions for cell in function.__closure__]
    return sum(cell.cache_info().currsize for cell in cells if hasattr(cell, "cache_info"))


@memory
def messages_and_schemas() -> Any:
    before = count_cached()
    for name in names():
        question._digest("form", "A message", name)
        secrets._means_secret(name)
        secrets.message_asks_for_secret(name)
    interaction_kinds._read(json.dumps({"type": "object", "properties": {"x": {"type": "string", "title": LONG * 3}}}))
    return LONG * MANY * (count_cached() - before)


@pytest.mark.parametrize("name", MEMORIES)
def test_strangers_cannot_fill_the_memory(name: str, caplog: pytest.LogCaptureFixture) -> None:
    assert size_of(list(names())) > 2.5 * MOST_BYTES
    assert size_of(MEMORIES[name]()) < MOST_BYTES
    caplog.clear()


async def test_a_client_with_apps_calls_tools_that_do_not_exist() -> None:
    server: MCPServer[Any] = server_with(store=Memory())
    apps = advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]})
    async with connect(server, modes=(), extensions=[apps]) as client:
        for number in range(20):
            try:
                result = await client.call_tool(f"{number} {'x' * 100_000}", {})
            except MCPError:
                continue
            assert result.is_error
    known = installation_on(server)
    assert known is not None
    assert len(known.unlisted) == 20
    assert size_of(known.unlisted) < 5_000


def test_the_newest_are_remembered() -> None:
    kept: Remembered[int] = Remembered(2)
    for number, name in enumerate(("a", "b", "a", "c" * 100)):
        kept[name] = number
    assert ("a" in kept, "b" in kept, "c" * 100 in kept, "c" * 99 in kept) == (True, False, True, False)
    assert (kept["a"], kept["c" * 100]) == (2, 3)


@pytest.mark.parametrize("name", ["x" * 64, "x" * 10_000, "\ud800" * 100])
def test_no_name_passes_for_another_one(name: str) -> None:
    assert shorten(name) != name
    assert shorten(shorten(name)) != shorten(name)


BOUNDED = {
    "core/remembered.py": "of short texts",
    "core/question.py": "of messages up to 1,000 characters",
    "core/forms/secrets.py": "of names up to 200 characters",
    "core/forms/patterns.py": "32 patterns of up to 2,000 characters",
    "core/text.py": "of single characters",
    "core/types/__init__.py": "of an author's types",
    "server/frameworks/errors.py": "of classes",
    "stores/postgres.py": "of our statements",
    **dict.fromkeys(
        (
            "server/channels/apps/channel.py",
            "web/forms/__init__.py",
            "client/urls/hosts.py",
            "client/browser/site.py",
            "web/fetching.py",
            "portal/pages/rendering.py",
        ),
        "without arguments",
    ),
}
"""The modules that cache results of a function, and why strangers can't fill them."""


def test_every_cache_was_thought_about() -> None:
    found: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "functools":
                found |= {str(path.relative_to(SOURCE)) for name in node.names if name.name in ("cache", "lru_cache")}
    assert found == set(BOUNDED)
