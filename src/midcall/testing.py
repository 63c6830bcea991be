"""Test a tool that asks, with real clients and scripted answers.

    from midcall import testing

    async def test_booking():
        run = await testing.replayed(mcp, "book", {"destination": "Oslo"}, {"How many days?": 3})
        assert run.text == "3 days in Oslo"

`replayed` runs the tool three times: with questions pushed, in rounds, and in rounds that bring one
answer each, so that every question suspends and every round runs the tool again. A tool that is
not replayable gives different results, and fails there, in your test suite.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from inspect import isawaitable
from typing import Any, Final, Literal, TypeAlias, cast

from mcp import Client
from mcp.client.session import ClientRequestContext
from mcp_types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitRequestURLParams,
    ElicitResult,
    InputRequiredResult,
    TextContent,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic_core import to_jsonable_python

from midcall.client.connecting import entered
from midcall.client.offer import Mode, Offer
from midcall.client.settings import check_modes
from midcall.client.target import Reached, Ways, reach
from midcall.core.outcomes import Accepted, Cancelled, Declined
from midcall.pressing import press
from midcall.wording.client import connecting as wording
from midcall.wording.forms import is_type_your_choices

__all__ = ["ERAS", "Answers", "Asked", "Era", "NotReplayable", "Run", "Script", "connect", "press", "replayed", "run"]

Era: TypeAlias = Literal["2025-06-18", "2025-11-25", "2026-07-28"]
ERAS: Final[tuple[Era, ...]] = ("2025-06-18", "2025-11-25", "2026-07-28")

Answer: TypeAlias = Any
"""A value for the only field, a dict of fields, an outcome, or a list of answers for successive askings."""
Answers: TypeAlias = Mapping[str, Answer] | Sequence[Answer] | Callable[["Asked"], Answer | Awaitable[Answer]]
"""Answers by message or by the names of fields, in order, or by a function, which may be async."""

_MANY_ROUNDS: Final = 1000


class NotReplayable(AssertionError):
    """The tool gave another result, or asked something else, when it was run in rounds."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the client saw it."""

    message: str
    mode: Mode
    schema: Mapping[str, Any] | None = None
    url: str | None = None
    id: str | None = None

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple((self.schema or {}).get("properties", ()))


class Script:
    """Answers questions from a script, and remembers them. Use it as an `elicitation_callback`."""

    def __init__(self, answers: Answers = ()) -> None:
        self.restart(answers)

    def restart(self, answers: Answers) -> None:
        """Begin anew with these answers."""
        if not callable(answers) and (isinstance(answers, str) or not isinstance(answers, (Mapping, Sequence))):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(wording.no_answers(type(answers).__name__))
        self._answers = answers
        self._taken: dict[str, int] = {}
        self.asked: list[Asked] = []
        self.failure: Exception | None = None
        """Why a question had no answer. One that was pushed hears of it first, and may go on without."""

    async def __call__(self, context: ClientRequestContext | None, params: ElicitRequestParams) -> ElicitResult:
        asked = _asked(params)
        self.asked.append(asked)
        try:
            answer = self._answer(asked)
            return _result(asked, await answer if isawaitable(answer) else answer)
        except Exception as exc:
            self.failure = exc
            raise

    def _answer(self, asked: Asked) -> Answer | Awaitable[Answer]:
        if callable(self._answers):
            return self._answers(asked)
        if isinstance(self._answers, Mapping):
            given, several = self._answers, _multiple_choices(asked)
            for name in (asked.message, asked.message.partition("\n\n")[0]):
                if name in given:
                    return self._next(name, given[name], several == set(asked.fields))
            by_field = {name: self._next(name, given[name], name in several) for name in asked.fields if name in given}
            if by_field:
                return _whole(by_field, len(asked.fields))
        elif len(self.asked) <= len(self._answers):
            return self._answers[len(self.asked) - 1]
        raise AssertionError(f"no answer for {asked.message!r} (fields: {', '.join(asked.fields) or 'none'})")

    def _next(self, name: str, answer: Answer, is_multiple: bool) -> Answer:
        """The answer for this time, where there is one for each; the options of a multiple choice are one."""
        if not isinstance(answer, list) or not answer or (is_multiple and _are_options(cast("list[Answer]", answer))):
            return cast("Answer", answer)
        index = self._taken.get(name, 0)
        self._taken[name] = index + 1
        return cast("list[Answer]", answer)[min(index, len(cast("list[Answer]", answer)) - 1)]


