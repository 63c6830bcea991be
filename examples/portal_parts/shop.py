"""The author's own page, for `visit`. Paying on delivery completes at once; a bank calls back later.

The shop doesn't identify its visitors. For a decision by the right person, use `approve`.
"""

from __future__ import annotations

from collections.abc import Sequence

import httpx2
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from midcall import complete
from midcall.portal.webhooks import BadCallback, Callbacks

from .page import page


class Shop:
    """Lives at this address, and signs what its bank calls back with these keys."""

    def __init__(self, url: str, keys: Sequence[str | bytes]) -> None:
        self._url = url
        self._callbacks = Callbacks(keys)
        self.app = Starlette(
            routes=[
                Route("/paid", self._paid, methods=["POST"]),
                Route("/{id}", self._show, methods=["GET"]),
                Route("/{id}", self._submit, methods=["POST"]),
            ]
        )

    def checkout(self, id: str) -> str:
        """Return the address of the page for this order."""
        return f"{self._url}/{id}"

    async def _show(self, request: Request) -> Response:
        buttons = {"bank": "Pay at the bank", "delivery": "Pay on delivery"}
        return page("Check out", "How would you like to pay?", buttons)

    async def _submit(self, request: Request) -> Response:
        id = request.path_params["id"]
        if (await request.form()).get("do") == "delivery":
            await complete(id)
            return page("Thank you", "You pay on delivery. You can close this page.")
        callback = f"{self._url}/paid?{self._callbacks.sign(id)}"
        response = page("Thank you", "Your bank has been asked. You can close this page.")
        response.background = BackgroundTask(bank, callback)
        return response

    async def _paid(self, request: Request) -> Response:
        """The bank's webhook. It may be called twice, and by anyone."""
        try:
            id = self._callbacks.verify(request.url.query)
        except BadCallback:
            return PlainTextResponse("This is not signed by us, or too old.", 403)
        await complete(id)
        return PlainTextResponse("Noted.")


async def bank(callback: str) -> None:
    """Replace this with your payment service."""
    async with httpx2.AsyncClient(timeout=10) as http:
        await http.post(callback)
