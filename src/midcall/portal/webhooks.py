"""Signed callbacks from other services: knowing a webhook's address is not enough to finish a visit.

callbacks = Callbacks(keys)
url = f"https://shop.example.com/paid?{callbacks.sign(id)}"      # give this to the other service
...
id = callbacks.verify(request.url.query)                         # in the route that it calls
await midcall.complete(id)
"""

from __future__ import annotations

import hmac
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from hashlib import sha256
from urllib.parse import parse_qs, urlencode

from midcall.errors import MidcallError
from midcall.settings.portal import WEBHOOK_SECONDS
from midcall.stores.keys import Key, derive


class BadCallback(MidcallError):
    """A callback that we did not sign, that was changed, or that has expired. Respond with 403."""


class Callbacks:
    """Signs the URLs that other services call back, and verifies them.

    Args:
        keys: At least 32 bytes each; the first signs, all verify. `MIDCALL_KEYS` will do.
        lasts: For how many seconds a signature is valid.
        clock: Seconds since the epoch; for tests.
    """

    def __init__(
        self, keys: Sequence[Key] | Key, *, lasts: float = WEBHOOK_SECONDS, clock: Callable[[], float] = time.time
    ) -> None:
        self._keys = derive([keys] if isinstance(keys, str | bytes) else list(keys), "callbacks")
        self._lasts = lasts
        self._clock = clock

    def sign(self, id: str) -> str:
        """The query for the URL of a callback about this visit."""
        until = str(int(self._clock() + self._lasts))
        return urlencode({"id": id, "until": until, "signature": _signature(self._keys[0], id, until)})

    def verify(self, query: str) -> str:
        """Verify this query, and return the id of its visit.

        Raises:
            BadCallback: It is not what we signed, or it has expired.
        """
        fields = {name: values[0] for name, values in parse_qs(query).items() if len(values) == 1}
        id, until, signature = (fields.get(name, "") for name in ("id", "until", "signature"))
        good = [hmac.compare_digest(_signature(key, id, until).encode(), signature.encode()) for key in self._keys]
        if not any(good):
            raise BadCallback("The callback was not signed by this server.", advice="Respond with 403.")
        if float(until) < self._clock():
            raise BadCallback("The callback has expired.", advice="Respond with 403.")
        return id


def _signature(key: bytes, id: str, until: str) -> str:
    raw = hmac.new(key, f"{len(id)}:{id}:{until}".encode(), sha256).digest()
    return urlsafe_b64encode(raw).decode().rstrip("=")
