"""What goes wrong when an account is connected. No message, and nothing behind one, holds a token or a code."""

from __future__ import annotations

from midcall.errors import CallbackRefused, OAuthError, ProviderFailed

__all__ = ["CallbackRefused", "GrantRefused", "OAuthError", "ProviderFailed"]


class GrantRefused(ProviderFailed):
    """The provider does not know this code or refresh token (any more)."""
