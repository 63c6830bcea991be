"""Connecting a user's account elsewhere: OAuth, with us as the client.

    begin     after the user agreed on our page: where to send this browser
    finish    the provider sent the browser back: tokens into the vault
    token     a live access token, renewed where it has run out
    revoke    give the access back

The address that a user is asked to visit is always ours. Whoever hands a user a provider's own address
can have them connect *their* account to somebody else's call.
"""

from __future__ import annotations

from midcall.portal.oauth.client import Finished, OAuth
from midcall.portal.oauth.errors import CallbackRefused, OAuthError, ProviderFailed
from midcall.portal.oauth.provider import Provider

__all__ = ["CallbackRefused", "Finished", "OAuth", "OAuthError", "Provider", "ProviderFailed"]
