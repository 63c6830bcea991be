"""Secrets, authorizations and approvals, as the author and the model hear of them. The pages are in `portal`."""

from __future__ import annotations

from collections.abc import Sequence


def empty_secret_name() -> str:
    return "a secret needs a name"


def reserved_secret_name(name: str) -> str:
    return (
        f"a secret cannot be called {name!r}: names that begin with oauth: are those of connected accounts. "
        "For an access token, use authorize()"
    )


def not_a_check(kind: str) -> str:
    return f"check= takes a function of the secret, which returns what is wrong with it, or None; not {kind}"


def secret_not_right(name: str) -> str:
    return f"The secret {name!r} was entered, and its check did not accept it"


def model_secret_not_right(name: str) -> str:
    return (
        f"What the user entered for {name!r} was not accepted. Ask them to look for the right one before you try again."
    )


def please_authorize(title: str) -> str:
    return f"Please authorize access to {title}."


def unknown_provider(provider: str, known: Sequence[str]) -> str:
    names = ", ".join(map(repr, known)) or "none"
    return f"the portal has no provider {provider!r}; it has {names}. Name it in Portal(providers=[...])"


def no_token(provider: str) -> str:
    return f"{provider!r} was authorized, and there is no valid token"


def model_no_token(provider: str) -> str:
    return f"The user has no valid authorization for {provider!r}. Make the call again to ask for it."


def approval_used() -> str:
    return "This approval was taken before, or is not for these details"


def model_approval_used() -> str:
    return (
        "This approval was used before, and it is not known whether what was approved was done. "
        "Do not make the call again before the user has checked."
    )


def details_not_labelled(kind: str) -> str:
    return (
        f"The details of an approval must be a mapping of labels to values, and not {kind}: "
        'approve("Pay?", {"Amount": "12 EUR"}).'
    )


def bad_details(why: str) -> str:
    return f"the details of an approval must be plain data: {why}"


def no_page(kind: str, why: str) -> str:
    return f"The user cannot be sent to a page for this {kind}: {why.rstrip('.')}."


def model_no_page() -> str:
    return (
        "This needs the user on a web page of this server, and the server is not set up for that. Nothing was "
        "done, and another client does not help. Tell the user, who can tell whoever runs the server."
    )


def nobody_known_advice() -> str:
    return "docs/identity.md tells how it is known who makes a call, and who looks at a page."


def no_portal_advice() -> str:
    return "Use midcall.install(server, portal=Portal(...)); docs/portal.md tells what it needs."
