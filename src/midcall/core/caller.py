"""The user of an MCP call, as the access token identifies them."""

from __future__ import annotations

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
