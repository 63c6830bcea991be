"""What is logged: no id, no value."""

from __future__ import annotations


def refused(digest: str, why: str) -> str:
    return f"{digest} was refused: {why}"


def revoke_failed(provider: str, error: str) -> str:
    return f"access to {provider} was deleted, but could not be revoked there: {error}"


def oauth_failed(error: str) -> str:
    return f"an authorization was refused: {error}"
