"""Secrets, authorizations and approvals, as the author and the model hear of them. The pages are in `portal`."""

from __future__ import annotations


def model_secret_not_right(name: str) -> str:
    return (
        f"What the user entered for {name!r} was not accepted. Ask them to look for the right one before you try again."
    )


def model_no_token(provider: str) -> str:
    return f"The user has no valid authorization for {provider!r}. Make the call again to ask for it."


def model_approval_used() -> str:
    return (
        "This approval was used before, and it is not known whether what was approved was done. "
        "Do not make the call again before the user has checked."
    )


def model_no_page() -> str:
    return (
        "This needs the user on a web page of this server, and the server is not set up for that. Nothing was "
        "done, and another client does not help. Tell the user, who can tell whoever runs the server."
    )
