"""What an installation keeps in its store: large journals, resume codes, claimed effects.

Each is a record that is completed or consumed once. The store is opened when it's first needed, in the event loop that
serves, and expired records are purged from time to time.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from typing import TYPE_CHECKING, Final

from mcp.server.request_state import InvalidRequestState, RequestStateCodec

from midcall.core.wire import spell
from midcall.errors import InvalidJournal, StoreError
from midcall.settings.resuming import PURGE_SECONDS
from midcall.stores.base import Record, Store
from midcall.stores.interactions import digest_of
from midcall.stores.quotas import caller

if TYPE_CHECKING:
    from midcall.server.call import Call

logger = logging.getLogger("midcall.store")

_KEPT: Final = "midcall@"


def is_kept(state: str) -> bool:
    """Whether this state only names a journal in the store."""
    return state.startswith(_KEPT)


class Keeping:
    """The store of an installation."""

    def __init__(self, store: Store, codec: RequestStateCodec, seconds: float) -> None:
        self._store = store
        self._codec = codec
        self._seconds = seconds
        self._loop: asyncio.AbstractEventLoop | None = None
        self._purged = 0.0
        self._purging: asyncio.Task[None] | None = None

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        """The loop that serves and has the store open, if it is running."""
        return self._loop if self._loop is not None and self._loop.is_running() else None

    async def store(self) -> Store:
        """The store, open."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            await self._store.open()
            self._loop = loop
        if time.time() - self._purged > PURGE_SECONDS and (self._purging is None or self._purging.done()):
            self._purged = time.time()
            self._purging = loop.create_task(self._purge())
        return self._store

    async def close(self) -> None:
        """Close the store, even if only the pages of a portal have used it."""
        self._loop = None
        await self._store.close()

    async def create(self, call: Call, id: str, kind: str, data: str) -> tuple[Record, bool]:
        """Create a record for this call, which expires when its state does."""
        if caller.get() is None:  # without a store, or without a request
            caller.set(lambda: call.caller)
        return await self.create_for(call.holder, id, kind, data)

    async def create_for(self, owner: str, id: str, kind: str, data: str) -> tuple[Record, bool]:
        now = time.time()
        record = Record(digest_of(id), kind, owner, data, now, now + self._seconds)
        return await (await self.store()).create(record)

    # --- journals that are too large to travel -------------------------------------------------

    async def put_journal(self, call: Call, text: str) -> str:
        """Store this journal, and return the state that names it."""
        id = secrets.token_urlsafe(24)
        await self.create(call, id, "journal", self._seal(text))
        return f"{_KEPT}{id}"

    async def journal(self, state: str) -> str | None:
        """The journal that this state names, if it is still there."""
        record = await (await self.store()).read(digest_of(state.removeprefix(_KEPT)))
        return None if record is None or record.kind != "journal" else self._unseal(record.data)

    # --- codes --------------------------------------------------------------------------------

    async def put_code(self, call: Call, text: str) -> str:
        """Store this journal, and return the code that opens it."""
        code = spell(secrets.token_bytes(16))
        await self.create(call, f"code:{code}", "code", self._seal(text))
        return code

    async def behind_code(self, code: str, holder: str) -> str | None:
        """The journal behind this code, for its holder.

        Raises:
            InvalidJournal: A server with other keys sealed it, and can still resume the call.
        """
        kept = await (await self.store()).read(digest_of(f"code:{code}"))
        if kept is None or kept.kind != "code" or kept.owner != holder or kept.expires <= time.time():
            return None
        return self._unseal(kept.data)

    async def use_code(self, code: str, holder: str) -> bool:
        """Mark this code as used. False if it was before."""
        return await (await self.store()).consume(digest_of(f"code:{code}"), owner=holder, now=time.time()) is not None

    # --- sealing -------------------------------------------------------------------------------

    def _seal(self, text: str) -> str:
        """Encrypt a journal: every secret of a call derives from it."""
        return json.dumps(self._codec.seal(text.encode("utf-8", "surrogatepass")))

    def _unseal(self, data: str) -> str:
        """Decrypt a journal.

        Raises:
            InvalidJournal: A server with other keys sealed it.
        """
        try:
            return self._codec.unseal(json.loads(data)).decode("utf-8", "surrogatepass")
        except (InvalidRequestState, ValueError):
            raise InvalidJournal(
                "A server with other keys stored the state of this call, so it cannot be read here. Replicas must "
                "share keys."
            ) from None

    # --- purging -------------------------------------------------------------------------------

    async def _purge(self) -> None:
        try:
            await self._store.sweep(time.time())
        except StoreError as error:
            logger.warning("Could not purge expired records: %s", error)
