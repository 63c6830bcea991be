"""A tool, called by a client that answers from a script: on one version, or in every way."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, cast

from mcp import Client
from mcp_types import CallToolResult, ElicitRequest, InputRequiredResult, TextContent
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from midcall.client.connecting import entered
from midcall.client.offer import Mode, Offer
from midcall.client.settings import check_modes
from midcall.client.target import Reached, Ways, reach
from midcall.testing.script import Answers, Asked, Script
from midcall.wording import testing as wording
from midcall.wording.client import connecting

__all__ = ["ERAS", "Era", "NotReplayable", "Run", "connect", "replayed", "run"]

Era: TypeAlias = Literal["2025-06-18", "2025-11-25", "2026-07-28"]
ERAS: Final[tuple[Era, ...]] = ("2025-06-18", "2025-11-25", "2026-07-28")

_MANY_ROUNDS: Final = 1000


class NotReplayable(AssertionError):
    """The tool gave another result, or asked something else, when it was run in rounds."""


@asynccontextmanager
async def connect(
    server: object,
    answers: Answers | Script = (),
    *,
    era: Era = "2026-07-28",
    modes: Collection[Mode] | None = None,
    max_rounds: int = _MANY_ROUNDS,
    **options: Any,
) -> AsyncGenerator[Client]:
    """A client of this server that speaks this protocol version and answers from a script.

    The server is a server object, a URL, a command, `StdioServerParameters` or a transport. `modes` narrows what
    the client declares: `()` is a client that cannot be asked.

    Raises:
        AssertionError: A question had no answer in the script.
        CannotConnect: There is no connection.
    """
    if era not in ERAS:
        raise ValueError(connecting.unknown_era(era, ", ".join(ERAS)))
    script = answers if isinstance(answers, Script) else Script(answers)
    modern = era in MODERN_PROTOCOL_VERSIONS
    reached = _reached(server, raise_exceptions=bool(options.get("raise_exceptions")))
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
        async with entered(client, reached, era, None):
            yield client
    except Exception as exc:
        failure = exc
    if script.failure is not None and (not modern or _holds(failure, script.failure)):
        raise script.failure from (failure if not modern else None)
    if failure is not None:
        raise failure


def _holds(failure: Exception | None, one: Exception) -> bool:
    """Whether this group of errors has that one in it."""
    group = cast("ExceptionGroup[Exception] | None", failure if isinstance(failure, ExceptionGroup) else None)
    return group is not None and group.subgroup(lambda each: each is one) is not None


def _reached(server: object, *, raise_exceptions: bool) -> Reached:
    try:
        return reach(server, Ways(raise_exceptions=raise_exceptions))
    except TypeError:
        raise TypeError(wording.no_server(type(server).__name__)) from None


@dataclass(frozen=True, slots=True)
class Run:
    """What came of one call."""

    result: CallToolResult
    asked: list[Asked] = field(default_factory=list[Asked])
    rounds: int = 0
    beside_a_no: Counter[str] = field(default_factory=Counter[str], repr=False)
    """Questions that shared a round with one that was declined or cancelled. Pushed, they may never be asked."""

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.result.content if isinstance(block, TextContent))

    @property
    def failed(self) -> bool:
        return bool(self.result.is_error)


async def run(
    server: object,
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    answers: Answers = (),
    *,
    era: Era = "2026-07-28",
    one_by_one: bool = False,
    **options: Any,
) -> Run:
    """Call a tool and answer its questions.

    `one_by_one` is the always-replay mode: every round brings one answer only, the rest is asked
    again, and the tool runs as often as it can.
    """
    script = Script(answers)
    async with connect(server, script, era=era, **options) as client:
        if era in MODERN_PROTOCOL_VERSIONS:
            return await _in_rounds(client, script, tool, dict(arguments or {}), one_by_one)
        return Run(await client.call_tool(tool, dict(arguments or {})), script.asked)


async def _look_for(server: object, tool: str, **options: Any) -> None:
    """A name that no tool has fails alike in every way."""
    async with connect(server, **options) as client:
        listed = await client.list_tools()
    names = [each.name for each in listed.tools]
    if tool not in names and not listed.next_cursor:
        raise AssertionError(wording.no_such_tool(tool, names))


async def _in_rounds(client: Client, script: Script, tool: str, arguments: dict[str, Any], one_by_one: bool) -> Run:
    rounds = 0
    beside_a_no: Counter[str] = Counter()
    responses: dict[str, Any] | None = None
    state: str | None = None
    while True:
        result = await client.session.call_tool(
            tool, arguments, input_responses=responses, request_state=state, allow_input_required=True
        )
        if not isinstance(result, InputRequiredResult):
            return Run(result, script.asked, rounds, beside_a_no)
        rounds += 1
        if rounds > _MANY_ROUNDS:
            raise NotReplayable(wording.asks_without_end(tool, _MANY_ROUNDS))
        state = result.request_state
        requests = list((result.input_requests or {}).items())
        together = Counter(request.params.message for _, request in requests if isinstance(request, ElicitRequest))
        responses = {}
        for key, request in requests[:1] if one_by_one else requests:
            assert isinstance(request, ElicitRequest)
            responses[key] = answer = await script(None, request.params)
            if answer.action != "accept":
                beside_a_no += together - Counter([request.params.message])


async def replayed(
    server: object,
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    answers: Answers = (),
    *,
    before: Callable[[], object] | None = None,
    **options: Any,
) -> Run:
    """Run a tool pushed, in rounds and one answer at a time; the three must agree.

    `before` is called ahead of each of the three calls, to put what they share back to where it was,
    such as a seed or a database.

    Raises:
        NotReplayable: They do not.
    """
    before = before or (lambda: None)
    before()
    pushed = await run(server, tool, arguments, answers, era="2025-11-25", **options)
    if pushed.failed and not pushed.asked:
        await _look_for(server, tool, **options)
    for one_by_one in (False, True):
        before()
        rounds = await run(server, tool, arguments, answers, one_by_one=one_by_one, **options)
        _compare(tool, pushed, rounds, "one answer a round" if one_by_one else "rounds")
    return pushed


def _compare(tool: str, pushed: Run, other: Run, how: str) -> None:
    here, there = (Counter(asked.message for asked in run.asked) for run in (pushed, other))
    if here - there or (there - here) - other.beside_a_no:
        asked, pushes = sorted(there.elements()), sorted(here.elements())
        raise NotReplayable(wording.asked_otherwise(tool, how, asked, pushes))
    if _shown(pushed.result) != _shown(other.result):
        raise NotReplayable(wording.ended_otherwise(tool, how, other.text, pushed.text))


def _shown(result: CallToolResult) -> object:
    return result.content, result.structured_content, bool(result.is_error)
