"""Limits of the runs that wait in memory, and of the effects of `once`."""

from __future__ import annotations

from typing import Final

from midcall.settings.setting import Subject

runs: Final = Subject("Live runs", "server/running")

CLEANUP_SECONDS: Final = runs.add(
    "CLEANUP_SECONDS",
    5.0,
    "s",
    "A run that is being ended has this long for its cleanup.",
    then="A run that still hasn't ended is abandoned, and an error is logged.",
)
EFFECT_SECONDS: Final = runs.add(
    "EFFECT_SECONDS",
    10.0,
    "s",
    "Ending a run waits this long for its effects before it cancels everything else.",
    then="The run is cancelled; its effects still finish. A replay waits for them. If the client has cancelled, or the "
    "server stops, midcall waits as long as for cleanup, and logs an error.",
)
GRACE_SECONDS: Final = runs.add(
    "GRACE_SECONDS",
    5.0,
    "s",
    "After a retry is cut off, its run waits this long for the same retry.",
    then="The run ends, and its state is refused.",
    where="server",
)
MAX_ENDED_RUNS: Final = runs.add(
    "MAX_ENDED_RUNS",
    10_000,
    "runs",
    "Remember this many ended runs, to reject their states.",
    then="The oldest is forgotten: its state is replayed instead of refused.",
)
MAX_TURNS: Final = runs.add(
    "MAX_TURNS",
    100_000,
    "turns",
    "Remember this many turns, to reject a second answer to the same state.",
    then="The oldest of the callers with most are forgotten by this process; a store still knows them.",
)
MAX_TURN_OUTCOMES: Final = runs.add(
    "MAX_TURN_OUTCOMES",
    1_000,
    "turns",
    "Keep the outcome of this many turns for retries that come twice.",
    then="The oldest outcome of the caller with most is forgotten: the same retry gets an error instead of its result.",
)
LARGE_JOURNAL_BYTES: Final = runs.add(
    "LARGE_JOURNAL_BYTES",
    256_000_000,
    "bytes",
    "Without a store, the journals that are too large to travel may have this many bytes together, and those of one "
    "caller half of it.",
    then="A call whose journal grows further fails with `JournalTooLarge`.",
)
WAITING_BYTES: Final = runs.add(
    "WAITING_BYTES",
    256_000_000,
    "bytes",
    "The requests of waiting runs may take about this much memory together, with arguments, answers and HTTP bodies, "
    "and those of one signed-in user half of it.",
    then="The largest run of the caller with most ends, and is replayed when its answer comes; if its tool has ended "
    "meanwhile, its result is forgotten.",
)
OUTCOME_BYTES: Final = runs.add(
    "OUTCOME_BYTES",
    64_000_000,
    "bytes",
    "These outcomes may take this much memory together; the newest is always kept.",
    then="The oldest outcome of the caller with most is forgotten: the same retry gets an error instead of its result.",
)
BEAT_SECONDS: Final = runs.add(
    "BEAT_SECONDS", 0.5, "s", "Between two beats of a replica that has live runs.", interval=True
)
SILENT_BEATS: Final = runs.add(
    "SILENT_BEATS",
    4,
    "beats",
    "A replica without a beat for this many reads counts as gone.",
    then="Another replica replays its calls.",
)
LATE_BEATS: Final = runs.add(
    "LATE_BEATS",
    3,
    "beats",
    "A read that takes longer than this doesn't count: the reader may have been stopped itself.",
    then="The count of silent beats starts again.",
)
UNCLAIMED_BEATS: Final = runs.add(
    "UNCLAIMED_BEATS",
    3,
    "beats",
    "An offer that its owner leaves unclaimed this long goes to another replica.",
    then="The replica that made the offer replays the call.",
)
THREAD_POLL_SECONDS: Final = runs.add(
    "THREAD_POLL_SECONDS",
    0.25,
    "s",
    "Between two checks whether the loop still turns while a thread waits for it.",
    interval=True,
)
MAX_LENT_THREADS: Final = runs.add(
    "MAX_LENT_THREADS",
    1_000,
    "threads",
    "While a `def` tool waits for a person, the pool of threads may start another one: this many in all.",
    then="Further questions of `def` tools fail with `NoChannel`; those of one caller do earlier, at half of what the "
    "others leave.",
)
BLOCKED_SECONDS: Final = runs.add(
    "BLOCKED_SECONDS",
    5.0,
    "s",
    "A loop that takes no turn for this long, while a thread waits for it, counts as blocked.",
    then="The thread's question fails with `Misuse`.",
)
CANCEL_ATTEMPTS: Final = runs.add(
    "CANCEL_ATTEMPTS",
    3,
    "attempts",
    "Cancel a run that has to end this often.",
    then="The run is abandoned, with a line in the log: its questions no longer return.",
)
MAX_REFUSALS: Final = runs.add(
    "MAX_REFUSALS",
    20,
    "questions",
    "A task may catch the end of its run and ask again this often.",
    then="Its next question never returns, and the run counts as abandoned.",
)
MAX_REFUSALS_IN_ALL: Final = runs.add(
    "MAX_REFUSALS_IN_ALL",
    1_000,
    "questions",
    "And all tasks of a run together.",
    then="The next question of any of them never returns, and the run counts as abandoned.",
)

once: Final = Subject("once", "server/once")

OTHER_EFFECT_SECONDS: Final = once.add(
    "OTHER_EFFECT_SECONDS",
    30.0,
    "s",
    "Wait for another run of the same effect.",
    then="The tool gets `OnceUnknown`, unless the effect may be retried.",
)
CLAIM_FRESH_SECONDS: Final = once.add(
    "CLAIM_FRESH_SECONDS",
    1.0,
    "s",
    "What the store says about whose call it is counts for this long, until an effect starts.",
    then="midcall asks the store again before the effect runs.",
)
MAX_EFFECT_FAILURES: Final = once.add(
    "MAX_EFFECT_FAILURES",
    100,
    "times",
    "Retry an effect that failed elsewhere this often.",
    then="The tool gets `OnceUnknown`.",
)
