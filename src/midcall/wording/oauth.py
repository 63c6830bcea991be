"""Connecting an account: what a user reads on the callback page, and what an author reads about a provider."""

from __future__ import annotations


# --- the callback page -----------------------------------------------------------------------
def callback_unknown() -> str:
    return "This answer belongs to nothing that was started here. Nothing was connected."


# --- the provider ----------------------------------------------------------------------------
def provider_refused(title: str, error: str) -> str:
    return f"{title} did not connect the account (it says {error})."


def provider_silent(title: str) -> str:
    return f"{title} cannot be reached, or did not answer in time."


def provider_garbled(title: str) -> str:
    return f"{title} gave an answer that cannot be understood."


def provider_failed_advice() -> str:
    return "Nothing was lost: try again in a little while."


# --- for the model ---------------------------------------------------------------------------


# --- for the author --------------------------------------------------------------------------
