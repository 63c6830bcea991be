"""What goes wrong when an account is connected. No message, and no cause behind it, holds a token or a code."""

from __future__ import annotations

from typing import Final

from midcall.errors import CallbackRefused, ProviderFailed
from midcall.language import _

TRY_LATER: Final = "Nothing is lost: try again later."


class GrantRefused(ProviderFailed):
    """The provider does not accept this code or refresh token, or no longer does."""


def no_such_flow() -> CallbackRefused:
    return CallbackRefused(
        _("This response does not belong to a connection that was started here. Nothing was connected.")
    )


def unreachable(provider: str) -> ProviderFailed:
    return ProviderFailed(
        _("{provider} cannot be reached, or did not respond in time.").format(provider=provider), advice=TRY_LATER
    )


def unreadable(provider: str, advice: str = TRY_LATER) -> ProviderFailed:
    return ProviderFailed(_("{provider} sent an invalid response.").format(provider=provider), advice=advice)
