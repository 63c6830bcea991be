"""Three replicas of `order_server.py` behind a proxy: what they did, and what was done to them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGCONT, SIGSTOP
from typing import NamedTuple

from tests.chaos import order_server
from tests.chaos.proxy import Proxy, proxy
from tests.contract.conftest import place
from tests.portal.running import KEYS, Process, listening, running
from tests.serving import environment, free_port
from tests.warm import started

NAMES = "abc"
SCRIPT = str(Path(order_server.__file__))


class Line(NamedTuple):
    """Something that a process did, or that was done to it."""

    call: str
    effect: str
    replica: str
    pid: int
    begun: float
    ended: float


class Fault(NamedTuple):
    """Why a process may have looked gone, and when."""

    pid: int
    begun: float
    ended: float


@dataclass
class Fleet:
    """The running replicas, and ways to disturb them."""

    front: Proxy
    home: Path
    store: str
    processes: list[Process] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    """What was done to which replica, for the report."""

    @property
    def mcp(self) -> str:
        return f"{self.front.url}/mcp"

    def begin(self, number: int, port: int) -> Process:
        ledger, log = self.home / "ledger", self.home / f"log-{number}"
        command = [SCRIPT, "--port", str(port), "--store", self.store, "--ledger", str(ledger), "--name", NAMES[number]]
        with log.open("a") as stderr:
            popen = started(command, stderr=stderr, env=environment(MIDCALL_KEYS=KEYS))
        return Process(popen, f"http://127.0.0.1:{port}", log)

    async def kill(self, number: int) -> None:
        """Kill it; another process takes its place."""
        self._note(number, "killed")
        self.processes[number].kill()
        await self._restart(number)

    async def end(self, number: int) -> None:
        """Stop it as an operator would."""
        self._note(number, "ended")
        process = self.processes[number].popen
        process.terminate()
        await asyncio.to_thread(process.wait, 20)
        await self._restart(number)

    async def stop(self, number: int, seconds: float) -> None:
        """Pause it for this long, then let it continue as if nothing had happened."""
        process, begun = self.processes[number].popen, time.monotonic()
        self.done.append(f"stopped {NAMES[number]}")
        process.send_signal(SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            process.send_signal(SIGCONT)
            self.faults.append(Fault(process.pid, begun, time.monotonic()))

    def _note(self, number: int, what: str) -> None:
        self.done.append(f"{what} {NAMES[number]}")
        self.faults.append(Fault(self.processes[number].popen.pid, now := time.monotonic(), now))

    async def _restart(self, number: int) -> None:
        port = int(self.processes[number].url.rpartition(":")[2])
        self.processes[number] = self.begin(number, port)
        await asyncio.to_thread(listening, self.processes[number])

    @property
    def lines(self) -> list[Line]:
        ledger = self.home / "ledger"
        rows = [row.split() for row in ledger.read_text().splitlines()] if ledger.exists() else []
        return [Line(c, e, r, int(pid), float(begun), float(ended)) for c, e, r, pid, begun, ended in rows]

    def hits(self, pids: set[int], begun: float, ended: float) -> int:
        """How often one of these processes died, was stopped or got no CPU meanwhile."""
        blocked = [Fault(line.pid, line.begun, line.ended) for line in self.lines if line.effect == "blocked"]
        stopped = {fault for fault in self.faults if fault.pid in pids and _meet(fault, begun, ended)}
        alone = {
            fault
            for fault in blocked
            if fault.pid in pids
            and _meet(fault, begun, ended)
            and not any(other.pid == fault.pid and _meet(fault, other.begun, other.ended) for other in self.faults)
        }
        return len(stopped) + len(alone)

    async def next_line(self, *effects: str) -> Line:
        """Wait until a process has one of these effects: it has claimed its turn but not settled it."""
        seen = len(self.lines)
        while True:
            found = [line for line in self.lines[seen:] if line.effect in effects]
            if found:
                return found[0]
            await asyncio.sleep(0.005)

    def number_of(self, line: Line) -> int:
        return NAMES.index(line.replica)


def _meet(fault: Fault, begun: float, ended: float) -> bool:
    return fault.begun <= ended and fault.ended >= begun


@asynccontextmanager
async def fleet(kind: str, home: Path) -> AsyncGenerator[Fleet]:
    """Three replicas on this kind of store, all listening."""
    async with place(kind, home) as store, proxy() as front:
        found = Fleet(front, home, store)
        found.processes = [found.begin(number, free_port()) for number in range(3)]
        front.replicas = [each.url for each in found.processes]
        with running(found.processes):
            yield found
