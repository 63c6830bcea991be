"""The channels that a server has, and what is missing for the others."""

from __future__ import annotations


def has(via: str) -> str:
    return {
        "push": "Clients up to 2025-11-25 that declare elicitation, over stdio or stateful HTTP.",
        "round": "Clients on 2026-07-28 that declare elicitation.",
        "page": "Clients that declare URL mode and no forms get a page of the portal.",
        "required": "Clients on 2025-11-25 over stateless HTTP that say that they call again get the error -32042.",
        "app": "Clients that show MCP Apps and declare no elicitation get the form as an App.",
        "link": "All other clients get a link to a page, and go on with midcall_continue.",
        "relay": "Questions with 'relay' in their via= can be asked by the model, in the chat.",
        "default": "Where nobody can be asked, a question with default= takes it.",
    }.get(via, "It is there.")


def no_relay_advice(store: bool) -> str:
    needed = "relay=True" if store else "relay=True, store=..."
    return (
        f"Only if a model may carry answers: install(..., {needed}), and via={{*STRONG, 'relay'}} at each question "
        "that allows it."
    )
