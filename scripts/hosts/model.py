"""A scripted model on loopback, and the person beside it: `python -m scripts.hosts.model PORT LOG`.

It speaks the four APIs that hosts use: Anthropic Messages, OpenAI Chat Completions and Responses, Gemini. It calls the
tool that the prompt names. If the result has a page and a resume code, the person fills in the page, and the model
resumes the call, until there is nothing more to resume. What it read goes to LOG.
"""

from __future__ import annotations

import json
import re
import sys
import uuid
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from midcall.protocol import CONTINUE
from scripts.everywhere import ON_PAPER
from scripts.filling import Person

PROMPT = re.compile(r"CALL (\w+) (\{.*?\})(?=\s|$|[\"<])", re.S)
CODE = re.compile(r'\{\\*"code\\*": \\*"(\w+)\\*"\}')
ADDRESS = re.compile(r"https?://(?:127\.0\.0\.1|localhost):\d+/[\w/]+")
MOST_CALLS = 12
Json = dict[str, Any]


class Said(NamedTuple):
    """A piece of the conversation: who said it (`user`, `assistant`, `call`, `result`), and what."""

    by: str
    text: str


class Use(NamedTuple):
    tool: str
    arguments: Json
    namespace: str | None = None


class Model:
    def __init__(self, log: Path) -> None:
        self._log = log
        self._person = Person(ON_PAPER)
        self._seen: set[str] = set()

    async def next(self, said: Sequence[Said], tools: Sequence[tuple[str, str | None]]) -> str | Use:
        """What the model says, or the tool that it uses."""
        with self._log.open("a") as log:
            log.write(json.dumps({"said": said[-4:], "tools": [name for name, _ in tools]}) + "\n")
        if not tools:
            return "ok"  # a title, or something else that a host asks for itself
        prompts = [
            (place, found)
            for place, each in enumerate(said)
            if each.by == "user"
            for found in PROMPT.findall(each.text.replace('\\"', '"'))
        ]
        if not prompts:
            return "ok"
        since, (name, arguments) = prompts[-1]
        results = [each.text for each in said[since:] if each.by == "result"]
        if not results:
            return _use(tools, said, name, json.loads(arguments))
        if _is_search(said[since:]):
            wanted = CONTINUE if any(CODE.search(each) for each in results) else name
            codes = [code for each in results for code in CODE.findall(each)]
            return _use(tools, said, wanted, {"code": codes[-1]} if codes else json.loads(arguments))
        code = CODE.search(results[-1])
        if code is None or len(results) > MOST_CALLS:
            return f"The tool said: {results[-1]}"
        await self._visit(results[-1])
        return _use(tools, said, CONTINUE, {"code": code[1]})

    async def _visit(self, text: str) -> None:
        for address in ADDRESS.findall(text):
            if address not in self._seen:
                self._seen.add(address)
                with suppress(httpx2.HTTPError, AssertionError, KeyError, TimeoutError):
                    await self._person.stays(address)


def _is_search(said: Sequence[Said]) -> bool:
    calls = [each.text for each in said if each.by == "call"]
    return bool(calls) and calls[-1].startswith("tool_search")


def _use(tools: Sequence[tuple[str, str | None]], said: Sequence[Said], name: str, arguments: Json) -> str | Use:
    """This tool, under the name that the host gives it; Qwen Code's are found by a search first."""
    for offered, namespace in tools:
        if offered == name or re.search(rf"[_\-./:]{re.escape(name)}$", offered):
            return Use(offered, arguments, namespace)
    mentioned = [found for each in said for found in re.findall(rf"\bmcp__\w+?__{name}\b", each.text)]
    if mentioned and any(offered == "tool_call" for offered, _ in tools):
        searched = any(each.by == "call" and f"select:{mentioned[0]}" in each.text for each in said)
        if searched:
            return Use("tool_call", {"name": mentioned[0], "arguments": arguments})
        return Use("tool_search", {"query": f"select:{mentioned[0]}"})
    return f"There is no tool {name} among {sorted(offered for offered, _ in tools)}"


# --- what was said, in each API ---------------------------------------------------------------------


def text_of(content: Any) -> str:
    match content:
        case str():
            return content
        case list():
            return "\n".join(text_of(each) for each in content)
        case {"text": inner} | {"output": inner} | {"content": inner} | {"result": inner} | {"error": inner}:
            return text_of(inner)
        case None:
            return ""
        case _:
            return json.dumps(content)


