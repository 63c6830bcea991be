"""Read a question off the wire, with what the user should know about the connection it came by."""

from __future__ import annotations

import hmac
import secrets
import uuid
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from weakref import WeakKeyDictionary

from mcp.client.session import ClientRequestContext, ClientSession
from mcp_types import ElicitRequestFormParams, ElicitRequestParams, ElicitRequestURLParams
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from midcall.client.answerer import BOTH
from midcall.client.asked import Asked, Carrier, FormQuestion, Mode, VisitQuestion
from midcall.client.transport.intake import UNREADABLE
from midcall.core.forms.form import Form
from midcall.core.urls import is_web_url
from midcall.errors import InvalidForm
from midcall.protocol import URLS_SINCE


def read_request(
    context: ClientRequestContext,
    params: ElicitRequestParams,
    modes: Collection[Mode],
    timeout: float | None,
) -> Asked:
    """Read the question in this request.

    Raises:
        InvalidForm: It can't be shown, or uses a mode that the client didn't declare.
    """
    if why := (context.meta or {}).get(UNREADABLE):
        raise InvalidForm(str(why))
    question = read_question(params)
    if question.mode not in modes or question.mode not in modes_at(context.session.protocol_version):
        raise InvalidForm(f"this client did not declare {question.mode} mode")
    via: Carrier = "round" if has_rounds(context.session) else "push"
    meta = {key: value for key, value in (context.meta or {}).items() if key != "progress_token"}
    return describe(context.session, question, via, timeout, key=str(context.request_id), meta=meta)


def describe(
    session: ClientSession,
    question: FormQuestion | VisitQuestion,
    via: Carrier,
    timeout: float | None = None,
    **more: Any,
) -> Asked:
    """Add to a question what the user should know about its connection. `more` are other attributes of `Asked`."""
    name, version = server_of(session)
    return Asked(
        question,
        id=uuid.uuid4().hex,
        server=name,
        server_version=version,
        via=via,
        protocol=session.protocol_version,
        deadline=None if timeout is None else datetime.now(UTC) + timedelta(seconds=timeout),
        connection=_connections.setdefault(session, uuid.uuid4().hex),
        **more,
    )


def read_question(params: ElicitRequestParams) -> FormQuestion | VisitQuestion:
    """Read the question itself.

    Raises:
        InvalidForm: It can't be shown.
    """
    if not isinstance(params, ElicitRequestURLParams):
        return FormQuestion(params.message, _read_form(params))
    # Only what can't be shown is refused here. Whether to trust the address is the user's decision.
    if not is_web_url(params.url) or not params.url.isprintable() or " " in params.url:
        raise InvalidForm("not a plain http or https address", path="url")
    return VisitQuestion(params.message, params.url, params.elicitation_id)


def _read_form(params: ElicitRequestParams) -> Form | None:
    """None for a form without fields: servers send those, but a `Form` has at least one."""
    schema: Mapping[str, Any] = params.requested_schema if isinstance(params, ElicitRequestFormParams) else {}
    if not schema.get("properties"):
        return None
    try:
        return Form.from_schema(schema, strict=False)
    except InvalidForm as fault:
        raise InvalidForm(f"requestedSchema.{fault}" if fault.path else f"requestedSchema: {fault}") from None


def modes_at(version: str | None) -> tuple[Mode, ...]:
    """The modes that this protocol version has."""
    return BOTH if version is None or version >= URLS_SINCE else ("form",)


def server_of(session: ClientSession) -> tuple[str, str | None]:
    """The server's own name and version."""
    info = session.server_info
    return ("", None) if info is None else (info.title or info.name, info.version)


def name_connection(session: ClientSession, *target: object) -> None:
    """Let all connections to this target count as the same server. By default, each connection is another one."""
    _connections[session] = hmac.digest(_SALT, repr(target).encode("utf-8", "surrogatepass"), "sha256").hex()


_connections: Final[WeakKeyDictionary[ClientSession, str]] = WeakKeyDictionary()
_SALT: Final = secrets.token_bytes(16)
"""A target may contain a secret, so nobody who has a question can try out which one it came from."""


def has_rounds(session: ClientSession) -> bool:
    """Whether this connection carries questions in rounds."""
    return session.protocol_version in MODERN_PROTOCOL_VERSIONS
