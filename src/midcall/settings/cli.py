"""Limits of the command line, `midcall doctor` and `midcall.testing`."""

from __future__ import annotations

from typing import Final

from midcall.settings.setting import Subject

cli: Final = Subject("Command line", "cli")

SPINNER_SECONDS: Final = cli.add("SPINNER_SECONDS", 0.1, "s", "Between two frames of the spinner.", interval=True)
CHECK_PAGE_SECONDS: Final = cli.add(
    "CHECK_PAGE_SECONDS",
    1.0,
    "s",
    "After a server has ended, `midcall call` waits this long for its page.",
    then="The page counts as gone.",
)
MAX_TOOL_PAGES: Final = cli.add(
    "MAX_TOOL_PAGES",
    100,
    "pages",
    "Read this many pages of a server's list of tools.",
    then="Tools on later pages aren't known.",
)
SCHEMA_PARTS: Final = cli.add(
    "SCHEMA_PARTS",
    2_000,
    "parts",
    "`midcall call` reads this much of a tool's schema, to convert arguments.",
    then="Later arguments can have any type.",
)
REFERENCE_CHARACTERS: Final = cli.add(
    "REFERENCE_CHARACTERS",
    300,
    "characters",
    "The longest `$ref` in a tool's schema.",
    then="What it refers to can have any type, and the server checks it alone.",
)
SCHEMA_DEPTH: Final = cli.add(
    "SCHEMA_DEPTH", 20, "levels", "It reads a schema this deep.", then="Deeper values can have any type."
)
SCHEMA_STEPS: Final = cli.add(
    "SCHEMA_STEPS",
    5_000,
    "steps",
    "It checks arguments for this many steps, before it calls the tool.",
    then="The server checks them alone.",
)
DEMO_SECONDS: Final = cli.add(
    "DEMO_SECONDS", 60.0, "s", "The scripted demo has this long.", then="The demo fails with a message."
)
CHECK_SECONDS: Final = cli.add(
    "CHECK_SECONDS",
    2.5,
    "s",
    "Each check of `midcall doctor` waits this long.",
    then="The check reports a missing answer.",
    where="doctor",
)
CHECK_PORTAL_SECONDS: Final = cli.add(
    "CHECK_PORTAL_SECONDS",
    3.7,
    "s",
    "It waits this long for a portal, which gives its store three seconds.",
    then="The check reports a missing answer.",
    where="doctor",
)
CHECK_VAULT_VALUES: Final = cli.add(
    "CHECK_VAULT_VALUES",
    2_000,
    "values",
    "It tries to open this many values of the vault.",
    then="The report covers the first values, and names the limit.",
    where="doctor",
)
CHECK_CLOSE_SECONDS: Final = cli.add(
    "CHECK_CLOSE_SECONDS",
    0.5,
    "s",
    "It waits this long for the installation to close.",
    then="The command ends without it.",
)
CHECK_URL_SECONDS: Final = cli.add(
    "CHECK_URL_SECONDS",
    4.0,
    "s",
    "It waits this long for a URL.",
    then="The command fails, and suggests `--timeout`.",
    argument="midcall doctor --timeout",
)
CHECK_PROBE_SECONDS: Final = cli.add(
    "CHECK_PROBE_SECONDS",
    2.0,
    "s",
    "It waits this long for each question of the probe.",
    then="The probe reports that nobody answered.",
)
SLOW_IMPORT_SECONDS: Final = cli.add(
    "SLOW_IMPORT_SECONDS",
    5.0,
    "s",
    "An import that takes longer is slow.",
    then="The command keeps waiting, and says what may be wrong.",
    where="doctor",
)
FAILURE_CHARACTERS: Final = cli.add(
    "FAILURE_CHARACTERS",
    500,
    "characters",
    "Print this much of an unexpected failure.",
    then="The rest isn't printed.",
)
LAST_LOG_LINES: Final = cli.add(
    "LAST_LOG_LINES",
    20,
    "lines",
    "Print this many of a server's last log lines, if it can't be reached.",
    then="Earlier lines aren't printed.",
)
ERROR_CHARACTERS: Final = cli.add(
    "ERROR_CHARACTERS",
    10_000,
    "characters",
    "Print this much of a server's error.",
    then="The rest isn't printed.",
)
TOOL_TEXT_CHARACTERS: Final = cli.add(
    "TOOL_TEXT_CHARACTERS",
    5_000,
    "characters",
    "Print this much of a tool's description.",
    then="It ends with an ellipsis.",
)
UNANSWERED_CHARACTERS: Final = cli.add(
    "UNANSWERED_CHARACTERS",
    200,
    "characters",
    "Print this much of a question that wasn't answered.",
    then="The rest isn't printed.",
)
MASKED_CHARACTERS: Final = cli.add(
    "MASKED_CHARACTERS",
    6,
    "characters",
    "Mask the values of secret variables that are at least this long.",
    then="A shorter value isn't masked, since it may be part of any sentence.",
    where="doctor",
)
TESTED_ROUNDS: Final = cli.add(
    "TESTED_ROUNDS",
    1_000,
    "rounds",
    "`midcall.testing` lets a tool ask in this many rounds.",
    then="The test fails with `NotReplayable`.",
    where="testing",
)
