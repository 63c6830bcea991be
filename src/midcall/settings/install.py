"""The settings that `install` takes, in code or as environment variables."""

from __future__ import annotations

from typing import Final

from midcall.settings.setting import Subject

install: Final = Subject("install", "server")

install.add(
    "KEYS",
    None,
    "",
    "Keys that seal the state of suspended calls, the journals and the vault: the first seals, all unseal.",
    argument="install(keys=)",
    env="MIDCALL_KEYS",
    otherwise="the server's own, else those of this machine or this process",
    secret=True,
)
install.add(
    "STORE",
    None,
    "",
    "The URL of the store: sqlite:///..., postgresql://... or redis://...",
    argument="install(store=)",
    env="MIDCALL_STORE",
    otherwise="none; with a portal, SQLite",
    secret=True,
)
STATE_TTL_SECONDS: Final = install.add(
    "STATE_TTL_SECONDS",
    3600.0,
    "s",
    "A call may wait this long for its answers.",
    then="The state is refused, and the client is told to call again; a live run ends.",
    argument="install(state_ttl=)",
    env="MIDCALL_STATE_TTL",
)
install.add(
    "LIVE",
    None,
    "",
    "Whether a suspended call stays in memory, so that its tool runs once.",
    argument="install(live=)",
    env="MIDCALL_LIVE",
    otherwise="yes, unless replicas share keys and no store",
)
MAX_LIVE: Final = install.add(
    "MAX_LIVE",
    1000,
    "runs",
    "This many runs may wait in memory.",
    then="The oldest run of the caller with most ends, and is replayed when its answer comes. Of runs that have ended "
    "meanwhile, as many results are kept; for an older one, the client is told to call again.",
    argument="install(max_live=)",
    env="MIDCALL_MAX_LIVE",
)
MAX_ROUNDS: Final = install.add(
    "MAX_ROUNDS",
    9,
    "rounds",
    "A call may take this many rounds: the Go SDKs and Copilot CLI stop after nine.",
    then="The call ends with a resume code; without one, with the error `TooManyRounds`.",
    argument="install(max_rounds=)",
    env="MIDCALL_MAX_ROUNDS",
)
HEARTBEAT_SECONDS: Final = install.add(
    "HEARTBEAT_SECONDS",
    10.0,
    "s",
    "Between two progress notifications while a pushed question is pending.",
    interval=True,
    argument="install(heartbeat=)",
    env="MIDCALL_HEARTBEAT",
)
DOUBT_SECONDS: Final = install.add(
    "DOUBT_SECONDS",
    0.25,
    "s",
    "A decline faster than this means that nobody saw the question, unless it is marked; 0 believes every decline.",
    then="midcall asks again through a channel where a person acts, if there is one; else the model learns of it.",
    argument="install(doubt=)",
    env="MIDCALL_DOUBT",
)
install.add(
    "REQUIRED",
    False,
    "",
    "Whether every client of this server calls again after the error -32042.",
    argument="install(required=)",
    env="MIDCALL_REQUIRED",
)
install.add(
    "PRINCIPAL",
    None,
    "",
    "A function that returns the user a call belongs to.",
    argument="install(principal=)",
    otherwise="the user of MCP authorization",
)
install.add(
    "NAMESPACE",
    None,
    "",
    "Tells this server from others with the same name in one store. Servers with one namespace share secrets.",
    argument="install(namespace=)",
    env="MIDCALL_NAMESPACE",
    otherwise="none: the server's name",
)
install.add(
    "AUDIT",
    None,
    "",
    "Where the audit trail goes: a file for JSON lines, `-` for standard error, or in code also a function.",
    argument="install(audit=)",
    env="MIDCALL_AUDIT",
    otherwise="nowhere",
)
MAX_CALLER_RECORDS: Final = install.add(
    "MAX_CALLER_RECORDS",
    50_000,
    "records",
    "One caller may have this many records in the store: a user, or an address if nobody is signed in.",
    then="What needs another one is refused with `StoreFull`.",
    argument="install(max_caller_records=)",
    env="MIDCALL_MAX_CALLER_RECORDS",
)
MAX_CALLER_MB: Final = install.add(
    "MAX_CALLER_MB",
    256,
    "MB",
    "These records may have this many megabytes.",
    then="What needs another one is refused with `StoreFull`.",
    argument="install(max_caller_mb=)",
    env="MIDCALL_MAX_CALLER_MB",
)
MAX_STORE_RECORDS: Final = install.add(
    "MAX_STORE_RECORDS",
    1_000_000,
    "records",
    "All callers of this server together may have this many records in the store.",
    then="What needs another one is refused with `StoreFull`.",
    argument="install(max_store_records=)",
    env="MIDCALL_MAX_STORE_RECORDS",
)
MAX_STORE_MB: Final = install.add(
    "MAX_STORE_MB",
    4_000,
    "MB",
    "All these records may have this many megabytes.",
    then="What needs another one is refused with `StoreFull`.",
    argument="install(max_store_mb=)",
    env="MIDCALL_MAX_STORE_MB",
)
install.add("PORTAL", None, "", "The web pages of this server.", argument="install(portal=)", otherwise="none")
install.add(
    "ADOPT",
    True,
    "",
    "Whether `ctx.elicit`, `ctx.elicit_url`, sampling and roots go through midcall.",
    argument="install(adopt=)",
)
install.add(
    "STRICT",
    False,
    "",
    "Reject what only causes a warning otherwise, such as a link in a form.",
    argument="install(strict=)",
)
install.add(
    "NOT_SECRET",
    None,
    "",
    "Why forms of existing tools may have fields that are named like secrets.",
    argument="install(not_secret=)",
    otherwise="they may not, and a warning reports it",
)
install.add(
    "ANSWERS_AHEAD",
    False,
    "",
    "Accept answers to keyed questions without `via=` that come with the first request.",
    argument="install(answers_ahead=)",
)
install.add(
    "RELAY",
    False,
    "",
    "Let the model ask in the chat, for questions that allow it.",
    argument="install(relay=)",
)
install.add(
    "APPS",
    None,
    "",
    "Whether clients without elicitation get forms as MCP Apps.",
    argument="install(apps=)",
    otherwise="those that declare that they show Apps, if there is a store",
)
install.add(
    "PROBE",
    False,
    "",
    "Add the tool `midcall_probe`, which tries the connected client.",
    argument="install(probe=)",
)
install.add(
    "CONTINUE_ANNOTATIONS",
    None,
    "",
    "What clients are told about the tool `midcall_continue`, as annotations.",
    argument="install(continue_annotations=)",
    otherwise="nothing",
)
