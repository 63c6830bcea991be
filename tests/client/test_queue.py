"""The queue of questions for one person: places, order, and what happens when the user cancels everything."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from midcall.client.asked import Asked, FormQuestion
from midcall.client.queue import Queue
from midcall.core.forms.fields import Flag
from midcall.core.forms.form import Form
from midcall.core.outcome import Cancelled


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def question(server: str) -> Asked:
    return Asked(FormQuestion("Sure?", Form(Flag("yes"))), id="1", server=server, via="push")


def arrive(queue: Queue, waiting: ExitStack, count: int, server: str = "a") -> int:
    """So many questions arrive, and wait if there is a place. Returns how many wait."""
    joined = 0
    for _ in range(count):
        if queue.is_full(server):
            queue.refuse(server)
        else:
            waiting.enter_context(queue.join(question(server)))
            joined += 1
    return joined


# --- places ---------------------------------------------------------------------------------------


async def test_one_server_can_not_take_the_places_of_another() -> None:
    queue = Queue(per_server=1)
    with queue.join(question("a")):
        assert queue.is_full("a")
        assert not queue.is_full("b")
    assert not queue.is_full("a")


async def test_all_servers_together_have_a_limit() -> None:
    queue = Queue(per_server=None, in_all=2)
    with queue.join(question("a")), queue.join(question("b")):
        assert queue.is_full("c")
    assert not queue.is_full("c")


async def test_without_a_limit_all_may_wait() -> None:
    with ExitStack() as waiting:
        assert arrive(Queue(None), waiting, 1_000) == 1_000


async def test_a_refusal_is_the_first_one_again_once_nothing_of_its_server_waits() -> None:
    queue = Queue(per_server=1)
    with queue.join(question("b")):
        with queue.join(question("a")):
            assert [queue.refuse("a"), queue.refuse("a")] == [True, False]
        assert queue.refuse("a")


async def test_a_question_that_leaves_early_frees_its_place_once() -> None:
    queue = Queue(per_server=1)
    with queue.join(question("a")) as entry:
        queue.leave(entry)
        assert not queue.is_full("a")
        with queue.join(question("a")):
            queue.leave(entry)
            assert queue.is_full("a")


async def test_refused_questions_are_counted_once_for_the_user() -> None:
    queue = Queue(2)
    with ExitStack() as waiting:
        assert arrive(queue, waiting, 5) == 2
        assert queue.refused == 3
        assert (queue.count_refused(), queue.count_refused()) == (3, 0)
    with ExitStack() as waiting:
        assert arrive(queue, waiting, 1) == 1


# --- order ----------------------------------------------------------------------------------------


async def test_the_next_questions_are_those_of_the_oldest_ones_server() -> None:
    queue = Queue()
    with ExitStack() as waiting:
        for server in "abaa":
            arrive(queue, waiting, 1, server)
        assert [entry.asked.server for entry in queue.take(2)] == ["a", "a"]
        assert [entry.asked.server for entry in queue.take(2)] == ["b"]
        assert [entry.asked.server for entry in queue.untaken] == ["a"]


async def test_servers_that_have_the_same_name_are_not_asked_for_together() -> None:
    queue = Queue()
    with queue.join(replace(question("a"), connection="one")) as first:
        with queue.join(replace(question("a"), connection="other")) as second:
            assert (queue.take(9), queue.take(9)) == ([first], [second])


async def test_a_taken_question_keeps_its_place_until_it_leaves() -> None:
    queue = Queue(per_server=1)
    with queue.join(question("a")):
        queue.take(1)
        assert queue.untaken == []
        assert queue.is_full("a")


# --- cancelling everything ------------------------------------------------------------------------


async def test_cancelling_everything_settles_what_the_user_has_not_seen() -> None:
    queue = Queue()
    with queue.join(question("a")) as seen:
        queue.take(1)
        with queue.join(question("a")) as unseen:
            assert queue.dismiss() == 1
            assert unseen.outcome.result() == Cancelled("push")
            assert not seen.outcome.done()
            assert queue.untaken == []


async def test_after_cancelling_everything_the_rest_of_a_burst_is_refused_too() -> None:
    clock = Clock()
    queue = Queue(2, clock=clock)
    with ExitStack() as waiting:
        arrive(queue, waiting, 3)
        queue.dismiss()
    with ExitStack() as waiting:
        for _ in range(5):
            clock.now += 0.9
            assert arrive(queue, waiting, 1) == 0
        clock.now += 1.0  # it is quiet for a while
        assert arrive(queue, waiting, 1) == 1


async def test_many_questions_are_a_burst_even_if_all_of_them_may_wait() -> None:
    queue = Queue(100, clock=Clock())
    with ExitStack() as waiting:
        arrive(queue, waiting, 19, "several")
        arrive(queue, waiting, 20, "many")
        queue.dismiss()
    with ExitStack() as waiting:
        assert arrive(queue, waiting, 1, "several") == 1
        assert arrive(queue, waiting, 1, "many") == 0


async def test_after_cancelling_everything_a_server_that_asked_little_may_ask_again() -> None:
    loud = "loud" * 40  # a name that is remembered by its digest
    queue = Queue(2, clock=Clock())
    with ExitStack() as waiting:
        arrive(queue, waiting, 2, "quiet")
        arrive(queue, waiting, 3, loud)
        queue.dismiss()
    with ExitStack() as waiting:
        assert arrive(queue, waiting, 1, "quiet") == 1
        assert arrive(queue, waiting, 1, loud) == 0
