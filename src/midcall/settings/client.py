"""Limits of what answers questions: connections, queues, guards, terminals and the browser page."""

from __future__ import annotations

from typing import Final

PLAIN: Final = False
"""Ask with line prompts instead of forms, for screen readers and plain terminals.
Variable: MIDCALL_PLAIN"""
CONNECT_SECONDS: Final = 60.0
"""Wait for a server to connect; a command may have to be downloaded first.
Then: `connect` raises `CannotConnect`.
Argument: connect(connect_timeout=), midcall --timeout"""
HTTP_CONNECT_SECONDS: Final = 30.0
"""Wait for a TCP connection to a URL.
Then: The request fails."""
SILENT_STREAM_SECONDS: Final = 3600.0
"""A stream may be silent this long, because people are slow.
Then: The request fails."""
DRAIN_SECONDS: Final = 1.0
"""Read what a stopped server still writes to its log, at most this long.
Then: The rest of the log isn't shown."""
VISIT_SECONDS: Final = 300.0
"""Wait for a required visit, if neither the server nor the user says that it is done.
Then: The call is repeated, as often as `VISIT_RETRIES` allows.
Argument: connect(patience=), attach(patience=)"""
VISIT_RETRIES: Final = 3
"""Repeat a call that failed with -32042 this often.
Unit: times
Then: The call fails with the server's own error, and a note."""
MAX_ROUND_QUESTIONS: Final = 10_000
"""One round of a call on 2026-07-28 may have this many requests.
Then: The user is asked none of them: the call fails."""
MAX_REQUIRED_VISITS: Final = 50
"""One error -32042 may require this many visits.
Then: The user is asked for none of them: the call fails with the server's own error, and a note."""
MAX_CLIENT_ROUNDS: Final = 100
"""One call on 2026-07-28 may take this many rounds. A busy server may send rounds without questions to gain time.
Then: The SDK ends the call with an error.
Argument: connect(input_required_max_rounds=)"""
MAX_FAULTS: Final = 1_000
"""Read this many faults of one question or tool: in memory, each takes a thousand times its size.
Then: Further ones are only counted."""
MAX_MALFORMED_TOOLS: Final = 100
"""Leave out this many malformed tools of a list.
Then: The rest of the list is not read."""
BUSY_SECONDS: Final = 0.25
"""Between two attempts at a call that a server answers with a round without questions; doubled each time."""
MAX_BUSY_SECONDS: Final = 5.0
"""Between two such attempts, at most."""
MAX_BUSY_STATES: Final = 256
"""This many calls of one connection may wait for a busy server at once.
Unit: calls
Then: The oldest is repeated without a longer pause."""
MAX_CLIENT_VISITS: Final = 256
"""Remember this many visits.
Then: The oldest is forgotten: a report that came early has no effect."""
DEFAULT_CHARACTERS: Final = 10_000
"""The longest default that a terminal offers: nobody would see all of a longer one before it is sent.
Then: The field is empty."""
MAX_PENDING: Final = 100
"""Questions of one server that may wait for one person.
Unit: questions
Then: More questions are cancelled, and the user or the log is told.
Argument: Browser(limit=), Pending(limit=)"""
BURST: Final = 20
"""This many questions of one server are a burst.
Unit: questions
Then: If the user cancels all, what the server still sends is cancelled, too."""
BURST_OVER_SECONDS: Final = 1.0
"""A burst is over after this long without a question.
Then: The server may ask again."""
BURST_POLL_SECONDS: Final = 0.2
"""Between two checks whether a burst is over."""
GUARD_PENDING: Final = 32
"""The same limit in `Guard`, for one server.
Unit: questions
Then: More questions are cancelled, and the user is told once.
Argument: Guard(most_waiting=)"""
GUARD_PENDING_IN_ALL: Final = 128
"""The same limit for all servers together.
Unit: questions
Then: More questions are cancelled, and the user is told once.
Argument: Guard(most_waiting_in_all=)"""
RATE_QUESTIONS: Final = 30
"""How many questions a server may ask a person in one `RATE_SECONDS`; also the default of `Guard`.
Then: Questions that come faster are cancelled, and the user is told why, once.
Argument: Guard(rate=)"""
RATE_SECONDS: Final = 60.0
"""The period of a `Rate`.
Then: Questions that come faster than the rate are cancelled, and the user is told once.
Argument: Rate(per=)"""
MAX_RATED_SERVERS: Final = 1_000
"""Count the questions of this many servers.
Then: The oldest is forgotten, and its count starts again."""
SERVER_NAME_CHARACTERS: Final = 1_000
"""A guard compares this much of a server's name.
Then: The rest isn't compared."""
BATCH_SECONDS: Final = 0.2
"""Line prompts collect the questions of one batch this long.
Then: Later questions are in the next batch."""
CTRL_C_SECONDS: Final = 2.0
"""Ctrl-C three times within this long ends the program.
Then: The count starts again: a single Ctrl-C cancels the question."""
ROUND_SECONDS: Final = 0.02
"""The terminal collects the questions of one round this long.
Then: Later questions are shown after these."""
TERMINAL_CLOSE_SECONDS: Final = 5.0
"""Wait for the terminal app to close.
Then: midcall continues, and cancels the app."""
TERMINAL_POLL_SECONDS: Final = 1.0
"""Between two checks whether the terminal is still there."""
TERMINAL_QUEUE_SECONDS: Final = 0.5
"""Between two checks what else is pending."""
TERMINAL_DRAW_SECONDS: Final = 0.2
"""Wait for a form to be drawn before it's left.
Then: The form is left as it is."""
CONFIRM_SECONDS: Final = 0.3
"""A form can't be confirmed or declined before it was shown this long, nor a prompt that replaced another one.
Then: Until then, the key does nothing, and a line is asked for again."""
OUTPUT_BYTES: Final = 8 * 2**20
"""Keep this much of what others print while a form is shown.
Then: The oldest output is dropped, and a line says how many bytes."""
PAGE_GRACE_SECONDS: Final = 3.0
"""The browser page may be gone this long, for example to reload.
Then: It counts as closed, and the questions that it showed are cancelled.
Argument: Browser(grace=)"""
PAGE_RECENT_SECONDS: Final = 10.0
"""A page without JavaScript that loaded within this long counts as open.
Then: The page counts as closed, and the next question opens a new one."""
PAGE_UNSEEN_SECONDS: Final = 10.0
"""Wait for the page that was opened to load.
Then: The address is printed."""
PAGE_OPEN_SECONDS: Final = 5.0
"""Between two pages that the browser answerer opens."""
PAGE_EVENT_SECONDS: Final = 0.2
"""Between two events that a page gets."""
BROWSER_POST_BYTES: Final = 4_000_000
"""The largest form that the browser answerer accepts.
Then: The request is refused with 413."""
BROWSER_POST_VALUES: Final = 60_000
"""The most values in such a form.
Then: The request is refused with 413."""
URL_CHARACTERS: Final = 32_768
"""The longest URL that can be opened.
Then: The user is told why, and can't open it."""
REFUSAL_CHARACTERS: Final = 10_000
"""Read this much of an error, to learn that a server can't push on this version.
Then: The error counts as any other."""
ODD_QUESTION_CHARACTERS: Final = 300
"""Say this much of why a question can't be shown.
Then: The rest isn't shown."""
MAX_LOGGED_QUESTIONS: Final = 10
"""Log this many questions of one server that can't be shown.
Then: A line says that more aren't logged."""
MALFORMED_REASON_CHARACTERS: Final = 200
"""Say this much of why a tool or a message is malformed.
Then: It says how much is missing."""
LOG_LINE_CHARACTERS: Final = 2_000
"""Show this much of a line that a server logs.
Then: The rest of the line isn't shown."""
LONG_URL_CHARACTERS: Final = 2_000
"""A longer URL is very long.
Then: The user is warned."""
MAX_TOLD: Final = 1_000
"""A guard remembers this many sentences that it has told the user.
Unit: sentences
Then: It may say the oldest again."""
SCRIPT_MESSAGE_CHARACTERS: Final = 200
"""An error of a script quotes this much of a question.
Then: It ends with an ellipsis."""
SCRIPT_FIELDS: Final = 20
"""An error of a script names this many fields.
Then: It says how many more there are."""
MAX_ENDED: Final = 50
"""The browser page remembers this many questions that have ended.
Unit: questions
Then: The oldest is forgotten: its page says only that it isn't open any more."""
MAX_NOTES: Final = 3
"""The browser page shows this many sentences about stopped questions.
Then: The oldest is no longer shown."""
KEPT_LINES: Final = 200
"""Line prompts keep this many lines that others print while a question is shown.
Then: The oldest are dropped, and a line says how many."""
LINES_TEXT_CHARACTERS: Final = 6_000
"""Line prompts show this much of a text.
Then: A note says how many more there are."""
LINES_TEXT_LINES: Final = 80
"""And this many lines of it.
Then: A note says how many characters more there are."""
HINT_CHARACTERS: Final = 200
"""Line prompts show this much of a hint.
Then: It says how much is missing."""
REVIEWED_CHARACTERS: Final = 2_000
"""A review shows this much of a field's label; of values, everything.
Then: It says how much is missing."""
LISTED_OPTIONS: Final = 20
"""Line prompts list this many options of a long list at once.
Then: The user searches for others."""
LINE_CHARACTERS: Final = 200
"""A terminal shows this much of a text on one line.
Then: It says how much is missing."""
TERMINAL_MESSAGE_CHARACTERS: Final = 20_000
"""A terminal shows this much of a text of several lines.
Then: It says how much is missing."""
TERMINAL_MESSAGE_LINES: Final = 400
"""And this many lines of it.
Then: It says how much is missing."""
VERSION_CHARACTERS: Final = 30
"""Line prompts show this much of a server's version.
Then: It says how much is missing."""
MAX_TOGETHER: Final = 20
"""A terminal shows this many pending questions as one form.
Unit: questions
Then: The others are shown after these."""
PORTION_FIELDS: Final = 40
"""A terminal shows this many fields at once.
Then: The form is shown in portions."""
FOUND_OPTIONS: Final = 100
"""A terminal lists this many options of a list that is searched.
Then: The user types more of the option to see it."""
DESCRIPTION_CHARACTERS: Final = 2_000
"""A terminal shows this much of a field's description.
Then: It says how much is missing."""
PRINTED_LINES: Final = 10_000
"""Keep this many lines that others print while the terminal shows a form.
Then: The oldest are dropped."""
