"""Three replicas of the portal example on one store, behind a proxy, with an issuer whose tokens they accept.

The service that users connect to runs here, so it survives the death of a replica.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from examples.portal_parts.tracker import Tracker
from tests.chaos.proxy import Proxy, proxy
from tests.contract.conftest import place
from tests.portal.identity.issuers import Issuer, issuing
from tests.portal.running import Process, listening, running, start
from tests.serving import free_port

THREE = range(3)


@dataclass
class Replicas:
    """The running replicas, and ways to end one."""

    front: Proxy
    issuer: Issuer
    home: Path
    options: tuple[str, ...]
    hold: float
    processes: list[Process] = field(default_factory=list)

    @property
    def mcp(self) -> str:
        return f"{self.front.url}/mcp"

    def begin(self, number: int, port: int) -> Process:
        log = self.home / f"log-{number}"
        return start(log, self.options[0], *self.options[1:], "--stateless", hold=self.hold, port=port)

    def kill(self, number: int) -> None:
        self.processes[number].kill()

    async def stop(self, number: int) -> int:
        """Stop it as an operator would. Returns its exit code."""
        self.processes[number].popen.terminate()
        return await asyncio.to_thread(self.processes[number].popen.wait, 10)

    async def restart(self, number: int) -> None:
        """Start it again at the same place."""
        port = int(self.processes[number].url.rpartition(":")[2])
        self.processes[number] = self.begin(number, port)
        await asyncio.to_thread(listening, self.processes[number])

    def token(self, sub: str) -> str:
        return self.issuer.token(self.mcp, sub=sub, exp=4_000_000_000)

    @property
    def payments(self) -> list[str]:
        """The payments by idempotency key."""
        ledger = self.home / "ledger"
        return [line.split()[0] for line in ledger.read_text().splitlines()] if ledger.exists() else []

    @property
    def logs(self) -> str:
        return "\n".join((self.home / f"log-{number}").read_text() for number in THREE)


@asynccontextmanager
async def replicas(kind: str, home: Path, *, hold: float = 20.0) -> AsyncGenerator[Replicas]:
    """Three replicas on this kind of store, all listening."""
    async with place(kind, home) as store, issuing() as issuer, proxy() as front:
        tracker = Tracker(
            f"{front.url}/tracker", f"{front.url}/midcall/callback/tracker", "what the tracker signs with"
        )
        front.serve("/tracker", tracker.app)
        shared = ("--base-url", front.url, "--issuer", issuer.url, "--ledger", str(home / "ledger"))
        found = Replicas(front, issuer, home, (store, *shared), hold)
        found.processes = [found.begin(number, free_port()) for number in THREE]
        front.replicas = [each.url for each in found.processes]
        with running(found.processes):
            yield found
