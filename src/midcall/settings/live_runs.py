"""Limits of the runs that wait in memory, and of the effects of `once`."""

from __future__ import annotations

from typing import Final

CLEANUP_SECONDS: Final = 5.0
"""A run that is being ended has this long for its cleanup.
Then: A run that still hasn't ended is abandoned, and an error is logged."""
EFFECT_SECONDS: Final = 10.0
"""Ending a run waits this long for its effects before it cancels everything else.
Then: The run is cancelled; its effects still finish. A replay waits for them. If the client has cancelled, or the
server stops, midcall waits as long as for cleanup, and logs an error."""
GRACE_SECONDS: Final = 5.0
"""After a retry is cut off, its run waits this long for the same retry.
Then: The run ends, and its state is refused."""
MAX_ENDED_RUNS: Final = 10_000
"""Remember this many ended runs, to reject their states.
Then: The oldest is forgotten: its state is replayed instead of refused."""
MAX_TURNS: Final = 100_000
"""Remember this many turns, to reject a second answer to the same state.
Then: The oldest of the callers with most are forgotten by this process; a store still knows them."""
MAX_TURN_OUTCOMES: Final = 1_000
"""Keep the outcome of this many turns for retries that come twice.
Unit: turns
Then: The oldest outcome of the caller with most is forgotten: the same retry gets an error instead of its result."""
LARGE_JOURNAL_BYTES: Final = 256_000_000
"""Without a store, the journals that are too large to travel may have this many bytes together, and those of one caller
half of it.
Then: A call whose journal grows further fails with `JournalTooLarge`."""
WAITING_BYTES: Final = 256_000_000
"""The requests of waiting runs may take about this much memory together, with arguments, answers and HTTP bodies, and
those of one signed-in user half of it.
Then: The largest run of the caller with most ends, and is replayed when its answer comes; if its tool has ended
meanwhile, its result is forgotten."""
OUTCOME_BYTES: Final = 64_000_000
"""These outcomes may take this much memory together; the newest is always kept.
Then: The oldest outcome of the caller with most is forgotten: the same retry gets an error instead of its result."""
BEAT_SECONDS: Final = 0.5
"""Between two beats of a replica that has live runs."""
SILENT_BEATS: Final = 4
"""A replica without a beat for this many reads counts as gone.
Then: Another replica replays its calls."""
LATE_BEATS: Final = 3
"""A read that takes longer than this doesn't count: the reader may have been stopped itself.
Then: The count of silent beats starts again."""
UNCLAIMED_BEATS: Final = 3
"""An offer that its owner leaves unclaimed this long goes to another replica.
Then: The replica that made the offer replays the call."""
THREAD_POLL_SECONDS: Final = 0.25
"""Between two checks whether the loop still turns while a thread waits for it."""
MAX_LENT_THREADS: Final = 1_000
"""While a `def` tool waits for a person, the pool of threads may start another one: this many in all.
Then: Further questions of `def` tools fail with `NoChannel`; those of one caller do earlier, at half of what the others
leave."""
BLOCKED_SECONDS: Final = 5.0
"""A loop that takes no turn for this long, while a thread waits for it, counts as blocked.
Then: The thread's question fails with `Misuse`."""
CANCEL_ATTEMPTS: Final = 3
"""Cancel a run that has to end this often.
Then: The run is abandoned, with a line in the log: its questions no longer return."""
MAX_REFUSALS: Final = 20
"""A task may catch the end of its run and ask again this often.
Unit: questions
Then: Its next question never returns, and the run counts as abandoned."""
MAX_REFUSALS_IN_ALL: Final = 1_000
"""And all tasks of a run together.
Unit: questions
Then: The next question of any of them never returns, and the run counts as abandoned."""
OTHER_EFFECT_SECONDS: Final = 30.0
"""Wait for another run of the same effect.
Then: The tool gets `OnceUnknown`, unless the effect may be retried."""
CLAIM_FRESH_SECONDS: Final = 1.0
"""What the store says about whose call it is counts for this long, until an effect starts.
Then: midcall asks the store again before the effect runs."""
MAX_EFFECT_FAILURES: Final = 100
"""Retry an effect that failed elsewhere this often.
Unit: times
Then: The tool gets `OnceUnknown`."""
