"""Keys and the vault: sentences for whoever runs the server, and for the model whose call met a locked one."""

from __future__ import annotations

_MAKE_ONE = 'make one with `python -c "import secrets; print(secrets.token_hex(32))"`'


# --- keys ------------------------------------------------------------------------------------


def no_keys_advice() -> str:
    return f"Set MIDCALL_KEYS, or pass keys= to install(): {_MAKE_ONE}."


def key_too_short_advice() -> str:
    return f"Do not lengthen it: {_MAKE_ONE}."


def shared_store_needs_keys_advice() -> str:
    return f"Set the same MIDCALL_KEYS wherever this server runs: {_MAKE_ONE}."


# --- the vault -------------------------------------------------------------------------------


def vault_locked_advice() -> str:
    return (
        "Nothing was deleted. Add the earlier key to MIDCALL_KEYS, behind the one in use; then "
        "`midcall vault rotate` seals everything anew, and the earlier key can go. If it is lost, "
        "`midcall vault forget OWNER NAME` lets the user enter the value again."
    )
