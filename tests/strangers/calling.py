"""Call a server as a host would, with the SDK's own client, and record everything visible."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, TypeAlias

import anyio
from fastmcp import FastMCP
from mcp import Client, MCPError
from mcp.client._memory import InMemoryTransport
from mcp_types import (
    CreateMessageRequestParams,
    CreateMessageResult,
    ListRootsResult,
    LoggingMessageNotificationParams,
    Root,
    TextContent,
)
from pydantic import BaseModel, FileUrl

import midcall
from tests.strangers.effects import Effects
from tests.strangers.people import Answers, Person

Version: TypeAlias = Literal["2025-11-25", "2026-07-28"]
VERSIONS: Final[tuple[Version, ...]] = ("2025-11-25", "2026-07-28")
Kind: TypeAlias = Literal["tool", "prompt", "resource"]
Capability: TypeAlias = Literal["elicitation", "sampling", "roots"]
SECONDS: Final = 10.0
"""A longer call counts as hanging."""


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    kind: Kind = "tool"
    once: str = ""
    """Start when the server has done this, for concurrent calls."""


@dataclass(frozen=True, slots=True)
class Case:
    """A server, what a host and a person do with it, and its expected effects."""

    name: str
    server: Callable[[Effects], Any]
    calls: tuple[Call, ...]
    answers: Answers
    effects: tuple[str, ...]
    at_once: bool = False
    can: frozenset[Capability] = frozenset({"elicitation"})
    varies: str = ""
    """A pattern for texts that differ between runs. They're numbered, so that equal ones stay recognizable."""
    versions: tuple[Version, ...] = VERSIONS


@dataclass(frozen=True, slots=True)
class Seen:
    """Everything that a host, a person and the world can see."""

    asked: list[str]
    forms: list[Any]
    results: list[dict[str, Any]]
    effects: list[str]
    sampled: list[str]
    logged: list[Any]
    progress: list[list[Any]]


@dataclass(frozen=True, slots=True)
class Host:
    """What a host sees, apart from its user."""

    person: Person
    sampled: list[str] = field(default_factory=list[str])
    logged: list[Any] = field(default_factory=list[Any])
    progress: list[list[Any]] = field(default_factory=list[list[Any]])

    async def on_log(self, params: LoggingMessageNotificationParams) -> None:
        self.logged.append([params.level, params.data])

    async def on_progress(self, progress: float, total: float | None, message: str | None) -> None:
        self.progress.append([progress, total, message])

    async def on_sampling(self, context: Any, params: CreateMessageRequestParams) -> CreateMessageResult:
        asked = "".join(block.text for block in params.messages[-1].content_as_list if isinstance(block, TextContent))
        self.sampled.append(asked)
        return CreateMessageResult(role="assistant", content=TextContent(text=f"a poem, {asked}"), model="m")

    async def on_roots(self, context: Any) -> ListRootsResult:
        roots = [Root(uri=FileUrl(f"file:///home/me/{name}"), name=name) for name in ("site", "notes")]
        return ListRootsResult(roots=roots)

    def client(self, target: Any, version: Version, can: frozenset[Capability]) -> Client:
        return Client(
            target,
            mode="legacy" if version == "2025-11-25" else version,
            elicitation_callback=self.person if "elicitation" in can else None,
            sampling_callback=self.on_sampling if "sampling" in can else None,
            list_roots_callback=self.on_roots if "roots" in can else None,
            logging_callback=self.on_log,
            log_level="debug",
            cache=None,
        )


async def in_memory(case: Case, version: Version, *, adopted: bool) -> dict[str, Any]:
    """Run this case with or without midcall and return what is visible."""
    effects = Effects()
    server = case.server(effects)
    if adopted:
        midcall.install(server)
    return await called(case, _target(server), version, effects)


def _target(server: Any) -> Any:
    """FastMCP needs a progress token, which requests between two objects of the SDK don't have."""
    return InMemoryTransport(vars(server)["_mcp_server"]) if isinstance(server, FastMCP) else server


async def called(
    case: Case, target: Any, version: Version, effects: Effects, *, within: float = SECONDS
) -> dict[str, Any]:
    host = Host(Person(case.answers, effects))
    results: list[dict[str, Any]] = [{"hangs": True} for _ in case.calls]
    with anyio.move_on_after(within):
        async with host.client(target, version, case.can) as client:
            await _call_all(case, client, host, results)
            await anyio.wait_all_tasks_blocked()
    person = host.person
    seen = Seen(person.asked, person.forms, results, effects.done, host.sampled, host.logged, host.progress)
    return _numbered(asdict(seen), case.varies)


async def _call_all(case: Case, client: Client, host: Host, results: list[dict[str, Any]]) -> None:
    async def one(at: int, call: Call) -> None:
        if call.once:
            await host.person.effects.until(call.once)
        results[at] = await _result(client, call, host)

    if not case.at_once:
        for at, call in enumerate(case.calls):
            await one(at, call)
        return
    async with anyio.create_task_group() as group:
        for at, call in enumerate(case.calls):
            group.start_soon(one, at, call)


async def _result(client: Client, call: Call, host: Host) -> dict[str, Any]:
    try:
        return _as_data(await _called(client, call, host))
    except MCPError as error:
        return {"error": error.code, "message": error.message, "data": error.data}
    except RuntimeError as error:  # too many rounds
        return {"raises": str(error)}


def _called(client: Client, call: Call, host: Host) -> Awaitable[BaseModel]:
    if call.kind == "tool":
        return client.call_tool(call.name, call.arguments, progress_callback=host.on_progress)
    if call.kind == "prompt":
        return client.get_prompt(call.name, call.arguments)
    return client.read_resource(call.name)


SHOWN: Final = ("content", "structuredContent", "isError", "messages", "description", "contents")
"""The parts of a result that hosts use. Other parts differ between versions."""


def _as_data(result: BaseModel) -> dict[str, Any]:
    data = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {name: data[name] for name in SHOWN if name in data}


def _numbered(seen: dict[str, Any], varies: str) -> dict[str, Any]:
    if not varies:
        return seen
    found: dict[str, str] = {}
    text = json.dumps(seen, ensure_ascii=False)
    return json.loads(re.sub(varies, lambda match: found.setdefault(match[0], f"<{len(found) + 1}>"), text))
