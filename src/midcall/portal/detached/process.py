"""The page process: it serves the open pages of this user's servers, and ends soon after the last one is done."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import select
import signal
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from mcp.server.request_state import AESGCMRequestStateCodec
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from midcall.errors import MidcallError, StoreError
from midcall.language import _
from midcall.portal.app import Portal
from midcall.portal.detached.files import (
    LOG,
    Folder,
    NoPageProcess,
    is_own,
    read_life,
    unlock,
    write_life,
)
from midcall.portal.detached.server import Site
from midcall.portal.identity import Loopback
from midcall.portal.logs import logger
from midcall.settings.portal import (
    MAX_DETACHED_PAGES,
    PAGES_IDLE_SECONDS,
    PAGES_LOG_BYTES,
    PAGES_MESSAGE_BYTES,
    PAGES_POLL_SECONDS,
    PORTAL_HOST,
)
from midcall.stores.interactions import digest_of
from midcall.stores.seal import SealedStore
from midcall.stores.sqlite import SQLite
from midcall.web.local_server import LocalServer
from midcall.web.secret_checks import Check
from midcall.web.security import HEADERS


def main(folder: Path, where: int, control: int, life: int) -> None:
    """Serve with these descriptors, which the server that started us has opened."""
    _log_to(folder / LOG)
    process = PageProcess(Folder(folder), socket.socket(fileno=where), socket.socket(fileno=control), life)
    asyncio.run(process.run())


def _log_to(path: Path) -> None:
    """Web pages can cause log lines, so the file is bounded."""
    handler = RotatingFileHandler(path, maxBytes=PAGES_LOG_BYTES, backupCount=1)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logger.setLevel(logging.INFO)


class PageProcess:
    """Serves the pages that servers hand it.

    Args:
        folder: Where servers find it.
        where: Listens for browsers.
        control: Listens for servers.
        life: The locked file that says that it lives.
    """

    def __init__(self, folder: Folder, where: socket.socket, control: socket.socket, life: int) -> None:
        self._folder, self._where, self._control, self._life = folder, where, control, life
        self._sites: dict[str, _Served] = {}
        self._used = time.monotonic()
        self.connections: set[Connection] = set()
        self.stopping = asyncio.Event()

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stopping.set)
        self._where.setblocking(False)
        self._serving = LocalServer(self, self._where)
        accepting = asyncio.create_task(self._accept())
        write_life(self._life, replace(read_life(self._life), pid=os.getpid()))
        logger.info(f"the page process serves open pages at port {self._where.getsockname()[1]}")
        while not self.stopping.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self.stopping.wait(), PAGES_POLL_SECONDS)
            await self._look_around()
        accepting.cancel()
        for site in self._sites.values():
            await site.close()
        logger.info("the page process has ended")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        prefix = "/" + scope["path"].removeprefix("/").partition("/")[0]
        site = self._sites.get(prefix)
        if site is None:
            await PlainTextResponse(_("There is no such page"), 404, HEADERS)(scope, receive, send)
            return
        self._used = site.used = time.monotonic()
        await site.portal({**scope, "root_path": prefix}, receive, send)

    # --- what servers say -----------------------------------------------------------------------

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            connection, _address = await loop.sock_accept(self._control)
            await loop.connect_accepted_socket(partial(Connection, self), connection)

    def hear(self, message: Mapping[str, Any], connection: Connection) -> None:
        """A server hands over a page, or a command asks us to end."""
        self._used = time.monotonic()
        if message.get("stop"):
            self.stopping.set()
            return
        site = Site.from_data(message["site"])
        if (served := self._sites.get(site.path)) is None:
            port = self._where.getsockname()[1]
            self._sites[site.path] = served = _Served.of(site, f"http://{PORTAL_HOST}:{port}{site.path}")
            logger.info(f"serves pages of {site.server_name!r}")
        served.take(str(message["open"]), float(message["until"]), str(message["secret"]), connection)

    # --- the end --------------------------------------------------------------------------------

    async def _look_around(self) -> None:
        """Forget pages that are done, and end if there was nothing to do for a while."""
        for path, site in list(self._sites.items()):
            await site.forget_done(time.time())
            if not site.open and time.monotonic() - site.used > PAGES_IDLE_SECONDS:
                del self._sites[path]
                await site.close()
        idle = not self._sites and time.monotonic() - self._used > PAGES_IDLE_SECONDS
        if idle or self.stopping.is_set():
            await self._end(forced=self.stopping.is_set())

    async def _end(self, *, forced: bool) -> None:
        """Let another process start, unless a server has just handed us a page: it holds the lock meanwhile."""
        try:
            with self._folder.hold_lock():
                if not forced and self._is_spoken_to():
                    return
                self.stopping.set()
                await self._serving.close()
                unlock(self._life)
        except NoPageProcess as exc:
            if not forced:
                return
            logger.warning(f"it ends although {exc!s}")
            await self._serving.close()
            unlock(self._life)

    def _is_spoken_to(self) -> bool:
        waiting = [self._control, *(each.socket for each in self.connections)]
        return bool(select.select(waiting, (), (), 0)[0])


class Connection(asyncio.Protocol):
    """A server that hands over pages, and checks secrets while it lives."""

    def __init__(self, process: PageProcess) -> None:
        self._process = process
        self._left = b""
        self._asked: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._count = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.socket: Any = transport.get_extra_info("socket")
        if is_own(self.socket):
            self._process.connections.add(self)
        else:
            logger.warning("another user's program was refused")
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._process.connections.discard(self)
        for asked in self._asked.values():
            asked.cancel()

    @property
    def is_open(self) -> bool:
        return self in self._process.connections

    def data_received(self, data: bytes) -> None:
        if not self.is_open:
            return
        *lines, self._left = (self._left + data).split(b"\n")
        try:
            if len(self._left) > PAGES_MESSAGE_BYTES:
                raise ValueError("too long")
            for line in lines:
                self._hear(json.loads(line))
        except (ValueError, TypeError, KeyError, MidcallError) as exc:
            logger.error(f"a server's page cannot be served: {type(exc).__name__}")
            self._transport.abort()

    def _hear(self, message: Mapping[str, Any]) -> None:
        if "check" not in message:
            self._process.hear(message, self)
        elif (asked := self._asked.pop(message["check"], None)) is not None and not asked.done():
            asked.set_result(message)

    async def check(self, secret: str, values: Mapping[str, str]) -> str | None:
        """What the server says is wrong with this secret.

        Raises:
            ConnectionError: It couldn't check.
        """
        self._count += 1
        self._asked[self._count] = answer = asyncio.get_running_loop().create_future()
        question = {"check": self._count, "secret": secret, "values": dict(values)}
        self._transport.write(json.dumps(question).encode() + b"\n")
        await asyncio.wait([answer])
        if answer.cancelled() or answer.result().get("failed"):
            raise ConnectionError("the server could not check it")
        return answer.result()["problem"]


@dataclass(eq=False)
class _Served:
    """The pages of one server."""

    portal: Portal
    file: SQLite
    records: SealedStore
    used: float
    open: dict[str, float] = field(default_factory=dict[str, float])
    """Until when each page is open."""
    askers: dict[str, Connection] = field(default_factory=dict[str, Connection])
    """Who checks each secret."""

    @classmethod
    def of(cls, site: Site, url: str) -> _Served:
        file = SQLite(site.file)
        records = SealedStore(file, AESGCMRequestStateCodec(list(site.keys)), site.identity.of_records)
        portal = Portal(
            url,
            identity=Loopback(),
            providers=site.providers,
            templates=site.templates,
            title=site.title,
            hosts=site.hosts,
            pause=site.pause,
        )
        portal.bind(store=records, identity=site.identity, server_name=site.server_name, keys=site.keys)
        served = cls(portal, file, records, time.monotonic())
        portal.find_check = served.find_check
        return served

    def take(self, id: str, until: float, secret: str, connection: Connection) -> None:
        self.used = time.monotonic()
        if len(self.open) < MAX_DETACHED_PAGES:
            self.open[id] = until
        if secret:
            self.askers[secret] = connection

    def find_check(self, secret: str) -> Check | None:
        """The check of this secret, while its server lives. Without one, the server checks when it continues."""
        asker = self.askers.get(secret)
        return partial(asker.check, secret) if asker is not None and asker.is_open else None

    async def forget_done(self, now: float) -> None:
        """Forget pages that are answered or have expired, or that are gone with their store."""
        if not self.file.path.exists():
            self.open.clear()
            return
        asked = {digest_of(id): id for id, until in self.open.items() if until > now}
        try:
            found = await self.records.look(list(asked)) if asked else {}
        except StoreError as exc:
            logger.warning(f"the store cannot be read: {exc!s}")
            return
        done = {id for each, id in asked.items() if each not in found or not found[each].pending}
        self.open = {id: until for id, until in self.open.items() if id not in done and until > now}

    async def close(self) -> None:
        await self.records.close()
