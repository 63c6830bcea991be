"""Run every host against one of our servers, and write what it did into docs/hosts.md.

    python -m scripts.hosts                 # all of them; then it writes the table
    python -m scripts.hosts codex gemini    # only these, and the table stays as it is

Everything runs in a network of its own that has only loopback, with homes of its own and nothing of this machine's
environment. The processes are in a namespace of their own too, and end with this program.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Final

from scripts.hosts import seen, terminal
from scripts.hosts.hosts import HERE, HOSTS, Host, Room
from scripts.hosts.isolation import INSIDE, end_others, enter, free_port, raise_loopback
from scripts.peers import ROOT, node

PAGE: Final = ROOT / "docs" / "hosts.md"
BEGIN, END = "<!-- hosts: begin -->", "<!-- hosts: end -->"
PROMPT: Final = 'CALL plan {"city": "Oslo"}'
SECONDS: Final = float(os.environ.get("HOSTS_SECONDS", "240"))
"""How long one host may take."""


def environment(host: Host, room: Room) -> dict[str, str]:
    binary = node()
    path = f"{binary.parent}:/usr/bin:/bin" if binary else "/usr/bin:/bin"
    bare = {"HOME": str(room.home), "PATH": path, "TERM": "xterm-256color", "LANG": "C.UTF-8", "SHELL": "/bin/bash"}
    return {**bare, **host.env(room)}


async def run(command: list[str], host: Host, room: Room) -> bool:
    """Run this to its end. False if it takes too long: then it's killed, with everything that it started."""
    with (room.home / "out.txt").open("a") as out:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=room.work,
            env=environment(host, room),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(SECONDS):
                await process.wait()
            return True
        except TimeoutError:
            return False
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def try_out(host: Host, room: Room, model: int) -> seen.Row:
    """What it does with one call and nobody at its keys, and then with a person there."""
    if host.why_not:
        return seen.Row(host.name, host.package, missing=host.why_not)
    if not host.needs.exists():
        return seen.Row(host.name, host.package, missing="not installed: run `make hosts`")
    room.work.mkdir(parents=True)
    host.prepare(room)
    if host.before is not None:
        await run(list(host.before(room)), host, room)
        end_others(model)
    in_time = await run(list(host.command(room, PROMPT)), host, room)
    end_others(model)
    row = seen.read(host, room.wire, in_time=in_time, seconds=SECONDS)
    if host.terminal is None:
        return row
    room.wire.rename(room.home / "wire-alone.jsonl")
    try:
        async with asyncio.timeout(SECONDS):
            person = await terminal.try_out(host, room, environment(host, room))
    except (TimeoutError, OSError) as error:
        person = f"not finished: {type(error).__name__}"
    end_others(model)
    return replace(row, person=person)


async def main(wanted: list[str], keep: Path) -> int:
    raise_loopback()
    port = free_port()
    log = keep / "model.jsonl"
    model = await asyncio.create_subprocess_exec(sys.executable, "-m", "scripts.hosts.model", str(port), str(log))
    await _listens(port)
    rows: list[seen.Row] = []
    for host in HOSTS:
        if wanted and not any(name.lower() in host.name.lower() for name in wanted):
            continue
        begun = time.monotonic()
        room = Room(keep / host.name.lower().replace(" ", "-"), port)
        row = await try_out(host, room, model.pid)
        rows.append(row)
        print(f"{host.name} ({time.monotonic() - begun:.0f} s): {row}", flush=True)
    model.kill()
    await model.wait()
    print(f"\nWhat was said: {keep}")
    if wanted:
        return 0
    before, _, rest = PAGE.read_text().partition(BEGIN)
    today = f"Run on {date.today():%d %B %Y} with midcall {version('midcall')} and mcp {version('mcp')}, over stdio."
    PAGE.write_text(f"{before}{BEGIN}\n{today}\n\n{seen.table(rows)}\n{END}{rest.partition(END)[2]}")
    print(f"{PAGE.relative_to(ROOT)} is up to date.")
    return 0


async def _listens(port: int) -> None:
    async with asyncio.timeout(60):
        while True:
            with suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                return
            await asyncio.sleep(0.1)


if __name__ == "__main__":
    if INSIDE not in os.environ:
        enter([sys.executable, "-m", "scripts.hosts", *sys.argv[1:]], HERE)
    folder = Path(os.environ.get("HOSTS_KEEP") or tempfile.mkdtemp(prefix="midcall-hosts-"))
    folder.mkdir(parents=True, exist_ok=True)
    sys.exit(asyncio.run(main(sys.argv[1:], folder)))
