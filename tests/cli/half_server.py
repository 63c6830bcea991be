"""A server that describes half of its tools in ways that cannot be understood. It speaks any version."""

from __future__ import annotations

import json
import sys
from typing import Any

EVIL = "\x1b[2J\x1b]8;;http://evil.example\x07click\u202e"
ANY = {"type": "object"}
INFO = {"name": "half", "version": "1"}
DONE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
TOOLS: list[Any] = [
    {"name": "good", "inputSchema": ANY},
    {"name": "formless"},
    {"inputSchema": ANY},
    "rubbish",
    {"name": f"odd{EVIL}", "inputSchema": ANY, "description": {EVIL: EVIL}},
    {"name": "fine", "inputSchema": ANY},
]


def result(method: str, params: Any) -> Any:
    match method:
        case "initialize":
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": INFO}
        case "server/discover":
            meta = {"io.modelcontextprotocol/serverInfo": INFO}
            return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "_meta": meta, **DONE}
        case "tools/list":
            return {"tools": TOOLS, **DONE}
        case _:
            return {"content": [{"type": "text", "text": f"called {params['name']}"}], **DONE}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": result(request["method"], request.get("params"))}
        print(json.dumps(answer), flush=True)
