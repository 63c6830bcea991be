"""A client on 2026-07-28 that does each round by hand, so that it can resend one that got no response."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client, MCPError
from mcp_types import INTERNAL_ERROR

from midcall.client import connect
from tests.chaos.replicas import Replicas
from tests.portal.people import Person
from tests.rounds import raw_call, text

AGREED = {"action": "accept"}
TRIES = 60
PAUSE = 0.1


class Calling:
    """One call, over as many rounds and replicas as it takes.

    Attributes:
        questions: The keys of all questions, repeats included.
        repeated: How many rounds were resent.
    """

    def __init__(self, client: Client, tool: str, person: Person) -> None:
        self.client = client
        self._tool = tool
        self._person = person
        self.questions: list[str] = []
        self.repeated = 0

    async def begin(self) -> dict[str, Any]:
        """Send the first round."""
        return await self._sure(None, None)

    async def go_on(self, said: dict[str, Any]) -> dict[str, Any]:
        """Send the next round: the person agrees to the visit and starts it."""
        requests: dict[str, Any] = said.get("inputRequests") or {}
        for key, request in requests.items():
            self.questions.append(key)
            self._person.go(request["params"]["url"])
        return await self._sure(said["requestState"], dict.fromkeys(requests, AGREED))

    async def whole(self) -> str:
        """Run from the first round to the result."""
        said = await self.begin()
        while "requestState" in said:
            said = await self.go_on(said)
        return text(said)

    async def _sure(self, state: str | None, answers: dict[str, Any] | None) -> dict[str, Any]:
        """Send this round until a replica answers."""
        for _ in range(TRIES):
            try:
                return await raw_call(self.client, self._tool, {}, state=state, answers=answers)
            except (MCPError, httpx2.HTTPError) as exc:
                if isinstance(exc, MCPError) and exc.code != INTERNAL_ERROR:  # how the SDK reports a 502
                    raise
                self.repeated += 1
                await asyncio.sleep(PAUSE)
        raise AssertionError("nobody answers")


@asynccontextmanager
async def calling(at: Replicas, tool: str, person: Person, sub: str = "ada") -> AsyncGenerator[Calling]:
    headers = {"authorization": f"Bearer {at.token(sub)}"}
    is_over = False
    try:
        async with connect(at.mcp, person, era="2026-07-28", headers=headers) as client:
            yield Calling(client, tool, person)
            is_over = True
    except httpx2.RemoteProtocolError:  # the SDK's transport ends with an error if a kill cut off a response
        if not is_over:
            raise