def read_anthropic(body: Json) -> Iterator[Said]:
    for message in body.get("messages", []):
        content = message["content"]
        for part in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            match part:
                case {"type": "text", "text": text}:
                    yield Said(message["role"], text)
                case {"type": "tool_use", "name": name, "input": given}:
                    yield Said("call", f"{name} {json.dumps(given)}")
                case {"type": "tool_result"}:
                    yield Said("result", text_of(part.get("content")))
                case _:
                    pass


def read_chat(body: Json) -> Iterator[Said]:
    for message in body.get("messages", []):
        role, content = message["role"], text_of(message.get("content"))
        if role == "tool":
            yield Said("result", content)
        elif role in ("user", "assistant"):
            yield Said(role, content)
        for call in message.get("tool_calls") or []:
            yield Said("call", f"{call['function']['name']} {call['function']['arguments']}")


def read_responses(body: Json) -> Iterator[Said]:
    items = body.get("input") or []
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        kind = item.get("type", "message")
        if kind == "message" and item.get("role") in ("user", "assistant"):
            yield Said(item["role"], text_of(item.get("content")))
        elif kind == "function_call":
            yield Said("call", f"{item['name']} {item['arguments']}")
        elif kind.endswith("_output"):
            yield Said("result", text_of(item.get("output")))


def read_gemini(body: Json) -> Iterator[Said]:
    for message in body.get("contents", []):
        for part in message.get("parts", []):
            match part:
                case {"functionResponse": given}:
                    yield Said("result", text_of(given.get("response")))
                case {"functionCall": call}:
                    yield Said("call", f"{call['name']} {json.dumps(call.get('args'))}")
                case {"text": text}:
                    yield Said("user" if message.get("role") == "user" else "assistant", text)
                case _:
                    pass


def names(tools: Iterable[Json] | None, namespace: str | None = None) -> Iterator[tuple[str, str | None]]:
    for tool in tools or ():
        if "functionDeclarations" in tool:
            yield from ((each["name"], None) for each in tool["functionDeclarations"])
        elif tool.get("type") == "namespace":
            yield from names(tool.get("tools"), tool["name"])
        elif name := tool.get("name") or (tool.get("function") or {}).get("name"):
            yield name, namespace


# --- and what it says ---------------------------------------------------------------------------


def id_of(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex[:20]}"


def stream(events: Iterable[tuple[str | None, Any]]) -> Response:
    async def lines() -> AsyncGenerator[str]:
        for name, data in events:
            head = f"event: {name}\n" if name else ""
            yield f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream")


def write_anthropic(body: Json, did: str | Use) -> Response:
    if isinstance(did, str):
        block: Json = {"type": "text", "text": did}
        first, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": did}
    else:
        block = {"type": "tool_use", "id": id_of("toolu"), "name": did.tool, "input": did.arguments}
        first, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(did.arguments)}
    why = {"stop_reason": "end_turn" if isinstance(did, str) else "tool_use", "stop_sequence": None}
    usage = {"input_tokens": 9, "output_tokens": 9, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    whole = {"id": id_of("msg"), "type": "message", "role": "assistant", "model": body.get("model"), "usage": usage}
    if not body.get("stream"):
        return JSONResponse({**whole, "content": [block], **why})
    events: list[Json] = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": first},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": why, "usage": usage},
        {"type": "message_stop"},
    ]
    return stream((event["type"], event) for event in events)


def write_chat(body: Json, did: str | Use) -> Response:
    message: Json = {"role": "assistant", "content": did if isinstance(did, str) else None}
    if isinstance(did, Use):
        function = {"name": did.tool, "arguments": json.dumps(did.arguments)}
        message["tool_calls"] = [{"index": 0, "id": id_of("call"), "type": "function", "function": function}]
    why = "stop" if isinstance(did, str) else "tool_calls"
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    base: Json = {"id": id_of("chatcmpl"), "created": 1, "model": body.get("model")}
    if not body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": why}
        return JSONResponse({**base, "object": "chat.completion", "choices": [choice], "usage": usage})
    chunk = {**base, "object": "chat.completion.chunk"}
    deltas = [{"delta": message, "finish_reason": None}, {"delta": {}, "finish_reason": why}]
    chunks = [{**chunk, "choices": [{"index": 0, **each}]} for each in deltas]
    return stream((None, each) for each in [*chunks, {**chunk, "choices": [], "usage": usage}, "[DONE]"])


