"""Connecting a user's account elsewhere: OAuth, with us as the client.

    begin     the user agreed on our page: where to send this browser
    finish    the provider sent the browser back: its tokens, for the vault if the question is still open
    token     an access token that works, renewed if it has expired
    revoke    give the access back

Users are always sent to our own address first. Anyone who can hand a user a provider's address directly could have
them connect *their* account to somebody else's call.
"""

from __future__ import annotations

from midcall.errors import CallbackRefused, OAuthError, ProviderFailed
from midcall.portal.oauth.client import Finished, Granted, OAuth
from midcall.portal.oauth.provider import Provider

__all__ = ["CallbackRefused", "Finished", "Granted", "OAuth", "OAuthError", "Provider", "ProviderFailed"]
