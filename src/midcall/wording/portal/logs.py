"""What is logged: no id, no value."""

from __future__ import annotations

from collections.abc import Sequence


def opened(kind: str, digest: str) -> str:
    return f"{kind} {digest} was opened"


def finished(kind: str, digest: str, action: str, became: str) -> str:
    return f"{kind} {digest}: {action}, {became}"


def refused(digest: str, why: str) -> str:
    return f"{digest} was refused: {why}"


def nobody_signed_in(digest: str) -> str:
    return f"{digest}: nobody is signed in yet"


def wrong_host(host: str, known: Sequence[str]) -> str:
    return (
        f"a request for the host {host!r} was refused (421): the portal answers to {', '.join(known)}. "
        "If a proxy changes the name, Portal(hosts=[...]) takes it"
    )


def finish_hook_failed(digest: str, error: str) -> str:
    return f"{digest} is finished, but telling so failed with {error}"


def store_unreachable(error: str) -> str:
    return f"the store cannot be reached: {error}"


def page_failed(error: str) -> str:
    return f"a page failed with {error}"


def failed_at(frames: str) -> str:
    return f"it failed here, for a reason whose text is not logged:\n{frames}"


def revoke_failed(provider: str, error: str) -> str:
    return f"access to {provider} was deleted, but could not be revoked there: {error}"


def oauth_failed(error: str) -> str:
    return f"an authorization was refused: {error}"


def listening_at(url: str) -> str:
    return f"the portal listens at {url}"
