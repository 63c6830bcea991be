"""Every setting and every limit, in one table: argument, environment variable, default, meaning, and what happens then.

Every number with a unit is a limit, and says what happens at it (`then=`), or the time between two of the same
(`interval=True`). Modules import the values. `docs/settings.md` and `midcall doctor --settings` show the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

Value: TypeAlias = bool | int | float | str | tuple[float, ...] | None
T = TypeVar("T", bound=Value)


@dataclass(frozen=True, slots=True)
class Setting:
    """A value that you can set, or a limit that is fixed."""

    name: str
    default: Value
    unit: str
    meaning: str
    subject: str
    where: str
    """The folder that uses it."""
    argument: str = ""
    env: str = ""
    otherwise: str = ""
    """What applies without a default."""
    secret: bool = False
    then: str = ""
    """What happens at the limit."""
    interval: bool = False
    """Whether it is the time between two of the same, which has no limit to reach."""

    def format(self, value: Value) -> str:
        """A value of this setting, with its unit."""
        match value:
            case None:
                return self.otherwise
            case bool():
                return "yes" if value else "no"
            case str():
                return value
            case tuple():
                text = ", ".join(map(_format_number, value))
            case _:
                text = _format_number(value)
        return f"{text} {self.unit}".rstrip()

    @property
    def is_fixed(self) -> bool:
        """Whether nobody can set it."""
        return not (self.argument or self.env)

    @property
    def is_limit(self) -> bool:
        """Whether something happens when it is reached."""
        is_number = isinstance(self.default, int | float | tuple) and not isinstance(self.default, bool)
        return is_number and bool(self.unit) and not self.interval


def _format_number(value: float) -> str:
    return f"{int(value):,}" if float(value).is_integer() else f"{value:g}"


@dataclass(frozen=True, slots=True)
class _Subject:
    """Adds rows to the table, under one heading."""

    title: str
    where: str

    def add(
        self,
        name: str,
        default: T,
        unit: str,
        meaning: str,
        *,
        then: str = "",
        interval: bool = False,
        argument: str = "",
        env: str = "",
        otherwise: str = "",
        secret: bool = False,
        where: str = "",
    ) -> T:
        """Add a row, and return the default for the constant that modules import."""
        place = where or self.where
        row = Setting(name, default, unit, meaning, self.title, place, argument, env, otherwise, secret, then, interval)
        _rows.append(row)
        return default


_rows: list[Setting] = []

# --- install -------------------------------------------------------------------------------------

_install = _Subject("install", "server")

_install.add(
    "KEYS",
    None,
    "",
    "Keys that seal the state of suspended calls, the journals and the vault: the first seals, all unseal.",
    argument="install(keys=)",
    env="MIDCALL_KEYS",
    otherwise="the server's own, else those of this machine or this process",
    secret=True,
)
_install.add(
    "STORE",
    None,
    "",
    "The URL of the store: sqlite:///..., postgresql://... or redis://...",
    argument="install(store=)",
    env="MIDCALL_STORE",
    otherwise="none; with a portal, SQLite",
    secret=True,
)
STATE_TTL_SECONDS: Final = _install.add(
    "STATE_TTL_SECONDS",
    3600.0,
    "s",
    "A call may wait this long for its answers.",
    then="The state is refused, and the client is told to call again; a live run ends.",
    argument="install(state_ttl=)",
    env="MIDCALL_STATE_TTL",
)
_install.add(
    "LIVE",
    None,
    "",
    "Whether a suspended call stays in memory, so that its tool runs once.",
    argument="install(live=)",
    env="MIDCALL_LIVE",
    otherwise="yes, unless replicas share keys and no store",
)
MAX_LIVE: Final = _install.add(
    "MAX_LIVE",
    1000,
    "runs",
    "This many runs may wait in memory.",
    then="The oldest run of the caller with most ends, and is replayed when its answer comes. Of runs that have ended "
    "meanwhile, as many results are kept; for an older one, the client is told to call again.",
    argument="install(max_live=)",
    env="MIDCALL_MAX_LIVE",
)
MAX_ROUNDS: Final = _install.add(
    "MAX_ROUNDS",
    9,
    "rounds",
    "A call may take this many rounds: the Go SDKs and Copilot CLI stop after nine.",
    then="The call ends with a resume code; without one, with the error `TooManyRounds`.",
    argument="install(max_rounds=)",
    env="MIDCALL_MAX_ROUNDS",
)
HEARTBEAT_SECONDS: Final = _install.add(
    "HEARTBEAT_SECONDS",
    10.0,
    "s",
    "Between two progress notifications while a pushed question is pending.",
    interval=True,
    argument="install(heartbeat=)",
    env="MIDCALL_HEARTBEAT",
)
DOUBT_SECONDS: Final = _install.add(
    "DOUBT_SECONDS",
    0.25,
    "s",
    "A decline faster than this means that nobody saw the question, unless it is marked; 0 believes every decline.",
    then="midcall asks again through a channel where a person acts, if there is one; else the model learns of it.",
    argument="install(doubt=)",
    env="MIDCALL_DOUBT",
)
_install.add(
    "REQUIRED",
    False,
    "",
    "Whether every client of this server calls again after the error -32042.",
    argument="install(required=)",
    env="MIDCALL_REQUIRED",
)
_install.add(
    "PRINCIPAL",
    None,
    "",
    "A function that returns the user a call belongs to.",
    argument="install(principal=)",
    otherwise="the user of MCP authorization",
)
_install.add(
    "NAMESPACE",
    None,
    "",
    "Tells this server from others with the same name in one store. Servers with one namespace share secrets.",
    argument="install(namespace=)",
    env="MIDCALL_NAMESPACE",
    otherwise="none: the server's name",
)
_install.add(
    "AUDIT",
    None,
    "",
    "Where the audit trail goes: a file for JSON lines, `-` for standard error, or in code also a function.",
    argument="install(audit=)",
    env="MIDCALL_AUDIT",
    otherwise="nowhere",
)
MAX_CALLER_RECORDS: Final = _install.add(
    "MAX_CALLER_RECORDS",
    50_000,
    "records",
    "One caller may have this many records in the store: a user, or an address if nobody is signed in.",
    then="What needs another one is refused with `StoreFull`.",
    argument="install(max_caller_records=)",
    env="MIDCALL_MAX_CALLER_RECORDS",
)
MAX_CALLER_MB: Final = _install.add(
    "MAX_CALLER_MB",
    256,
    "MB",
    "These records may have this many megabytes.",
    then="What needs another one is refused with `StoreFull`.",
    argument="install(max_caller_mb=)",
    env="MIDCALL_MAX_CALLER_MB",
)
MAX_STORE_RECORDS: Final = _install.add(
    "MAX_STORE_RECORDS",
    1_000_000,
    "records",
    "All callers of this server together may have this many records in the store.",
    then="What needs another one is refused with `StoreFull`.",
    argument="install(max_store_records=)",
    env="MIDCALL_MAX_STORE_RECORDS",
)
MAX_STORE_MB: Final = _install.add(
    "MAX_STORE_MB",
    4_000,
    "MB",
    "All these records may have this many megabytes.",
    then="What needs another one is refused with `StoreFull`.",
    argument="install(max_store_mb=)",
    env="MIDCALL_MAX_STORE_MB",
)
_install.add("PORTAL", None, "", "The web pages of this server.", argument="install(portal=)", otherwise="none")
_install.add(
    "ADOPT",
    True,
    "",
    "Whether `ctx.elicit`, `ctx.elicit_url`, sampling and roots go through midcall.",
    argument="install(adopt=)",
)
_install.add(
    "STRICT",
    False,
    "",
    "Reject what only causes a warning otherwise, such as a link in a form.",
    argument="install(strict=)",
)
_install.add(
    "NOT_SECRET",
    None,
    "",
    "Why forms of existing tools may have fields that are named like secrets.",
    argument="install(not_secret=)",
    otherwise="they may not, and a warning reports it",
)
_install.add(
    "ANSWERS_AHEAD",
    False,
    "",
    "Accept answers to keyed questions without `via=` that come with the first request.",
    argument="install(answers_ahead=)",
)
_install.add(
    "RELAY",
    False,
    "",
    "Let the model ask in the chat, for questions that allow it.",
    argument="install(relay=)",
)
_install.add(
    "APPS",
    None,
    "",
    "Whether clients without elicitation get forms as MCP Apps.",
    argument="install(apps=)",
    otherwise="those that declare that they show Apps, if there is a store",
)
_install.add(
    "PROBE",
    False,
    "",
    "Add the tool `midcall_probe`, which tries the connected client.",
    argument="install(probe=)",
)

_install.add(
    "CONTINUE_ANNOTATIONS",
    None,
    "",
    "What clients are told about the tool `midcall_continue`, as annotations.",
    argument="install(continue_annotations=)",
    otherwise="nothing",
)

# --- Portal --------------------------------------------------------------------------------------

_portal = _Subject("Portal", "portal")

_portal.add(
    "PORTAL_URL",
    None,
    "",
    "The address that users know the portal by.",
    argument="Portal(base_url=)",
    env="MIDCALL_PORTAL_URL",
    otherwise="it listens on this machine when it is first needed",
)
PORTAL_HOST: Final = _portal.add(
    "PORTAL_HOST",
    "127.0.0.1",
    "",
    "Without an address: the loopback address to listen on.",
    argument="Portal(host=)",
    env="MIDCALL_PORTAL_HOST",
)
PORTAL_PORT: Final = _portal.add(
    "PORTAL_PORT",
    0,
    "",
    "Without an address: the port to listen on; 0 takes any free one.",
    argument="Portal(port=)",
    env="MIDCALL_PORTAL_PORT",
)
PORTAL_TTL_SECONDS: Final = _portal.add(
    "PORTAL_TTL_SECONDS",
    3600.0,
    "s",
    "A page can be answered for this long.",
    then="The page says that it has expired, and accepts no answer; the tool gets `TimedOut`.",
    argument="Portal(ttl=)",
    env="MIDCALL_PORTAL_TTL",
)
PORTAL_PAUSE_SECONDS: Final = _portal.add(
    "PORTAL_PAUSE_SECONDS",
    0.7,
    "s",
    "A page to which another page has led takes no answer before it was shown this long: longer than a double click "
    "takes.",
    then="The answer doesn't count, and the page is shown again and says why.",
    argument="Portal(pause=)",
    env="MIDCALL_PORTAL_PAUSE",
)

PORTAL_DETACHED: Final = _portal.add(
    "PORTAL_DETACHED",
    True,
    "",
    "Without an address, for a stdio server on Linux: whether a separate process serves open pages, so that their "
    "addresses work after the server has ended.",
    argument="Portal(detached=)",
    env="MIDCALL_PORTAL_DETACHED",
)
PAGES_IDLE_SECONDS: Final = _portal.add(
    "PAGES_IDLE_SECONDS",
    15.0,
    "s",
    "The page process stays this long when no page is open.",
    then="It ends; the next page starts another.",
)
PAGES_POLL_SECONDS: Final = _portal.add(
    "PAGES_POLL_SECONDS", 1.0, "s", "Between two checks of the page process for open pages.", interval=True
)
PAGES_LOCK_SECONDS: Final = _portal.add(
    "PAGES_LOCK_SECONDS",
    3.0,
    "s",
    "A server waits this long for others that start or reach the page process.",
    then="It serves its pages itself, and their addresses end with it.",
)
PAGES_RETRY_SECONDS: Final = _portal.add(
    "PAGES_RETRY_SECONDS", 0.02, "s", "Between two attempts to get their lock.", interval=True
)
PAGES_MESSAGE_BYTES: Final = _portal.add(
    "PAGES_MESSAGE_BYTES",
    1_000_000,
    "bytes",
    "A server and the page process send each other messages of this size.",
    then="The connection is closed: that page is not served, or that secret is checked when its call continues.",
)
PAGES_LOG_BYTES: Final = _portal.add(
    "PAGES_LOG_BYTES",
    100_000,
    "bytes",
    "The log of the page process may have this size.",
    then="It begins a new file, and keeps the one before.",
)
PAGES_STOP_SECONDS: Final = _portal.add(
    "PAGES_STOP_SECONDS",
    10.0,
    "s",
    "`midcall pages --stop` waits this long for the page process.",
    then="The command fails, and says that it has not ended yet.",
    where="cli",
)
MAX_DETACHED_PAGES: Final = _portal.add(
    "MAX_DETACHED_PAGES",
    1_000,
    "pages",
    "The page process stays for this many open pages of one server.",
    then="It does not stay for more, but still serves them.",
)

# --- Calls and questions ---------------------------------------------------------------------------

_calls = _Subject("Calls and questions", "server")

ATTEMPTS: Final = _calls.add(
    "ATTEMPTS",
    3,
    "times",
    "Ask again if an answer is invalid, up to this often in all.",
    then="The tool gets the error `InvalidAnswer`.",
    argument="ask(attempts=)",
    where="core",
)
PATTERN_CHARACTERS: Final = _calls.add(
    "PATTERN_CHARACTERS",
    2_000,
    "characters",
    "The longest pattern of a field.",
    where="core",
    then="It is refused with `InvalidForm`, or left to the server that sent it.",
)
PATTERN_STEPS: Final = _calls.add(
    "PATTERN_STEPS",
    50_000_000,
    "steps",
    "The size of a pattern times the length of a text, at most; longer answers are refused. It takes a second or less.",
    where="core",
    then="A longer answer is refused as too long.",
)
PATTERN_SET_STEPS: Final = _calls.add(
    "PATTERN_SET_STEPS",
    120_000,
    "steps",
    "Reading a set of letters in someone else's pattern counts as so many steps, if they are beyond Latin-1.",
    where="core",
    then="Patterns that would take too long in all are left to the server that sent them.",
)
PATTERN_TEXT_CHARACTERS: Final = _calls.add(
    "PATTERN_TEXT_CHARACTERS",
    1_000,
    "characters",
    "Texts count as at least this long when a client adds up `PATTERN_STEPS` for the patterns of a server's form.",
    where="core",
    then="The patterns that are too much are left to the server.",
)
AUTHORITY_CHARACTERS: Final = _calls.add(
    "AUTHORITY_CHARACTERS",
    1_000,
    "characters",
    "The longest host of a URL, with port, that isn't ASCII.",
    where="core",
    then="The URL is refused.",
)
STATE_BYTES: Final = _calls.add(
    "STATE_BYTES",
    64 * 1024,
    "bytes",
    "The largest state that a round carries; servers and proxies reject larger requests.",
    then="The journal stays in the store, or with the live run; without either, the call fails with `JournalTooLarge`.",
)
SDK_STATE_TTL_SECONDS: Final = _calls.add(
    "SDK_STATE_TTL_SECONDS",
    600.0,
    "s",
    "What the SDK lets a state live by default; a server that sets another keeps it.",
    then="Doesn't apply: midcall's own time to live replaces it.",
)
SENDING_SECONDS: Final = _calls.add(
    "SENDING_SECONDS",
    1.0,
    "s",
    "Wait for a notification to be sent.",
    then="The call continues, and the notification is sent in the background.",
)
TOGETHER_SECONDS: Final = _calls.add(
    "TOGETHER_SECONDS",
    0.5,
    "s",
    "In a replay, hold an answer for branches that are still on their way to the same round.",
    then="The branches that are there get their answers.",
)
BRANCH_POLL_SECONDS: Final = _calls.add(
    "BRANCH_POLL_SECONDS",
    0.005,
    "s",
    "Between two checks whether the branches of a replay have reached their answers.",
    interval=True,
)
BRANCH_POLLS: Final = _calls.add(
    "BRANCH_POLLS",
    200,
    "times",
    "Check the branches of a replay this often.",
    then="A branch that still hasn't used its answer is a `ReplayMismatch`.",
)
PROBE_SECONDS: Final = _calls.add(
    "PROBE_SECONDS",
    60.0,
    "s",
    "Wait for the answer to a question of the probe.",
    then="The probe reports that nobody answered, and continues with its next question.",
    argument="midcall_probe(timeout=)",
)
MAX_PROBE_SECONDS: Final = _calls.add(
    "MAX_PROBE_SECONDS",
    3600.0,
    "s",
    "The longest wait that a caller of the probe may set.",
    then="A longer wait is ignored: the default applies.",
)
READING_SECONDS: Final = _calls.add(
    "READING_SECONDS",
    0.25,
    "s",
    "An answer faster than this was probably not given by a person.",
    then="The probe reports that a program answered.",
)

LOG_CHARACTERS: Final = _calls.add(
    "LOG_CHARACTERS",
    4_000,
    "characters",
    "The longest line in our logs.",
    then="The rest is cut, and the line says how much.",
    where=".",
)

MAX_AUDIT_EVENTS: Final = _calls.add(
    "MAX_AUDIT_EVENTS",
    10_000,
    "events",
    "This many events may wait for an audit sink.",
    then="Further ones are counted as lost, and reported when the sink works again.",
    where="audit.py",
)
MAX_AUDIT_CHARACTERS: Final = _calls.add(
    "MAX_AUDIT_CHARACTERS",
    500,
    "characters",
    "The length of a name in an audit event, such as that of a client.",
    then="The rest is cut off.",
    where="audit.py",
)
AUDIT_CLOSE_SECONDS: Final = _calls.add(
    "AUDIT_CLOSE_SECONDS",
    5.0,
    "s",
    "An audit sink has this long to take its last events.",
    then="The others are lost, and the log says how many.",
    where="audit.py",
)
AUDIT_IDLE_SECONDS: Final = _calls.add(
    "AUDIT_IDLE_SECONDS",
    5.0,
    "s",
    "The thread of an audit sink ends after this long without an event.",
    then="The next event starts another.",
    where="audit.py",
)
AUDIT_POLL_SECONDS: Final = _calls.add(
    "AUDIT_POLL_SECONDS",
    0.5,
    "s",
    "Between two checks whether the event loop of an async audit sink still runs.",
    interval=True,
    where="audit.py",
)
NUMBER_CHARACTERS: Final = _calls.add(
    "NUMBER_CHARACTERS",
    300,
    "characters",
    "The longest line that is read as a number.",
    then="It isn't a number, and the user is asked again.",
    where="core",
)
SECRET_NAME_CHARACTERS: Final = _calls.add(
    "SECRET_NAME_CHARACTERS",
    200,
    "characters",
    "This much of a message or a name is searched for words that ask for a secret.",
    then="Words that come later aren't noticed.",
    where="core",
)
CACHED_CHARACTERS: Final = _calls.add(
    "CACHED_CHARACTERS",
    1_000,
    "characters",
    "Questions with longer messages aren't cached: they quote files and letters.",
    then="The question is made again each time.",
    where=".",
)
MAX_CACHED_TYPES: Final = _calls.add(
    "MAX_CACHED_TYPES",
    1_024,
    "types",
    "Keep what was read from this many types of answers.",
    then="What was read from some of them is read again.",
    where="core",
)
REJECTED_CHARACTERS: Final = _calls.add(
    "REJECTED_CHARACTERS",
    4_096,
    "characters",
    "A rejected value is kept for the user to correct if it isn't longer.",
    then="The user enters it again.",
    where="core",
)
SECRET_ATTEMPTS: Final = _calls.add(
    "SECRET_ATTEMPTS",
    3,
    "attempts",
    "A user can enter a secret that its check rejects this often.",
    then="The tool gets `NotAnswered`.",
)
MAX_WARNINGS: Final = _calls.add(
    "MAX_WARNINGS",
    100,
    "warnings",
    "Log this many different warnings of one kind, and keep as many odd forms for `midcall doctor`.",
    then="More warnings of this kind aren't logged, and the oldest form is forgotten.",
)
MAX_WARNING_KINDS: Final = _calls.add(
    "MAX_WARNING_KINDS",
    1_000,
    "kinds",
    "Tell this many kinds of warnings apart. A mistake is one kind for each tool.",
    then="The oldest kind is forgotten: its warnings may be logged again.",
)
SHOWN_OPTIONS: Final = _calls.add(
    "SHOWN_OPTIONS",
    12,
    "options",
    "A sentence about a wrong answer names this many options.",
    then="It says how many more there are.",
    where=".",
)

# --- Live runs -------------------------------------------------------------------------------------

_runs = _Subject("Live runs", "server/running")

CLEANUP_SECONDS: Final = _runs.add(
    "CLEANUP_SECONDS",
    5.0,
    "s",
    "A run that is being ended has this long for its cleanup.",
    then="A run that still hasn't ended is abandoned, and an error is logged.",
)
EFFECT_SECONDS: Final = _runs.add(
    "EFFECT_SECONDS",
    10.0,
    "s",
    "Ending a run waits this long for its effects before it cancels everything else.",
    then="The run is cancelled; its effects still finish. A replay waits for them. If the client has cancelled, or the "
    "server stops, midcall waits as long as for cleanup, and logs an error.",
)
GRACE_SECONDS: Final = _runs.add(
    "GRACE_SECONDS",
    5.0,
    "s",
    "After a retry is cut off, its run waits this long for the same retry.",
    then="The run ends, and its state is refused.",
    where="server",
)
MAX_ENDED_RUNS: Final = _runs.add(
    "MAX_ENDED_RUNS",
    10_000,
    "runs",
    "Remember this many ended runs, to reject their states.",
    then="The oldest is forgotten: its state is replayed instead of refused.",
)
MAX_TURNS: Final = _runs.add(
    "MAX_TURNS",
    100_000,
    "turns",
    "Remember this many turns, to reject a second answer to the same state.",
    then="The oldest of the callers with most are forgotten by this process; a store still knows them.",
)
MAX_TURN_OUTCOMES: Final = _runs.add(
    "MAX_TURN_OUTCOMES",
    1_000,
    "turns",
    "Keep the outcome of this many turns for retries that come twice.",
    then="The oldest outcome is forgotten: the same retry gets an error instead of its result.",
)
LARGE_JOURNAL_BYTES: Final = _runs.add(
    "LARGE_JOURNAL_BYTES",
    256_000_000,
    "bytes",
    "Without a store, the journals that are too large to travel may have this many bytes together, and those of one "
    "caller half of it.",
    then="A call whose journal grows further fails with `JournalTooLarge`.",
)
WAITING_BYTES: Final = _runs.add(
    "WAITING_BYTES",
    256_000_000,
    "bytes",
    "The requests of waiting runs may take about this much memory together, with arguments, answers and HTTP bodies, "
    "and those of one signed-in user half of it.",
    then="The largest run of the caller with most ends, and is replayed when its answer comes; if its tool has ended "
    "meanwhile, its result is forgotten.",
)
OUTCOME_BYTES: Final = _runs.add(
    "OUTCOME_BYTES",
    64_000_000,
    "bytes",
    "These outcomes may take this much memory together; the newest is always kept.",
    then="The oldest outcome is forgotten: the same retry gets an error instead of its result.",
)
BEAT_SECONDS: Final = _runs.add(
    "BEAT_SECONDS", 0.5, "s", "Between two beats of a replica that has live runs.", interval=True
)
SILENT_BEATS: Final = _runs.add(
    "SILENT_BEATS",
    4,
    "beats",
    "A replica without a beat for this many reads counts as gone.",
    then="Another replica replays its calls.",
)
LATE_BEATS: Final = _runs.add(
    "LATE_BEATS",
    3,
    "beats",
    "A read that takes longer than this doesn't count: the reader may have been stopped itself.",
    then="The count of silent beats starts again.",
)
UNCLAIMED_BEATS: Final = _runs.add(
    "UNCLAIMED_BEATS",
    3,
    "beats",
    "An offer that its owner leaves unclaimed this long goes to another replica.",
    then="The replica that made the offer replays the call.",
)
THREAD_POLL_SECONDS: Final = _runs.add(
    "THREAD_POLL_SECONDS",
    0.25,
    "s",
    "Between two checks whether the loop still turns while a thread waits for it.",
    interval=True,
)
MAX_LENT_THREADS: Final = _runs.add(
    "MAX_LENT_THREADS",
    1_000,
    "threads",
    "While a `def` tool waits for a person, the pool of threads may start another one: this many in all.",
    then="Further questions of `def` tools fail with `NoChannel`; those of one caller do earlier, at half of what the "
    "others leave.",
)
BLOCKED_SECONDS: Final = _runs.add(
    "BLOCKED_SECONDS",
    5.0,
    "s",
    "A loop that takes no turn for this long, while a thread waits for it, counts as blocked.",
    then="The thread's question fails with `Misuse`.",
)
CANCEL_ATTEMPTS: Final = _runs.add(
    "CANCEL_ATTEMPTS",
    3,
    "attempts",
    "Cancel a run that has to end this often.",
    then="The run is abandoned, with a line in the log: its questions no longer return.",
)
MAX_REFUSALS: Final = _runs.add(
    "MAX_REFUSALS",
    20,
    "questions",
    "A task may catch the end of its run and ask again this often.",
    then="Its next question never returns, and the run counts as abandoned.",
)
MAX_REFUSALS_IN_ALL: Final = _runs.add(
    "MAX_REFUSALS_IN_ALL",
    1_000,
    "questions",
    "And all tasks of a run together.",
    then="The next question of any of them never returns, and the run counts as abandoned.",
)

# --- once ------------------------------------------------------------------------------------------

_once = _Subject("once", "server/once")

OTHER_EFFECT_SECONDS: Final = _once.add(
    "OTHER_EFFECT_SECONDS",
    30.0,
    "s",
    "Wait for another run of the same effect.",
    then="The tool gets `OnceUnknown`, unless the effect may be retried.",
)
CLAIM_FRESH_SECONDS: Final = _once.add(
    "CLAIM_FRESH_SECONDS",
    1.0,
    "s",
    "What the store says about whose call it is counts for this long, until an effect starts.",
    then="midcall asks the store again before the effect runs.",
)
MAX_EFFECT_FAILURES: Final = _once.add(
    "MAX_EFFECT_FAILURES",
    100,
    "times",
    "Retry an effect that failed elsewhere this often.",
    then="The tool gets `OnceUnknown`.",
)

# --- Resuming --------------------------------------------------------------------------------------

_resuming = _Subject("Resuming", "server/resuming")

HOLD_SECONDS: Final = _resuming.add(
    "HOLD_SECONDS",
    45.0,
    "s",
    "Hold a request during a visit to a page, before it returns a resume code. Common clients and proxies allow 60.",
    then="The call returns a resume code or another round; if it can have neither, it fails with `TimedOut`.",
)
BRIEF_HOLD_SECONDS: Final = _resuming.add(
    "BRIEF_HOLD_SECONDS",
    4.0,
    "s",
    "Hold a `midcall_continue` without a progress token: such a client may give up after 5 s.",
    then="It returns that the user isn't done yet, and its code still works.",
)
PUSH_HOLD_SECONDS: Final = _resuming.add(
    "PUSH_HOLD_SECONDS",
    300.0,
    "s",
    "Hold a pushed call on a server without a store.",
    then="The call returns a resume code that works in this process; if it can have none, it fails with `TimedOut`.",
)
PURGE_SECONDS: Final = _resuming.add(
    "PURGE_SECONDS", 300.0, "s", "Between two purges of expired records by a server.", interval=True
)
MAX_HOLDS: Final = _resuming.add(
    "MAX_HOLDS",
    2,
    "rounds",
    "On 2026-07-28, rounds of a call without a question: Go clients stop at the third.",
    then="The call ends with a resume code, or with `TimedOut`.",
)
VISIT_POLL_SECONDS: Final = _resuming.add(
    "VISIT_POLL_SECONDS", 45.0, "s", "Between two reads of a visit that is under way.", interval=True
)
MAX_VISITS: Final = _resuming.add(
    "MAX_VISITS",
    10_000,
    "visits",
    "Keep this many visits in memory.",
    then="The oldest is forgotten: its client isn't notified, and finds out when it retries.",
)
APP_SECONDS: Final = _resuming.add(
    "APP_SECONDS",
    5.0,
    "s",
    "Wait for an App to fetch its question.",
    then="midcall assumes that no App was shown, and returns a link or a resume code.",
    where="server/channels",
)
APP_CLEANUP_SECONDS: Final = _resuming.add(
    "APP_CLEANUP_SECONDS",
    1.0,
    "s",
    "Withdraw the note for an App, at most this long.",
    then="The note stays until it expires, a minute later.",
    where="server/channels",
)
MAX_EQUAL_APPS: Final = _resuming.add(
    "MAX_EQUAL_APPS",
    32,
    "calls",
    "Tell apart this many equal calls whose Apps are open.",
    then="More Apps of equal calls find no question; their calls return a resume code.",
    where="server/channels",
)
MAX_SEEN_TOOLS: Final = _resuming.add(
    "MAX_SEEN_TOOLS",
    10_000,
    "tools",
    "Remember of this many tools whether they have an App.",
    then="The oldest is forgotten, and the list of tools is read again.",
    where="server",
)
MAX_KNOWN_CLIENTS: Final = _resuming.add(
    "MAX_KNOWN_CLIENTS",
    10_000,
    "clients",
    "Remember of this many clients of signed-in users that they hide numbers or show no Apps.",
    then="The oldest is forgotten, and found out again.",
    where="server",
)
MAX_APP_FIELDS: Final = _resuming.add(
    "MAX_APP_FIELDS",
    50_000,
    "pairs",
    "Read this many pairs of name and value from an App.",
    then="The rest is ignored.",
    where="server/channels",
)
MAX_APP_STEPS: Final = _resuming.add(
    "MAX_APP_STEPS",
    1_000,
    "steps",
    "An App may show this many questions of one call.",
    then="The App shows no more questions of that call.",
    where="server/channels",
)

# --- Stores ----------------------------------------------------------------------------------------

_stores = _Subject("Stores", "stores")

STORE_TIMEOUT_SECONDS: Final = _stores.add(
    "STORE_TIMEOUT_SECONDS",
    10.0,
    "s",
    "Wait for PostgreSQL or Redis.",
    then="The operation fails with `StoreError`.",
    argument="?timeout=",
)
STORE_POOL: Final = _stores.add(
    "STORE_POOL",
    10,
    "connections",
    "Connections to PostgreSQL or Redis.",
    then="Requests wait for a free connection.",
    argument="?pool=",
)
STORE_BATCH: Final = _stores.add(
    "STORE_BATCH", 500, "records", "Read or delete this many records at a time.", then="The next batch follows."
)
SQLITE_BUSY_SECONDS: Final = _stores.add(
    "SQLITE_BUSY_SECONDS",
    5.0,
    "s",
    "Wait for another process that writes to the same SQLite file.",
    then="The operation fails with `StoreError`.",
    argument="SQLite(busy=)",
)
SQLITE_RETRY_SECONDS: Final = _stores.add(
    "SQLITE_RETRY_SECONDS", 0.01, "s", "Between two attempts to switch a SQLite file to WAL.", interval=True
)
SQLITE_POLL_SECONDS: Final = _stores.add(
    "SQLITE_POLL_SECONDS", 0.05, "s", "Between two checks for changes in a SQLite file.", interval=True
)
STORE_POLL_SECONDS: Final = _stores.add(
    "STORE_POLL_SECONDS", 0.1, "s", "Between two checks for changes in a store that doesn't notify.", interval=True
)
STORE_FALLBACK_POLL_SECONDS: Final = _stores.add(
    "STORE_FALLBACK_POLL_SECONDS", 5.0, "s", "Between two checks for changes in a store that notifies.", interval=True
)
STORE_RETRY_SECONDS: Final = _stores.add(
    "STORE_RETRY_SECONDS",
    (0.05, 0.2, 1.0, 2.0, 5.0),
    "s",
    "Between two attempts to reach a store, one after the other.",
    interval=True,
)
POSTGRES_LISTEN_SECONDS: Final = _stores.add(
    "POSTGRES_LISTEN_SECONDS",
    1.0,
    "s",
    "Wait for our own notification, to see whether PostgreSQL passes any on.",
    then="A warning is logged, and midcall polls instead.",
)
POSTGRES_LISTEN_AGAIN_SECONDS: Final = _stores.add(
    "POSTGRES_LISTEN_AGAIN_SECONDS",
    60.0,
    "s",
    "Between two attempts to listen, if PostgreSQL passes none on.",
    interval=True,
)
POSTGRES_PING_SECONDS: Final = _stores.add(
    "POSTGRES_PING_SECONDS", 30.0, "s", "Between two pings of the listening connection to PostgreSQL.", interval=True
)
POSTGRES_PONG_SECONDS: Final = _stores.add(
    "POSTGRES_PONG_SECONDS",
    5.0,
    "s",
    "Wait for the answer to such a ping.",
    then="midcall reconnects, and polls meanwhile.",
)
POSTGRES_CLOSE_SECONDS: Final = _stores.add(
    "POSTGRES_CLOSE_SECONDS",
    2.0,
    "s",
    "Wait for the listening connection to close.",
    then="The connection is terminated.",
)
POSTGRES_RELEASE_SECONDS: Final = _stores.add(
    "POSTGRES_RELEASE_SECONDS",
    1.0,
    "s",
    "Wait for a connection that didn't answer to be given up.",
    then="The pool replaces the connection.",
)
REDIS_PING_SECONDS: Final = _stores.add(
    "REDIS_PING_SECONDS", 15, "s", "Between two pings of a connection to Redis.", interval=True
)
PURGE_EVERY_SECONDS: Final = _stores.add(
    "PURGE_EVERY_SECONDS", 600.0, "s", "Between two purges by a `Sweeper`.", interval=True, argument="Sweeper(every=)"
)
EXPIRED_KEEP_SECONDS: Final = _stores.add(
    "EXPIRED_KEEP_SECONDS",
    86_400,
    "s",
    "Keep expired records this long, so that people who come late get an explanation.",
    then="The records are purged, and their pages don't exist any more.",
    argument="Sweeper(keep=), midcall store sweep --keep",
)
CLOSED_KEEP_SECONDS: Final = _stores.add(
    "CLOSED_KEEP_SECONDS",
    3600.0,
    "s",
    "Keep an interaction this long after its page has closed; its call may resume later.",
    then="Its record expires, and its call can't be resumed.",
)
USE_KEEP_SECONDS: Final = _stores.add(
    "USE_KEEP_SECONDS",
    7 * 86_400.0,
    "s",
    "Remember this long that a call has used an approval, a secret or an authorization; a replay needs it.",
    then="A replay that is older ends with `OnceUnknown`.",
)
KEY_LOCK_SECONDS: Final = _stores.add(
    "KEY_LOCK_SECONDS",
    30.0,
    "s",
    "Wait for another process that makes the key of this machine.",
    then="`install` fails, and says which file is locked.",
)
ID_BYTES: Final = _stores.add(
    "ID_BYTES",
    1024,
    "bytes",
    "The longest id, owner or name; an index of PostgreSQL holds two of them.",
    then="The operation fails, and names the text that is too long.",
)
QUOTA_BATCH: Final = _stores.add(
    "QUOTA_BATCH",
    16,
    "records",
    "A process writes down what it has counted after this many records.",
    then="The count is written, and read again by all replicas.",
)
QUOTA_BATCH_BYTES: Final = _stores.add(
    "QUOTA_BATCH_BYTES",
    1_000_000,
    "bytes",
    "Or after this many bytes.",
    then="The count is written, and read again by all replicas.",
)
QUOTA_FRESH_SECONDS: Final = _stores.add(
    "QUOTA_FRESH_SECONDS",
    1.0,
    "s",
    "A caller who has too much in the store is counted again after this long.",
    then="Their next write reads the count again.",
)
QUOTA_PERIOD_SECONDS: Final = _stores.add(
    "QUOTA_PERIOD_SECONDS",
    300.0,
    "s",
    "Records that expire within this time are counted together.",
    then="The next records are counted apart.",
)
QUOTA_LOG_SECONDS: Final = _stores.add(
    "QUOTA_LOG_SECONDS",
    60.0,
    "s",
    "Between two log lines about a full store, at least.",
    interval=True,
)
LONGEST_COUNT_SECONDS: Final = _stores.add(
    "LONGEST_COUNT_SECONDS",
    315_360_000.0,
    "s",
    "A record counts this long, even if it never expires.",
    then="It no longer counts.",
)
MAX_COUNTED_CALLERS: Final = _stores.add(
    "MAX_COUNTED_CALLERS",
    10_000,
    "callers",
    "A process remembers what this many callers have in the store.",
    then="The oldest is forgotten, and counted again when needed.",
)
RECORD_BYTES: Final = _stores.add(
    "RECORD_BYTES",
    500,
    "bytes",
    "What a record counts in addition to its data: its names, times and indexes.",
    then="It counts towards the quota of its caller.",
)
LOGGED_RECORDS: Final = _stores.add(
    "LOGGED_RECORDS",
    1_000,
    "records",
    "Log this many refused records; after that, they are only refused.",
    then="Further ones are refused without a line in the log.",
)
KEY_BYTES: Final = _stores.add(
    "KEY_BYTES",
    32,
    "bytes",
    "A key needs at least this many.",
    then="`InstallError` says how to make one.",
)
KEY_VARIETY: Final = _stores.add(
    "KEY_VARIETY",
    8,
    "characters",
    "A key needs at least this many different ones.",
    then="`InstallError` says how to make one.",
)
QUOTA_PERIODS: Final = _stores.add(
    "QUOTA_PERIODS",
    30,
    "periods",
    "Count what a caller keeps in periods, about this many, by when it expires.",
    then="Longer periods are used: what lasts long counts for a little longer.",
)
QUOTA_RACES: Final = _stores.add(
    "QUOTA_RACES",
    10,
    "attempts",
    "Try to write down what a caller uses this often, while others do so, too.",
    then="It's written down the next time.",
)
SQL_RACES: Final = _stores.add(
    "SQL_RACES",
    5,
    "attempts",
    "Try a change to a record this often, while others change it, too.",
    then="The change fails with `StoreError`.",
)

# --- Web -------------------------------------------------------------------------------------------

_web = _Subject("Web", "web")

FAILED_OPENS: Final = _web.add(
    "FAILED_OPENS",
    20,
    "times",
    "An address may open pages that don't exist this often, in one period.",
    then="More of them get 429, until the period ends. Pages that exist still open.",
)
FAILED_OPENS_SECONDS: Final = _web.add(
    "FAILED_OPENS_SECONDS", 60.0, "s", "The length of that period.", then="The count starts again."
)
MAX_FAILED_SOURCES: Final = _web.add(
    "MAX_FAILED_SOURCES",
    10_000,
    "addresses",
    "Count this for so many addresses at a time.",
    then="The oldest is forgotten.",
)
CSRF_SECONDS: Final = _web.add(
    "CSRF_SECONDS",
    86_400.0,
    "s",
    "A form can be posted this long after it was shown.",
    then="The form is refused with 403, and the page offers a new one.",
)
BROWSER_COOKIE_SECONDS: Final = _web.add(
    "BROWSER_COOKIE_SECONDS",
    365 * 86_400.0,
    "s",
    "The cookie that recognizes a browser lasts this long.",
    then="The browser gets a new cookie; a form that was open has to be sent again.",
)
COOKIE_SKEW_SECONDS: Final = _web.add(
    "COOKIE_SKEW_SECONDS",
    60,
    "s",
    "The clock of the replica that signed a cookie may be this far ahead.",
    then="The cookie, or the form, is refused.",
)
REQUEST_HEAD_SECONDS: Final = _web.add(
    "REQUEST_HEAD_SECONDS",
    10.0,
    "s",
    "A client of the loopback server has this long to send the head of a request.",
    then="The connection is closed.",
)
REQUEST_BODY_SECONDS: Final = _web.add(
    "REQUEST_BODY_SECONDS",
    30.0,
    "s",
    "The same for the body of a request.",
    then="The connection is closed, and nothing was sent or stored.",
)
REQUEST_IDLE_SECONDS: Final = _web.add(
    "REQUEST_IDLE_SECONDS",
    5.0,
    "s",
    "A connection to our own HTTP server stays open this long between two requests.",
    then="The connection is closed.",
)
MAX_CONNECTIONS: Final = _web.add(
    "MAX_CONNECTIONS",
    200,
    "connections",
    "Our own HTTP server has at most this many connections.",
    then="The one that has waited longest for a request is closed; if all are busy, the new one.",
)
SERVING_GRACE_SECONDS: Final = _web.add(
    "SERVING_GRACE_SECONDS",
    1.0,
    "s",
    "Responses under way have this long when our own HTTP server closes.",
    then="Responses under way are cut off.",
)
SERVING_POLL_SECONDS: Final = _web.add(
    "SERVING_POLL_SECONDS",
    0.05,
    "s",
    "Between two checks whether our own HTTP server has started or stopped.",
    interval=True,
)
MAX_OPTIONS: Final = _web.add(
    "MAX_OPTIONS",
    5_000,
    "options",
    "A page shows at most this many options of one field.",
    then="The page says how many options it doesn't show.",
)
MAX_FIELDS: Final = _web.add(
    "MAX_FIELDS",
    2_000,
    "fields",
    "A page shows at most this many fields.",
    then="The page says that it can't show the form; no App is offered.",
)
PAGE_CONFIRM_SECONDS: Final = _web.add(
    "PAGE_CONFIRM_SECONDS",
    0.5,
    "s",
    "A question on the page of the browser answerer or in an App can't be answered before it was shown this long: "
    "longer than a double click takes.",
    then="Until then, the buttons are disabled. Without JavaScript, the question is shown again and says why.",
)
PAGE_NAME_CHARACTERS: Final = _portal.add(
    "PAGE_NAME_CHARACTERS",
    200,
    "characters",
    "A page shows this much of the name of a server or client.",
    then="The name ends with an ellipsis.",
)
MAX_CONTROLS: Final = _web.add(
    "MAX_CONTROLS",
    50_000,
    "options",
    "A page shows at most this many options in all.",
    then="The page says that it can't show the form; no App is offered.",
)
PAGE_MESSAGE_CHARACTERS: Final = _web.add(
    "PAGE_MESSAGE_CHARACTERS",
    10_000,
    "characters",
    "A page shows this much of a text of several lines.",
    then="A note says how many more there are.",
)
PAGE_LINE_CHARACTERS: Final = _web.add(
    "PAGE_LINE_CHARACTERS",
    300,
    "characters",
    "And of one on a single line.",
    then="It ends with an ellipsis.",
)
MAX_LOGGED_HOSTS: Final = _web.add(
    "MAX_LOGGED_HOSTS",
    10,
    "hosts",
    "Log this many wrong hosts that requests were for.",
    then="Requests for other wrong hosts are refused without a line in the log.",
    where="portal",
)
LOCAL_BACKLOG: Final = _web.add(
    "LOCAL_BACKLOG",
    128,
    "connections",
    "This many connections may wait until a server on this machine accepts them.",
    then="The system refuses or delays more of them.",
)

# --- Portal, fixed ----------------------------------------------------------------------------------------

HEALTH_SECONDS: Final = _portal.add(
    "HEALTH_SECONDS", 3.0, "s", "`/health` gives the store this long to answer.", then="`/health` returns 503."
)
NEXT_HOLD_SECONDS: Final = _portal.add(
    "NEXT_HOLD_SECONDS",
    5.0,
    "s",
    "After an answer, a request of the browser waits this long for the next page of the call.",
    then="The page says that it waits, and asks again automatically.",
)
NEXT_SECONDS: Final = _portal.add(
    "NEXT_SECONDS",
    60.0,
    "s",
    "After an answer, the browser waits this long in all for the next page of the call.",
    then="The page sends the user back to the client. Its button looks again.",
)
POST_BYTES: Final = _portal.add(
    "POST_BYTES",
    1_000_000,
    "bytes",
    "The largest form that a page of the portal accepts.",
    then="The request is refused with 413.",
    where="web",
)
POST_VALUES: Final = _portal.add(
    "POST_VALUES",
    20_000,
    "values",
    "The most values in such a form.",
    then="The request is refused with 413.",
    where="web",
)
APPROVAL_CHARACTERS: Final = _portal.add(
    "APPROVAL_CHARACTERS",
    100_000,
    "characters",
    "The longest approval, message and details together: its page shows all of it.",
    then="`approve` raises `InvalidQuestion`.",
    where="server",
)
SECRET_CHARACTERS: Final = _portal.add(
    "SECRET_CHARACTERS",
    65_536,
    "characters",
    "The longest secret that the portal accepts.",
    then="The page says that the secret is too long, and stores nothing.",
)
SECRET_NAME_BYTES: Final = _portal.add(
    "SECRET_NAME_BYTES",
    400,
    "bytes",
    "The longest name of a secret.",
    then="`secret` raises `InvalidQuestion`, before anyone is asked.",
    where="server/verbs",
)
VAULT_NAMESPACE_BYTES: Final = _portal.add(
    "VAULT_NAMESPACE_BYTES",
    512,
    "bytes",
    "The longest namespace that the vault stores as it is; a server's file may have a long path.",
    then="A digest takes its place.",
)
SECRET_CHECK_SECONDS: Final = _portal.add(
    "SECRET_CHECK_SECONDS",
    30.0,
    "s",
    "`secret(check=)` has this long.",
    then="The page says that the secret couldn't be checked, and stores nothing.",
)
MAX_CACHED_PAGES: Final = _portal.add(
    "MAX_CACHED_PAGES",
    256,
    "pages",
    "Keep this many drawn pages.",
    then="The oldest is dropped, and rendered again if it's needed.",
)
CACHED_PAGE_CHARACTERS: Final = _portal.add(
    "CACHED_PAGE_CHARACTERS",
    100_000,
    "characters",
    "The longest page that is kept.",
    then="The page is rendered each time.",
)
SESSION_SECONDS: Final = _portal.add(
    "SESSION_SECONDS",
    3600.0,
    "s",
    "A sign-in with OpenID Connect lasts this long.",
    then="The user signs in again.",
    argument="Oidc(session=)",
)
SIGN_IN_SECONDS: Final = _portal.add(
    "SIGN_IN_SECONDS",
    600.0,
    "s",
    "From leaving for the issuer to coming back, at most.",
    then="The sign-in is refused, and can be started again.",
)
TOKEN_LEEWAY_SECONDS: Final = _portal.add(
    "TOKEN_LEEWAY_SECONDS", 30, "s", "The clock of an issuer may differ by this much.", then="The token is refused."
)
PROVIDER_TIMEOUT_SECONDS: Final = _portal.add(
    "PROVIDER_TIMEOUT_SECONDS",
    10.0,
    "s",
    "Wait for an issuer or an OAuth provider to answer, to its last byte.",
    then="The page says that the issuer or provider can't be reached, with 503.",
)
PROVIDER_BYTES: Final = _portal.add(
    "PROVIDER_BYTES",
    1_000_000,
    "bytes",
    "The longest answer of an issuer or an OAuth provider.",
    then="It counts as unusable: the page reports it with 503, and the log says why.",
    where="web",
)
PROVIDER_FRESH_SECONDS: Final = _portal.add(
    "PROVIDER_FRESH_SECONDS",
    3600.0,
    "s",
    "Keep what an issuer or a provider publishes this long.",
    then="It's fetched again when it's next needed.",
    where="web",
)
PROVIDER_AGAIN_SECONDS: Final = _portal.add(
    "PROVIDER_AGAIN_SECONDS",
    10.0,
    "s",
    "Fetch it again after a failure, or for a token with an unknown key, at most this often.",
    then="Until then, such a token is refused.",
    where="web",
)
_portal.add(
    "INTERNAL_HOSTS",
    None,
    "",
    "Hosts on this machine or in a private network that the metadata of an issuer elsewhere may name.",
    argument="Oidc(internal=), Provider.discover(internal=)",
    otherwise="none",
)
CONSENT_SECONDS: Final = _portal.add(
    "CONSENT_SECONDS",
    600.0,
    "s",
    "From consent on our page to the provider's answer, at most.",
    then="The provider's answer is refused, and the user can start again.",
)
ACCESS_SKEW_SECONDS: Final = _portal.add(
    "ACCESS_SKEW_SECONDS",
    60.0,
    "s",
    "Renew an access token this long before it expires.",
    then="`authorize` renews the token before it returns it.",
)
MAX_CONSENTS: Final = _portal.add(
    "MAX_CONSENTS",
    8,
    "consents",
    "A browser may have this many consents under way.",
    then="The oldest is forgotten: its answer is refused.",
)
WEBHOOK_SECONDS: Final = _portal.add(
    "WEBHOOK_SECONDS",
    3600.0,
    "s",
    "A webhook's URL stays valid this long.",
    then="`verify` raises `BadCallback`.",
    argument="Callbacks(lasts=)",
)

# --- Client ----------------------------------------------------------------------------------------

_client = _Subject("Client", "client")

_client.add(
    "PLAIN",
    False,
    "",
    "Ask with line prompts instead of forms, for screen readers and plain terminals.",
    env="MIDCALL_PLAIN",
)
CONNECT_SECONDS: Final = _client.add(
    "CONNECT_SECONDS",
    60.0,
    "s",
    "Wait for a server to connect; a command may have to be downloaded first.",
    then="`connect` raises `CannotConnect`.",
    argument="connect(connect_timeout=), midcall --timeout",
)
HTTP_CONNECT_SECONDS: Final = _client.add(
    "HTTP_CONNECT_SECONDS", 30.0, "s", "Wait for a TCP connection to a URL.", then="The request fails."
)
SILENT_STREAM_SECONDS: Final = _client.add(
    "SILENT_STREAM_SECONDS",
    3600.0,
    "s",
    "A stream may be silent this long, because people are slow.",
    then="The request fails.",
)
DRAIN_SECONDS: Final = _client.add(
    "DRAIN_SECONDS",
    1.0,
    "s",
    "Read what a stopped server still writes to its log, at most this long.",
    then="The rest of the log isn't shown.",
)
VISIT_SECONDS: Final = _client.add(
    "VISIT_SECONDS",
    300.0,
    "s",
    "Wait for a required visit, if neither the server nor the user says that it is done.",
    then="The call is repeated, as often as `VISIT_RETRIES` allows.",
    argument="connect(patience=), attach(patience=)",
)
VISIT_RETRIES: Final = _client.add(
    "VISIT_RETRIES",
    3,
    "times",
    "Repeat a call that failed with -32042 this often.",
    then="The call fails with the server's own error, and a note.",
)
MAX_CLIENT_ROUNDS: Final = _client.add(
    "MAX_CLIENT_ROUNDS",
    100,
    "rounds",
    "One call on 2026-07-28 may take this many rounds. A busy server may send rounds without questions to gain time.",
    then="The SDK ends the call with an error.",
    argument="connect(input_required_max_rounds=)",
)
MAX_FAULTS: Final = _client.add(
    "MAX_FAULTS",
    1_000,
    "faults",
    "Read this many faults of one question or tool: in memory, each takes a thousand times its size.",
    then="Further ones are only counted.",
)
MAX_MALFORMED_TOOLS: Final = _client.add(
    "MAX_MALFORMED_TOOLS",
    100,
    "tools",
    "Leave out this many malformed tools of a list.",
    then="The rest of the list is not read.",
)
BUSY_SECONDS: Final = _client.add(
    "BUSY_SECONDS",
    0.25,
    "s",
    "Between two attempts at a call that a server answers with a round without questions; doubled each time.",
    interval=True,
)
MAX_BUSY_SECONDS: Final = _client.add(
    "MAX_BUSY_SECONDS", 5.0, "s", "Between two such attempts, at most.", interval=True
)
MAX_BUSY_STATES: Final = _client.add(
    "MAX_BUSY_STATES",
    256,
    "calls",
    "This many calls of one connection may wait for a busy server at once.",
    then="The oldest is repeated without a longer pause.",
)
MAX_CLIENT_VISITS: Final = _client.add(
    "MAX_CLIENT_VISITS",
    256,
    "visits",
    "Remember this many visits.",
    then="The oldest is forgotten: a report that came early has no effect.",
)
DEFAULT_CHARACTERS: Final = _client.add(
    "DEFAULT_CHARACTERS",
    10_000,
    "characters",
    "The longest default that a terminal offers: nobody would see all of a longer one before it is sent.",
    then="The field is empty.",
    where=".",
)
MAX_PENDING: Final = _client.add(
    "MAX_PENDING",
    100,
    "questions",
    "Questions of one server that may wait for one person.",
    then="More questions are cancelled, and the user or the log is told.",
    argument="Browser(limit=), Pending(limit=)",
)
BURST: Final = _client.add(
    "BURST",
    20,
    "questions",
    "This many questions of one server are a burst.",
    then="If the user cancels all, what the server still sends is cancelled, too.",
)
BURST_OVER_SECONDS: Final = _client.add(
    "BURST_OVER_SECONDS",
    1.0,
    "s",
    "A burst is over after this long without a question.",
    then="The server may ask again.",
)
BURST_POLL_SECONDS: Final = _client.add(
    "BURST_POLL_SECONDS", 0.2, "s", "Between two checks whether a burst is over.", interval=True
)
GUARD_PENDING: Final = _client.add(
    "GUARD_PENDING",
    32,
    "questions",
    "The same limit in `Guard`, for one server.",
    then="More questions are cancelled, and the user is told once.",
    argument="Guard(most_waiting=)",
)
GUARD_PENDING_IN_ALL: Final = _client.add(
    "GUARD_PENDING_IN_ALL",
    128,
    "questions",
    "The same limit for all servers together.",
    then="More questions are cancelled, and the user is told once.",
    argument="Guard(most_waiting_in_all=)",
)
RATE_QUESTIONS: Final = _client.add(
    "RATE_QUESTIONS",
    30,
    "questions",
    "How many questions a server may ask a person in one `RATE_SECONDS`; also the default of `Guard`.",
    then="Questions that come faster are cancelled, and the user is told why, once.",
    argument="Guard(rate=)",
)
RATE_SECONDS: Final = _client.add(
    "RATE_SECONDS",
    60.0,
    "s",
    "The period of a `Rate`.",
    then="Questions that come faster than the rate are cancelled, and the user is told once.",
    argument="Rate(per=)",
)
MAX_RATED_SERVERS: Final = _client.add(
    "MAX_RATED_SERVERS",
    1_000,
    "servers",
    "Count the questions of this many servers.",
    then="The oldest is forgotten, and its count starts again.",
)
SERVER_NAME_CHARACTERS: Final = _client.add(
    "SERVER_NAME_CHARACTERS",
    1_000,
    "characters",
    "A guard compares this much of a server's name.",
    then="The rest isn't compared.",
)
BATCH_SECONDS: Final = _client.add(
    "BATCH_SECONDS",
    0.2,
    "s",
    "Line prompts collect the questions of one batch this long.",
    then="Later questions are in the next batch.",
)
CTRL_C_SECONDS: Final = _client.add(
    "CTRL_C_SECONDS",
    2.0,
    "s",
    "Ctrl-C three times within this long ends the program.",
    then="The count starts again: a single Ctrl-C cancels the question.",
)
ROUND_SECONDS: Final = _client.add(
    "ROUND_SECONDS",
    0.02,
    "s",
    "The terminal collects the questions of one round this long.",
    then="Later questions are shown after these.",
)
TERMINAL_CLOSE_SECONDS: Final = _client.add(
    "TERMINAL_CLOSE_SECONDS",
    5.0,
    "s",
    "Wait for the terminal app to close.",
    then="midcall continues, and cancels the app.",
)
TERMINAL_POLL_SECONDS: Final = _client.add(
    "TERMINAL_POLL_SECONDS", 1.0, "s", "Between two checks whether the terminal is still there.", interval=True
)
TERMINAL_QUEUE_SECONDS: Final = _client.add(
    "TERMINAL_QUEUE_SECONDS", 0.5, "s", "Between two checks what else is pending.", interval=True
)
TERMINAL_DRAW_SECONDS: Final = _client.add(
    "TERMINAL_DRAW_SECONDS",
    0.2,
    "s",
    "Wait for a form to be drawn before it's left.",
    then="The form is left as it is.",
)
CONFIRM_SECONDS: Final = _client.add(
    "CONFIRM_SECONDS",
    0.3,
    "s",
    "A form can't be confirmed or declined before it was shown this long, nor a prompt that replaced another one.",
    then="Until then, the key does nothing, and a line is asked for again.",
)
OUTPUT_BYTES: Final = _client.add(
    "OUTPUT_BYTES",
    8 * 2**20,
    "bytes",
    "Keep this much of what others print while a form is shown.",
    then="The oldest output is dropped, and a line says how many bytes.",
)
PAGE_GRACE_SECONDS: Final = _client.add(
    "PAGE_GRACE_SECONDS",
    3.0,
    "s",
    "The browser page may be gone this long, for example to reload.",
    then="It counts as closed, and the questions that it showed are cancelled.",
    argument="Browser(grace=)",
)
PAGE_RECENT_SECONDS: Final = _client.add(
    "PAGE_RECENT_SECONDS",
    10.0,
    "s",
    "A page without JavaScript that loaded within this long counts as open.",
    then="The page counts as closed, and the next question opens a new one.",
)
PAGE_UNSEEN_SECONDS: Final = _client.add(
    "PAGE_UNSEEN_SECONDS", 10.0, "s", "Wait for the page that was opened to load.", then="The address is printed."
)
PAGE_OPEN_SECONDS: Final = _client.add(
    "PAGE_OPEN_SECONDS", 5.0, "s", "Between two pages that the browser answerer opens.", interval=True
)
PAGE_EVENT_SECONDS: Final = _client.add(
    "PAGE_EVENT_SECONDS", 0.2, "s", "Between two events that a page gets.", interval=True
)
BROWSER_POST_BYTES: Final = _client.add(
    "BROWSER_POST_BYTES",
    4_000_000,
    "bytes",
    "The largest form that the browser answerer accepts.",
    then="The request is refused with 413.",
)
BROWSER_POST_VALUES: Final = _client.add(
    "BROWSER_POST_VALUES", 60_000, "values", "The most values in such a form.", then="The request is refused with 413."
)
URL_CHARACTERS: Final = _client.add(
    "URL_CHARACTERS",
    32_768,
    "characters",
    "The longest URL that can be opened.",
    then="The user is told why, and can't open it.",
)
REFUSAL_CHARACTERS: Final = _client.add(
    "REFUSAL_CHARACTERS",
    10_000,
    "characters",
    "Read this much of an error, to learn that a server can't push on this version.",
    then="The error counts as any other.",
)
ODD_QUESTION_CHARACTERS: Final = _client.add(
    "ODD_QUESTION_CHARACTERS",
    300,
    "characters",
    "Say this much of why a question can't be shown.",
    then="The rest isn't shown.",
)
MAX_LOGGED_QUESTIONS: Final = _client.add(
    "MAX_LOGGED_QUESTIONS",
    10,
    "questions",
    "Log this many questions of one server that can't be shown.",
    then="A line says that more aren't logged.",
)
MALFORMED_REASON_CHARACTERS: Final = _client.add(
    "MALFORMED_REASON_CHARACTERS",
    200,
    "characters",
    "Say this much of why a tool or a message is malformed.",
    then="It says how much is missing.",
)
LOG_LINE_CHARACTERS: Final = _client.add(
    "LOG_LINE_CHARACTERS",
    2_000,
    "characters",
    "Show this much of a line that a server logs.",
    then="The rest of the line isn't shown.",
)
LONG_URL_CHARACTERS: Final = _client.add(
    "LONG_URL_CHARACTERS",
    2_000,
    "characters",
    "A longer URL is very long.",
    then="The user is warned.",
)
MAX_TOLD: Final = _client.add(
    "MAX_TOLD",
    1_000,
    "sentences",
    "A guard remembers this many sentences that it has told the user.",
    then="It may say the oldest again.",
)
SCRIPT_MESSAGE_CHARACTERS: Final = _client.add(
    "SCRIPT_MESSAGE_CHARACTERS",
    200,
    "characters",
    "An error of a script quotes this much of a question.",
    then="It ends with an ellipsis.",
)
SCRIPT_FIELDS: Final = _client.add(
    "SCRIPT_FIELDS",
    20,
    "fields",
    "An error of a script names this many fields.",
    then="It says how many more there are.",
)
MAX_ENDED: Final = _client.add(
    "MAX_ENDED",
    50,
    "questions",
    "The browser page remembers this many questions that have ended.",
    then="The oldest is forgotten: its page says only that it isn't open any more.",
)
MAX_NOTES: Final = _client.add(
    "MAX_NOTES",
    3,
    "notes",
    "The browser page shows this many sentences about stopped questions.",
    then="The oldest is no longer shown.",
)
KEPT_LINES: Final = _client.add(
    "KEPT_LINES",
    200,
    "lines",
    "Line prompts keep this many lines that others print while a question is shown.",
    then="The oldest are dropped, and a line says how many.",
)
LINES_TEXT_CHARACTERS: Final = _client.add(
    "LINES_TEXT_CHARACTERS",
    6_000,
    "characters",
    "Line prompts show this much of a text.",
    then="A note says how many more there are.",
)
LINES_TEXT_LINES: Final = _client.add(
    "LINES_TEXT_LINES",
    80,
    "lines",
    "And this many lines of it.",
    then="A note says how many characters more there are.",
)
HINT_CHARACTERS: Final = _client.add(
    "HINT_CHARACTERS",
    200,
    "characters",
    "Line prompts show this much of a hint.",
    then="It says how much is missing.",
)
REVIEWED_CHARACTERS: Final = _client.add(
    "REVIEWED_CHARACTERS",
    2_000,
    "characters",
    "A review shows this much of a field's label; of values, everything.",
    then="It says how much is missing.",
)
LISTED_OPTIONS: Final = _client.add(
    "LISTED_OPTIONS",
    20,
    "options",
    "Line prompts list this many options of a long list at once.",
    then="The user searches for others.",
)
LINE_CHARACTERS: Final = _client.add(
    "LINE_CHARACTERS",
    200,
    "characters",
    "A terminal shows this much of a text on one line.",
    then="It says how much is missing.",
)
TERMINAL_MESSAGE_CHARACTERS: Final = _client.add(
    "TERMINAL_MESSAGE_CHARACTERS",
    20_000,
    "characters",
    "A terminal shows this much of a text of several lines.",
    then="It says how much is missing.",
)
TERMINAL_MESSAGE_LINES: Final = _client.add(
    "TERMINAL_MESSAGE_LINES",
    400,
    "lines",
    "And this many lines of it.",
    then="It says how much is missing.",
)
VERSION_CHARACTERS: Final = _client.add(
    "VERSION_CHARACTERS",
    30,
    "characters",
    "Line prompts show this much of a server's version.",
    then="It says how much is missing.",
)
MAX_TOGETHER: Final = _client.add(
    "MAX_TOGETHER",
    20,
    "questions",
    "A terminal shows this many pending questions as one form.",
    then="The others are shown after these.",
)
PORTION_FIELDS: Final = _client.add(
    "PORTION_FIELDS",
    40,
    "fields",
    "A terminal shows this many fields at once.",
    then="The form is shown in portions.",
)
FOUND_OPTIONS: Final = _client.add(
    "FOUND_OPTIONS",
    100,
    "options",
    "A terminal lists this many options of a list that is searched.",
    then="The user types more of the option to see it.",
)
DESCRIPTION_CHARACTERS: Final = _client.add(
    "DESCRIPTION_CHARACTERS",
    2_000,
    "characters",
    "A terminal shows this much of a field's description.",
    then="It says how much is missing.",
)
PRINTED_LINES: Final = _client.add(
    "PRINTED_LINES",
    10_000,
    "lines",
    "Keep this many lines that others print while the terminal shows a form.",
    then="The oldest are dropped.",
)

# --- Command line ----------------------------------------------------------------------------------

_cli = _Subject("Command line", "cli")

SPINNER_SECONDS: Final = _cli.add("SPINNER_SECONDS", 0.1, "s", "Between two frames of the spinner.", interval=True)
MAX_TOOL_PAGES: Final = _cli.add(
    "MAX_TOOL_PAGES",
    100,
    "pages",
    "Read this many pages of a server's list of tools.",
    then="Tools on later pages aren't known.",
)
SCHEMA_PARTS: Final = _cli.add(
    "SCHEMA_PARTS",
    2_000,
    "parts",
    "`midcall call` reads this much of a tool's schema, to convert arguments.",
    then="Later arguments can have any type.",
)
REFERENCE_CHARACTERS: Final = _cli.add(
    "REFERENCE_CHARACTERS",
    300,
    "characters",
    "The longest `$ref` in a tool's schema.",
    then="What it refers to can have any type, and the server checks it alone.",
)
SCHEMA_DEPTH: Final = _cli.add(
    "SCHEMA_DEPTH", 20, "levels", "It reads a schema this deep.", then="Deeper values can have any type."
)
SCHEMA_STEPS: Final = _cli.add(
    "SCHEMA_STEPS",
    5_000,
    "steps",
    "It checks arguments for this many steps, before it calls the tool.",
    then="The server checks them alone.",
)
DEMO_SECONDS: Final = _cli.add(
    "DEMO_SECONDS", 60.0, "s", "The scripted demo has this long.", then="The demo fails with a message."
)
CHECK_SECONDS: Final = _cli.add(
    "CHECK_SECONDS",
    2.5,
    "s",
    "Each check of `midcall doctor` waits this long.",
    then="The check reports a missing answer.",
    where="doctor",
)
CHECK_PORTAL_SECONDS: Final = _cli.add(
    "CHECK_PORTAL_SECONDS",
    3.7,
    "s",
    "It waits this long for a portal, which gives its store three seconds.",
    then="The check reports a missing answer.",
    where="doctor",
)
CHECK_VAULT_VALUES: Final = _cli.add(
    "CHECK_VAULT_VALUES",
    2_000,
    "values",
    "It tries to open this many values of the vault.",
    then="The report covers the first values, and names the limit.",
    where="doctor",
)
CHECK_CLOSE_SECONDS: Final = _cli.add(
    "CHECK_CLOSE_SECONDS",
    0.5,
    "s",
    "It waits this long for the installation to close.",
    then="The command ends without it.",
)
CHECK_URL_SECONDS: Final = _cli.add(
    "CHECK_URL_SECONDS",
    4.0,
    "s",
    "It waits this long for a URL.",
    then="The command fails, and suggests `--timeout`.",
    argument="midcall doctor --timeout",
)
CHECK_PROBE_SECONDS: Final = _cli.add(
    "CHECK_PROBE_SECONDS",
    2.0,
    "s",
    "It waits this long for each question of the probe.",
    then="The probe reports that nobody answered.",
)
SLOW_IMPORT_SECONDS: Final = _cli.add(
    "SLOW_IMPORT_SECONDS",
    5.0,
    "s",
    "An import that takes longer is slow.",
    then="The command keeps waiting, and says what may be wrong.",
    where="doctor",
)
FAILURE_CHARACTERS: Final = _cli.add(
    "FAILURE_CHARACTERS",
    500,
    "characters",
    "Print this much of an unexpected failure.",
    then="The rest isn't printed.",
)
LAST_LOG_LINES: Final = _cli.add(
    "LAST_LOG_LINES",
    20,
    "lines",
    "Print this many of a server's last log lines, if it can't be reached.",
    then="Earlier lines aren't printed.",
)
ERROR_CHARACTERS: Final = _cli.add(
    "ERROR_CHARACTERS",
    10_000,
    "characters",
    "Print this much of a server's error.",
    then="The rest isn't printed.",
)
TOOL_TEXT_CHARACTERS: Final = _cli.add(
    "TOOL_TEXT_CHARACTERS",
    5_000,
    "characters",
    "Print this much of a tool's description.",
    then="It ends with an ellipsis.",
)
UNANSWERED_CHARACTERS: Final = _cli.add(
    "UNANSWERED_CHARACTERS",
    200,
    "characters",
    "Print this much of a question that wasn't answered.",
    then="The rest isn't printed.",
)
MASKED_CHARACTERS: Final = _cli.add(
    "MASKED_CHARACTERS",
    6,
    "characters",
    "Mask the values of secret variables that are at least this long.",
    then="A shorter value isn't masked, since it may be part of any sentence.",
    where="doctor",
)
TESTED_ROUNDS: Final = _cli.add(
    "TESTED_ROUNDS",
    1_000,
    "rounds",
    "`midcall.testing` lets a tool ask in this many rounds.",
    then="The test fails with `NotReplayable`.",
    where="testing",
)

SETTINGS: Final[tuple[Setting, ...]] = tuple(_rows)
"""The table."""
