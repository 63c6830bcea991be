"""The page of an authorization."""

from __future__ import annotations


def title(provider: str, server: str) -> str:
    return f"Connect {provider} to {server}"


def asks_for_these(provider: str, server: str) -> str:
    return f"{provider} will ask you next whether {server} may have access:"


def asks_for_access(provider: str, server: str) -> str:
    return f"{provider} will ask you next whether {server} may have access."


def go(provider: str) -> str:
    return f"Go on to {provider}"


def note(server: str, client: str) -> str:
    return (
        f"The access is kept by {server}, encrypted, and only for you. Neither {client} nor the model ever sees it. "
        "You can take it back at any time."
    )
