"""The user of an MCP call, as its access token says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Caller"]


@dataclass(frozen=True, slots=True)
class Caller:
    """The user of an MCP call, as its access token says."""

    issuer: str | None = None
    subject: str | None = None
    client: str | None = None
    """Through which client they came. A browser comes through none, so it is never compared."""
    claims: Mapping[str, Any] = field(default_factory=dict[str, Any])
