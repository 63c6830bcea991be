"""How long a call waits for a page or an App, and what is remembered of calls that resume."""

from __future__ import annotations

from typing import Final

HOLD_SECONDS: Final = 45.0
"""Hold a request during a visit to a page, before it returns a resume code. Common clients and proxies allow 60.
Then: The call returns a resume code or another round; if it can have neither, it fails with `TimedOut`."""
BRIEF_HOLD_SECONDS: Final = 4.0
"""Hold a `midcall_continue` without a progress token: such a client may give up after 5 s.
Then: It returns that the user isn't done yet, and its code still works."""
PUSH_HOLD_SECONDS: Final = 300.0
"""Hold a pushed call on a server without a store.
Then: The call returns a resume code that works in this process; if it can have none, it fails with `TimedOut`."""
PURGE_SECONDS: Final = 300.0
"""Between two purges of expired records by a server."""
MAX_HOLDS: Final = 2
"""On 2026-07-28, rounds of a call without a question: Go clients stop at the third.
Unit: rounds
Then: The call ends with a resume code, or with `TimedOut`."""
VISIT_POLL_SECONDS: Final = 45.0
"""Between two reads of a visit that is under way."""
MAX_VISITS: Final = 10_000
"""Keep this many visits in memory.
Then: The oldest is forgotten: its client isn't notified, and finds out when it retries."""
APP_SECONDS: Final = 5.0
"""Wait for an App to fetch its question.
Then: midcall assumes that no App was shown, and returns a link or a resume code."""
APP_CLEANUP_SECONDS: Final = 1.0
"""Withdraw the note for an App, at most this long.
Then: The note stays until it expires, a minute later."""
MAX_EQUAL_APPS: Final = 32
"""Tell apart this many equal calls whose Apps are open.
Unit: calls
Then: More Apps of equal calls find no question; their calls return a resume code."""
MAX_SEEN_TOOLS: Final = 10_000
"""Remember of this many tools whether they have an App.
Then: The oldest is forgotten, and the list of tools is read again."""
MAX_KNOWN_CLIENTS: Final = 10_000
"""Remember of this many clients of signed-in users that they hide numbers or show no Apps.
Then: The oldest is forgotten, and found out again."""
MAX_APP_FIELDS: Final = 50_000
"""Read this many pairs of name and value from an App.
Unit: pairs
Then: The rest is ignored."""
MAX_APP_STEPS: Final = 1_000
"""An App may show this many questions of one call.
Then: The App shows no more questions of that call."""
