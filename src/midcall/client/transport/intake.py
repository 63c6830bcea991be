"""Repair what a server sends, so that one malformed part doesn't cost the whole message.

The SDK's client rejects a whole round for one malformed question, a whole list for one malformed tool, and any
result without `resultType`. It answers a malformed pushed question itself, and nobody hears of it. This transport
replaces a malformed question with an empty one that carries a mark, so that only it is refused; leaves malformed
tools out of lists; drops the patterns of output schemas, which could hang the SDK; adds a missing `resultType`; and
takes the parts of a final result out of a round.

It also listens for `notifications/elicitation/complete` on 2026-07-28. Servers that raise -32042 there send it, and the
SDK's client drops it, because that version doesn't have it.

A round without questions means "call again later", from a server that is busy or waits. The SDK's client does so four
times a second. This transport waits longer each time.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from mcp.client._transport import Transport
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PROTOCOL_VERSION_META_KEY,
    ElicitRequest,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
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
from midcall.core.remembered import Remembered
from midcall.settings.client import (
    BUSY_SECONDS,
    MALFORMED_REASON_CHARACTERS,
    MAX_BUSY_SECONDS,
    MAX_BUSY_STATES,
    MAX_FAULTS,
    MAX_MALFORMED_TOOLS,
    MAX_ROUND_QUESTIONS,
)

_log: Final = logging.getLogger("midcall.client")


_DICTIONARY: Final = re.compile(r"a valid dictionary( or instance of \w+)?")

_DATA: Final = frozenset({"const", "default", "enum", "examples"})
"""The values of these keywords aren't schemas."""

_FINAL: Final = frozenset({"content", "structuredContent", "messages", "contents"})
"""The parts of a final result. With one, the SDK could take a round without questions for that."""

UNREADABLE: Final = "midcall/unreadable"
"""The mark in the `_meta` of a question: why it could not be read."""


class Intake(Around):
    """Repairs incoming messages.

    Attributes:
        unusable: The tools that were left out of lists, by name, and what's wrong with them.
        on_complete: Called with the id of each visit that the server reports as done, if the SDK's client drops it.
    """

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.unusable: dict[str, str] = {}
        self.on_complete: Callable[[str], object] | None = None
        self._modern = False
        self._version = LATEST_HANDSHAKE_VERSION
        self._requests: dict[RequestId, str] = {}
        self._waits: Remembered[int] = Remembered(MAX_BUSY_STATES)
        self._busy: Remembered[int] = Remembered(MAX_BUSY_STATES)

    def outgoing(self, request: JSONRPCRequest) -> JSONRPCRequest:
        """Note the protocol version: only those that know incomplete results name it in each request."""
        meta: Any = (request.params or {}).get("_meta")
        if request.method != "server/discover" and isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta:
            self._modern = True
            self._version = LATEST_MODERN_VERSION
        if request.method in ("initialize", "tools/list"):
            self._requests[request.id] = request.method
        return request

    async def before(self, request: JSONRPCRequest) -> None:
        """Wait before a call is repeated for a server that asked for nothing but that."""
        params = request.params or {}
        state = params.get("requestState")
        if not isinstance(state, str) or "inputResponses" in params or (times := self._busy.pop(state, None)) is None:
            return
        self._waits[str(request.id)] = times
        await asyncio.sleep(min(BUSY_SECONDS * 2 ** (times - 1), MAX_BUSY_SECONDS))

    def incoming(self, item: Incoming) -> Incoming:
        match item:
            case SessionMessage(message=JSONRPCResponse() as message):
                if (refusal := _refuse_round(message)) is not None:
                    return self.incoming(SessionMessage(message=refusal, metadata=item.metadata))
                repaired = message.model_copy(update={"result": self._repair(message.id, message.result)})
            case SessionMessage(message=JSONRPCRequest(method="elicitation/create") as message):
                repaired = message.model_copy(update={"params": _repair_pushed(message.params, self._version)})
            case SessionMessage(message=JSONRPCError(id=int() | str() as id)):
                self._requests.pop(id, None)
                self._waits.pop(str(id), None)
                return item
            case SessionMessage(message=JSONRPCNotification(method="notifications/elicitation/complete") as message):
                visit = (message.params or {}).get("elicitationId")
                if self._modern and isinstance(visit, str) and self.on_complete is not None:
                    self.on_complete(visit)
                return item
            case _:
                return item
        return SessionMessage(message=repaired, metadata=item.metadata)

    def _repair(self, id: RequestId, result: dict[str, Any]) -> dict[str, Any]:
        times = self._waits.pop(str(id), 0)
        if self._modern:
            result = _repair_result(result)
            if (state := _state_alone(result)) is not None:
                self._busy[state] = times + 1
        match self._requests.pop(id, None):
            case "initialize":
                self._version = str(result.get("protocolVersion"))
            case "tools/list":
                result, unusable = usable_tools(result, self._version)
                result = drop_output_patterns(result)
                self._leave_out(unusable)
            case _:
                pass
        return result

    def _leave_out(self, tools: Mapping[str, str]) -> None:
        for name, why in tools.items():
            if len(self.unusable) < MAX_MALFORMED_TOOLS and name not in self.unusable:
                _log.warning(f"the server lists a malformed tool, which was left out: {one_line(name)} ({why})")
                self.unusable[name] = why


