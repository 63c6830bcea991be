"""The store, and the vault in it."""

from __future__ import annotations

# --- the store -----------------------------------------------------------------------------------


def no_store_advice() -> str:
    return "Use install(..., store='sqlite://'), or 'postgresql://...' or 'redis://...' for several replicas."


def on_this_machine(name: str) -> str:
    return f"{name}: for all processes of this machine."


def in_this_container(name: str) -> str:
    return f"{name}: for all processes of this container, and gone with it unless the file is on a volume."


def shared(name: str) -> str:
    return f"{name}: for all replicas."


def silent(about: str, seconds: float) -> str:
    return f"No answer within {seconds:g} s: it hangs, or something on the way drops what is sent there. {about}"


def held(about: str, seconds: float) -> str:
    return f"No answer within {seconds:g} s: another process holds the file, or its disk hangs. {about}"


def away_advice() -> str:
    return "`midcall store check URL` looks at a store by itself, and waits for as long as a server does."


# --- the vault -----------------------------------------------------------------------------------


def vault_opens(tried: int, every: bool) -> str:
    return f"{_values(tried, every)} can be opened with these keys."


def vault_older(older: int, tried: int, every: bool) -> str:
    return f"{_values(tried, every)} can be opened, {_number(older)} of them only with a key that is not the first."


def vault_locked(locked: int, tried: int, every: bool) -> str:
    return f"{_number(locked)} of {_values(tried, every)} cannot be opened with these keys. Nothing is lost."


def vault_locked_advice(whose: str) -> str:
    lost = "If it is lost, `midcall vault forget OWNER NAME` lets users enter their values again."
    if whose == "author":
        return f"Add the key that sealed them behind those in MIDCALL_KEYS, or keys=, as in a rotation. {lost}"
    return (
        "No key was given here, so that of this user on this machine is tried. Set MIDCALL_KEYS as it is where the "
        f"server runs, or run this as the server's own user. {lost}"
    )


def _values(tried: int, every: bool) -> str:
    values = "value" if tried == 1 else "values"
    return f"{_number(tried)} {values}" if every else f"the first {_number(tried)} {values}"


def _number(count: int) -> str:
    return f"{count:,}"
