"""The cable between a store and its server: it can be cut, and mended."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from tests.serving import free_port


class Cable:
    """Passes everything on to a server, while it is whole."""

    def __init__(self, port: int) -> None:
        self._to = port
        self.port = free_port()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._passing: set[asyncio.Task[None]] = set()
        self.connections = 0
        self._passes = asyncio.Event()
        self._passes.set()

    def go_silent(self) -> None:
        """Connections stay, and can be made, and nothing comes through: a firewall, a machine that hangs."""
        self._passes.clear()

    async def mend(self) -> None:
        self._passes.set()
        if self._server is not None:
            return
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", self.port)

    async def cut(self) -> None:
        """Every connection breaks, and no other can be made."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for writer in list(self._open):
            writer.transport.abort()
        for task in self._passing:
            task.cancel()
        await asyncio.gather(*self._passing, return_exceptions=True)

    async def __aenter__(self) -> Cable:
        await self.mend()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.cut()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        there, back = await asyncio.open_connection("127.0.0.1", self._to)
        self._open |= {writer, back}
        for task in (
            asyncio.create_task(self._pass_on(reader, back)),
            asyncio.create_task(self._pass_on(there, writer)),
        ):
            self._passing.add(task)
            task.add_done_callback(self._passing.discard)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                await self._passes.wait()
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            self._open.discard(writer)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
