"""A server whose tools wait, and record what happens to them.

Run as a script, it serves over stdio, or with `--http PORT` over HTTP. The trail is a file, so that it can be read when
the process is gone.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn

import midcall
from tests.calling import Elicit, bare_asking
from tests.kinds import Kind

POLL_SECONDS = 0.01


def read(trail: Path) -> list[str]:
    return trail.read_text().split("\n")[:-1] if trail.exists() else []


async def written(trail: Path, step: str) -> None:
    """Wait until the other process has written this."""
    while step not in read(trail):
        await asyncio.sleep(POLL_SECONDS)


def build(kind: Kind, trail: Path) -> Any:
    def note(step: str) -> None:
        with trail.open("a") as file:
            file.write(f"{step}\n")

    @asynccontextmanager
    async def lifespan(server: Any) -> AsyncIterator[dict[str, Any]]:
        try:
            yield {}
        finally:
            note("closed")

    async def works(elicit: Elicit) -> str:
        """Keeps working after its answer, forever."""
        note("began")
        await elicit("a?")
        note("working")
        try:
            await asyncio.Event().wait()
        finally:
            note("ended")
        return "never"

    async def waits(elicit: Elicit) -> str:
        """Waits for its answer."""
        note("began")
        try:
            answer = await elicit("a?")
            note("answered")
            return answer
        finally:
            note("ended")

    async def works_until_told(elicit: Elicit) -> str:
        """Keeps working after its answer, until the test writes to the trail."""
        note("began")
        await elicit("a?")
        note("working")
        try:
            await written(trail, "continue")
        except asyncio.CancelledError:
            note("cancelled")
            raise
        return "done"

    server = bare_asking(kind, works, waits, works_until_told, lifespan=lifespan)
    midcall.install(server)
    return server


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", type=int)
    parser.add_argument("--kind", default="mcpserver", choices=("mcpserver", "lowlevel", "fastmcp"))
    parser.add_argument("--trail", type=Path, required=True)
    arguments = parser.parse_args()
    server = build(arguments.kind, arguments.trail)
    if arguments.http is not None:
        app = server.http_app() if arguments.kind == "fastmcp" else server.streamable_http_app()
        uvicorn.run(app, port=arguments.http, log_level="warning", timeout_graceful_shutdown=1)
    else:
        server.run("stdio")


if __name__ == "__main__":
    main()
