"""One of several processes that do something to a store at the same moment.

Reads lines of JSON: a URL, an action and its arguments. It connects, prints `ready`, acts when the next line arrives,
and prints the result as JSON, until the input ends.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import asdict
from typing import Any

from midcall.stores import Record, Store, Value, open_store


async def act(store: Store, action: str, given: dict[str, Any]) -> Any:
    match action:
        case "open":
            return await store.open()
        case "create":
            record, made = await store.create(Record(**given))
            return [record.data, made]
        case "change":
            record, won = await store.change(Record(**given["record"]), given["version"])
            return [None if record is None else asdict(record), won]
        case "complete":
            return await store.complete(given["id"], given["outcome"], owner=given["owner"], now=given["now"])
        case "consume":
            record = await store.consume(given["id"], owner=None, now=given["now"])
            return None if record is None else asdict(record)
        case "swap":
            value = Value("ann", "token", given["new"].encode(), 1.0)
            return await store.put(value, instead_of=given["old"].encode())
        case "wait":
            record = await store.wait(given["id"], given["seconds"], version=given.get("version"))
            return [None if record is None else record.outcome, time.time()]
        case _:
            raise AssertionError(action)


async def run(url: str, action: str, given: dict[str, Any]) -> None:
    store = open_store(url)
    if action != "open":
        await store.open()
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    print(json.dumps(await act(store, action, given)), flush=True)
    await store.close()


if __name__ == "__main__":
    while line := sys.stdin.readline():
        asyncio.run(run(**json.loads(line)))