def _refuse_round(message: JSONRPCResponse) -> JSONRPCError | None:
    """The error that takes the place of a round of so many questions that counting them is all we do."""
    questions = message.result.get("inputRequests")
    count = len(cast("dict[str, Any]", questions)) if isinstance(questions, dict) else 0
    if count <= MAX_ROUND_QUESTIONS:
        return None
    text = f"The server asked {count:,} questions at once, and this client takes at most {MAX_ROUND_QUESTIONS:,}."
    return JSONRPCError(jsonrpc="2.0", id=message.id, error=ErrorData(code=INVALID_REQUEST, message=text))


def _repair_result(result: dict[str, Any]) -> dict[str, Any]:
    if "resultType" not in result:
        return {**result, "resultType": "complete"}
    if result["resultType"] != "input_required":
        return result
    result = {name: value for name, value in result.items() if name not in _FINAL}
    if isinstance(requests := result.get("inputRequests"), dict):
        questions = cast("dict[str, Any]", requests)
        result["inputRequests"] = {key: _repair_question(request) for key, request in questions.items()}
    return result


def _state_alone(result: Mapping[str, Any]) -> str | None:
    """The state of a round without questions."""
    state = result.get("requestState")
    asks = result.get("resultType") != "input_required" or result.get("inputRequests")
    return state if isinstance(state, str) and not asks else None


def _repair_question(request: Any) -> Any:
    """This request, or an empty question if it's a malformed one. Other requests are left to the SDK."""
    if not isinstance(request, Mapping) or cast("Mapping[str, Any]", request).get("method") != "elicitation/create":
        return cast("Any", request)
    try:
        alone: dict[str, Any] = {"resultType": "input_required", "inputRequests": {"it": cast("Any", request)}}
        methods.validate_server_result("tools/call", LATEST_MODERN_VERSION, alone)
        ElicitRequest.model_validate(request, by_name=False)
    except ValidationError as error:
        return _empty_question(error, cast("Mapping[str, Any]", request).get("params"))
    return cast("Any", request)


def _repair_pushed(params: Any, version: str) -> Any:
    """The params of this pushed question, or those of an empty one."""
    try:
        methods.parse_server_request("elicitation/create", version, params)
    except ValidationError as error:
        return _empty_question(error, params)["params"]
    except (KeyError, ValueError):  # a version without pushed questions, or an unknown one
        pass
    return params


def _empty_question(error: ValidationError, params: Any) -> dict[str, Any]:
    form: dict[str, Any] = {"type": "object", "properties": {}}
    meta = {UNREADABLE: f"the question is malformed ({_question_fault(error, params)})"}
    return {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": "", "requestedSchema": form, "_meta": meta},
    }


