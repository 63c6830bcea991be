"""The wire form of a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from midcall.core.adopted import AdoptedQuestion
from midcall.core.journal import Entry
from midcall.core.question import Question, Visit
from midcall.protocol import names_modes
from midcall.wording import reaching as wording

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.channels.table import Asking

__all__ = ["asked_again", "elicitation_params", "refilled", "visit_id"]


def visit_id(call: Call, identity: str, visit: Visit) -> str:
    """The id of this visit: the author's, or one that is minted once and never changes for this call."""
    id = visit.id or call.derive("visit", identity)
    call.installation.visits.met(id)
    return id


def elicitation_params(call: Call, asking: Asking) -> dict[str, Any]:
    """The params of `elicitation/create`, as this client's version knows them."""
    question = asking.question
    if isinstance(question, AdoptedQuestion):
        return dict(question.params)
    if isinstance(question, Visit):
        params = _visit_params(call, asking.identity, question)
    else:
        params = _form_params(call, question, asking.entry)
    if question.meta:
        params["_meta"] = dict(question.meta)
    return params


def _form_params(call: Call, question: Question[Any], entry: Entry) -> dict[str, Any]:
    message, schema = question.message, question.form.schema(call.version)
    if entry.problems:
        message = asked_again(question, entry)
    if not names_modes(call.version):
        return {"message": message, "requestedSchema": schema}
    if entry.problems:
        schema = refilled(schema, entry)
    return {"mode": "form", "message": message, "requestedSchema": schema}


def asked_again(question: Question[Any], entry: Entry) -> str:
    """The message; where an answer did not fit, with what was wrong about it."""
    if not entry.problems:
        return question.message
    labels = {field.name: field.title or field.name for field in question.form}
    return wording.ask_again(question.message, [(labels.get(name, name), text) for name, _, text in entry.problems])


def refilled(schema: dict[str, Any], entry: Entry) -> dict[str, Any]:
    """The schema with what was right about the last answer as its defaults."""
    if not entry.problems or not entry.value:
        return schema
    wrong = {name for name, _, _ in entry.problems}
    right = {name: value for name, value in entry.value.items() if name not in wrong and value is not None}
    properties = {
        name: {**field, "default": right[name]} if name in right else field
        for name, field in schema["properties"].items()
    }
    return {**schema, "properties": properties}


def _visit_params(call: Call, identity: str, visit: Visit) -> dict[str, Any]:
    id = visit_id(call, identity, visit)
    params: dict[str, Any] = {"mode": "url", "message": visit.message, "url": visit.address(id)}
    if not call.modern:
        params["elicitationId"] = id
    return params
