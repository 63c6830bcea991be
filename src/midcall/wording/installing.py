"""What `install` refuses or warns about."""

from __future__ import annotations


def bad_keys(why: str) -> str:
    return f"These keys (keys=, or MIDCALL_KEYS) cannot be used: {why}"


def bad_keys_advice() -> str:
    return (
        "A key is a string of at least 32 characters of randomness; make one with "
        '`python -c "import secrets; print(secrets.token_hex(32))"`. Several, separated by commas in '
        "MIDCALL_KEYS, rotate: the first seals, all unseal."
    )


def only_on_mounted(server: str) -> str:
    return (
        f"A call has come to {server}, which is mounted in a server that midcall.install(...) was not called on. "
        "There ctx.elicit is not adopted, and fails on 2026-07-28. Install midcall on the outer server, which clients "
        "connect to."
    )
