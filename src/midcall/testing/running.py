"""Call a tool on one protocol version, with a client that answers from a script."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, cast

from mcp import Client
from mcp_types import CallToolResult, ElicitRequest, InputRequiredResult, TextContent
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from midcall.client.answerer import check_modes
from midcall.client.asked import Mode
from midcall.client.connection.connect import check_era, open_client
from midcall.client.transport.offer import Offer
from midcall.client.transport.target import ConnectOptions, Reached, reach
from midcall.protocol import CODE, CONTINUE, NOW, VERSIONS, Version
from midcall.server.installation import installation_on
from midcall.server.running.runs import chosen_live
from midcall.settings.cli import TESTED_ROUNDS
from midcall.testing.script import Answers, Asked, Script
from midcall.testing.serving import load_server

Era: TypeAlias = Version
ERAS: Final = VERSIONS


class NotReplayable(AssertionError):
    """The tool returned another result, or asked something else, when it ran in rounds."""


@asynccontextmanager
async def connect(
    server: object,
    answers: Answers | Script = (),
    *,
    era: Era = "2026-07-28",
    modes: Collection[Mode] | None = None,
    max_rounds: int = TESTED_ROUNDS,
    **options: Any,
) -> AsyncGenerator[Client]:
    """A client of this server that speaks this protocol version and answers from a script.

    The server is a server object, its name as in `"package.module:mcp"`, a URL, a command, `StdioServerParameters` or
    a transport. `modes` limits what the client declares: `()` is a client without elicitation.

    Raises:
        AssertionError: A question had no answer in the script.
        CannotConnect: The server can't be reached.
    """
    check_era(era, ERAS)
    script = answers if isinstance(answers, Script) else Script(answers)
    modern = era in MODERN_PROTOCOL_VERSIONS
    reached = _reach(load_server(server), raise_exceptions=bool(options.get("raise_exceptions")))
    declared = None if modes is None else check_modes(modes)
    client = Client(
        Offer(reached.transport, version=None if modern else era, modes=declared),
        mode=era if modern else "legacy",
        elicitation_callback=script,
        input_required_max_rounds=max_rounds,
        **options,
    )
    failure: Exception | None = None
    try:
        async with open_client(client, reached, era, None):
            yield client
    except Exception as exc:
        failure = exc
    if script.failure is not None and (not modern or _holds(failure, script.failure)):
        raise script.failure from (failure if not modern else None)
    if failure is not None:
        raise failure


def _holds(failure: Exception | None, one: Exception) -> bool:
    """Whether this group of errors contains that one."""
    group = cast("ExceptionGroup[Exception] | None", failure if isinstance(failure, ExceptionGroup) else None)
    return group is not None and group.subgroup(lambda each: each is one) is not None


def _reach(server: object, *, raise_exceptions: bool) -> Reached:
    try:
        return reach(server, ConnectOptions(raise_exceptions=raise_exceptions))
    except TypeError:
        raise TypeError(
            "A server to test is a server object, a URL, a command, StdioServerParameters or a transport, not "
            f"{type(server).__name__}."
        ) from None


@dataclass(frozen=True, slots=True)
class Run:
    """The result of one call."""

    result: CallToolResult
    asked: list[Asked] = field(default_factory=list[Asked])
    rounds: int = 0
    together: frozenset[str] = field(default=frozenset[str](), repr=False)
    """Questions that were open at the same time as others."""
    stopped: bool = field(default=False, repr=False)
    """Whether one of those was declined or cancelled. How far the others got depends on timing."""

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.result.content if isinstance(block, TextContent))

    @property
    def failed(self) -> bool:
        return bool(self.result.is_error)

    @property
    def code(self) -> str | None:
        """The resume code, if the call is waiting for the user: `run(server, "midcall_continue", {"code": code})`."""
        return (self.result.meta or {}).get(CODE)


async def run(
    server: object,
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    answers: Answers = (),
    *,
    era: Era = "2026-07-28",
    one_by_one: bool = False,
    live: bool | None = None,
    **options: Any,
) -> Run:
    """Call a tool and answer its questions.

    On 2026-07-28, `live` chooses how the server keeps the run between two rounds: True in memory, False not at all, so
    that the tool runs again from the top with every answer. `one_by_one` sends one answer per round, and leaves the
    other questions open. Both together (`live=False, one_by_one=True`) run the tool as often as it can be run.

    If the call ends with a resume code because it needs many rounds, it is resumed.

    Raises:
        AssertionError: A question had no answer in the script.
        ValueError: `live` is set, and the server isn't an object in this process with midcall installed on it.
    """
    server = load_server(server)
    if live is not None and installation_on(server) is None:
        raise ValueError(
            f"live={live} needs a server object with midcall installed on it. "
            "Start a server that runs elsewhere with MIDCALL_LIVE=0 or MIDCALL_LIVE=1 instead."
        )
    script = Script(answers)
    chosen = chosen_live.set(chosen_live.get() if live is None else live)
    try:
        async with connect(server, script, era=era, **options) as client:
            return await ScriptedCall([client], script, one_by_one).call(tool, arguments)
    finally:
        chosen_live.reset(chosen)


@dataclass(slots=True)
class ScriptedCall:
    """A call that several clients make in turns, one round each."""

    clients: Sequence[Client]
    script: Script
    one_by_one: bool = False
    rounds: int = 0
    together: set[str] = field(default_factory=set[str])
    stopped: bool = False

    async def call(self, tool: str, arguments: Mapping[str, Any] | None) -> Run:
        """Call the tool, and continue until it ends."""
        result = await self._result(tool, dict(arguments or {}))
        while (result.meta or {}).get(NOW):
            result = await self._result(CONTINUE, {"code": (result.meta or {})[CODE]})
        return Run(result, self.script.asked, self.rounds, frozenset(self.together), self.stopped)

    async def _result(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        responses: dict[str, Any] | None = None
        state: str | None = None
        while True:
            client = self.clients[self.rounds % len(self.clients)]
            result = await client.session.call_tool(
                tool, arguments, input_responses=responses, request_state=state, allow_input_required=True
            )
            if not isinstance(result, InputRequiredResult):
                return result
            self.rounds += 1
            if self.rounds > TESTED_ROUNDS:
                raise NotReplayable(f"{tool!r} still asks after {TESTED_ROUNDS} rounds")
            state, responses = result.request_state, await self._responses(result)

    async def _responses(self, result: InputRequiredResult) -> dict[str, Any]:
        """The answers to the questions of this round, or to the first one."""
        requests = [
            (key, each) for key, each in (result.input_requests or {}).items() if isinstance(each, ElicitRequest)
        ]
        if len(requests) > 1:
            self.together.update(request.params.message for _, request in requests)
        responses: dict[str, Any] = {}
        for key, request in requests[:1] if self.one_by_one else requests:
            responses[key] = answer = await self.script(None, request.params)
            self.stopped |= answer.action != "accept" and request.params.message in self.together
        return responses
