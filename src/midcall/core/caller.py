"""Who takes part in a call: its user, as the access token identifies them, and the server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Caller:
    """The user of an MCP call, as the access token identifies them."""

    issuer: str | None = None
    subject: str | None = None
    client: str | None = None
    """The MCP client they used. A browser has none, so it's never compared."""
    claims: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class ServerIdentity:
    """Which server this is, among those that may share a store or a machine."""

    name: str
    namespace: str = ""
    """What its author or operator calls it, to tell apart servers with one name; or to let several share a vault."""
    place: str = ""
    """The file of its program. Replicas may differ in it, so it counts only on the user's own machine."""

    @property
    def of_records(self) -> str:
        """Names the server in its records: equal on all its replicas."""
        return json.dumps(["server", self.name, self.namespace])

    def of_vault(self, *, local: bool) -> str:
        """Names those who may read its secrets. `local`: whether every server of this machine has the same user."""
        if self.namespace:
            return json.dumps(["namespace", self.namespace])
        return json.dumps(["server", self.name, self.place] if local else ["server", self.name])
