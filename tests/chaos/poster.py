"""One of several processes that post the same page at the same moment.

Reads lines of JSON, like `tests/contract/racer.py`: a URL, and a post's headers and data. It connects, prints `ready`,
posts when the next line arrives, and prints the response's status.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import httpx2


def run(url: str, action: str, given: dict[str, Any]) -> None:
    with httpx2.Client(headers=given["headers"], timeout=30) as http:
        http.get(url.partition("/i/")[0] + "/health")  # now it's connected
        print("ready", flush=True)
        sys.stdin.readline()
        print(http.post(url, data=given["data"]).status_code, flush=True)


if __name__ == "__main__":
    while line := sys.stdin.readline():
        run(**json.loads(line))
