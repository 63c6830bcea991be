"""Who is looking: settings that cannot be used, and sign-ins that were refused."""

from __future__ import annotations

from collections.abc import Sequence


def bad_issuer(url: str, why: str) -> str:
    return f"An issuer cannot be at {url!r}: {why}."


def bad_key_set(url: str, why: str) -> str:
    return f"The keys of a proxy cannot be at {url!r}: {why}."


def bad_oidc() -> str:
    return 'Oidc(...) needs an issuer, a client_id, scopes with "openid", and a positive session.'


def bad_proxy_jwt() -> str:
    return "ProxyJwt(...) needs a header, an issuer, an audience, and either jwks_url= or keys= with a JWK set."


def weak_algorithms(names: Sequence[str]) -> str:
    return f"These signatures prove nothing here: {', '.join(names)}."


def issuer_away(why: str) -> str:
    return f"the issuer that signs users in cannot be used: {why}"


def other_issuer(named: str, wanted: str) -> str:
    return f"its metadata names the issuer {named!r}, and {wanted!r} was set: they must be the same to the letter"


def sign_in_lost() -> str:
    return (
        "a sign-in came back that was not begun here: in another browser, too long ago, or with a replica that has "
        "other keys or another time"
    )


def id_token_refused(why: str) -> str:
    return f"an id token was refused: {why}"


def sign_in_refused(why: str) -> str:
    return f"a sign-in was refused by the issuer: {why}"


def no_identity_key() -> str:
    return "the id token has no identity key: see key= of Oidc"


def assertion_refused(why: str) -> str:
    return f"the proxy's assertion was refused: {why}"