def write_responses(body: Json, did: str | Use) -> Response:
    id = id_of("item")
    if isinstance(did, str):
        part = {"type": "output_text", "text": did, "annotations": []}
        item: Json = {"type": "message", "id": id, "role": "assistant", "content": [part]}
        empty: Json = {**item, "content": []}
    else:
        item = {"type": "function_call", "id": id, "call_id": id_of("call"), "name": did.tool}
        item |= {"namespace": did.namespace} if did.namespace else {}
        empty = {**item, "arguments": ""}
        item["arguments"] = json.dumps(did.arguments)
    item["status"] = "completed"
    usage = {"input_tokens": 9, "output_tokens": 9, "total_tokens": 18}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    whole = {"id": id_of("resp"), "object": "response", "created_at": 1, "model": body.get("model"), "error": None}
    whole |= {"parallel_tool_calls": False, "tool_choice": "auto", "tools": [], "metadata": {}}
    whole |= {"incomplete_details": None, "instructions": None, "temperature": 1.0, "top_p": 1.0}
    done = {**whole, "status": "completed", "output": [item], "usage": usage}
    if not body.get("stream"):
        return JSONResponse(done)
    place = {"item_id": id, "output_index": 0}
    events: list[Json] = [{"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}]
    events.append({"type": "response.output_item.added", "output_index": 0, "item": {**empty, "status": "in_progress"}})
    if isinstance(did, str):
        text = {**place, "content_index": 0}
        events.append({"type": "response.output_text.delta", **text, "delta": did, "logprobs": []})
        events.append({"type": "response.output_text.done", **text, "text": did, "logprobs": []})
    else:
        events.append({"type": "response.function_call_arguments.delta", **place, "delta": item["arguments"]})
        events.append({"type": "response.function_call_arguments.done", **place, "arguments": item["arguments"]})
    events.append({"type": "response.output_item.done", "output_index": 0, "item": item})
    events.append({"type": "response.completed", "response": done})
    return stream((event["type"], {**event, "sequence_number": n}) for n, event in enumerate(events))


def write_gemini(body: Json, did: str | Use) -> Response:
    part: Json = {"text": did} if isinstance(did, str) else {"functionCall": {"name": did.tool, "args": did.arguments}}
    if (body.get("generationConfig") or {}).get("responseMimeType") == "application/json":
        part = {"text": json.dumps({"reasoning": "ok", "next_speaker": "user", "model_choice": "flash"})}
    candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 9, "totalTokenCount": 18}
    whole = {"candidates": [candidate], "modelVersion": "scripted", "usageMetadata": usage}
    return stream([(None, whole)]) if body.get("stream") else JSONResponse(whole)


Read = Callable[[Json], Iterator[Said]]
Write = Callable[[Json, "str | Use"], Response]
APIS: Mapping[str, tuple[Read, Write]] = {
    "messages": (read_anthropic, write_anthropic),
    "completions": (read_chat, write_chat),
    "responses": (read_responses, write_responses),
    "generateContent": (read_gemini, write_gemini),
    "streamGenerateContent": (read_gemini, write_gemini),
}


def build(log: Path) -> Starlette:
    model = Model(log)

    async def answer(request: Request) -> Response:
        last = re.split("[/:]", request.url.path)[-1]
        if last == "models":
            known = [{"id": id, "object": "model", "type": "model", "created": 1} for id in ("scripted", "gpt-5")]
            return JSONResponse({"object": "list", "data": known, "models": [], "has_more": False})
        if last in ("count_tokens", "countTokens"):
            return JSONResponse({"input_tokens": 9, "totalTokens": 9})
        if last not in APIS or request.method != "POST":
            return JSONResponse({}, 200 if request.method == "HEAD" else 404)
        read, write = APIS[last]
        body = await request.json()
        body["stream"] = body.get("stream") or last == "streamGenerateContent"
        return write(body, await model.next(list(read(body)), list(names(body.get("tools")))))

    methods = ["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH"]
    return Starlette(routes=[Route("/{rest:path}", answer, methods=methods)])


if __name__ == "__main__":
    uvicorn.run(build(Path(sys.argv[2])), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
