"""A question as it reached the client, on any protocol version."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

from midcall.core.forms.form import Form
from midcall.core.text import reveal

Mode: TypeAlias = Literal["form", "url"]
Carrier: TypeAlias = Literal["push", "round", "required"]
"""How a question arrived: pushed while the call waits, in a round, or with the error -32042."""


@dataclass(frozen=True, slots=True)
class FormQuestion:
    """A form to fill. `form` is None if it has no fields: the user only agrees or declines.

    All texts are as the server sent them. Sanitize them before you show them.
    """

    message: str
    form: Form | None

    mode: Final = "form"

    @property
    def schema(self) -> dict[str, Any]:
        """The form as JSON Schema."""
        return self.form.schema() if self.form is not None else {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True)
class VisitQuestion:
    """A URL to visit. Accepting it is consent to open it, and nothing more."""

    message: str
    url: str
    id: str | None = None

    mode: Final = "url"


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, and what the user should know about it.

    Args:
        question: What is asked.
        id: Identifies the question among those pending at this client.
        server: The server's own name for itself, which nothing proves.
        server_version: Its version, if it sent one.
        via: How the question arrived.
        protocol: The protocol version of the connection.
        deadline: When the question is cancelled, if it has a time limit.
        key: The server's name for the question: its key in a round, or the id of its request.
        reason: Why the call needs the visit: what the error -32042 says besides the visit's own message.
        meta: What the server sent along as `_meta`.
        connection: Identifies the connection that it came by, in this process: two servers may have the same name.
    """

    question: FormQuestion | VisitQuestion
    id: str
    server: str = ""
    server_version: str | None = None
    via: Carrier = "push"
    protocol: str | None = None
    deadline: datetime | None = None
    key: str = ""
    reason: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any], compare=False)
    connection: str = field(default="", compare=False)

    @property
    def sender(self) -> str:
        """Who asks, as we know it: the connection. Only a question without one is its server's by name."""
        return self.connection or self.server

    @property
    def message(self) -> str:
        return self.question.message

    @property
    def full_message(self) -> str:
        """The reason, if there is one, and the message: what to show to the user."""
        return f"{self.reason}\n\n{self.message}" if self.reason else self.message

    @property
    def shown_message(self) -> str:
        """The same for our own answerers. If its text is all that the user agrees to, it hides nothing from them."""
        bare = isinstance(self.question, FormQuestion) and self.question.form is None
        return reveal(self.full_message, layout=True) if bare else self.full_message

    @property
    def mode(self) -> Mode:
        return self.question.mode

    @property
    def form(self) -> Form | None:
        """The form to fill, if there is one."""
        return self.question.form if isinstance(self.question, FormQuestion) else None

    @property
    def url(self) -> str | None:
        """The URL to visit, if there is one."""
        return self.question.url if isinstance(self.question, VisitQuestion) else None

    @property
    def digest(self) -> str:
        """A short hash of what is asked, for logs: it reveals nothing about it."""
        match self.question:
            case FormQuestion(message, form):
                text = f"form\0{message}\0{form.digest if form is not None else ''}"
            case VisitQuestion(message, url):
                text = f"visit\0{message}\0{url}"
        raw = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        return urlsafe_b64encode(raw[:9]).decode()

    def as_data(self) -> dict[str, Any]:
        """The question as JSON-ready data, for another process, a page or an agent framework."""
        data: dict[str, Any] = {
            "id": self.id,
            "mode": self.mode,
            "message": self.message,
            "server": {"name": self.server, "version": self.server_version},
            "via": self.via,
            "protocol": self.protocol,
            "deadline": self.deadline.isoformat() if self.deadline is not None else None,
            "connection": self.connection,
        }
        match self.question:
            case FormQuestion():
                data["schema"] = self.question.schema
            case VisitQuestion(_, url, id):
                data |= {"url": url, "elicitationId": id}
        return data | {name: value for name, value in (("reason", self.reason), ("_meta", dict(self.meta))) if value}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Asked:
        """Restore a question from `as_data`."""
        server: Mapping[str, Any] = data.get("server") or {}
        question: FormQuestion | VisitQuestion
        if data["mode"] == "url":
            question = VisitQuestion(data["message"], data["url"], data.get("elicitationId"))
        else:
            schema: Mapping[str, Any] = data.get("schema") or {}
            form = Form.from_schema(schema, strict=False) if schema.get("properties") else None
            question = FormQuestion(data["message"], form)
        deadline = data.get("deadline")
        return cls(
            question,
            data["id"],
            server.get("name") or "",
            server.get("version"),
            data.get("via", "push"),
            data.get("protocol"),
            datetime.fromisoformat(deadline) if deadline else None,
            reason=data.get("reason") or "",
            meta=data.get("_meta") or {},
            connection=data.get("connection") or "",
        )
