"""Repair what a server sends, so that one malformed part doesn't cost the whole message.

The SDK's client rejects a whole round for one malformed question, a whole list for one malformed tool, and any
result without `resultType`. It answers a malformed pushed question itself, and nobody hears of it. This transport
replaces a malformed question with an empty one that carries a mark, so that only it is refused; leaves malformed
tools out of lists; and adds a missing `resultType`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from mcp.client._transport import Transport
from mcp.shared.message import SessionMessage
from mcp_types import (
    PROTOCOL_VERSION_META_KEY,
    ElicitRequest,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
    ListToolsResult,
    RequestId,
    methods,
)
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION
from pydantic import ValidationError

from midcall.client.lines.excerpt import one_line
from midcall.client.transport.wrapper import Around, Incoming

_log: Final = logging.getLogger("midcall.client")

_MOST_REPORTED: Final = 100
_LONGEST_REASON: Final = 200

UNREADABLE: Final = "midcall/unreadable"
"""The mark in the `_meta` of a question: why it could not be read."""


class Intake(Around):
    """Repairs incoming messages.

    Attributes:
        unusable: The tools that were left out of lists, by name, and what's wrong with them.
    """

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.unusable: dict[str, str] = {}
        self._modern = False
        self._version = LATEST_HANDSHAKE_VERSION
        self._requests: dict[RequestId, str] = {}

    def outgoing(self, request: JSONRPCRequest) -> JSONRPCRequest:
        """Note the protocol version: only those that know incomplete results name it in each request."""
        meta: Any = (request.params or {}).get("_meta")
        if request.method != "server/discover" and isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta:
            self._modern = True
            self._version = LATEST_MODERN_VERSION
        if request.method in ("initialize", "tools/list"):
            self._requests[request.id] = request.method
        return request

    def incoming(self, item: Incoming) -> Incoming:
        match item:
            case SessionMessage(message=JSONRPCResponse() as message):
                repaired = message.model_copy(update={"result": self._repair(message.id, message.result)})
            case SessionMessage(message=JSONRPCRequest(method="elicitation/create") as message):
                repaired = message.model_copy(update={"params": _repair_pushed(message.params, self._version)})
            case SessionMessage(message=JSONRPCError(id=int() | str() as id)):
                self._requests.pop(id, None)
                return item
            case _:
                return item
        return SessionMessage(message=repaired, metadata=item.metadata)

    def _repair(self, id: RequestId, result: dict[str, Any]) -> dict[str, Any]:
        if self._modern:
            result = _repair_result(result)
        match self._requests.pop(id, None):
            case "initialize":
                self._version = str(result.get("protocolVersion"))
            case "tools/list":
                result, unusable = usable_tools(result, self._version)
                self._leave_out(unusable)
            case _:
                pass
        return result

    def _leave_out(self, tools: Mapping[str, str]) -> None:
        for name, why in tools.items():
            if len(self.unusable) < _MOST_REPORTED and name not in self.unusable:
                _log.warning(f"the server lists a malformed tool, which was left out: {one_line(name)} ({why})")
                self.unusable[name] = why


def _repair_result(result: dict[str, Any]) -> dict[str, Any]:
    if "resultType" not in result:
        return {**result, "resultType": "complete"}
    requests: Any = result.get("inputRequests")
    if result["resultType"] != "input_required" or not isinstance(requests, dict):
        return result
    questions = cast("dict[str, Any]", requests)
    return {**result, "inputRequests": {key: _repair_question(request) for key, request in questions.items()}}


def _repair_question(request: Any) -> Any:
    """This request, or an empty question if it's a malformed one. Other requests are left to the SDK."""
    if not isinstance(request, Mapping) or cast("Mapping[str, Any]", request).get("method") != "elicitation/create":
        return cast("Any", request)
    try:
        alone: dict[str, Any] = {"resultType": "input_required", "inputRequests": {"it": cast("Any", request)}}
        methods.validate_server_result("tools/call", LATEST_MODERN_VERSION, alone)
        ElicitRequest.model_validate(request, by_name=False)
    except ValidationError:
        return _empty_question()
    return cast("Any", request)


def _repair_pushed(params: Any, version: str) -> Any:
    """The params of this pushed question, or those of an empty one."""
    try:
        methods.parse_server_request("elicitation/create", version, params)
    except ValidationError:
        return _empty_question()["params"]
    except (KeyError, ValueError):  # a version without pushed questions, or an unknown one
        pass
    return params


def _empty_question() -> dict[str, Any]:
    form: dict[str, Any] = {"type": "object", "properties": {}}
    meta = {UNREADABLE: "the question is malformed"}
    return {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": "", "requestedSchema": form, "_meta": meta},
    }


# --- tools -------------------------------------------------------------------------------------


def usable_tools(result: dict[str, Any], version: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Split a result of `tools/list`: the result with usable tools only, and what's wrong with the others, by name."""
    listed: Any = result.get("tools")
    tools = cast("list[Any]", listed) if isinstance(listed, list) else []
    if not _fault(tools, version):
        return result, {}
    good: list[Any] = []
    bad: dict[str, str] = {}
    for number, tool in enumerate(tools, 1):
        if why := _fault([tool], version):
            bad[_name(tool, number)] = why
        else:
            good.append(tool)
    return {**result, "tools": good}, bad


def _fault(tools: Iterable[Any], version: str) -> str:
    """What's wrong with these tools, if anything. Ignores the other parts of their result."""
    listed = {"resultType": "complete", "tools": tools}
    try:
        methods.validate_server_result("tools/list", version, listed)
        ListToolsResult.model_validate(listed, by_name=False)
    except ValidationError as error:
        found = ((each["loc"], each["msg"]) for each in error.errors() if "tools" in each["loc"])
        return next((_describe(loc, message) for loc, message in found), "")
    except (KeyError, ValueError):  # a version without such a list, or an unknown one
        pass
    return ""


def _describe(loc: tuple[int | str, ...], message: str) -> str:
    place = ".".join(str(part) for part in loc[loc.index("tools") + 2 :])
    return one_line(f"{place}: {message}" if place else message, _LONGEST_REASON)


def _name(tool: Any, number: int) -> str:
    name = cast("Mapping[str, Any]", tool).get("name") if isinstance(tool, Mapping) else None
    return name if isinstance(name, str) and name else f"no. {number}"
