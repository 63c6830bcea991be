"""What is remembered of a client beyond one call: that it hides numbers, or shows no Apps.

Up to 2025-11-25 a client has a connection, and that has a state. On 2026-07-28 every request is a connection. Over a
pipe, such as stdio, they are one client's nevertheless. Over HTTP, what one client of a signed-in user does is
remembered for that client of that user; nothing is for strangers, who might be anyone.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from mcp.server.connection import NotifyOnlyOutbound

from midcall.core.remembered import Remembered
from midcall.settings.resuming import MAX_KNOWN_CLIENTS

if TYPE_CHECKING:
    from midcall.server.call import Call


class Clients:
    """One per installation."""

    def __init__(self) -> None:
        self.has_notes = False
        """Whether anything was ever noted of a client. Most servers never do, and don't have to look."""
        self._pipes: WeakKeyDictionary[object, dict[str, bool]] = WeakKeyDictionary()
        self._users: Remembered[dict[str, bool]] = Remembered(MAX_KNOWN_CLIENTS)

    def is_known(self, call: Call, fact: str) -> bool:
        """Whether this is known of the call's client."""
        place, key = self._place(call)
        return bool(place.get(key, {}).get(fact))

    def note(self, call: Call, fact: str, value: bool = True) -> None:
        """Remember this of the call's client, or that it isn't so."""
        place, key = self._place(call)
        if value or key in place:
            self.has_notes = True
            place[key] = {**place.get(key, {}), fact: value}

    def _place(self, call: Call) -> tuple[MutableMapping[Any, dict[str, bool]], Any]:
        connection = call.connection
        if not call.modern:
            return connection.state, "midcall"
        if isinstance(connection.outbound, NotifyOnlyOutbound):
            return self._pipes, connection.outbound
        params = call.session.client_params
        if params is None or not call.user:
            return {}, ""
        client = params.client_info
        return self._users, "\0".join((call.user, client.name, client.version))
