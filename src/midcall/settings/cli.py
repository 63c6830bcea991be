"""Limits of the command line, `midcall doctor` and `midcall.testing`."""

from __future__ import annotations

from typing import Final

SPINNER_SECONDS: Final = 0.1
"""Between two frames of the spinner."""
CHECK_PAGE_SECONDS: Final = 1.0
"""After a server has ended, `midcall call` waits this long for its page.
Then: The page counts as gone."""
MAX_TOOL_PAGES: Final = 100
"""Read this many pages of a server's list of tools.
Then: Tools on later pages aren't known."""
SCHEMA_PARTS: Final = 2_000
"""`midcall call` reads this much of a tool's schema, to convert arguments.
Then: Later arguments can have any type."""
REFERENCE_CHARACTERS: Final = 300
"""The longest `$ref` in a tool's schema.
Then: What it refers to can have any type, and the server checks it alone."""
SCHEMA_DEPTH: Final = 20
"""It reads a schema this deep.
Unit: levels
Then: Deeper values can have any type."""
SCHEMA_STEPS: Final = 5_000
"""It checks arguments for this many steps, before it calls the tool.
Then: The server checks them alone."""
DEMO_SECONDS: Final = 60.0
"""The scripted demo has this long.
Then: The demo fails with a message."""
CHECK_SECONDS: Final = 2.5
"""Each check of `midcall doctor` waits this long.
Then: The check reports a missing answer."""
CHECK_PORTAL_SECONDS: Final = 3.7
"""It waits this long for a portal, which gives its store three seconds.
Then: The check reports a missing answer."""
CHECK_VAULT_VALUES: Final = 2_000
"""It tries to open this many values of the vault.
Then: The report covers the first values, and names the limit."""
CHECK_CLOSE_SECONDS: Final = 0.5
"""It waits this long for the installation to close.
Then: The command ends without it."""
CHECK_URL_SECONDS: Final = 4.0
"""It waits this long for a URL.
Then: The command fails, and suggests `--timeout`.
Argument: midcall doctor --timeout"""
CHECK_PROBE_SECONDS: Final = 2.0
"""It waits this long for each question of the probe.
Then: The probe reports that nobody answered."""
SLOW_IMPORT_SECONDS: Final = 5.0
"""An import that takes longer is slow.
Then: The command keeps waiting, and says what may be wrong."""
FAILURE_CHARACTERS: Final = 500
"""Print this much of an unexpected failure.
Then: The rest isn't printed."""
LAST_LOG_LINES: Final = 20
"""Print this many of a server's last log lines, if it can't be reached.
Then: Earlier lines aren't printed."""
ERROR_CHARACTERS: Final = 10_000
"""Print this much of a server's error.
Then: The rest isn't printed."""
TOOL_TEXT_CHARACTERS: Final = 5_000
"""Print this much of a tool's description.
Then: It ends with an ellipsis."""
UNANSWERED_CHARACTERS: Final = 200
"""Print this much of a question that wasn't answered.
Then: The rest isn't printed."""
MASKED_CHARACTERS: Final = 6
"""Mask the values of secret variables that are at least this long.
Then: A shorter value isn't masked, since it may be part of any sentence."""
TESTED_ROUNDS: Final = 1_000
"""`midcall.testing` lets a tool ask in this many rounds.
Then: The test fails with `NotReplayable`."""
