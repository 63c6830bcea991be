"""What a provider granted, as the vault keeps it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from midcall.portal.oauth.provider import Provider

__all__ = ["Tokens", "vault_name"]

SKEW: Final = 60.0
"""Seconds before its end at which an access token is renewed: it has a way to go before it is checked."""


def vault_name(provider: Provider) -> str:
    return f"oauth:{provider.name}"


@dataclass(frozen=True, slots=True)
class Tokens:
    """An access token, and what renews it."""

    access: str = field(repr=False)
    refresh: str = field(default="", repr=False)
    expires: float = math.inf
    renew: float = math.inf
    """From when on it should be renewed."""
    scopes: str = ""
    """What was asked for when the user agreed."""
    client: str = ""
    grantor: str = ""

    def is_for(self, provider: Provider) -> bool:
        """Whether this is still what the author wants: same client, same grantor, and no scope beyond."""
        same = (self.client, self.grantor) == (provider.client_id, provider.grantor)
        return same and set(provider.scopes) <= set(self.scopes.split())

    def kept(self) -> dict[str, str]:
        """For the vault."""
        return {name: str(getattr(self, name)) for name in self.__dataclass_fields__}

    @classmethod
    def of(cls, kept: Mapping[str, str]) -> Tokens:
        """Out of the vault."""
        return cls(
            access=kept.get("access", ""),
            refresh=kept.get("refresh", ""),
            expires=float(kept.get("expires", "inf")),
            renew=float(kept.get("renew", "inf")),
            scopes=kept.get("scopes", ""),
            client=kept.get("client", ""),
            grantor=kept.get("grantor", ""),
        )

    @classmethod
    def granted(
        cls, answer: Mapping[str, Any], provider: Provider, *, now: float, before: Tokens | None = None
    ) -> Tokens | None:
        """Out of a token endpoint's answer; None if that makes no sense."""
        access, refresh = answer.get("access_token"), answer.get("refresh_token")
        kind = answer.get("token_type", "bearer")
        if not isinstance(access, str) or not access or not isinstance(kind, str) or kind.lower() != "bearer":
            return None
        lasts = _seconds(answer.get("expires_in"))
        return cls(
            access=access,
            refresh=refresh if isinstance(refresh, str) and refresh else (before.refresh if before else ""),
            expires=now + lasts,
            renew=now + lasts - min(SKEW, lasts / 10),
            scopes=before.scopes if before else " ".join(provider.scopes),
            client=provider.client_id,
            grantor=provider.grantor,
        )


def _seconds(given: object) -> float:
    """How long a token lives; without end where the provider does not say, or says rubbish."""
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        return math.inf
    try:
        seconds = float(given)
    except (ValueError, OverflowError):
        return math.inf
    return max(seconds, 0.0) if math.isfinite(seconds) else math.inf
