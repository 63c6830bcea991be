"""Limits of a call and its questions, of forms, logs and the audit trail."""

from __future__ import annotations

from typing import Final

ATTEMPTS: Final = 3
"""Ask again if an answer is invalid, up to this often in all.
Unit: times
Then: The tool gets the error `InvalidAnswer`.
Argument: ask(attempts=)"""
PATTERN_CHARACTERS: Final = 2_000
"""The longest pattern of a field.
Then: It is refused with `InvalidForm`, or left to the server that sent it."""
PATTERN_STEPS: Final = 50_000_000
"""The size of a pattern times the length of a text, at most; longer answers are refused. It takes a second or less.
Then: A longer answer is refused as too long."""
PATTERN_SET_STEPS: Final = 120_000
"""Reading a set of letters in someone else's pattern counts as so many steps, if they are beyond Latin-1.
Then: Patterns that would take too long in all are left to the server that sent them."""
PATTERN_TEXT_CHARACTERS: Final = 1_000
"""Texts count as at least this long when a client adds up `PATTERN_STEPS` for the patterns of a server's form.
Then: The patterns that are too much are left to the server."""
AUTHORITY_CHARACTERS: Final = 1_000
"""The longest host of a URL, with port, that isn't ASCII.
Then: The URL is refused."""
STATE_BYTES: Final = 64 * 1024
"""The largest state that a round carries; servers and proxies reject larger requests.
Then: The journal stays in the store, or with the live run; without either, the call fails with `JournalTooLarge`."""
SDK_STATE_TTL_SECONDS: Final = 600.0
"""What the SDK lets a state live by default; a server that sets another keeps it.
Then: Doesn't apply: midcall's own time to live replaces it."""
SENDING_SECONDS: Final = 1.0
"""Wait for a notification to be sent.
Then: The call continues, and the notification is sent in the background."""
TOGETHER_SECONDS: Final = 0.5
"""In a replay, hold an answer for branches that are still on their way to the same round.
Then: The branches that are there get their answers."""
BRANCH_POLL_SECONDS: Final = 0.005
"""Between two checks whether the branches of a replay have reached their answers."""
BRANCH_POLLS: Final = 200
"""Check the branches of a replay this often.
Unit: times
Then: A branch that still hasn't used its answer is a `ReplayMismatch`."""
PROBE_SECONDS: Final = 60.0
"""Wait for the answer to a question of the probe.
Then: The probe reports that nobody answered, and continues with its next question.
Argument: midcall_probe(timeout=)"""
MAX_PROBE_SECONDS: Final = 3600.0
"""The longest wait that a caller of the probe may set.
Then: A longer wait is ignored: the default applies."""
READING_SECONDS: Final = 0.25
"""An answer faster than this was probably not given by a person.
Then: The probe reports that a program answered."""
LOG_CHARACTERS: Final = 4_000
"""The longest line in our logs.
Then: The rest is cut, and the line says how much."""
MAX_AUDIT_EVENTS: Final = 10_000
"""This many events may wait for an audit sink.
Then: Further ones are counted as lost, and reported when the sink works again."""
MAX_AUDIT_CHARACTERS: Final = 500
"""The length of a name in an audit event, such as that of a client.
Then: The rest is cut off."""
AUDIT_CLOSE_SECONDS: Final = 5.0
"""An audit sink has this long to take its last events.
Then: The others are lost, and the log says how many."""
AUDIT_IDLE_SECONDS: Final = 5.0
"""The thread of an audit sink ends after this long without an event.
Then: The next event starts another."""
AUDIT_POLL_SECONDS: Final = 0.5
"""Between two checks whether the event loop of an async audit sink still runs."""
NUMBER_CHARACTERS: Final = 300
"""The longest line that is read as a number.
Then: It isn't a number, and the user is asked again."""
SECRET_NAME_CHARACTERS: Final = 200
"""This much of a message or a name is searched for words that ask for a secret.
Then: Words that come later aren't noticed."""
CACHED_CHARACTERS: Final = 1_000
"""Questions with longer messages aren't cached: they quote files and letters.
Then: The question is made again each time."""
MAX_CACHED_TYPES: Final = 1_024
"""Keep what was read from this many types of answers.
Then: What was read from some of them is read again."""
REJECTED_CHARACTERS: Final = 4_096
"""A rejected value is kept for the user to correct if it isn't longer.
Then: The user enters it again."""
SECRET_ATTEMPTS: Final = 3
"""A user can enter a secret that its check rejects this often.
Then: The tool gets `NotAnswered`."""
MAX_WARNINGS: Final = 100
"""Log this many different warnings of one kind, and keep as many odd forms for `midcall doctor`.
Then: More warnings of this kind aren't logged, and the oldest form is forgotten."""
MAX_WARNING_KINDS: Final = 1_000
"""Tell this many kinds of warnings apart. A mistake is one kind for each tool.
Then: The oldest kind is forgotten: its warnings may be logged again."""
SHOWN_OPTIONS: Final = 12
"""A sentence about a wrong answer names this many options.
Then: It says how many more there are."""
