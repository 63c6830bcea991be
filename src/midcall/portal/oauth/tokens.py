"""The tokens that a provider granted, as the vault stores them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from midcall.portal.oauth.provider import Provider
from midcall.settings.portal import ACCESS_SKEW_SECONDS
from midcall.stores.base import ACCOUNTS


def vault_name(provider: Provider) -> str:
    return f"{ACCOUNTS}{provider.name}"


@dataclass(frozen=True, slots=True)
class Tokens:
    """An access token, and what renews it."""

    access: str = field(repr=False)
    refresh: str = field(default="", repr=False)
    expires: float = math.inf
    renew: float = math.inf
    """When to renew it."""
    scopes: str = ""
    """What the user agreed to."""
    client: str = ""
    grantor: str = ""

    def is_for(self, provider: Provider) -> bool:
        """Whether these still fit the author's settings: same client, same grantor, and no further scopes."""
        same = (self.client, self.grantor) == (provider.client_id, provider.grantor)
        return same and set(provider.scopes) <= set(self.scopes.split())

    def dump(self) -> dict[str, str]:
        """As the vault stores them."""
        return {name: str(getattr(self, name)) for name in self.__dataclass_fields__}

    @classmethod
    def load(cls, kept: Mapping[str, str]) -> Tokens:
        """From the vault."""
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
    def from_response(
        cls, answer: Mapping[str, Any], provider: Provider, *, now: float, before: Tokens | None = None
    ) -> Tokens | None:
        """From the response of a token endpoint; None if it is invalid."""
        access, refresh = answer.get("access_token"), answer.get("refresh_token")
        kind = answer.get("token_type", "bearer")
        if not isinstance(access, str) or not access or not isinstance(kind, str) or kind.lower() != "bearer":
            return None
        lasts = _seconds(answer.get("expires_in"))
        return cls(
            access=access,
            refresh=refresh if isinstance(refresh, str) and refresh else (before.refresh if before else ""),
            expires=now + lasts,
            renew=now + lasts - min(ACCESS_SKEW_SECONDS, lasts / 10),
            scopes=before.scopes if before else " ".join(provider.scopes),
            client=provider.client_id,
            grantor=provider.grantor,
        )


def _seconds(given: object) -> float:
    """How long a token lives; forever if the provider does not say, or says garbage."""
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        return math.inf
    try:
        seconds = float(given)
    except (ValueError, OverflowError):
        return math.inf
    return max(seconds, 0.0) if math.isfinite(seconds) else math.inf
