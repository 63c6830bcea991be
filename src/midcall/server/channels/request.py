"""The wire form of a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from midcall import wording
from midcall.core.journal import Entry
from midcall.core.questions import Question, Visit

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.reach import Asking

__all__ = ["elicitation_params", "visit_id"]


def visit_id(call: Call, identity: str, visit: Visit) -> str:
    """The id of this visit: the author's, or one that is minted once and never changes for this call."""
    return visit.id or call.derive("visit", identity)


def elicitation_params(call: Call, asking: Asking) -> dict[str, Any]:
    """The params of `elicitation/create`, as this client's version knows them."""
    question = asking.question
    if isinstance(question, Visit):
        params = _visit_params(call, asking.identity, question)
    else:
        params = _form_params(call, question, asking.entry)
    if question.meta:
        params["_meta"] = dict(question.meta)
    return params


def _form_params(call: Call, question: Question[Any], entry: Entry) -> dict[str, Any]:
    message = question.message
    if entry.problems:
        labels = {field.name: field.title or field.name for field in question.form}
        message = wording.ask_again(message, [(labels.get(name, name), text) for name, _, text in entry.problems])
    params: dict[str, Any] = {"message": message, "requestedSchema": question.form.schema(call.version)}
    if call.version >= "2025-11-25":
        params["mode"] = "form"
    return params


def _visit_params(call: Call, identity: str, visit: Visit) -> dict[str, Any]:
    id = visit_id(call, identity, visit)
    params: dict[str, Any] = {"mode": "url", "message": visit.message, "url": visit.address(id)}
    if not call.modern:
        params["elicitationId"] = id
    return params
