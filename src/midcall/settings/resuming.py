"""How long a call waits for a page or an App, and what is remembered of calls that resume."""

from __future__ import annotations

from typing import Final

from midcall.settings.setting import Subject

resuming: Final = Subject("Resuming", "server/resuming")

HOLD_SECONDS: Final = resuming.add(
    "HOLD_SECONDS",
    45.0,
    "s",
    "Hold a request during a visit to a page, before it returns a resume code. Common clients and proxies allow 60.",
    then="The call returns a resume code or another round; if it can have neither, it fails with `TimedOut`.",
)
BRIEF_HOLD_SECONDS: Final = resuming.add(
    "BRIEF_HOLD_SECONDS",
    4.0,
    "s",
    "Hold a `midcall_continue` without a progress token: such a client may give up after 5 s.",
    then="It returns that the user isn't done yet, and its code still works.",
)
PUSH_HOLD_SECONDS: Final = resuming.add(
    "PUSH_HOLD_SECONDS",
    300.0,
    "s",
    "Hold a pushed call on a server without a store.",
    then="The call returns a resume code that works in this process; if it can have none, it fails with `TimedOut`.",
)
PURGE_SECONDS: Final = resuming.add(
    "PURGE_SECONDS", 300.0, "s", "Between two purges of expired records by a server.", interval=True
)
MAX_HOLDS: Final = resuming.add(
    "MAX_HOLDS",
    2,
    "rounds",
    "On 2026-07-28, rounds of a call without a question: Go clients stop at the third.",
    then="The call ends with a resume code, or with `TimedOut`.",
)
VISIT_POLL_SECONDS: Final = resuming.add(
    "VISIT_POLL_SECONDS", 45.0, "s", "Between two reads of a visit that is under way.", interval=True
)
MAX_VISITS: Final = resuming.add(
    "MAX_VISITS",
    10_000,
    "visits",
    "Keep this many visits in memory.",
    then="The oldest is forgotten: its client isn't notified, and finds out when it retries.",
)
APP_SECONDS: Final = resuming.add(
    "APP_SECONDS",
    5.0,
    "s",
    "Wait for an App to fetch its question.",
    then="midcall assumes that no App was shown, and returns a link or a resume code.",
    where="server/channels",
)
APP_CLEANUP_SECONDS: Final = resuming.add(
    "APP_CLEANUP_SECONDS",
    1.0,
    "s",
    "Withdraw the note for an App, at most this long.",
    then="The note stays until it expires, a minute later.",
    where="server/channels",
)
MAX_EQUAL_APPS: Final = resuming.add(
    "MAX_EQUAL_APPS",
    32,
    "calls",
    "Tell apart this many equal calls whose Apps are open.",
    then="More Apps of equal calls find no question; their calls return a resume code.",
    where="server/channels",
)
MAX_SEEN_TOOLS: Final = resuming.add(
    "MAX_SEEN_TOOLS",
    10_000,
    "tools",
    "Remember of this many tools whether they have an App.",
    then="The oldest is forgotten, and the list of tools is read again.",
    where="server",
)
MAX_KNOWN_CLIENTS: Final = resuming.add(
    "MAX_KNOWN_CLIENTS",
    10_000,
    "clients",
    "Remember of this many clients of signed-in users that they hide numbers or show no Apps.",
    then="The oldest is forgotten, and found out again.",
    where="server",
)
MAX_APP_FIELDS: Final = resuming.add(
    "MAX_APP_FIELDS",
    50_000,
    "pairs",
    "Read this many pairs of name and value from an App.",
    then="The rest is ignored.",
    where="server/channels",
)
MAX_APP_STEPS: Final = resuming.add(
    "MAX_APP_STEPS",
    1_000,
    "steps",
    "An App may show this many questions of one call.",
    then="The App shows no more questions of that call.",
    where="server/channels",
)
