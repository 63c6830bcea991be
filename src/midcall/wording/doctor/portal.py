"""The portal: whether it is there, what answers at its address, and who is looking."""

from __future__ import annotations


def none() -> str:
    return "There is none: no pages, so no secrets, authorizations, approvals or links."


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
def answers(url: str) -> str:
    return f"{url} answers."


def by_itself(url: str) -> str:
    return f"It starts by itself, on loopback, when it is first needed; {url} answered."


def not_started(why: str) -> str:
    return f"It cannot start. {why}"


def not_started_advice() -> str:
    return "Choose another port, Portal(port=...) or MIDCALL_PORTAL_PORT; without one, any that is free is taken."


def silent(url: str) -> str:
    return f"Nothing answers at {url}."


def silent_advice() -> str:
    return "Right if the server is not running now. Else look at its address, and at what is in front."


def no_answer(url: str) -> str:
    return f"No answer from {url} within a few seconds: something on the way drops what is sent there, or hangs."


def no_answer_advice() -> str:
    return "Look at firewalls, at the security groups of a cloud, and at whether the proxy in front reaches the server."


def from_inside(url: str) -> str:
    return f"A container may not reach its own public address: open {url}/health where a user is."


def unknown_host(host: str) -> str:
    return f"No address is known here for {host}."


def unknown_host_advice() -> str:
    return "Correct the address of the portal, or see to its DNS record. A private name may be known elsewhere alone."


def not_trusted(url: str, why: str) -> str:
    return f"{url} was not opened: {why}."


def store_away(url: str) -> str:
    return f"{url} answers, and says that its store is away."


def store_away_advice(alone: bool) -> str:
    return "See the store." if alone else "The running server has another store, or lost it: see its log."


def something_else(url: str, status: int) -> str:
    return f"Something else answers at {url} ({status})."


def proxy_signs_in(url: str, status: int) -> str:
    return f"The proxy in front of {url} wants to know who this is ({status}), so the portal behind it was not seen."


def proxy_signs_in_advice(url: str) -> str:
    return f"Sign in with a browser, and open {url}/health; or let that path through, which says nothing of anybody."


def not_recognised(url: str) -> str:
    return f"{url}/health answers, and not as a portal does: it may be something else."


def something_else_advice(path: str) -> str:
    where = f"app.mount({path!r}, portal)" if path else "app.mount('/', portal), behind all other routes"
    return (
        f"Mount the portal where its address says: {where}. A proxy in front must hand this path on; if it strips "
        "the front of it, mount the portal at what is left."
    )


# --- who is looking ------------------------------------------------------------------------------
def everybody_is_nobody() -> str:
    return "Nobody can be identified there: only plain forms are served, no secrets, authorizations or approvals."


def everybody_is_nobody_advice() -> str:
    return "Portal(..., identity=Oidc(...)) or ProxyJwt(...): see docs/identity.md."


def known_by(identity: str) -> str:
    return f"It tells who is looking by {identity}."


def nobody_calls(known_by: str) -> str:
    return (
        f"{known_by} But nothing tells who makes a call: this server has no MCP authorization, so secrets, "
        "authorizations and approvals have nobody to belong to."
    )


def nobody_calls_advice() -> str:
    return "Give the server auth= and token_verifier=, or install(..., principal=...): see docs/identity.md."


def callers_are_others(known_by: str) -> str:
    return (
        f"{known_by} But callers sign in with an access token, and cannot be compared with the user of this machine: "
        "no secrets, authorizations or approvals."
    )


def issuer_unusable(known_by: str, why: str) -> str:
    return f"{known_by} But {why}."


def issuer_silent(seconds: float) -> str:
    return f"the issuer that signs users in did not answer within {seconds:g} s"


def issuer_advice() -> str:
    return "Open <issuer>/.well-known/openid-configuration from this machine, and compare it with what Oidc(...) has."
