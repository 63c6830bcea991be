"""Pages of a call that is over are closed, and say that it is; no page says that a call continues when it doesn't."""

from __future__ import annotations

import asyncio

import pytest

from midcall import approve
from midcall.errors import TimedOut
from midcall.testing import Era, connect
from tests.portal.sites import Visitor, controls_of
from tests.server.codes import shown
from tests.server.people import WITH_URLS, WITHIN, Person, installed

eras = pytest.mark.parametrize("era", WITH_URLS)


class Reader(Person):
    """Opens a page, reads for a while, and then tries to approve."""

    def __init__(self) -> None:
        super().__init__(self._read)
        self.opened, self.over = asyncio.Event(), asyncio.Event()
        self.again = self.late = ""

    async def _read(self, visitor: Visitor, id: str) -> None:
        given = dict(controls_of((await visitor.open(id)).text)) | {"do": "accept"}
        self.opened.set()
        await self.over.wait()
        while (page := await visitor.open(id)).status_code == 200:
            pass
        self.again = page.text
        self.late = (await visitor.post(f"/i/{id}", given)).text

    async def finish(self) -> None:
        self.over.set()
        async with asyncio.timeout(WITHIN):
            await asyncio.gather(*self.tasks)


@eras
async def test_cancelling_a_call_closes_its_page(era: Era, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCALL_HEARTBEAT", "0.05")
    held = asyncio.Event()

    async def progress(*_: object) -> None:
        held.set()

    async def pay() -> str:
        return "paid" if await approve("Pay?") else "not paid"

    person = Reader()
    async with installed(pay) as (server, _), connect(server, person, era=era) as client:
        calling = asyncio.create_task(client.call_tool("pay", {}, progress_callback=progress))
        async with asyncio.timeout(WITHIN):
            await person.opened.wait()
            await held.wait()
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        await person.finish()
    for page in (person.again, person.late):
        assert "no longer needed" in page
        assert "Approved" not in page


@eras
async def test_a_tool_that_returns_without_its_page_closes_it(era: Era) -> None:
    async def pay() -> str:
        try:
            return "paid" if await approve("Pay?", timeout=0.3) else "not paid"
        except TimedOut:
            return "too late"

    person = Reader()
    async with installed(pay) as (server, _), connect(server, person, era=era) as client:
        assert shown(await client.call_tool("pay", {})) == "too late"
        await person.finish()
    assert "no longer needed" in person.again
    assert "no longer needed" in person.late
