"""What was installed and set: variables, keys, doubt, the probe."""

from __future__ import annotations

from collections.abc import Mapping


def heading() -> str:
    return "Installation"


def unexpected(kind: str, text: str) -> str:
    return (
        f"Looking at the server failed with {kind}{f': {text}' if text else ''}. If it has a store, an identity or a "
        "principal of its own, look there; else it is a mistake in midcall."
    )


# --- variables -----------------------------------------------------------------------------------
def misnamed(meant: Mapping[str, str | None]) -> str:
    each = (f"{name} (meant {near}?)" if near else name for name, near in meant.items())
    return f"No setting of midcall is called {', '.join(each)}: it is not read."


def misnamed_advice() -> str:
    return "docs/operations.md lists the variables."


# --- keys ----------------------------------------------------------------------------------------
def keys_given() -> str:
    return "They were given: every replica that has them goes on with these calls, also after a restart."


def keys_of_this_machine() -> str:
    return "Those of this user on this machine: calls go on here after a restart, and on no other machine."


def keys_of_this_container() -> str:
    return "Those of this user in this container: another container, also a new one of the same image, has others."


def keys_of_this_container_advice() -> str:
    return "Set MIDCALL_KEYS to a secret of 32 bytes or more, or keep the data directory (XDG_DATA_HOME) on a volume."


def keys_local() -> str:
    return "Only this process has its key: a call that waits is lost with it, and other replicas refuse it."


def keys_local_advice() -> str:
    return (
        "For HTTP, set MIDCALL_KEYS to a secret of 32 bytes or more, or install(..., keys=[...]), together with a "
        "store; for a single replica live=True will do. Stdio needs none of it."
    )


# --- doubt, the probe ------------------------------------------------------------------------------
def believes_every_no() -> str:
    return "Every no is believed, also one that comes faster than a person reads."


def believes_every_no_advice() -> str:
    return "install(..., doubt=0.25) asks once more by a page or a link, where there is one."


def doubts(seconds: float) -> str:
    return f'A no within {seconds:g} s is taken for "not shown"; then a page, an App or a link is tried, once.'


def probe_on() -> str:
    return "midcall_probe is listed: call it from a client to see what really happens there."


def probe_off() -> str:
    return "It is switched off. install(..., probe=True) adds a tool that tries a client out."
