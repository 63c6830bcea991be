"""Limits of a call and its questions, of forms, logs and the audit trail."""

from __future__ import annotations

from typing import Final

from midcall.settings.setting import Subject

calls: Final = Subject("Calls and questions", "server")

ATTEMPTS: Final = calls.add(
    "ATTEMPTS",
    3,
    "times",
    "Ask again if an answer is invalid, up to this often in all.",
    then="The tool gets the error `InvalidAnswer`.",
    argument="ask(attempts=)",
    where="core",
)
PATTERN_CHARACTERS: Final = calls.add(
    "PATTERN_CHARACTERS",
    2_000,
    "characters",
    "The longest pattern of a field.",
    where="core",
    then="It is refused with `InvalidForm`, or left to the server that sent it.",
)
PATTERN_STEPS: Final = calls.add(
    "PATTERN_STEPS",
    50_000_000,
    "steps",
    "The size of a pattern times the length of a text, at most; longer answers are refused. It takes a second or less.",
    where="core",
    then="A longer answer is refused as too long.",
)
PATTERN_SET_STEPS: Final = calls.add(
    "PATTERN_SET_STEPS",
    120_000,
    "steps",
    "Reading a set of letters in someone else's pattern counts as so many steps, if they are beyond Latin-1.",
    where="core",
    then="Patterns that would take too long in all are left to the server that sent them.",
)
PATTERN_TEXT_CHARACTERS: Final = calls.add(
    "PATTERN_TEXT_CHARACTERS",
    1_000,
    "characters",
    "Texts count as at least this long when a client adds up `PATTERN_STEPS` for the patterns of a server's form.",
    where="core",
    then="The patterns that are too much are left to the server.",
)
AUTHORITY_CHARACTERS: Final = calls.add(
    "AUTHORITY_CHARACTERS",
    1_000,
    "characters",
    "The longest host of a URL, with port, that isn't ASCII.",
    where="core",
    then="The URL is refused.",
)
STATE_BYTES: Final = calls.add(
    "STATE_BYTES",
    64 * 1024,
    "bytes",
    "The largest state that a round carries; servers and proxies reject larger requests.",
    then="The journal stays in the store, or with the live run; without either, the call fails with `JournalTooLarge`.",
)
SDK_STATE_TTL_SECONDS: Final = calls.add(
    "SDK_STATE_TTL_SECONDS",
    600.0,
    "s",
    "What the SDK lets a state live by default; a server that sets another keeps it.",
    then="Doesn't apply: midcall's own time to live replaces it.",
)
SENDING_SECONDS: Final = calls.add(
    "SENDING_SECONDS",
    1.0,
    "s",
    "Wait for a notification to be sent.",
    then="The call continues, and the notification is sent in the background.",
)
TOGETHER_SECONDS: Final = calls.add(
    "TOGETHER_SECONDS",
    0.5,
    "s",
    "In a replay, hold an answer for branches that are still on their way to the same round.",
    then="The branches that are there get their answers.",
)
BRANCH_POLL_SECONDS: Final = calls.add(
    "BRANCH_POLL_SECONDS",
    0.005,
    "s",
    "Between two checks whether the branches of a replay have reached their answers.",
    interval=True,
)
BRANCH_POLLS: Final = calls.add(
    "BRANCH_POLLS",
    200,
    "times",
    "Check the branches of a replay this often.",
    then="A branch that still hasn't used its answer is a `ReplayMismatch`.",
)
PROBE_SECONDS: Final = calls.add(
    "PROBE_SECONDS",
    60.0,
    "s",
    "Wait for the answer to a question of the probe.",
    then="The probe reports that nobody answered, and continues with its next question.",
    argument="midcall_probe(timeout=)",
)
MAX_PROBE_SECONDS: Final = calls.add(
    "MAX_PROBE_SECONDS",
    3600.0,
    "s",
    "The longest wait that a caller of the probe may set.",
    then="A longer wait is ignored: the default applies.",
)
READING_SECONDS: Final = calls.add(
    "READING_SECONDS",
    0.25,
    "s",
    "An answer faster than this was probably not given by a person.",
    then="The probe reports that a program answered.",
)
LOG_CHARACTERS: Final = calls.add(
    "LOG_CHARACTERS",
    4_000,
    "characters",
    "The longest line in our logs.",
    then="The rest is cut, and the line says how much.",
    where=".",
)
MAX_AUDIT_EVENTS: Final = calls.add(
    "MAX_AUDIT_EVENTS",
    10_000,
    "events",
    "This many events may wait for an audit sink.",
    then="Further ones are counted as lost, and reported when the sink works again.",
    where="audit.py",
)
MAX_AUDIT_CHARACTERS: Final = calls.add(
    "MAX_AUDIT_CHARACTERS",
    500,
    "characters",
    "The length of a name in an audit event, such as that of a client.",
    then="The rest is cut off.",
    where="audit.py",
)
AUDIT_CLOSE_SECONDS: Final = calls.add(
    "AUDIT_CLOSE_SECONDS",
    5.0,
    "s",
    "An audit sink has this long to take its last events.",
    then="The others are lost, and the log says how many.",
    where="audit.py",
)
AUDIT_IDLE_SECONDS: Final = calls.add(
    "AUDIT_IDLE_SECONDS",
    5.0,
    "s",
    "The thread of an audit sink ends after this long without an event.",
    then="The next event starts another.",
    where="audit.py",
)
AUDIT_POLL_SECONDS: Final = calls.add(
    "AUDIT_POLL_SECONDS",
    0.5,
    "s",
    "Between two checks whether the event loop of an async audit sink still runs.",
    interval=True,
    where="audit.py",
)
NUMBER_CHARACTERS: Final = calls.add(
    "NUMBER_CHARACTERS",
    300,
    "characters",
    "The longest line that is read as a number.",
    then="It isn't a number, and the user is asked again.",
    where="core",
)
SECRET_NAME_CHARACTERS: Final = calls.add(
    "SECRET_NAME_CHARACTERS",
    200,
    "characters",
    "This much of a message or a name is searched for words that ask for a secret.",
    then="Words that come later aren't noticed.",
    where="core",
)
CACHED_CHARACTERS: Final = calls.add(
    "CACHED_CHARACTERS",
    1_000,
    "characters",
    "Questions with longer messages aren't cached: they quote files and letters.",
    then="The question is made again each time.",
    where=".",
)
MAX_CACHED_TYPES: Final = calls.add(
    "MAX_CACHED_TYPES",
    1_024,
    "types",
    "Keep what was read from this many types of answers.",
    then="What was read from some of them is read again.",
    where="core",
)
REJECTED_CHARACTERS: Final = calls.add(
    "REJECTED_CHARACTERS",
    4_096,
    "characters",
    "A rejected value is kept for the user to correct if it isn't longer.",
    then="The user enters it again.",
    where="core",
)
SECRET_ATTEMPTS: Final = calls.add(
    "SECRET_ATTEMPTS",
    3,
    "attempts",
    "A user can enter a secret that its check rejects this often.",
    then="The tool gets `NotAnswered`.",
)
MAX_WARNINGS: Final = calls.add(
    "MAX_WARNINGS",
    100,
    "warnings",
    "Log this many different warnings of one kind, and keep as many odd forms for `midcall doctor`.",
    then="More warnings of this kind aren't logged, and the oldest form is forgotten.",
)
MAX_WARNING_KINDS: Final = calls.add(
    "MAX_WARNING_KINDS",
    1_000,
    "kinds",
    "Tell this many kinds of warnings apart. A mistake is one kind for each tool.",
    then="The oldest kind is forgotten: its warnings may be logged again.",
)
SHOWN_OPTIONS: Final = calls.add(
    "SHOWN_OPTIONS",
    12,
    "options",
    "A sentence about a wrong answer names this many options.",
    then="It says how many more there are.",
    where=".",
)
