"""The portal: whether it is there, what answers at its address, and who is looking."""

from __future__ import annotations


def none_advice(extra: bool) -> str:
    return (
        f"{_add(extra)} for the user of this machine; or, for a server over HTTP, Portal('https://...'), mounted in "
        "its app."
    )


def none_advice_far(extra: bool, forwards: bool) -> str:
    """Where a portal without an address would listen on a loopback that no browser of the user's reaches."""
    then = ": then forward its port, ssh -L" if forwards else ""
    return (
        f"{_add(extra)}, mounted in your HTTP app, with the address that users know in MIDCALL_PORTAL_URL. Without "
        f"an address it listens on loopback here, where the user's browser is not{then}."
    )


def _add(extra: bool) -> str:
    first = "pip install 'midcall[portal]', and then " if extra else ""
    return f"Add one: {first}install(..., portal=Portal())"


# --- what answers --------------------------------------------------------------------------------


# --- who is looking ------------------------------------------------------------------------------
