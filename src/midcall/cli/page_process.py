"""`midcall pages`: the process that serves open pages after their servers have ended."""

from __future__ import annotations

import json
import time
from contextlib import closing

from midcall.cli.console import Console
from midcall.cli.exits import DONE, TOOL_FAILED, Ends
from midcall.cli.stdout import print_out
from midcall.core.text import plain
from midcall.portal.detached.files import LOG, Folder, NoPageProcess
from midcall.settings.portal import PAGES_RETRY_SECONDS, PAGES_STOP_SECONDS


def run(*, stop: bool) -> int:
    """Say whether it runs, or end it."""
    try:
        folder = Folder.find()
        print_out(f"{plain(_stop(folder) if stop else _describe(folder))}\n")
    except (NoPageProcess, OSError) as exc:
        raise Ends(TOOL_FAILED, f"{Console().ink.bad('✗')} The page process: {plain(str(exc))}") from None
    return DONE


def _describe(folder: Folder) -> str:
    life = folder.find_running()
    if life is None:
        return "No page process runs: no page of a stdio server is open."
    process = f"Process {life.pid}" if life.pid else "A process that is still starting"
    return f"{process} serves open pages at 127.0.0.1:{life.port}. Its log is {folder.path / LOG!s}."


def _stop(folder: Folder) -> str:
    if folder.find_running() is None:
        return "No page process runs."
    with folder.hold_lock(), closing(folder.connect()) as connection:
        connection.sendall(json.dumps({"stop": True}).encode() + b"\n")
    until = time.monotonic() + PAGES_STOP_SECONDS
    while folder.find_running() is not None:
        if time.monotonic() > until:
            raise NoPageProcess("it was told to end, and has not ended yet")
        time.sleep(PAGES_RETRY_SECONDS)
    return "Stopped. Open pages can't be answered until a server hands them over again, when their calls continue."
