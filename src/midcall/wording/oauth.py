"""Connecting an account: what a user reads on the callback page, and what an author reads about a provider."""

from __future__ import annotations

from collections.abc import Sequence


# --- the callback page -----------------------------------------------------------------------
def callback_unknown() -> str:
    return "This answer belongs to nothing that was started here. Nothing was connected."


def callback_used() -> str:
    return "This answer was used already. If you are still asked to connect, start again from the page you came from."


def callback_expired() -> str:
    return "This took too long. Nothing was connected; start again from the page you came from."


def callback_other_browser() -> str:
    return (
        "This was started in another browser, so nothing was connected. If it was you, go on there. "
        "If somebody sent you here, close this page."
    )


def callback_other_user() -> str:
    return "This was started by somebody else, so nothing was connected."


def callback_repeated(name: str) -> str:
    return f"This answer says {name!r} twice, so nothing was connected."


def callback_wrong_issuer(title: str) -> str:
    return f"This answer does not come from {title}, where it was asked for. Nothing was connected."


def wrong_issuer_advice(said: str, expected: str) -> str:
    return f"It says that it comes from {said}, and {expected} was expected. If both are the same, set issuer=."


def no_issuer_advice(expected: str) -> str:
    return f"It does not say that it comes from {expected}, as it should."


# --- the provider ----------------------------------------------------------------------------
def provider_refused(title: str, error: str) -> str:
    return f"{title} did not connect the account (it says {error})."


def provider_without_code(title: str) -> str:
    return f"{title} did not connect the account (its answer is incomplete)."


def provider_silent(title: str) -> str:
    return f"{title} cannot be reached, or did not answer in time."


def provider_status(title: str, status: int) -> str:
    return f"{title} did not do its part (it answered with HTTP {status})."


def provider_garbled(title: str) -> str:
    return f"{title} gave an answer that cannot be understood."


def provider_failed_advice() -> str:
    return "Nothing was lost: try again in a little while."


def renewal_failed(title: str) -> str:
    return f"The access to {title} could not be renewed just now."


def not_revoked(title: str) -> str:
    return f"The account at {title} is forgotten here, but {title} could not be told."


def not_revoked_advice(title: str) -> str:
    return f"Remove the access in the account's settings at {title}, too."


# --- for the model ---------------------------------------------------------------------------
def for_model(what: str) -> str:
    return f"{what} Nothing was done, and nothing was lost: the tool can be called again in a little while."


# --- for the author --------------------------------------------------------------------------
def provider_unknown(name: str, known: Sequence[str]) -> str:
    return f"There is no provider {name!r}; this portal has {', '.join(known) or 'none'}."


def provider_twice(name: str) -> str:
    return f"Two providers are called {name!r}."


def provider_bad_name(name: str) -> str:
    return f"{name!r} cannot name a provider: use 1 to 40 lower-case letters, digits, - and _, and begin with a letter."


def provider_bad_url(name: str, field: str, url: str) -> str:
    return f"{name}: {field}={url!r} must be an https URL without user and fragment (http only on loopback)."


def provider_no_urls(name: str) -> str:
    return f"{name}: authorize_url= and token_url= are both needed. Provider.discover(...) finds them by its issuer."


def provider_no_client(name: str) -> str:
    return f"{name}: client_id= is missing. The provider gives it to you when you register this server there."


def provider_bad_scopes(name: str, scopes: object) -> str:
    return f"{name}: scopes={scopes!r} must be a list of scopes without spaces, such as ['repo', 'read:user']."


def provider_reserved(name: str, parameter: str) -> str:
    return f"{name}: extra= must not set {parameter!r}, which is set for you."


def provider_secret_needed(name: str, method: str) -> str:
    return f"{name}: token_auth={method!r} needs client_secret=, and client_secret= needs a method other than 'none'."


def provider_bad_method(name: str, method: str, methods: Sequence[str]) -> str:
    return f"{name}: token_auth={method!r} must be one of {', '.join(methods)}."


def metadata_missing(title: str, issuer: str) -> str:
    return f"{title} publishes no metadata under {issuer}."


def metadata_missing_advice() -> str:
    return "Check issuer=, or describe the provider by its authorize_url= and token_url=."


def metadata_wrong_issuer(title: str, said: str, issuer: str) -> str:
    return f"The metadata of {title} is for the issuer {said}, and not for {issuer}."


def metadata_wrong_issuer_advice() -> str:
    return "issuer= must be written exactly as the provider writes it, with or without a slash at the end."


def metadata_bad_url(title: str, field: str) -> str:
    return f"The metadata of {title} has no usable {field}: it must be an https URL."


def metadata_no_pkce(title: str) -> str:
    return f"{title} does not support PKCE with S256, without which no account is connected."


def metadata_no_method(title: str, methods: Sequence[str]) -> str:
    return f"{title} authenticates clients by {', '.join(methods)} only, which is not supported."


def connect_needs_owner_and_browser() -> str:
    return "An account is connected only for a known user, in a browser that is known by its cookie."
