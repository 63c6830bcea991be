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


def there(url: str | None) -> str:
    return "It starts by itself, on loopback, when it is first needed." if url is None else f"At {url}."


# --- what answers --------------------------------------------------------------------------------


def from_inside(url: str) -> str:
    return f"A container may not reach its own public address: open {url}/health where a user is."


def store_away_advice(alone: bool) -> str:
    return "See the store." if alone else "The running server has another store, or lost it: see its log."


def something_else_advice(path: str) -> str:
    where = f"app.mount({path!r}, portal)" if path else "app.mount('/', portal), behind all other routes"
    return (
        f"Mount the portal where its address says: {where}. A proxy in front must hand this path on; if it strips "
        "the front of it, mount the portal at what is left."
    )


# --- who is looking ------------------------------------------------------------------------------


def everybody_is_nobody_advice() -> str:
    return "Portal(..., identity=Oidc(...)) or ProxyJwt(...): see docs/identity.md."
