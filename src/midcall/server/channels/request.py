"""A question on its way to the client: `elicitation/create` in the form that its version knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from midcall.core.adopted import AdoptedQuestion
from midcall.core.forms.schema import simplify_patterns
from midcall.core.journal import Entry
from midcall.core.question import Question, Visit
from midcall.language import _
from midcall.protocol import URLS_SINCE

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.channels.table import Channel


@dataclass(slots=True)
class Asking:
    """A question on its way: its name in the journal, and its entry there."""

    identity: str
    question: Question[Any] | Visit
    entry: Entry
    channel: Channel | None = None
    """The one that carries it, once it's chosen."""


def visit_id(call: Call, identity: str, visit: Visit) -> str:
    """The id of this visit: the author's, or one that never changes for this call."""
    id = visit.id or call.derive("visit", identity)
    call.installation.visits.remember(id)
    return id


def elicitation_params(call: Call, asking: Asking) -> dict[str, Any]:
    """The params of `elicitation/create` in this client's version."""
    question = asking.question
    if isinstance(question, AdoptedQuestion):
        return dict(question.params)
    if isinstance(question, Visit):
        id = visit_id(call, asking.identity, question)
        # 2026-07-28 has no `elicitationId`, but Copilot CLI drops the question without one, and no client minds it.
        params: dict[str, Any] = {
            "mode": "url",
            "message": question.message,
            "url": question.address(id),
            "elicitationId": id,
        }
        if question.meta:
            params["_meta"] = dict(question.meta)
        return params
    return _form_params(call, question, asking.entry)


def _form_params(call: Call, question: Question[Any], entry: Entry) -> dict[str, Any]:
    params = dict(question.params)
    if call.replay.asks_as_text or call.version < URLS_SINCE:
        schema = question.form.schema(call.version, as_text=call.replay.asks_as_text)
        params["requestedSchema"] = simplify_patterns(schema) if question.hazards else schema
    if call.version < URLS_SINCE:
        del params["mode"]
    elif entry.problems:
        params["requestedSchema"] = refill(params["requestedSchema"], entry)
    params["message"] = message_for(question, entry)
    return params


def message_for(question: Question[Any], entry: Entry) -> str:
    """The message; after an invalid answer, with the problems to correct. Some clients drop the line breaks."""
    if not entry.problems:
        return question.message
    labels = {field.name: field.title or field.name for field in question.form}
    problems = [f"{labels.get(name, name)}: {text}" if name else text for name, _code, text in entry.problems]
    listed = " \n".join(f"- {problem}{'.' * problem[-1:].isalnum()}" for problem in problems)
    return f"{question.message}{'.' * question.message[-1:].isalnum()} \n\n{_('Please correct:')} \n{listed}"


def refill(schema: dict[str, Any], entry: Entry) -> dict[str, Any]:
    """The schema with the valid values of the last answer as defaults."""
    if not entry.problems or not entry.value:
        return schema
    wrong = {problem[0] for problem in entry.problems}
    right = {name: value for name, value in entry.value.items() if name not in wrong and value is not None}
    properties = {
        name: {**field, "default": _as_default(field, right[name])} if name in right else field
        for name, field in schema["properties"].items()
    }
    return {**schema, "properties": properties}


def _as_default(field: dict[str, Any], value: Any) -> Any:
    """This value as the default of this field, which may be a line of text instead of a number or a list."""
    if field["type"] != "string" or isinstance(value, str):
        return value
    return ", ".join(cast("list[str]", value)) if isinstance(value, list) else str(value)
