"""Limits of what answers questions: connections, queues, guards, terminals and the browser page."""

from __future__ import annotations

from typing import Final

from midcall.settings.setting import Subject

client: Final = Subject("Client", "client")

client.add(
    "PLAIN",
    False,
    "",
    "Ask with line prompts instead of forms, for screen readers and plain terminals.",
    env="MIDCALL_PLAIN",
)
CONNECT_SECONDS: Final = client.add(
    "CONNECT_SECONDS",
    60.0,
    "s",
    "Wait for a server to connect; a command may have to be downloaded first.",
    then="`connect` raises `CannotConnect`.",
    argument="connect(connect_timeout=), midcall --timeout",
)
HTTP_CONNECT_SECONDS: Final = client.add(
    "HTTP_CONNECT_SECONDS", 30.0, "s", "Wait for a TCP connection to a URL.", then="The request fails."
)
SILENT_STREAM_SECONDS: Final = client.add(
    "SILENT_STREAM_SECONDS",
    3600.0,
    "s",
    "A stream may be silent this long, because people are slow.",
    then="The request fails.",
)
DRAIN_SECONDS: Final = client.add(
    "DRAIN_SECONDS",
    1.0,
    "s",
    "Read what a stopped server still writes to its log, at most this long.",
    then="The rest of the log isn't shown.",
)
VISIT_SECONDS: Final = client.add(
    "VISIT_SECONDS",
    300.0,
    "s",
    "Wait for a required visit, if neither the server nor the user says that it is done.",
    then="The call is repeated, as often as `VISIT_RETRIES` allows.",
    argument="connect(patience=), attach(patience=)",
)
VISIT_RETRIES: Final = client.add(
    "VISIT_RETRIES",
    3,
    "times",
    "Repeat a call that failed with -32042 this often.",
    then="The call fails with the server's own error, and a note.",
)
MAX_ROUND_QUESTIONS: Final = client.add(
    "MAX_ROUND_QUESTIONS",
    10_000,
    "questions",
    "One round of a call on 2026-07-28 may have this many requests.",
    then="The user is asked none of them: the call fails.",
)
MAX_REQUIRED_VISITS: Final = client.add(
    "MAX_REQUIRED_VISITS",
    50,
    "visits",
    "One error -32042 may require this many visits.",
    then="The user is asked for none of them: the call fails with the server's own error, and a note.",
)
MAX_CLIENT_ROUNDS: Final = client.add(
    "MAX_CLIENT_ROUNDS",
    100,
    "rounds",
    "One call on 2026-07-28 may take this many rounds. A busy server may send rounds without questions to gain time.",
    then="The SDK ends the call with an error.",
    argument="connect(input_required_max_rounds=)",
)
MAX_FAULTS: Final = client.add(
    "MAX_FAULTS",
    1_000,
    "faults",
    "Read this many faults of one question or tool: in memory, each takes a thousand times its size.",
    then="Further ones are only counted.",
)
MAX_MALFORMED_TOOLS: Final = client.add(
    "MAX_MALFORMED_TOOLS",
    100,
    "tools",
    "Leave out this many malformed tools of a list.",
    then="The rest of the list is not read.",
)
BUSY_SECONDS: Final = client.add(
    "BUSY_SECONDS",
    0.25,
    "s",
    "Between two attempts at a call that a server answers with a round without questions; doubled each time.",
    interval=True,
)
MAX_BUSY_SECONDS: Final = client.add("MAX_BUSY_SECONDS", 5.0, "s", "Between two such attempts, at most.", interval=True)
MAX_BUSY_STATES: Final = client.add(
    "MAX_BUSY_STATES",
    256,
    "calls",
    "This many calls of one connection may wait for a busy server at once.",
    then="The oldest is repeated without a longer pause.",
)
MAX_CLIENT_VISITS: Final = client.add(
    "MAX_CLIENT_VISITS",
    256,
    "visits",
    "Remember this many visits.",
    then="The oldest is forgotten: a report that came early has no effect.",
)
DEFAULT_CHARACTERS: Final = client.add(
    "DEFAULT_CHARACTERS",
    10_000,
    "characters",
    "The longest default that a terminal offers: nobody would see all of a longer one before it is sent.",
    then="The field is empty.",
    where=".",
)
MAX_PENDING: Final = client.add(
    "MAX_PENDING",
    100,
    "questions",
    "Questions of one server that may wait for one person.",
    then="More questions are cancelled, and the user or the log is told.",
    argument="Browser(limit=), Pending(limit=)",
)
BURST: Final = client.add(
    "BURST",
    20,
    "questions",
    "This many questions of one server are a burst.",
    then="If the user cancels all, what the server still sends is cancelled, too.",
)
BURST_OVER_SECONDS: Final = client.add(
    "BURST_OVER_SECONDS",
    1.0,
    "s",
    "A burst is over after this long without a question.",
    then="The server may ask again.",
)
BURST_POLL_SECONDS: Final = client.add(
    "BURST_POLL_SECONDS", 0.2, "s", "Between two checks whether a burst is over.", interval=True
)
GUARD_PENDING: Final = client.add(
    "GUARD_PENDING",
    32,
    "questions",
    "The same limit in `Guard`, for one server.",
    then="More questions are cancelled, and the user is told once.",
    argument="Guard(most_waiting=)",
)
GUARD_PENDING_IN_ALL: Final = client.add(
    "GUARD_PENDING_IN_ALL",
    128,
    "questions",
    "The same limit for all servers together.",
    then="More questions are cancelled, and the user is told once.",
    argument="Guard(most_waiting_in_all=)",
)
RATE_QUESTIONS: Final = client.add(
    "RATE_QUESTIONS",
    30,
    "questions",
    "How many questions a server may ask a person in one `RATE_SECONDS`; also the default of `Guard`.",
    then="Questions that come faster are cancelled, and the user is told why, once.",
    argument="Guard(rate=)",
)
RATE_SECONDS: Final = client.add(
    "RATE_SECONDS",
    60.0,
    "s",
    "The period of a `Rate`.",
    then="Questions that come faster than the rate are cancelled, and the user is told once.",
    argument="Rate(per=)",
)
MAX_RATED_SERVERS: Final = client.add(
    "MAX_RATED_SERVERS",
    1_000,
    "servers",
    "Count the questions of this many servers.",
    then="The oldest is forgotten, and its count starts again.",
)
SERVER_NAME_CHARACTERS: Final = client.add(
    "SERVER_NAME_CHARACTERS",
    1_000,
    "characters",
    "A guard compares this much of a server's name.",
    then="The rest isn't compared.",
)
BATCH_SECONDS: Final = client.add(
    "BATCH_SECONDS",
    0.2,
    "s",
    "Line prompts collect the questions of one batch this long.",
    then="Later questions are in the next batch.",
)
CTRL_C_SECONDS: Final = client.add(
    "CTRL_C_SECONDS",
    2.0,
    "s",
    "Ctrl-C three times within this long ends the program.",
    then="The count starts again: a single Ctrl-C cancels the question.",
)
ROUND_SECONDS: Final = client.add(
    "ROUND_SECONDS",
    0.02,
    "s",
    "The terminal collects the questions of one round this long.",
    then="Later questions are shown after these.",
)
TERMINAL_CLOSE_SECONDS: Final = client.add(
    "TERMINAL_CLOSE_SECONDS",
    5.0,
    "s",
    "Wait for the terminal app to close.",
    then="midcall continues, and cancels the app.",
)
TERMINAL_POLL_SECONDS: Final = client.add(
    "TERMINAL_POLL_SECONDS", 1.0, "s", "Between two checks whether the terminal is still there.", interval=True
)
TERMINAL_QUEUE_SECONDS: Final = client.add(
    "TERMINAL_QUEUE_SECONDS", 0.5, "s", "Between two checks what else is pending.", interval=True
)
TERMINAL_DRAW_SECONDS: Final = client.add(
    "TERMINAL_DRAW_SECONDS",
    0.2,
    "s",
    "Wait for a form to be drawn before it's left.",
    then="The form is left as it is.",
)
CONFIRM_SECONDS: Final = client.add(
    "CONFIRM_SECONDS",
    0.3,
    "s",
    "A form can't be confirmed or declined before it was shown this long, nor a prompt that replaced another one.",
    then="Until then, the key does nothing, and a line is asked for again.",
)
OUTPUT_BYTES: Final = client.add(
    "OUTPUT_BYTES",
    8 * 2**20,
    "bytes",
    "Keep this much of what others print while a form is shown.",
    then="The oldest output is dropped, and a line says how many bytes.",
)
PAGE_GRACE_SECONDS: Final = client.add(
    "PAGE_GRACE_SECONDS",
    3.0,
    "s",
    "The browser page may be gone this long, for example to reload.",
    then="It counts as closed, and the questions that it showed are cancelled.",
    argument="Browser(grace=)",
)
PAGE_RECENT_SECONDS: Final = client.add(
    "PAGE_RECENT_SECONDS",
    10.0,
    "s",
    "A page without JavaScript that loaded within this long counts as open.",
    then="The page counts as closed, and the next question opens a new one.",
)
PAGE_UNSEEN_SECONDS: Final = client.add(
    "PAGE_UNSEEN_SECONDS", 10.0, "s", "Wait for the page that was opened to load.", then="The address is printed."
)
PAGE_OPEN_SECONDS: Final = client.add(
    "PAGE_OPEN_SECONDS", 5.0, "s", "Between two pages that the browser answerer opens.", interval=True
)
PAGE_EVENT_SECONDS: Final = client.add(
    "PAGE_EVENT_SECONDS", 0.2, "s", "Between two events that a page gets.", interval=True
)
BROWSER_POST_BYTES: Final = client.add(
    "BROWSER_POST_BYTES",
    4_000_000,
    "bytes",
    "The largest form that the browser answerer accepts.",
    then="The request is refused with 413.",
)
BROWSER_POST_VALUES: Final = client.add(
    "BROWSER_POST_VALUES", 60_000, "values", "The most values in such a form.", then="The request is refused with 413."
)
URL_CHARACTERS: Final = client.add(
    "URL_CHARACTERS",
    32_768,
    "characters",
    "The longest URL that can be opened.",
    then="The user is told why, and can't open it.",
)
REFUSAL_CHARACTERS: Final = client.add(
    "REFUSAL_CHARACTERS",
    10_000,
    "characters",
    "Read this much of an error, to learn that a server can't push on this version.",
    then="The error counts as any other.",
)
ODD_QUESTION_CHARACTERS: Final = client.add(
    "ODD_QUESTION_CHARACTERS",
    300,
    "characters",
    "Say this much of why a question can't be shown.",
    then="The rest isn't shown.",
)
MAX_LOGGED_QUESTIONS: Final = client.add(
    "MAX_LOGGED_QUESTIONS",
    10,
    "questions",
    "Log this many questions of one server that can't be shown.",
    then="A line says that more aren't logged.",
)
MALFORMED_REASON_CHARACTERS: Final = client.add(
    "MALFORMED_REASON_CHARACTERS",
    200,
    "characters",
    "Say this much of why a tool or a message is malformed.",
    then="It says how much is missing.",
)
LOG_LINE_CHARACTERS: Final = client.add(
    "LOG_LINE_CHARACTERS",
    2_000,
    "characters",
    "Show this much of a line that a server logs.",
    then="The rest of the line isn't shown.",
)
LONG_URL_CHARACTERS: Final = client.add(
    "LONG_URL_CHARACTERS",
    2_000,
    "characters",
    "A longer URL is very long.",
    then="The user is warned.",
)
MAX_TOLD: Final = client.add(
    "MAX_TOLD",
    1_000,
    "sentences",
    "A guard remembers this many sentences that it has told the user.",
    then="It may say the oldest again.",
)
SCRIPT_MESSAGE_CHARACTERS: Final = client.add(
    "SCRIPT_MESSAGE_CHARACTERS",
    200,
    "characters",
    "An error of a script quotes this much of a question.",
    then="It ends with an ellipsis.",
)
SCRIPT_FIELDS: Final = client.add(
    "SCRIPT_FIELDS",
    20,
    "fields",
    "An error of a script names this many fields.",
    then="It says how many more there are.",
)
MAX_ENDED: Final = client.add(
    "MAX_ENDED",
    50,
    "questions",
    "The browser page remembers this many questions that have ended.",
    then="The oldest is forgotten: its page says only that it isn't open any more.",
)
MAX_NOTES: Final = client.add(
    "MAX_NOTES",
    3,
    "notes",
    "The browser page shows this many sentences about stopped questions.",
    then="The oldest is no longer shown.",
)
KEPT_LINES: Final = client.add(
    "KEPT_LINES",
    200,
    "lines",
    "Line prompts keep this many lines that others print while a question is shown.",
    then="The oldest are dropped, and a line says how many.",
)
LINES_TEXT_CHARACTERS: Final = client.add(
    "LINES_TEXT_CHARACTERS",
    6_000,
    "characters",
    "Line prompts show this much of a text.",
    then="A note says how many more there are.",
)
LINES_TEXT_LINES: Final = client.add(
    "LINES_TEXT_LINES",
    80,
    "lines",
    "And this many lines of it.",
    then="A note says how many characters more there are.",
)
HINT_CHARACTERS: Final = client.add(
    "HINT_CHARACTERS",
    200,
    "characters",
    "Line prompts show this much of a hint.",
    then="It says how much is missing.",
)
REVIEWED_CHARACTERS: Final = client.add(
    "REVIEWED_CHARACTERS",
    2_000,
    "characters",
    "A review shows this much of a field's label; of values, everything.",
    then="It says how much is missing.",
)
LISTED_OPTIONS: Final = client.add(
    "LISTED_OPTIONS",
    20,
    "options",
    "Line prompts list this many options of a long list at once.",
    then="The user searches for others.",
)
LINE_CHARACTERS: Final = client.add(
    "LINE_CHARACTERS",
    200,
    "characters",
    "A terminal shows this much of a text on one line.",
    then="It says how much is missing.",
)
TERMINAL_MESSAGE_CHARACTERS: Final = client.add(
    "TERMINAL_MESSAGE_CHARACTERS",
    20_000,
    "characters",
    "A terminal shows this much of a text of several lines.",
    then="It says how much is missing.",
)
TERMINAL_MESSAGE_LINES: Final = client.add(
    "TERMINAL_MESSAGE_LINES",
    400,
    "lines",
    "And this many lines of it.",
    then="It says how much is missing.",
)
VERSION_CHARACTERS: Final = client.add(
    "VERSION_CHARACTERS",
    30,
    "characters",
    "Line prompts show this much of a server's version.",
    then="It says how much is missing.",
)
MAX_TOGETHER: Final = client.add(
    "MAX_TOGETHER",
    20,
    "questions",
    "A terminal shows this many pending questions as one form.",
    then="The others are shown after these.",
)
PORTION_FIELDS: Final = client.add(
    "PORTION_FIELDS",
    40,
    "fields",
    "A terminal shows this many fields at once.",
    then="The form is shown in portions.",
)
FOUND_OPTIONS: Final = client.add(
    "FOUND_OPTIONS",
    100,
    "options",
    "A terminal lists this many options of a list that is searched.",
    then="The user types more of the option to see it.",
)
DESCRIPTION_CHARACTERS: Final = client.add(
    "DESCRIPTION_CHARACTERS",
    2_000,
    "characters",
    "A terminal shows this much of a field's description.",
    then="It says how much is missing.",
)
PRINTED_LINES: Final = client.add(
    "PRINTED_LINES",
    10_000,
    "lines",
    "Keep this many lines that others print while the terminal shows a form.",
    then="The oldest are dropped.",
)