def _multiple_choices(asked: Asked) -> set[str]:
    """The fields that are multiple choices, also where an old version has them as a line of text."""
    return {
        name
        for name, prop in (asked.schema or {}).get("properties", {}).items()
        if prop.get("type") == "array" or is_type_your_choices(prop.get("description") or "")
    }


def _are_options(answer: list[Answer]) -> bool:
    return all(isinstance(each, (str, int, float, Enum)) for each in answer)


def _whole(by_field: dict[str, Answer], fields: int) -> Answer:
    """The answer to a question from those for its fields, one of which may be for all of it."""
    for answer in by_field.values():
        if fields == 1 or isinstance(answer, (dict, Accepted, Declined, Cancelled, ElicitResult)):
            return cast("Answer", answer)
    return by_field


def _asked(params: ElicitRequestParams) -> Asked:
    if isinstance(params, ElicitRequestURLParams):
        return Asked(params.message, "url", url=params.url, id=params.elicitation_id)
    assert isinstance(params, ElicitRequestFormParams)
    return Asked(params.message, "form", schema=params.requested_schema)


def _result(asked: Asked, answer: Answer) -> ElicitResult:
    match answer:
        case ElicitResult():
            return answer
        case Declined():
            return ElicitResult(action="decline")
        case Cancelled():
            return ElicitResult(action="cancel")
        case Accepted():
            return _result(asked, cast("Accepted[Any]", answer).value)
        case False if asked.mode == "url":
            raise AssertionError(
                f"the answer to {asked.message!r} is False; to a visit, Declined() or Cancelled() is a no"
            )
        case _ if asked.mode == "url":
            return ElicitResult(action="accept")
        case dict():
            return ElicitResult(action="accept", content=_content(asked, cast("dict[str, Any]", answer)))
        case _ if len(asked.fields) > 1:
            raise AssertionError(
                f"the answer to {asked.message!r} has to be a dict of its fields ({', '.join(asked.fields)}), "
                f"and is {answer!r}"
            )
        case _:
            [name] = asked.fields or ("answer",)
            return ElicitResult(action="accept", content=_content(asked, {name: answer}))


def _content(asked: Asked, answers: dict[str, Any]) -> dict[str, Any]:
    """These answers as they travel: a number among the options of a choice is its text."""
    content: dict[str, Any] = to_jsonable_python(answers)
    properties = (asked.schema or {}).get("properties", {})
    for name, value in content.items():
        if type(value) in (int, float) and properties.get(name, {}).get("type") == "string":
            content[name] = str(value) if _options(properties[name]) else value
        elif isinstance(value, list) and name in properties:
            items = cast("list[Any]", value)
            content[name] = [str(each) if type(each) in (int, float) else each for each in items]
    return content


def _options(prop: Mapping[str, Any]) -> bool:
    return "enum" in prop or "oneOf" in prop


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
        raise ValueError(wording.unknown_era(era, ", ".join(ERAS)))
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
        raise TypeError(wording.no_server_to_test(type(server).__name__)) from None


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
        raise AssertionError(f"the server has no tool {tool!r}; it has: {', '.join(sorted(names)) or 'none'}")


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
            raise NotReplayable(f"{tool!r} still asks after {_MANY_ROUNDS} rounds")
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
        raise NotReplayable(f"{tool!r} asked {asked} in {how}, and {pushes} when pushed")
    if _shown(pushed.result) != _shown(other.result):
        raise NotReplayable(
            f"{tool!r} ended differently in {how}: {other.text!r} instead of {pushed.text!r}. Put what changes "
            "between runs (time, random numbers, reads) into once()."
        )


def _shown(result: CallToolResult) -> object:
    return result.content, result.structured_content, bool(result.is_error)
