"""What an installation keeps in its store: large journals, codes to go on with, effects that were begun.

All of it is a record that happens once. The store is opened when it is first needed, in the event
loop that serves, and swept now and then.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from typing import TYPE_CHECKING, Final

from mcp.server.request_state import InvalidRequestState

from midcall.errors import InvalidJournal
from midcall.stores.base import Record, Store, StoreError
from midcall.stores.interactions import digest_of

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.installation import Installation

__all__ = ["Keeping", "is_kept"]

logger = logging.getLogger("midcall.store")

_SWEEP_SECONDS: Final = 300.0
_KEPT: Final = "midcall@"


def is_kept(state: str) -> bool:
    """Whether this state only names a journal in the store."""
    return state.startswith(_KEPT)


class Keeping:
    """The store of an installation."""

    def __init__(self, store: Store, seconds: float) -> None:
        self._store = store
        self._seconds = seconds
        self._loop: asyncio.AbstractEventLoop | None = None
        self._swept = 0.0
        self._sweeping: asyncio.Task[None] | None = None

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        """The loop that serves, and has the store open; None before it was needed, and after that has ended."""
        return self._loop if self._loop is not None and self._loop.is_running() else None

    async def store(self) -> Store:
        """The store, open."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            await self._store.open()
            self._loop = loop
        self._sweep_at_times(loop)
        return self._store

    async def close(self) -> None:
        """Let go of the store, also where only the pages of a portal have used it."""
        self._loop = None
        await self._store.close()

    async def create(self, call: Call, id: str, kind: str, data: str) -> tuple[Record, bool]:
        """A record of this call's, which lives as long as its state may."""
        return await self.create_for(call.owner, id, kind, data)

    async def create_for(self, owner: str, id: str, kind: str, data: str) -> tuple[Record, bool]:
        now = time.time()
        record = Record(digest_of(id), kind, owner, data, now, now + self._seconds)
        return await (await self.store()).create(record)

    # --- journals that are too large to travel -------------------------------------------------

    async def put_journal(self, call: Call, text: str) -> str:
        """Keep this journal; the state that names it."""
        id = secrets.token_urlsafe(24)
        await self.create(call, id, "journal", _sealed(call.installation, text))
        return f"{_KEPT}{id}"

    async def journal(self, installation: Installation, state: str) -> str | None:
        """The journal that this state names, if it is still there."""
        record = await (await self.store()).read(digest_of(state.removeprefix(_KEPT)))
        return None if record is None or record.kind != "journal" else _opened(installation, record.data)

    # --- codes --------------------------------------------------------------------------------

    async def put_code(self, call: Call, text: str) -> str:
        """Keep this journal for whoever comes with the code."""
        code = secrets.token_urlsafe(16)
        await self.create(call, f"code:{code}", "code", _sealed(call.installation, text))
        return code

    async def behind_code(self, installation: Installation, code: str, owner: str) -> str | None:
        """The journal behind this code, for its owner.

        Raises:
            InvalidJournal: A server with other keys has sealed it, and can still go on with it.
        """
        kept = await (await self.store()).read(digest_of(f"code:{code}"))
        if kept is None or kept.kind != "code" or kept.owner != owner:
            return None
        return _opened(installation, kept.data)

    async def use_code(self, code: str, owner: str) -> bool:
        """Go on with this code, which nobody can do a second time."""
        return await (await self.store()).consume(digest_of(f"code:{code}"), owner=owner, now=time.time()) is not None

    def _sweep_at_times(self, loop: asyncio.AbstractEventLoop) -> None:
        if time.time() - self._swept > _SWEEP_SECONDS and (self._sweeping is None or self._sweeping.done()):
            self._swept = time.time()
            self._sweeping = loop.create_task(self._sweep())

    async def _sweep(self) -> None:
        try:
            await self._store.sweep(time.time())
        except StoreError as error:
            logger.warning("the store could not be swept: %s", error)


def _sealed(installation: Installation, text: str) -> str:
    """A journal as the store may see it: everything that is secret about a call derives from it."""
    return json.dumps(installation.codec.seal(text.encode("utf-8", "surrogatepass")))


def _opened(installation: Installation, data: str) -> str:
    """A journal that was sealed by a server with the same keys.

    Raises:
        InvalidJournal: It was not.
    """
    try:
        return installation.codec.unseal(json.loads(data)).decode("utf-8", "surrogatepass")
    except (InvalidRequestState, ValueError):
        raise InvalidJournal(
            "The state of this call was kept by a server with other keys, and cannot be read here. Replicas share keys."
        ) from None
