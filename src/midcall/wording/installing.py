"""What `install` refuses or warns about."""

from __future__ import annotations


def not_a_server(kind: str) -> str:
    return f"install() takes an MCPServer, a low-level Server or a FastMCP server, not {kind}."


def installed_twice() -> str:
    return "midcall is installed on this server already. Call install() once per server."


def bad_keys(why: str) -> str:
    return f"These keys (keys=, or MIDCALL_KEYS) cannot be used: {why}"


def bad_keys_advice() -> str:
    return (
        "A key is a string of at least 32 characters of randomness; make one with "
        '`python -c "import secrets; print(secrets.token_hex(32))"`. Several, separated by commas in '
        "MIDCALL_KEYS, rotate: the first seals, all unseal."
    )


def process_local_key() -> str:
    return (
        "midcall: as far as can be seen, this HTTP server seals the state of its calls with a key of this process "
        "alone. Calls that wait for an answer are lost on a restart and cannot move to another replica. Set "
        "MIDCALL_KEYS, or pass keys= to install(), even if the server has keys of its own; and set MIDCALL_STORE, or "
        "pass live=True for a single replica, so that tools run once."
    )


def bad_number(name: str, value: object) -> str:
    told = {"doubt": "0 or more seconds", "max_rounds": "a whole number from 1 on, or None"}
    return f"{name}={value!r} must be {told.get(name, 'more than 0 seconds')}."


def bad_portal(kind: str) -> str:
    return f"portal= must be a Portal, not {kind}: install(server, portal=Portal(...))."


def bad_store(kind: str) -> str:
    return f"store= must be a URL such as sqlite:///path, or a store, not {kind}."


def bad_principal(kind: str) -> str:
    return f"principal= must be a function that takes the request's context and names the user, not {kind}."


def relay_needs_store() -> str:
    return "relay=True needs a store: install(server, relay=True, store='sqlite://')."


def only_on_mounted(server: str) -> str:
    return (
        f"A call has come to {server}, which is mounted in a server that midcall.install(...) was not called on. "
        "There ctx.elicit is not adopted, and fails on 2026-07-28. Install midcall on the outer server, which clients "
        "connect to."
    )
