"""Keys and the vault: sentences for whoever runs the server, and for the model whose call met a locked one."""

from __future__ import annotations

_MAKE_ONE = 'make one with `python -c "import secrets; print(secrets.token_hex(32))"`'


# --- keys ------------------------------------------------------------------------------------
def no_keys() -> str:
    return "There is no key to encrypt with."


def no_keys_advice() -> str:
    return f"Set MIDCALL_KEYS, or pass keys= to install(): {_MAKE_ONE}."


def key_too_short(position: int, length: int, least: int) -> str:
    return f"Key {position} (of keys=, or MIDCALL_KEYS) has {length} bytes, and a key needs at least {least}."


def key_too_short_advice() -> str:
    return f"Do not lengthen it: {_MAKE_ONE}."


def key_not_text(position: int) -> str:
    return f"Key {position} (of keys=) is neither text nor bytes."


def shared_store_needs_keys() -> str:
    return "This store is shared by several machines, and a key of this machine alone would lock the others out."


def shared_store_needs_keys_advice() -> str:
    return f"Set the same MIDCALL_KEYS wherever this server runs: {_MAKE_ONE}."


def keyring_locked(error: str) -> str:
    return f"The keyring of this machine cannot be used ({error})."


def keyring_locked_advice() -> str:
    return "Unlock it and start again, or set MIDCALL_KEYS. What was kept is still there."


def key_file_unusable(path: str, why: str) -> str:
    return f"The key file {path} cannot be used: {why}."


def key_file_advice() -> str:
    return (
        "Put it right, or set MIDCALL_KEYS to the key that was in it. Do not delete it: what was kept under "
        "its key opens with no other."
    )


def readable_by_others() -> str:
    return "other users of this machine may read it (chmod 600 makes it yours alone)"


def owned_by_another_user() -> str:
    return "it belongs to another user of this machine"


def holds_no_key() -> str:
    return "it does not hold a key"


# --- the vault -------------------------------------------------------------------------------
def vault_locked(name: str) -> str:
    return f"What is kept as {name!r} cannot be opened: it was sealed with a key that this server does not have."


def vault_locked_advice() -> str:
    return (
        "Nothing was deleted. Add the earlier key to MIDCALL_KEYS, behind the one in use; then "
        "`midcall vault rotate` seals everything anew, and the earlier key can go. If it is lost, "
        "`midcall vault forget OWNER NAME` lets the user enter the value again."
    )


def vault_locked_for_model() -> str:
    return (
        "Something that the user entrusted to this server cannot be opened at the moment, and whoever runs the "
        "server must put that right. Nothing was lost. Trying again now does not help."
    )


def vault_foreign(name: str) -> str:
    return f"What is kept as {name!r} was sealed for another owner or under another name."


def vault_foreign_advice() -> str:
    return (
        "Somebody copied or moved it within the store, so it is not opened. Nothing was deleted. "
        "`midcall vault forget OWNER NAME` removes it."
    )


def still_locked(count: int, resealed: int) -> str:
    values = "value" if count == 1 else "values"
    return f"{count} {values} could not be opened with any of these keys; {resealed} were sealed anew."


def vault_needs_an_owner() -> str:
    return "The vault keeps nothing for nobody: a value without an owner would be everybody's."


def vault_keeps_text() -> str:
    return "The vault keeps named texts: a mapping of str to str."
