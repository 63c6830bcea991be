"""What a portal says to its author."""

from __future__ import annotations

from collections.abc import Sequence


def bad_loopback_host(host: str) -> str:
    return (
        f"A portal without a base_url listens on this machine only, and {host!r} is not loopback. Give it a base_url."
    )


def bad_port(port: str, last: int) -> str:
    return f"port={port} must be a whole number from 0 to {last}; 0 takes any port that is free."


def bad_ttl(ttl: str) -> str:
    return f"ttl={ttl} must be a positive number of seconds."


def bad_hosts(kind: str) -> str:
    return f"hosts= takes a list of texts, such as ['portal.internal:8080'], and not {kind}."


def bad_providers(kind: str) -> str:
    return f"providers= takes a list, [Provider(...)], and not {kind}."


def not_a_provider(kind: str) -> str:
    return f"providers= takes a list of Provider(...), and there is {kind} in it."


def bad_checks(kind: str) -> str:
    return f"checks= takes a mapping of functions by the names of secrets, {{'github': check}}, and not {kind}."


def no_such_templates(path: str) -> str:
    return f"templates={path!r} is no directory."


def wrong_checks(names: Sequence[str]) -> str:
    return f"checks= must be functions, one for each secret: {', '.join(names)}."


def bad_identity() -> str:
    return "identity= takes Oidc(...), ProxyJwt(...), Loopback(), or an async function of the request."


def loopback_needs_loopback() -> str:
    return "Loopback() tells who sits at this machine: it needs a base_url on loopback, or none."


def two_portals() -> str:
    return "This portal is installed on a server already; each server needs one of its own."


def not_bound() -> str:
    return "This portal is not installed yet: pass it to midcall.install(..., portal=portal)."


def not_started() -> str:
    return "This portal has no address before it listens: await portal.start() first."


def not_listening(why: str) -> str:
    return f"The portal cannot listen on this machine: {why}."


def only_forms() -> str:
    return (
        "This portal cannot tell who is looking, so it serves only plain forms: "
        "give it identity=Oidc(...) or another identity."
    )


def owner_unknown() -> str:
    return "It is not known who made this call, so nobody can be recognised on the page: let MCP authorization tell."


def needs_extra() -> str:
    return 'The portal needs packages that are not installed: pip install "midcall[portal]"'
