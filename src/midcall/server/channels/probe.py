"""The probe: a tool that asks the connected client one harmless question of each kind, and reports the results.

Clients don't always show what they declare. An author switches the probe on, calls it from the client in
question, and reads in its result what really happened:

    midcall.install(mcp, probe=True)
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, cast

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp_types import Tool

from midcall.core.forms.fields import Choice, Choices, Flag, Number, Text
from midcall.core.forms.form import Form
from midcall.core.outcome import Accepted, Declined, Outcome, Via
from midcall.core.question import Question, Visit
from midcall.errors import InvalidAnswer, MidcallError, NoChannel, TimedOut
from midcall.protocol import PROBE
from midcall.server.call import Call, running_call
from midcall.server.channels import table
from midcall.server.resuming.codes import append_tools
from midcall.server.verbs import elicit, once
from midcall.settings.calls import MAX_PROBE_SECONDS, PROBE_SECONDS, READING_SECONDS

_TOOL: Final = Tool(
    name=PROBE,
    title="Try out how this client asks its user",
    description=(
        "Asks the user one harmless question of each kind, and reports what came of each: whether this client can "
        "be asked, how the question got there, and how it was answered. Changes nothing. For the author of this "
        "server."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "timeout": {
                "type": "number",
                "exclusiveMinimum": 0,
                "maximum": MAX_PROBE_SECONDS,
                "default": PROBE_SECONDS,
                "description": "For how many seconds each question may wait",
            }
        },
        "additionalProperties": False,
    },
)

FILLED: Final = {"city": "Oslo", "days": 3, "seat": "window"}
FORMS: Final[Mapping[str, Form]] = {
    "text": Form(Text("word", title="A word", min_length=1, max_length=100)),
    "integer": Form(Number("number", title="A number", integer=True, minimum=1, maximum=10)),
    "yes/no": Form(Flag("yes", title="Yes or no")),
    "choice": Form(Choice("fruit", {"a": "An apple", "p": "A pear", "c": "A cherry"}, title="A fruit")),
    "choices": Form(Choices("animals", {"c": "A cat", "d": "A dog", "h": "A horse"}, title="Animals")),
    "defaults": Form(
        Text("city", title="City", default="Oslo"),
        Number("days", title="Days", integer=True, default=3),
        Choice("seat", {"window": "At the window", "aisle": "On the aisle"}, title="Seat", default="window"),
    ),
}
_MESSAGES: Final = {
    "text": "Test, question 1: type any word.",
    "integer": "Test, question 2: choose any whole number from 1 to 10.",
    "yes/no": "Test, question 3: answer yes or no, as you like.",
    "choice": "Test, question 4: choose any one of these.",
    "choices": "Test, question 5: choose any of these, or none.",
    "defaults": "Test, question 6: this is filled in already. Send it as it is.",
    "visit": "Test, question 7: open a page of this server. It only says that it is there.",
}
SAMPLE: Final[Mapping[str, Any]] = {
    "word": "fjord",
    "number": 7,
    "yes": True,
    "fruit": "a",
    "animals": ["c", "h"],
    **FILLED,
}
"""An answer for each field, to try the probe without a person."""


@dataclass(frozen=True, slots=True)
class _Finding:
    """What came of one question."""

    question: str
    """Which kind it was."""
    via: Via | None
    """The channel that carried the answer; None where none came."""
    answer: str
    """accepted, declined, cancelled, "not asked", "no answer", "does not fit", or "failed"."""
    seconds: float | None
    remarks: str = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """What came of all of them, and what the client said about itself."""

    client: str
    protocol: str
    declared: str
    forms: tuple[Via, ...]
    visits: tuple[Via, ...]
    found: tuple[_Finding, ...]

    def as_text(self) -> str:
        """The same as text, with a table in Markdown."""
        rows: list[Sequence[str]] = [("question", "asked by", "answer", "seconds", "remarks"), ["---"] * 5]
        for found in self.found:
            seconds = "" if found.seconds is None else f"{found.seconds:.2f}"
            rows.append((found.question, found.via or "", found.answer, seconds, found.remarks))
        return "\n".join(
            [
                f"{self.client or 'A client without a name'}, protocol {self.protocol}",
                f"Declared: {self.declared}",
                f"Forms get there by: {', '.join(self.forms) or 'nothing'}",
                f"Visits get there by: {', '.join(self.visits) or 'nothing'}",
                "",
                *(f"| {' | '.join(cells)} |" for cells in rows),
            ]
        )


class Probe:
    """Innermost on the server: lists the tool, and answers its calls. What asks is around it."""

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        params: Mapping[str, Any] = ctx.params or {}
        if ctx.method == "tools/list":
            return append_tools(await call_next(ctx), _TOOL)
        if ctx.method != "tools/call" or params.get("name") != PROBE:
            return await call_next(ctx)
        return await _run_probe(_seconds(params.get("arguments")))


def _seconds(arguments: object) -> float:
    given = cast("Mapping[str, Any]", arguments).get("timeout") if isinstance(arguments, Mapping) else None
    return float(given) if isinstance(given, (int, float)) and 0 < given <= MAX_PROBE_SECONDS else PROBE_SECONDS


async def _run_probe(timeout: float) -> dict[str, Any]:
    call = running_call(PROBE)
    findings = Findings(
        "" if (params := call.session.client_params) is None else params.client_info.title or params.client_info.name,
        call.version,
        _describe_capability(call),
        table.channels(call, "form", None),
        table.channels(call, "url", None),
        await _findings(call, timeout),
    )
    content = [{"type": "text", "text": findings.as_text()}]
    return call.stamp({"content": content, "structuredContent": asdict(findings), "isError": False}, "complete")


def _describe_capability(call: Call) -> str:
    """What the client said about being asked, as it said it."""
    if call.elicitation is None:
        return "no elicitation"
    modes = call.elicitation.model_dump(mode="json", by_alias=True, exclude_none=True)
    return f"elicitation {{{', '.join(modes)}}}"


async def _findings(call: Call, timeout: float) -> tuple[_Finding, ...]:
    found: list[_Finding] = []
    # Without a second channel, an unseen answer is reported, and not asked for again elsewhere.
    only = table.channels(call, "form", None)[:1] or None
    for kind, form in FORMS.items():
        # An answer that does not fit is what we want to hear of, so it is not asked for again.
        found.append(await _ask(kind, Question(_MESSAGES[kind], form, timeout=timeout, attempts=1, via=only)))
    if (portal := call.installation.portal) is not None:
        await portal.start()
        only = table.channels(call, "url", None)[:1] or None
        visit = Visit(_MESSAGES["visit"], lambda _: f"{portal.url}/health", timeout=timeout, via=only)
        found.append(await _ask("visit", visit))
    return tuple(found)


async def _ask(kind: str, question: Question[Any] | Visit) -> _Finding:
    begun = await once(f"before {kind}", time.time)
    try:
        outcome: Outcome[Any] = await elicit(question)
    except MidcallError as error:
        return _judge_failure(kind, error, question.timeout or 0)
    seconds = await once(f"after {kind}", time.time) - begun
    return _judge_answer(kind, outcome, max(0.0, seconds))


def _judge_answer(kind: str, outcome: Outcome[Any], seconds: float) -> _Finding:
    remarks, quick = "", seconds < READING_SECONDS
    if isinstance(outcome, Accepted):
        if quick:
            remarks = "a program answered"
        elif kind == "defaults" and outcome.value != FILLED:
            remarks = "it was not sent as it was filled in"
        return _Finding(kind, outcome.via, "accepted", seconds, remarks)
    if quick:
        remarks = "faster than a person reads: probably nobody saw it"
    return _Finding(kind, outcome.via, "declined" if isinstance(outcome, Declined) else "cancelled", seconds, remarks)


def _judge_failure(kind: str, error: MidcallError, timeout: float) -> _Finding:
    match error:
        case TimedOut():
            remarks = f"nothing came within {timeout:g} s: perhaps nobody saw it"
            return _Finding(kind, None, "no answer", timeout, remarks)
        case InvalidAnswer():
            return _Finding(kind, None, "does not fit", None, "; ".join(map(str, error.problems)))
        case NoChannel():
            return _Finding(kind, None, "not asked", None, _one_line(error))
        case _:
            return _Finding(kind, None, "failed", None, _one_line(error))


def _one_line(error: MidcallError) -> str:
    """For a cell of a table."""
    return " ".join(error.text.split()).replace("|", "/")
