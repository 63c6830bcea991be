"""A server in plain JSON-RPC over stdio, for what other people's servers send: the standard library is all it needs.

Its tool `play`, prompt `story` and resources take the steps that they play, one call after the other:

    {"push": {...}}             asks with these params, and waits for the response
    {"push": ..., "refusal": …} the same, but on 2026-07-28 this is the call's outcome
    {"notify": [method, {...}]} sends a notification
    {"result": {...}}           ends this call; the next one continues with the step after it
    {"error": {...}}            the same; "then" is a list of notifications that follow it

After the last step, a call returns what the server has seen: responses, calls and their times.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any
from urllib.parse import unquote

NEW = "2026-07-28"
INFO = {"name": "peer", "title": "Peer", "version": "7"}
TOOL = {"name": "play", "description": "Play these steps.", "inputSchema": {"type": "object"}}


class Peer:
    def __init__(self, versions: list[str]) -> None:
        self._versions = versions
        self._version = ""
        self._at: dict[str, int] = {}
        self._seen: dict[str, dict[str, Any]] = {}
        self._asked = 0
        self._responses: dict[str, dict[str, Any]] = {}

    def run(self) -> None:
        while message := self._read():
            if "method" in message and "id" in message:
                self._reply(message)

    def _read(self) -> dict[str, Any] | None:
        line = sys.stdin.readline()
        return json.loads(line) if line else None

    def _send(self, **message: Any) -> None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    def _reply(self, message: dict[str, Any]) -> None:
        outcome = self._outcome(message.get("method", ""), message.get("params") or {})
        then = outcome.pop("then", [])
        self._send(id=message["id"], **outcome)
        for method, params in then:
            self._send(method=method, params=params)

    def _outcome(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        modern = params.get("_meta", {}).get("io.modelcontextprotocol/protocolVersion") == NEW
        extra = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if modern else {}
        capabilities = {"tools": {}, "prompts": {}, "resources": {}}
        if method == "server/discover" and NEW in self._versions:
            meta = {"io.modelcontextprotocol/serverInfo": INFO}
            return {
                "result": {"supportedVersions": self._versions, "capabilities": capabilities, "_meta": meta} | extra
            }
        if method == "initialize":
            older = [version for version in self._versions if version != NEW]
            wanted = params["protocolVersion"]
            self._version = wanted if wanted in older else older[0]
            return {"result": {"protocolVersion": self._version, "capabilities": capabilities, "serverInfo": INFO}}
        if method == "tools/list":
            return {"result": {"tools": [TOOL], **extra}}
        if method in ("tools/call", "prompts/get", "resources/read"):
            return self._play(params, modern)
        return {"error": {"code": -32601, "message": f"Method not found: {method}"}}

    def _play(self, params: dict[str, Any], modern: bool) -> dict[str, Any]:
        steps = _steps(params)
        name = json.dumps(steps)
        seen = self._seen.setdefault(name, {"calls": [], "answers": [], "times": [], "versions": []})
        seen["calls"].append({key: params.get(key) for key in ("requestState", "inputResponses") if key in params})
        seen["times"].append(time.monotonic())
        seen["versions"].append(NEW if modern else self._version)
        while (at := self._at.get(name, 0)) < len(steps):
            self._at[name] = at + 1
            step = steps[at]
            if modern and "refusal" in step:
                self._at[name] = at
                return dict(step["refusal"])
            if "push" in step:
                seen["answers"].append(self._ask(step["push"]))
            elif "notify" in step:
                self._send(method=step["notify"][0], params=step["notify"][1])
            else:
                return dict(step)
        text = json.dumps(seen)
        complete = {"resultType": "complete"} if modern else {}
        if "uri" in params:
            cache = {"ttlMs": 0, "cacheScope": "private"} if modern else {}
            return {"result": {"contents": [{"uri": params["uri"], "text": text}], **complete, **cache}}
        block = {"type": "text", "text": text}
        result = (
            {"messages": [{"role": "user", "content": block}]} if params["name"] == "story" else {"content": [block]}
        )
        return {"result": {**result, **complete}}

    def _ask(self, params: dict[str, Any]) -> dict[str, Any]:
        self._asked += 1
        id = f"q{self._asked}"
        self._send(id=id, method="elicitation/create", params=params)
        while id not in self._responses:
            if (message := self._read()) is None:
                raise SystemExit
            if "method" not in message:
                self._responses[message["id"]] = {key: message[key] for key in ("result", "error") if key in message}
            elif "id" in message:
                self._reply(message)
        return self._responses.pop(id)


def _steps(params: dict[str, Any]) -> list[dict[str, Any]]:
    """Those of a tool, of the prompt `story`, whose arguments are text, or of a resource, which has only its URI."""
    given = unquote(params["uri"].removeprefix("play:")) if "uri" in params else params["arguments"]["steps"]
    return json.loads(given) if isinstance(given, str) else given


if __name__ == "__main__":
    Peer(sys.argv[1].split(",") if len(sys.argv) > 1 else [NEW, "2025-11-25", "2025-06-18"]).run()