def _question_fault(error: ValidationError, params: Any) -> str:
    """The first fault of these params, as a question of the mode that they name."""
    mode = cast("Mapping[str, Any]", params).get("mode", "form") if isinstance(params, Mapping) else "form"
    if mode not in ("form", "url"):
        return "mode: must be 'form' or 'url'"
    kind = "ElicitRequestURLParams" if mode == "url" else "ElicitRequestFormParams"
    return _first_fault(error, kind, 1) or "params: Input should be an object"


# --- tools -------------------------------------------------------------------------------------


def usable_tools(result: dict[str, Any], version: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Split a result of `tools/list`: the result with usable tools only, and what's wrong with the others, by name.

    Tools are read one by one: the faults of a whole list could take all memory.
    """
    listed: Any = result.get("tools")
    if not isinstance(listed, list):
        return result, {}
    good: list[Any] = []
    bad: dict[str, str] = {}
    for number, tool in enumerate(cast("list[Any]", listed), 1):
        if why := _fault(tool, version):
            name = cast("Mapping[str, Any]", tool).get("name") if isinstance(tool, Mapping) else None
            bad[name if isinstance(name, str) and name else f"no. {number}"] = why
            if number - len(good) == MAX_MALFORMED_TOOLS:
                break
        else:
            good.append(tool)
    return ({**result, "tools": good} if bad else result), bad


def drop_output_patterns(result: dict[str, Any]) -> dict[str, Any]:
    """A list of tools without the patterns in their output schemas.

    The SDK's client would run them in Python's engine, on what the same server returns: some never finish.
    """
    tools: Any = result.get("tools")
    if not isinstance(tools, list):
        return result
    return {**result, "tools": [_drop_output_patterns(tool) for tool in cast("list[Any]", tools)]}


def _drop_output_patterns(tool: Any) -> Any:
    if not isinstance(tool, Mapping) or "outputSchema" not in tool:
        return cast("Any", tool)
    kept = dict(cast("Mapping[str, Any]", tool))
    try:
        kept["outputSchema"] = _drop_patterns(kept["outputSchema"])
    except _NamedByPattern:
        del kept["outputSchema"]
    return kept


class _NamedByPattern(Exception):
    """The schema has `patternProperties`, and other parts of it depend on them."""


def _drop_patterns(schema: Any) -> Any:
    """Only a keyword has a text as its value: a property that is named `pattern` has a schema."""
    if isinstance(schema, list):
        return [_drop_patterns(part) for part in cast("list[Any]", schema)]
    if not isinstance(schema, Mapping):
        return schema
    parts = cast("Mapping[str, Any]", schema)
    if "patternProperties" in parts:
        raise _NamedByPattern
    return {
        word: part if word in _DATA else _drop_patterns(part)
        for word, part in parts.items()
        if not (word == "pattern" and isinstance(part, str))
    }


def _fault(tool: Any, version: str) -> str:
    """What's wrong with this tool, if anything. Ignores the other parts of its result."""
    listed = {"resultType": "complete", "tools": [tool]}
    try:
        methods.validate_server_result("tools/list", version, listed)
        ListToolsResult.model_validate(listed, by_name=False)
    except ValidationError as error:
        return _first_fault(error, "tools", 2)
    except (KeyError, ValueError):  # a version without such a list, or an unknown one
        pass
    return ""


def _first_fault(error: ValidationError, within: str, skip: int) -> str:
    """What's wrong, and where: the part of its place that comes so many steps after `within`, which it must have."""
    if error.error_count() > MAX_FAULTS:
        return f"it has {error.error_count():,} faults"
    first = next((each for each in error.errors() if within in each["loc"]), None)
    if first is None:
        return ""
    place = ".".join(map(str, first["loc"][first["loc"].index(within) + skip :]))
    message = _DICTIONARY.sub("an object", first["msg"])  # JSON has no dictionaries
    return one_line(f"{place}: {message}" if place else message, MALFORMED_REASON_CHARACTERS)
