"""The settings that `install` takes, in code or as environment variables."""

from __future__ import annotations

from typing import Final

KEYS: Final = None
"""Keys that seal the state of suspended calls, the journals and the vault: the first seals, all unseal.
Default: the server's own, else those of this machine or this process
Argument: install(keys=)
Variable: MIDCALL_KEYS"""
STORE: Final = None
"""The URL of the store: sqlite:///..., postgresql://... or redis://...
Default: none; with a portal, SQLite
Argument: install(store=)
Variable: MIDCALL_STORE"""
STATE_TTL_SECONDS: Final = 3600.0
"""A call may wait this long for its answers.
Then: The state is refused, and the client is told to call again; a live run ends.
Argument: install(state_ttl=)
Variable: MIDCALL_STATE_TTL"""
LIVE: Final = None
"""Whether a suspended call stays in memory, so that its tool runs once.
Default: yes, unless replicas share keys and no store
Argument: install(live=)
Variable: MIDCALL_LIVE"""
MAX_LIVE: Final = 1000
"""This many runs may wait in memory.
Unit: runs
Then: The oldest run of the caller with most ends, and is replayed when its answer comes. Of runs that have ended
meanwhile, as many results are kept; for an older one, the client is told to call again.
Argument: install(max_live=)
Variable: MIDCALL_MAX_LIVE"""
MAX_ROUNDS: Final = 9
"""A call may take this many rounds: the Go SDKs and Copilot CLI stop after nine.
Then: The call ends with a resume code; without one, with the error `TooManyRounds`.
Argument: install(max_rounds=)
Variable: MIDCALL_MAX_ROUNDS"""
HEARTBEAT_SECONDS: Final = 10.0
"""Between two progress notifications while a pushed question is pending.
Argument: install(heartbeat=)
Variable: MIDCALL_HEARTBEAT"""
DOUBT_SECONDS: Final = 0.25
"""A decline faster than this means that nobody saw the question, unless it is marked; 0 believes every decline.
Then: midcall asks again through a channel where a person acts, if there is one; else the model learns of it.
Argument: install(doubt=)
Variable: MIDCALL_DOUBT"""
REQUIRED: Final = False
"""Whether every client of this server calls again after the error -32042.
Argument: install(required=)
Variable: MIDCALL_REQUIRED"""
PRINCIPAL: Final = None
"""A function that returns the user a call belongs to.
Default: the user of MCP authorization
Argument: install(principal=)"""
NAMESPACE: Final = None
"""Tells this server from others with the same name in one store. Servers with one namespace share secrets.
Default: none: the server's name
Argument: install(namespace=)
Variable: MIDCALL_NAMESPACE"""
AUDIT: Final = None
"""Where the audit trail goes: a file for JSON lines, `-` for standard error, or in code also a function.
Default: nowhere
Argument: install(audit=)
Variable: MIDCALL_AUDIT"""
MAX_CALLER_RECORDS: Final = 50_000
"""One caller may have this many records in the store: a user, or an address if nobody is signed in.
Then: What needs another one is refused with `StoreFull`.
Argument: install(max_caller_records=)
Variable: MIDCALL_MAX_CALLER_RECORDS"""
MAX_CALLER_MB: Final = 256
"""These records may have this many megabytes.
Unit: MB
Then: What needs another one is refused with `StoreFull`.
Argument: install(max_caller_mb=)
Variable: MIDCALL_MAX_CALLER_MB"""
MAX_STORE_RECORDS: Final = 1_000_000
"""All callers of this server together may have this many records in the store.
Then: What needs another one is refused with `StoreFull`.
Argument: install(max_store_records=)
Variable: MIDCALL_MAX_STORE_RECORDS"""
MAX_STORE_MB: Final = 4_000
"""All these records may have this many megabytes.
Unit: MB
Then: What needs another one is refused with `StoreFull`.
Argument: install(max_store_mb=)
Variable: MIDCALL_MAX_STORE_MB"""
PORTAL: Final = None
"""The web pages of this server.
Default: none
Argument: install(portal=)"""
ADOPT: Final = True
"""Whether `ctx.elicit`, `ctx.elicit_url`, sampling and roots go through midcall.
Argument: install(adopt=)"""
STRICT: Final = False
"""Reject what only causes a warning otherwise, such as a link in a form.
Argument: install(strict=)"""
NOT_SECRET: Final = None
"""Why forms of existing tools may have fields that are named like secrets.
Default: they may not, and a warning reports it
Argument: install(not_secret=)"""
ANSWERS_AHEAD: Final = False
"""Accept answers to keyed questions without `via=` that come with the first request.
Argument: install(answers_ahead=)"""
RELAY: Final = False
"""Let the model ask in the chat, for questions that allow it.
Argument: install(relay=)"""
APPS: Final = None
"""Whether clients without elicitation get forms as MCP Apps.
Default: those that declare that they show Apps, if there is a store
Argument: install(apps=)"""
PROBE: Final = False
"""Add the tool `midcall_probe`, which tries the connected client.
Argument: install(probe=)"""
CONTINUE_ANNOTATIONS: Final = None
"""What clients are told about the tool `midcall_continue`, as annotations.
Default: nothing
Argument: install(continue_annotations=)"""
