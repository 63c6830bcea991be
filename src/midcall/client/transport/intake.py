"""What a server sends, made fit for the SDK's client.

That client refuses a whole round if one of its questions is malformed, a whole list for one malformed tool,
and a result that does not say that it is complete, which a client must take for one that is. It answers a
malformed question that was pushed by itself, and nobody hears of it. This transport goes around another one.
It puts an empty question in the place of a malformed one, marked, so that it alone is refused and the
others are asked; it leaves out tools that cannot be understood; and it says what a result has left out.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final, cast

from mcp.client._transport import Transport
from mcp.shared.message import SessionMessage
from mcp_types import (
    PROTOCOL_VERSION_META_KEY,
    ElicitRequest,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    methods,
)
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION
from pydantic import ValidationError

from midcall.client.lines.columns import one_line
from midcall.client.transport.tool_list import usable
from midcall.client.transport.wrapper import Around, Incoming

__all__ = ["UNREADABLE", "Intake"]

_log: Final = logging.getLogger("midcall.client")

_MOST_TOLD: Final = 100
"""More tools that cannot be understood nobody wants to hear of."""

UNREADABLE: Final = "midcall/unreadable"
"""The mark, in the `_meta` of a question: why it could not be read."""


class Intake(Around):
    """A transport that mends what comes in.

    Attributes:
        unusable: The tools that were left out of lists, by name, and what is wrong with them.
    """

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.unusable: dict[str, str] = {}
        self._modern = False
        self._version = LATEST_HANDSHAKE_VERSION
        self._asked: dict[RequestId, str] = {}

    def outgoing(self, request: JSONRPCRequest) -> JSONRPCRequest:
        """Only a version that has results which are not complete says so in each request."""
        meta: Any = (request.params or {}).get("_meta")
        if request.method != "server/discover" and isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta:
            self._modern = True
            self._version = LATEST_MODERN_VERSION
        if request.method in ("initialize", "tools/list"):
            self._asked[request.id] = request.method
        return request

    def incoming(self, item: Incoming) -> Incoming:
        match item:
            case SessionMessage(message=JSONRPCResponse() as message):
                fit = message.model_copy(update={"result": self._fit(message.id, message.result)})
            case SessionMessage(message=JSONRPCRequest(method="elicitation/create") as message):
                fit = message.model_copy(update={"params": _pushed(message.params, self._version)})
            case SessionMessage(message=JSONRPCError(id=int() | str() as id)):
                self._asked.pop(id, None)
                return item
            case _:
                return item
        return SessionMessage(message=fit, metadata=item.metadata)

    def _fit(self, id: RequestId, result: dict[str, Any]) -> dict[str, Any]:
        if self._modern:
            result = _fit(result)
        match self._asked.pop(id, None):
            case "initialize":
                self._version = str(result.get("protocolVersion"))
            case "tools/list":
                result, unusable = usable(result, self._version)
                self._leave_out(unusable)
            case _:
                pass
        return result

    def _leave_out(self, tools: Mapping[str, str]) -> None:
        for name, why in tools.items():
            if len(self.unusable) < _MOST_TOLD and name not in self.unusable:
                _log.warning(
                    f"the server lists a tool that cannot be understood, and it was left out: {one_line(name)} ({why})"
                )
                self.unusable[name] = why


def _fit(result: dict[str, Any]) -> dict[str, Any]:
    if "resultType" not in result:
        return {**result, "resultType": "complete"}
    requests: Any = result.get("inputRequests")
    if result["resultType"] != "input_required" or not isinstance(requests, dict):
        return result
    questions = cast("dict[str, Any]", requests)
    return {**result, "inputRequests": {key: _readable(request) for key, request in questions.items()}}


def _readable(request: Any) -> Any:
    """This request, or an empty question in its place. What is no question is left to the SDK."""
    if not isinstance(request, Mapping) or cast("Mapping[str, Any]", request).get("method") != "elicitation/create":
        return cast("Any", request)
    try:
        alone: dict[str, Any] = {"resultType": "input_required", "inputRequests": {"it": cast("Any", request)}}
        methods.validate_server_result("tools/call", LATEST_MODERN_VERSION, alone)
        ElicitRequest.model_validate(request, by_name=False)
    except ValidationError:
        return _empty(_malformed())
    return cast("Any", request)


def _pushed(params: Any, version: str) -> Any:
    """The params of this pushed question, or of an empty one."""
    try:
        methods.parse_server_request("elicitation/create", version, params)
    except ValidationError:
        return _empty(_malformed())["params"]
    except (KeyError, ValueError):  # a version in which nothing is pushed, or that nobody knows
        pass
    return params


def _empty(why: str) -> dict[str, Any]:
    form: dict[str, Any] = {"type": "object", "properties": {}}
    return {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": "", "requestedSchema": form, "_meta": {UNREADABLE: why}},
    }


def _malformed() -> str:
    return "the question is malformed"
